//! The pawn hash table: what the pawns alone say, kept from node to node.
//!
//! ```text
//!  one entry = one cache line of 64 bytes
//!  black pawns 8 | white pawns 8 | passed 8 | attack spans 16 | score 4 | shelters 16 | files 2
//! ```
//! The two pawn bitboards verify an entry in full: a false hit is impossible. A zeroed entry is the right
//! one for a board without pawns.

use shakmaty::{Bitboard, CastlingSide, Color, Position as _};

use super::{
    geometry::{Side, files},
    king,
    pair::Pair,
    pawns,
    trace::Tracer,
};
use crate::{
    position::Position,
    types::{PawnKey, prefetch},
};

/// A king-dependent pawn term with the king square and castling rights that it holds for.
#[derive(Copy, Clone, Debug, Default)]
struct Shelter {
    score: Pair,
    /// The middlegame value of shelter and storm alone.
    middlegame: i16,
    key: u16,
}

/// What the pawns alone say.
#[derive(Copy, Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct PawnEntry {
    /// The pawns, black and white.
    pub pawns: [Bitboard; 2],
    /// Passed pawns of both sides.
    pub passed: Bitboard,
    /// All that the pawns may ever attack, black and white.
    pub attack_span: [Bitboard; 2],
    /// Pawn structure from White's point of view.
    pub score: Pair,
    shelters: [Shelter; 2],
    /// Files with pawns, as bits a to h, black and white.
    pub files: [u8; 2],
}

const _: () = assert!(size_of::<PawnEntry>() == 64);

impl PawnEntry {
    /// An entry for these pawns (black, white), of which nothing else is known yet.
    pub fn new(pawns: [Bitboard; 2]) -> PawnEntry {
        PawnEntry { pawns, files: pawns.map(files), ..PawnEntry::default() }
    }

    /// What pawns and king of our side say together, and the middlegame value of the shelter, computed only
    /// if king square or castling rights have changed.
    #[inline]
    pub fn shelter<S: Side, T: Tracer>(&mut self, position: &Position, tracer: &mut T) -> (Pair, i32) {
        let castles = position.chess().castles();
        let rights = u16::from(castles.has(S::US, CastlingSide::KingSide))
            | u16::from(castles.has(S::US, CastlingSide::QueenSide)) << 1;
        let king = position.board().king_of(S::US).map_or(0, |king| king as u16);
        let key = 1 << 15 | rights << 8 | king;
        let known = &mut self.shelters[S::ME];
        if T::LISTENS || known.key != key {
            let (score, middlegame) = king::shelter::<S, T>(position, &self.pawns, tracer);
            *known = Shelter { score, middlegame: middlegame as i16, key };
        }
        (known.score, i32::from(known.middlegame))
    }

    /// Has our side no pawn on this file (0 to 7)?
    #[inline]
    pub fn is_half_open<S: Side>(&self, file: u32) -> bool {
        self.files[S::ME] >> file & 1 == 0
    }
}

/// The table, one per thread.
#[derive(Clone, Debug)]
pub struct PawnTable {
    entries: Vec<PawnEntry>,
    allowed_mib: usize,
    /// Probes that found their entry.
    pub hits: u64,
    /// All probes.
    pub probes: u64,
}

impl PawnTable {
    /// An empty table of the largest power-of-two size within `mib` MiB, or within the half of it, and so on, if
    /// the memory for that cannot be had.
    pub fn new(mib: usize) -> PawnTable {
        let mut allowed_mib = mib.max(1);
        let mut entries = Vec::new();
        loop {
            let fitting = (allowed_mib << 20) / size_of::<PawnEntry>();
            let len = 1 << fitting.ilog2();
            if allowed_mib == 1 || entries.try_reserve_exact(len).is_ok() {
                entries.resize(len, PawnEntry::default());
                return PawnTable { entries, allowed_mib, hits: 0, probes: 0 };
            }
            allowed_mib /= 2;
        }
    }

    /// Within how many MiB it is: fewer than asked for if there was no memory.
    pub fn allowed_mib(&self) -> usize {
        self.allowed_mib
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(PawnEntry::default());
        (self.hits, self.probes) = (0, 0);
    }

    /// Brings the entry of a structure near.
    #[inline]
    pub fn prefetch(&self, key: PawnKey) {
        prefetch(&self.entries[self.slot(key)]);
    }

    #[inline]
    fn slot(&self, key: PawnKey) -> usize {
        key.0 as usize & (self.entries.len() - 1)
    }

    /// The entry of this position's pawns, computed where it is not known.
    #[inline]
    pub fn probe<T: Tracer>(&mut self, position: &Position, tracer: &mut T) -> &mut PawnEntry {
        let board = position.board();
        let found = [Color::Black, Color::White].map(|color| board.pawns() & board.by_color(color));
        let slot = self.slot(position.keys().pawns);
        let entry = &mut self.entries[slot];
        self.probes += 1;
        if !T::LISTENS && entry.pawns == found {
            self.hits += 1;
        } else {
            *entry = pawns::analyse(found, tracer);
        }
        entry
    }
}
