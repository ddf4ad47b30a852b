//! The array of entries: allocation, probing, replacement, ageing.

use std::{
    sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed},
    thread,
};

use super::{
    backing::{Backing, SharedWords},
    entry::{GENERATIONS, Hit, NodeResult, Packed},
    roots::Roots,
};
use crate::types::{PositionKey, prefetch};

/// Entries of a cluster, which is a cache line.
const CLUSTER_ENTRIES: usize = 4;
/// Plies of depth that one generation of age is worth when an entry to replace is chosen.
const AGE_COST: i32 = 4;
/// Plies of depth by which an exact or PV entry is worth more.
const QUALITY_BONUS: u8 = 2;
/// The same in an analysis, where the user returns to earlier lines.
const ANALYSIS_BONUS: u8 = 8;
/// A shallower result of the same position replaces a deeper one if it is shallower by less than this.
const SAME_POSITION_SLACK: i32 = 4;

/// An entry in memory. Relaxed suffices for both words: nothing is published through them, and words of different
/// stores fail the check (see `entry.rs`).
#[derive(Default)]
#[repr(C)]
pub(super) struct AtomicEntry(AtomicU64, AtomicU64);

/// The entries in which a position may be stored.
#[derive(Default)]
#[repr(C, align(64))]
pub(super) struct Cluster(pub(super) [AtomicEntry; CLUSTER_ENTRIES]);

// SAFETY: nothing but `AtomicU64`s, aligned to 64 bytes.
#[allow(unsafe_code)]
unsafe impl SharedWords for Cluster {}

const _: () = assert!(size_of::<Cluster>() == 64);

impl AtomicEntry {
    pub(super) fn load(&self) -> Packed {
        Packed::from_stored(self.0.load(Relaxed), self.1.load(Relaxed))
    }

    pub(super) fn store(&self, packed: Packed) {
        let (first, second) = packed.to_stored();
        self.0.store(first, Relaxed);
        self.1.store(second, Relaxed);
    }
}

/// A transposition table shared by all threads.
pub struct Table {
    clusters: Backing<Cluster>,
    /// Relaxed: a thread that leaves the last search late stores with either value, and both are valid.
    generation: AtomicU8,
    /// By how many plies exact and PV entries are worth more. Relaxed: as above.
    bonus: AtomicU8,
    roots: Roots,
}

impl Table {
    /// A table of `mib` MiB, or none if the memory is not available.
    pub fn new(mib: usize) -> Option<Table> {
        let bytes = mib.max(1).checked_mul(1 << 20)?;
        Backing::new(bytes / size_of::<Cluster>()).ok().map(Table::of)
    }

    /// The smallest table, for when no search runs.
    ///
    /// # Panics
    /// If not even one page of memory is available.
    pub fn minimal() -> Table {
        Table::of(Backing::new(1).expect("a page of memory"))
    }

    fn of(clusters: Backing<Cluster>) -> Table {
        Table {
            clusters,
            generation: AtomicU8::new(0),
            bonus: AtomicU8::new(QUALITY_BONUS),
            roots: Roots::default(),
        }
    }

    /// The size in MiB.
    pub fn mib(&self) -> usize {
        size_of_val(self.clusters()) >> 20
    }

    /// Empties the table with `threads` threads. The page faults of a new table happen here instead of in the search.
    pub fn clear(&self, threads: usize) {
        let share = self.clusters().len().div_ceil(threads.max(1)).max(1);
        let clear = |part: &[Cluster]| {
            for slot in part.iter().flat_map(|cluster| &cluster.0) {
                slot.0.store(0, Relaxed);
                slot.1.store(0, Relaxed);
            }
        };
        thread::scope(|scope| {
            for part in self.clusters().chunks(share) {
                // If the system refuses another thread, this one does it.
                if thread::Builder::new().spawn_scoped(scope, || clear(part)).is_err() {
                    clear(part);
                }
            }
        });
        self.generation.store(0, Relaxed);
        self.roots.clear();
    }

    /// The results of analyses at their roots.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Begins a new search: all entries become a generation older.
    pub fn new_search(&self) {
        let next = (u64::from(self.generation.load(Relaxed)) + 1) % GENERATIONS;
        self.generation.store(next as u8, Relaxed);
    }

    /// In an analysis exact and PV entries are kept longer.
    pub fn set_analysis(&self, analysis: bool) {
        self.bonus.store(if analysis { ANALYSIS_BONUS } else { QUALITY_BONUS }, Relaxed);
    }

