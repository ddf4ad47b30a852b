//! One entry of a hash file: 32 bytes with a checksum.
//!
//! ```text
//! word 0  position key 64
//! word 1  as in the table: path check 16 | lower 16 | upper 16 | depth 8 | pv, 0, taint, 0 (5 bits)
//! word 2  move 16 | evaluation 16 | generation 16 | kind 16
//! word 3  checksum of the three before
//! ```
//! Words are little-endian. With the full key and the checksum each entry is valid or invalid by itself: an entry
//! torn by two writers or by a power failure fails its checksum and is a miss, and a file can be checked and copied
//! to another size without a table.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::{
    tt::{
        backing::SharedWords,
        entry::{GENERATIONS, LEARNED_BIT, Packed},
    },
    types::{Depth, PositionKey, mix, prefetch},
};

/// Bytes of an entry.
pub const ENTRY_SIZE: usize = 32;
/// Entries of a cluster.
pub const WAYS: usize = 4;
/// Plies of depth that a generation of age costs.
const AGE_COST: i64 = 1;
/// Plies of depth that an exact or principal-variation entry is worth more: they hold the lines of an analysis.
const FOCUS: i64 = 8;
/// Plies of depth that a finished iteration and the moves of its line are worth more: an analysis resumes from them.
const ITERATION_WORTH: i64 = 100;

/// The kind of an entry.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A node of a search.
    Node = 1,
    /// The last finished iteration of a search with this root.
    Iteration = 2,
    /// A move of its line, under a key of its own, without a score.
    LineMove = 3,
}

impl CellKind {
    fn from_code(code: u64) -> Option<CellKind> {
        let all = [CellKind::Node, CellKind::Iteration, CellKind::LineMove];
        all.into_iter().find(|&kind| kind as u64 == code)
    }
}

/// An entry, with the fields unpacked that the file needs.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: PositionKey,
    pub kind: CellKind,
    /// The session in which it was written or last used.
    pub generation: u16,
    pub(in crate::tt) packed: Packed,
}

impl Entry {
    /// The entry of a search result. It has no learned flag and no generation of the table.
    pub(in crate::tt) fn new(key: PositionKey, kind: CellKind, generation: u16, packed: Packed) -> Entry {
        let packed =
            Packed { w0: packed.w0 & 0xFFFF_FFFF, w1: packed.w1 & !(LEARNED_BIT | (GENERATIONS - 1)) };
        Entry { key, kind, generation, packed }
    }

    /// Remaining depth of the search that found it.
    pub fn depth(&self) -> Depth {
        self.packed.depth()
    }

    /// Is the score known, or was it a node of a principal variation?
    pub fn is_focus(&self) -> bool {
        self.packed.is_exact() || self.packed.was_pv()
    }

    /// The entry as the table of this process stores it.
    pub(super) fn to_packed(self, generation: u64) -> Packed {
        Packed { w0: self.packed.w0 | self.key.0 << 32, ..self.packed }.with_generation(generation)
    }

    pub(super) fn encode(&self) -> [u64; 4] {
        let second =
            (self.packed.w0 & 0xFFFF_FFFF) << 32 | u64::from(self.generation) << 16 | self.kind as u64;
        let words = [self.key.0, self.packed.w1, second];
        [words[0], words[1], second, checksum(words)]
    }

    /// The entry, if the words are a valid one.
    pub(super) fn decode([key, first, second, check]: [u64; 4]) -> Option<Entry> {
        if check != checksum([key, first, second]) {
            return None;
        }
        let packed = Packed { w0: second >> 32, w1: first };
        let kind = CellKind::from_code(second & 0xFFFF)?;
        let sound = !packed.is_empty() && first & (LEARNED_BIT | (GENERATIONS - 1)) == 0;
        sound.then_some(Entry { key: PositionKey(key), kind, generation: (second >> 16) as u16, packed })
    }

