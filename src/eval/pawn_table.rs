//! The pawn hash table: results that depend only on the pawns. Both evaluations have one, each with its own kind of
//! entry of one cache line.
//!
//! An entry contains both pawn bitboards, so a false hit is impossible.

use shakmaty::{Bitboard, Color};

use crate::{
    position::Position,
    types::{PawnKey, prefetch},
};

/// An entry of the table.
pub trait PawnTableEntry: Clone {
    /// The pawns, black and white.
    fn pawns(&self) -> [Bitboard; 2];
}

/// The table, one per thread.
#[derive(Clone, Debug)]
pub struct PawnTable<E> {
    entries: Vec<E>,
    empty: E,
    allowed_mib: usize,
    /// Probes that found their entry.
    pub hits: u64,
    /// All probes.
    pub probes: u64,
}

impl<E: PawnTableEntry> PawnTable<E> {
    /// A table that contains only `empty`, the entry of a board without pawns. It has the largest power-of-two size
    /// within `mib` MiB, or if memory is short within half of that, and so on.
    pub fn new(mib: usize, empty: E) -> PawnTable<E> {
        let mut allowed_mib = mib.max(1);
        let mut entries = Vec::new();
        loop {
            let fitting = (allowed_mib << 20) / size_of::<E>();
            let len = 1 << fitting.ilog2();
            if allowed_mib == 1 || entries.try_reserve_exact(len).is_ok() {
                entries.resize(len, empty.clone());
                return PawnTable { entries, empty, allowed_mib, hits: 0, probes: 0 };
            }
            allowed_mib /= 2;
        }
    }

    /// Its size limit in MiB: lower than requested if memory was short.
    pub fn allowed_mib(&self) -> usize {
        self.allowed_mib
    }

    /// Clears the table.
    pub fn clear(&mut self) {
        self.entries.fill(self.empty.clone());
        self.reset_counters();
    }

    /// Resets the counters.
    pub fn reset_counters(&mut self) {
        (self.hits, self.probes) = (0, 0);
    }

    /// Prefetches the entry of a structure.
    #[inline]
    pub fn prefetch(&self, key: PawnKey) {
        prefetch(&self.entries[self.slot(key)]);
    }

    #[inline]
    fn slot(&self, key: PawnKey) -> usize {
        key.0 as usize & (self.entries.len() - 1)
    }

    /// The entry of this position's pawns, computed if it is not in the table; with `anew`, in any case.
    #[inline]
    pub fn probe(
        &mut self,
        position: &Position,
        anew: bool,
        compute: impl FnOnce([Bitboard; 2]) -> E,
    ) -> &mut E {
        let board = position.board();
        let found = [Color::Black, Color::White].map(|color| board.pawns() & board.by_color(color));
        let slot = self.slot(position.keys().pawns);
        let entry = &mut self.entries[slot];
        self.probes += 1;
        if !anew && entry.pawns() == found {
            self.hits += 1;
        } else {
            *entry = compute(found);
        }
        entry
    }
}