    /// Looks a position up.
    pub fn probe(&self, key: PositionKey) -> Option<Hit> {
        self.cluster(key)
            .0
            .iter()
            .map(AtomicEntry::load)
            .find(|packed| packed.matches(key))
            .map(Packed::unpack)
    }

    /// Stores a result; a deeper one of the same position, or a learned one that is protected, may stay instead.
    pub fn store(&self, key: PositionKey, result: &NodeResult) {
        let generation = self.generation();
        let bonus = self.bonus();
        let cluster = self.cluster(key);
        let mut victim = &cluster.0[0];
        let mut least = i32::MAX;
        for slot in &cluster.0 {
            let packed = slot.load();
            if packed.matches(key) {
                if packed.is_protected(result.depth, generation) {
                    return;
                }
                // In an analysis the user returns to lines of earlier searches, so their entries are kept like those of
                // this search.
                let lasts = packed.generation() == generation
                    || bonus == ANALYSIS_BONUS && packed.path() == result.path;
                let exact = result.window.exact().is_some();
                // A tainted result, valid on one path, does not replace one that is as deep and valid on many.
                let slack =
                    if result.path.taint().is_some() && packed.is_clean() { 0 } else { SAME_POSITION_SLACK };
                if lasts && !exact && result.depth + slack <= packed.depth() {
                    // What is still visited is as young as what is stored now.
                    if packed.generation() != generation {
                        slot.store(packed.with_generation(generation));
                    }
                    return;
                }
                slot.store(Packed::pack(key, result, Some(packed), generation));
                return;
            }
            let worth = worth(packed, generation, bonus);
            if worth < least && !packed.is_protected(result.depth, generation) {
                (least, victim) = (worth, slot);
            }
        }
        victim.store(Packed::pack(key, result, None, generation));
    }

    /// Restores an entry from the hash file: over the entry of its position, or over the one that is worth least.
    pub(super) fn restore(&self, key: PositionKey, packed: Packed) {
        let generation = self.generation();
        let cluster = self.cluster(key);
        let same = cluster.0.iter().find(|slot| slot.load().matches(key));
        let least = || cluster.0.iter().min_by_key(|slot| self.worth(slot.load(), generation));
        let Some(slot) = same.or_else(least) else { return };
        if !slot.load().is_protected(packed.depth(), generation) {
            slot.store(packed);
        }
    }

    /// Prefetches the cluster of a position.
    pub fn prefetch(&self, key: PositionKey) {
        prefetch(self.cluster(key));
    }

    /// Entries written or used by the current search, in per mille of a sample.
    pub fn hashfull(&self) -> u32 {
        let generation = self.generation();
        let sample = self.clusters().len().min(250);
        let used = self.clusters()[..sample]
            .iter()
            .flat_map(|cluster| &cluster.0)
            .map(AtomicEntry::load)
            .filter(|packed| !packed.is_empty() && packed.generation() == generation)
            .count();
        (used * 1000 / (sample * CLUSTER_ENTRIES).max(1)) as u32
    }

    pub(super) fn cluster(&self, key: PositionKey) -> &Cluster {
        // The high bits select the cluster, the low 32 are stored as position check.
        let clusters = self.clusters();
        let index = (u128::from(key.0) * clusters.len() as u128) >> 64;
        &clusters[index as usize]
    }

    pub(super) fn clusters(&self) -> &[Cluster] {
        self.clusters.as_slice()
    }

    /// The worth of the entry for replacement, in plies of depth.
    pub(super) fn worth(&self, packed: Packed, generation: u64) -> i32 {
        worth(packed, generation, self.bonus())
    }

    fn bonus(&self) -> u8 {
        self.bonus.load(Relaxed)
    }

    /// The generation of new entries.
    pub(super) fn generation(&self) -> u64 {
        u64::from(self.generation.load(Relaxed))
    }
}