    /// Its worth for replacement, in plies, at `generation`.
    pub fn worth(&self, generation: u16) -> i64 {
        let age = i64::from(generation.wrapping_sub(self.generation));
        // If another session began since the generation was read, some entries are newer than it.
        let age = if age > i64::from(u16::MAX / 2) { 0 } else { age };
        let focus = if self.is_focus() { FOCUS } else { 0 };
        let iteration = if self.kind == CellKind::Node { 0 } else { ITERATION_WORTH };
        i64::from(self.depth().get()) + focus + iteration - AGE_COST * age
    }

    /// Is it the iteration of another path to the same position?
    fn is_on_other_path_than(&self, new: &Entry) -> bool {
        let is_iteration = self.kind == CellKind::Iteration && new.kind == CellKind::Iteration;
        is_iteration && self.key == new.key && !self.packed.same_path(new.packed)
    }

    /// Are both about the same position and kind? Iterations must also have the same path: on different paths they
    /// belong to different analyses.
    fn is_about_same_as(&self, old: &Entry) -> bool {
        self.key == old.key
            && self.kind == old.kind
            && (self.kind != CellKind::Iteration || self.packed.same_path(old.packed))
    }

    /// May it replace `old`, an entry of the same position and kind? A shallower result on the same path adds
    /// nothing, and an exact score is not replaced by a bound of the same depth. An iteration always replaces an
    /// older one, so that the last one printed is kept.
    pub(super) fn outranks(&self, old: &Entry) -> bool {
        const OTHER_PATH_SLACK: i32 = 4;
        if self.kind != CellKind::Node {
            return true;
        }
        let (depth, before) = (self.depth().get(), old.depth().get());
        if self.packed.same_path(old.packed) {
            depth > before || depth == before && (self.packed.is_exact() || !old.packed.is_exact())
        } else {
            depth + OTHER_PATH_SLACK > before
        }
    }
}

/// The checksum of three words. That of zeros is not zero, so that an empty cell is no entry.
fn checksum(words: [u64; 3]) -> u64 {
    words.into_iter().fold(0x0452_821E_638D_0137, |sum, word| mix(sum ^ word))
}

/// The slot of an entry. Relaxed suffices for all words: nothing is published through them, and words of different
/// writes fail the checksum.
#[derive(Default)]
#[repr(C)]
pub(in crate::tt) struct Cell([AtomicU64; 4]);

/// The entries in which a position may be stored.
#[derive(Default)]
#[repr(C, align(64))]
pub(in crate::tt) struct Cluster(pub(in crate::tt) [Cell; WAYS]);

const _: () = assert!(size_of::<Cluster>() == WAYS * ENTRY_SIZE);

// SAFETY: nothing but `AtomicU64`s, aligned to 64 bytes.
#[allow(unsafe_code)]
unsafe impl SharedWords for Cluster {}

impl Cell {
    fn word(&self, index: usize) -> u64 {
        u64::from_le(self.0[index].load(Relaxed))
    }

    /// The words, valid or not.
    pub(super) fn words(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|index| self.word(index))
    }

    /// The entry of a position and kind, if there is one.
    pub(in crate::tt) fn find(&self, key: PositionKey, kind: CellKind) -> Option<Entry> {
        if self.word(0) != key.0 {
            return None;
        }
        Entry::decode(self.words()).filter(|entry| entry.key == key && entry.kind == kind)
    }

    pub(super) fn write(&self, words: [u64; 4]) {
        for (place, word) in self.0.iter().zip(words) {
            place.store(word.to_le(), Relaxed);
        }
    }
}

impl Cluster {
    /// Prefetches both cache lines.
    pub(super) fn prefetch(&self) {
        prefetch(&self.0[0]);
        prefetch(&self.0[WAYS / 2]);
    }