/// In plies of depth; `bonus` is for exact and PV entries.
fn worth(packed: Packed, generation: u64, bonus: u8) -> i32 {
    if packed.is_empty() {
        return i32::MIN;
    }
    let age = packed.age(generation);
    let bonus = if packed.is_exact() || packed.was_pv() { bonus } else { 0 };
    packed.depth().get() + i32::from(bonus) - AGE_COST * age as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::{PathHash, Position, PositionPath},
        tt::{PathCheck, ScoreWindow, entry::tests::after},
        types::{Depth, PackedMove, Score},
    };

    fn record(depth: i32) -> NodeResult {
        NodeResult {
            best: PackedMove::from_bits(77),
            window: ScoreWindow::at_least(Score(depth)),
            depth: Depth(depth),
            path: PathCheck::new(&PositionPath::new(&Position::default()), Depth(depth)),
            ..NodeResult::default()
        }
    }

    /// The check of a result that depends on a repetition of the position two plies before.
    fn tainted(depth: i32) -> PathCheck {
        let mut path = after("a1a2 e6e7 a2a3", PathHash::Fifty);
        path.taint_by_repetition(2);
        PathCheck::new(&path, Depth(depth))
    }

    /// Keys of one cluster: the high bits are equal.
    fn key(n: u64) -> PositionKey {
        PositionKey(n)
    }

    #[test]
    fn what_was_stored_is_found() {
        let table = Table::new(1).expect("memory");
        assert!(table.probe(key(5)).is_none());
        table.store(key(5), &record(3));
        assert_eq!(table.probe(key(5)).map(|hit| hit.depth), Some(Depth(3)));
        table.clear(2);
        assert!(table.probe(key(5)).is_none());
    }

    #[test]
    fn the_shallowest_and_oldest_goes_first() {
        let table = Table::new(1).expect("memory");
        for (n, depth) in [(1, 9), (2, 3), (3, 7), (4, 5)] {
            table.store(key(n), &record(depth));
        }
        table.store(key(5), &record(1));
        assert!(table.probe(key(2)).is_none() && table.probe(key(5)).is_some());
        for _ in 0..3 {
            table.new_search();
        }
        for n in 6..10 {
            table.store(key(n), &record(1));
        }
        assert!(table.probe(key(1)).is_none(), "old entries give way");
    }

    #[test]
    fn a_much_shallower_result_does_not_replace_a_deep_one() {
        let table = Table::new(1).expect("memory");
        table.store(key(1), &record(12));
        table.store(key(1), &record(2));
        assert_eq!(table.probe(key(1)).map(|hit| hit.depth), Some(Depth(12)));
        table.store(key(1), &record(10));
        assert_eq!(table.probe(key(1)).map(|hit| hit.depth), Some(Depth(10)));
        // A draw that depends on the path replaces it only if it is deeper, or exact.
        let drawn = |depth| NodeResult { path: tainted(depth), ..record(depth) };
        table.store(key(1), &drawn(10));
        assert!(table.probe(key(1)).is_some_and(|hit| hit.taint().is_none()));
        table.store(key(1), &drawn(11));
        assert!(table.probe(key(1)).is_some_and(|hit| hit.taint().is_some()));
        table.store(key(1), &record(10));
        assert!(table.probe(key(1)).is_some_and(|hit| hit.taint().is_none()));
        // Entries of an earlier search are replaced by any result, except in an analysis.
        table.new_search();
        table.set_analysis(true);
        table.store(key(1), &record(2));
        assert_eq!(table.probe(key(1)).map(|hit| hit.depth), Some(Depth(10)));
        table.set_analysis(false);
        table.new_search();
        table.store(key(1), &record(2));
        assert_eq!(table.probe(key(1)).map(|hit| hit.depth), Some(Depth(2)));
    }

    #[test]
    fn in_an_analysis_an_entry_stays_young_while_it_is_visited() {
        for (visited, survives) in [(false, false), (true, true)] {
            let table = Table::new(1).expect("memory");
            table.set_analysis(true);
            table.store(key(1), &record(12));
            for _ in 0..4 {
                table.new_search();
                if visited {
                    // Too shallow to replace it.
                    table.store(key(1), &record(2));
                }
            }
            for n in 2..6 {
                table.store(key(n), &record(3));
            }
            assert_eq!(table.probe(key(1)).is_some(), survives, "visited {visited}");
        }
    }

    #[test]
    fn in_an_analysis_lines_outlive_what_is_deeper_by_less() {
        let line = NodeResult { was_pv: true, window: ScoreWindow::exactly(Score(1)), ..record(3) };
        for (analysis, survives) in [(false, false), (true, true)] {
            let table = Table::new(1).expect("memory");
            table.set_analysis(analysis);
            table.store(key(1), &line);
            for n in 2..12 {
                table.store(key(n), &record(8));
            }
            assert_eq!(table.probe(key(1)).is_some(), survives, "analysis {analysis}");
        }
    }
}