    /// Stores an entry over an older one of its position, or over the least valuable one. Of the iterations on other paths
    /// to its position, that at the lowest clock stays, which is valid on the most paths, and the others go first.
    pub(in crate::tt) fn put(&self, entry: &Entry, generation: u16) {
        let entries = self.0.iter().filter_map(|cell| Entry::decode(cell.words()));
        let clocks =
            entries.filter(|old| old.is_on_other_path_than(entry)).map(|old| old.packed.path().clock());
        let lowest = if entry.kind == CellKind::Iteration { clocks.min() } else { None };
        let mut victim = &self.0[0];
        let mut least = i64::MAX;
        for cell in &self.0 {
            let found = Entry::decode(cell.words());
            if let Some(old) = found.filter(|old| entry.is_about_same_as(old)) {
                if entry.outranks(&old) {
                    cell.write(entry.encode());
                } else if old.generation != entry.generation {
                    // The same result was found again, so it counts as new.
                    cell.write(Entry { generation: entry.generation, ..old }.encode());
                }
                return;
            }
            let worth = match found {
                None => i64::MIN,
                Some(old) if old.is_on_other_path_than(entry) => match old.packed.path().clock() {
                    clock if Some(clock) == lowest => i64::MAX,
                    clock => i64::MIN + 1000 - i64::from(clock),
                },
                Some(old) => old.worth(generation),
            };
            if worth < least {
                (least, victim) = (worth, cell);
            }
        }
        // Unlike the table, the file does not store every entry: one worth less than all others is dropped.
        if entry.kind == CellKind::Iteration || entry.worth(generation) >= least {
            victim.write(entry.encode());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::{Position, PositionPath},
        tt::{NodeResult, PathCheck, ScoreWindow, entry::tests::at},
        types::{PackedMove, Score},
    };

    fn entry(key: u64, depth: i32, window: ScoreWindow) -> Entry {
        let record = NodeResult {
            best: PackedMove::from_bits(77),
            raw_eval: Some(Score(-5)),
            window,
            depth: Depth(depth),
            path: PathCheck::new(&PositionPath::new(&Position::default()), Depth(depth)),
            ..NodeResult::default()
        };
        let packed = Packed::pack(PositionKey(key), &record, None, 3);
        Entry::new(PositionKey(key), CellKind::Node, 7, packed)
    }

    fn bound(key: u64, depth: i32) -> Entry {
        entry(key, depth, ScoreWindow::at_least(Score(10)))
    }

    fn depth_in(cluster: &Cluster, key: u64) -> Option<i32> {
        let find = |cell: &Cell| cell.find(PositionKey(key), CellKind::Node);
        cluster.0.iter().find_map(find).map(|entry| entry.depth().get())
    }

    #[test]
    fn an_entry_survives_the_file_and_any_changed_bit_is_noticed() {
        let words = bound(0x0123_4567_89AB_CDEF, 17).encode();
        let read = Entry::decode(words).expect("an entry");
        assert_eq!(read, bound(0x0123_4567_89AB_CDEF, 17));
        let hit = read.to_packed(4).unpack();
        assert_eq!((hit.best.bits(), hit.raw_eval, hit.depth.get()), (77, Some(Score(-5)), 17));
        for bit in 0..256 {
            let mut changed = words;
            changed[bit / 64] ^= 1 << (bit % 64);
            assert!(Entry::decode(changed).is_none(), "bit {bit}");
        }
        assert!(Entry::decode([0; 4]).is_none());
    }

    #[test]
    fn an_entry_is_the_words_that_the_format_says() {
        let key = PositionKey(0x0123_4567_89AB_CDEF);
        let record = NodeResult {
            best: PackedMove::from_bits(0x4D),
            raw_eval: Some(Score(-5)),
            window: ScoreWindow::exactly(Score(-20)),
            depth: Depth(17),
            was_pv: true,
            path: PathCheck::new(&at(6), Depth(17)),
            ..NodeResult::default()
        };
        let packed = Packed::pack(key, &record, None, 3);
        let entry = Entry::new(key, CellKind::Iteration, 0x0102, packed);
        // The clock is in the upper seven bits of the path check, and the depth is stored plus 1.
        let words =
            [0x0123_4567_89AB_CDEF, 0x0C00_FFEC_FFEC_1280, 0x004D_FFFB_0102_0002, 0x8FEA_D3EC_68F9_4FEE];
        assert_eq!(entry.encode(), words);
        assert_eq!(Entry::decode(words), Some(entry));
    }

    #[test]
    fn words_of_two_writers_do_not_make_an_entry() {
        let (one, two) = (bound(5, 9).encode(), bound(5, 10).encode());
        for mixture in 1..15 {
            let words = [0, 1, 2, 3].map(|word| if mixture >> word & 1 == 0 { one[word] } else { two[word] });
            let read = Entry::decode(words);
            assert!(read.is_none_or(|read| [one, two].contains(&read.encode())), "{mixture:04b}");
        }
    }

    #[test]
    fn learned_entries_cannot_come_from_a_file() {
        let mut words = bound(5, 9).encode();
        words[1] |= LEARNED_BIT;
        words[3] = checksum([words[0], words[1], words[2]]);
        assert!(Entry::decode(words).is_none());
    }

    #[test]
    fn what_is_deep_or_exact_stays() {
        let cluster = Cluster::default();
        for (key, depth) in [(1, 5), (2, 6), (3, 7)] {
            cluster.put(&bound(key, depth), 7);
        }
        cluster.put(&entry(4, 5, ScoreWindow::exactly(Score(3))), 7);
        // Worth less than all: not stored. Worth more than one: replaces it.
        cluster.put(&bound(5, 4), 7);
        assert_eq!(depth_in(&cluster, 5), None);
        cluster.put(&bound(6, 6), 7);
        assert_eq!(
            [1, 2, 3, 4, 6].map(|key| depth_in(&cluster, key)),
            [None, Some(6), Some(7), Some(5), Some(6)]
        );
        // After enough sessions any entry may be replaced.
        let late = Entry { generation: 40, ..bound(8, 1) };
        cluster.put(&late, 40);
        assert_eq!(depth_in(&cluster, 8), Some(1));
    }

    #[test]
    fn an_iteration_at_clock_zero_outlives_any_number_at_other_clocks() {
        let iteration = |key, clock: u32, generation| {
            let record = NodeResult {
                best: PackedMove::from_bits(77),
                window: ScoreWindow::exactly(Score(3)),
                depth: Depth(if clock == 0 { 9 } else { 20 }),
                was_pv: true,
                path: PathCheck::new(&at(clock), Depth(20)),
                ..NodeResult::default()
            };
            let packed = Packed::pack(PositionKey(key), &record, None, 3);
            Entry::new(PositionKey(key), CellKind::Iteration, generation, packed)
        };
        let cluster = Cluster::default();
        cluster.put(&iteration(1, 0, 1), 1);
        // Of other positions.
        (2..5).for_each(|key| cluster.put(&iteration(key, 5, 2), 2));
        for (generation, clock) in (3..).zip(81..99) {
            cluster.put(&iteration(1, clock, generation), generation);
            let found = cluster.0.iter().filter_map(|cell| cell.find(PositionKey(1), CellKind::Iteration));
            let mut clocks: Vec<u16> = found.map(|entry| entry.packed.path().clock()).collect();
            clocks.sort_unstable();
            assert_eq!(clocks, [0, clock as u16]);
        }
    }

    #[test]
    fn a_shallower_result_of_a_position_adds_nothing() {
        let cluster = Cluster::default();
        cluster.put(&bound(1, 12), 7);
        cluster.put(&entry(1, 8, ScoreWindow::exactly(Score(3))), 7);
        assert_eq!(depth_in(&cluster, 1), Some(12));
        cluster.put(&bound(1, 13), 7);
        assert_eq!(depth_in(&cluster, 1), Some(13));
    }
}
