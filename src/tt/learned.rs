//! Learned entries: records of the learning file, inserted into the table before a search.
//!
//! Such an entry has no static evaluation. Its path field holds the fifty-move clock of its record, whatever the path
//! mode: its score is used only if the current clock cannot invalidate it and, in mode `draws`, only while no position
//! that can be repeated has occurred twice in the game. Shallower search results do not replace it. So that this
//! protection does not take too much of the table, it is given
//!
//! - to at most one entry of a cluster, and to an eighth of the table ([`Table::learned_share`]);
//! - for one search: [`Table::insert_learned`] is called before each, with the records of positions that can still
//!   occur. Entries that are not inserted again age like any other.

use arrayvec::ArrayVec;

use super::{Hit, NodeResult, PathCheck, ScoreWindow, Table, entry::Packed, table::AtomicEntry};
use crate::{
    position::PositionPath,
    types::{Depth, PackedMove, Ply, PositionKey},
};

/// Entries of a batch, whose clusters are prefetched before the first of them is stored.
const BATCH: usize = 32;

/// One position from the learning file.
#[derive(Copy, Clone, Debug)]
pub struct Learned {
    /// The position.
    pub key: PositionKey,
    /// The best move; [`PackedMove::NONE`] if none is known.
    pub best: PackedMove,
    /// The bounds of its score; proven results are relative to the position itself.
    pub window: ScoreWindow,
    /// Depth of the search that found them.
    pub depth: Depth,
    /// The fifty-move clock at which they were found, in plies.
    pub halfmoves: u32,
}

impl Learned {
    fn packed(&self, generation: u64) -> Packed {
        let record = NodeResult {
            best: self.best,
            window: self.window,
            depth: self.depth,
            path: PathCheck::learned(self.halfmoves),
            ..NodeResult::default()
        };
        Packed::pack(self.key, &record, None, generation).as_learned()
    }

    /// Its window, if it is valid at the end of `path`, where its position is the root of a search.
    pub fn at_root(&self, path: &PositionPath) -> Option<ScoreWindow> {
        self.packed(0).unpack().window(path, Ply::ROOT)
    }
}

impl Table {
    /// The largest number of protected learned entries: one for every second cluster.
    pub fn learned_share(&self) -> usize {
        (self.clusters().len() / 2).max(1)
    }

    /// Inserts `entries` for the next search, most important first, as many as [`Table::learned_share`] allows. An
    /// entry that is already there stays, and so does a deeper search result. Returns how many had to be stored.
    pub fn insert_learned(&self, entries: impl IntoIterator<Item = Learned>) -> usize {
        let mut entries = entries.into_iter().take(self.learned_share());
        let generation = self.generation();
        let mut stored = 0;
        let mut batch: ArrayVec<Learned, BATCH> = ArrayVec::new();
        loop {
            batch.extend(entries.by_ref().take(BATCH).inspect(|entry| self.prefetch(entry.key)));
            if batch.is_empty() {
                return stored;
            }
            stored += batch.drain(..).filter(|entry| self.insert_one(entry, generation)).count();
        }
    }

    fn insert_one(&self, entry: &Learned, generation: u64) -> bool {
        let packed = entry.packed(generation);
        let cluster = self.cluster(entry.key);
        let mut of_another: Option<(&AtomicEntry, Packed)> = None;
        let mut victim = &cluster.0[0];
        let mut least = i32::MAX;
        for slot in &cluster.0 {
            let found = slot.load();
            if found.matches(entry.key) {
                let stays = !found.is_learned() && found.depth() > packed.depth();
                let known = found.with_generation(generation) == packed;
                if !stays && found != packed {
                    slot.store(packed);
                }
                return !stays && !known;
            }
            if found.is_learned() {
                of_another = Some((slot, found));
            }
            let worth = self.worth(found, generation);
            if worth < least {
                (least, victim) = (worth, slot);
            }
        }
        match of_another {
            // Another entry for the same search came first, and is therefore more important. (After a resumed search, which
            // keeps the generation, it may be one for that search.)
            Some((_, other)) if other.age(generation) == 0 => return false,
            Some((slot, _)) => slot.store(packed),
            None => victim.store(packed),
        }
        true
    }

    /// Removes the learned entries of these positions. Results of searches stay.
    pub fn unlearn(&self, keys: impl IntoIterator<Item = PositionKey>) {
        for key in keys {
            for slot in &self.cluster(key).0 {
                let found = slot.load();
                if found.matches(key) && found.is_learned() {
                    slot.store(Packed::EMPTY);
                }
            }
        }
    }
}

impl Hit {
    /// Is this a learned entry of at least `depth`?
    pub fn is_learned_to(&self, depth: Depth) -> bool {
        self.learned && self.depth >= depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::PathHash,
        tt::entry::tests::{after, at},
        types::{Score, spread},
    };

    const HALF: u64 = 1 << 63;

    fn learned(key: u64, depth: i32) -> Learned {
        let window = ScoreWindow { lower: Score(-120), upper: Score(-80) };
        let best = PackedMove::from_bits(77);
        Learned { key: PositionKey(key), best, window, depth: Depth(depth), halfmoves: 4 }
    }

    fn searched(depth: i32) -> NodeResult {
        NodeResult {
            best: PackedMove::from_bits(99),
            raw_eval: Some(Score(5)),
            window: ScoreWindow::at_least(Score(depth)),
            depth: Depth(depth),
            path: PathCheck::new(&at(4), Depth(depth)),
            ..NodeResult::default()
        }
    }

    /// A table between searches.
    fn table() -> Table {
        Table::new(1).expect("memory")
    }

    #[test]
    fn a_learned_entry_says_what_its_record_says() {
        let table = table();
        assert_eq!(table.insert_learned([learned(1, 9)]), 1);
        let hit = table.probe(PositionKey(1)).expect("stored");
        assert!(hit.learned && hit.raw_eval.is_none() && !hit.was_pv);
        assert_eq!((hit.best.bits(), hit.depth), (77, Depth(9)));
        assert!(hit.is_learned_to(Depth(9)) && !hit.is_learned_to(Depth(10)));
        assert_eq!(table.insert_learned([learned(1, 9)]), 0, "it is there");
    }

    #[test]
    fn it_matches_every_path_that_the_clock_cannot_spoil() {
        let table = table();
        table.insert_learned([learned(1, 9), Learned { halfmoves: 70, ..learned(HALF, 30) }]);
        let near = table.probe(PositionKey(1)).expect("stored");
        assert!(near.window(&at(0), Ply(3)).is_some());
        assert!(near.window(&at(60), Ply(3)).is_some());
        assert!(near.window(&at(95), Ply(3)).is_none());
        let far = table.probe(PositionKey(HALF)).expect("stored");
        assert!(far.window(&at(70), Ply(3)).is_some());
        assert!(far.window(&at(0), Ply(3)).is_none());
    }

    #[test]
    fn it_says_nothing_once_the_game_has_repeated_a_position() {
        let table = table();
        table.insert_learned([learned(1, 9)]);
        let hit = table.probe(PositionKey(1)).expect("stored");
        for (mode, moves, believed) in [
            (PathHash::Draws, "a1a2 e6e7 a2a1", true),
            (PathHash::Draws, "a1a2 e6e7 a2a1 e7e6", false),
            (PathHash::Fifty, "a1a2 e6e7 a2a1 e7e6", true),
        ] {
            let path = after(moves, mode);
            assert_eq!(hit.window(&path, Ply(3)).is_some(), believed, "{} after {moves}", mode.name());
        }
    }

    #[test]
    fn shallower_results_do_not_evict_it_and_deeper_ones_do() {
        let table = table();
        table.insert_learned([learned(1, 9)]);
        table.new_search();
        for n in 2..40 {
            table.store(PositionKey(n), &searched(8));
        }
        table.store(PositionKey(1), &searched(8));
        assert!(table.probe(PositionKey(1)).expect("protected").learned);
        table.store(PositionKey(1), &searched(9));
        let hit = table.probe(PositionKey(1)).expect("stored");
        assert!(!hit.learned && hit.depth == Depth(9));
        let window = hit.window(&at(4), Ply::ROOT).expect("same clock");
        assert_eq!(window, ScoreWindow::at_least(Score(9)), "bounds that were widened do not join");
    }

    #[test]
    fn protection_lasts_one_search() {
        let table = table();
        table.insert_learned([learned(1, 9)]);
        table.new_search();
        table.new_search();
        for n in 2..40 {
            table.store(PositionKey(n), &searched(8));
        }
        assert!(table.probe(PositionKey(1)).is_none());
    }

    #[test]
    fn one_of_a_cluster_and_an_eighth_of_the_table() {
        let table = table();
        assert_eq!(
            table.insert_learned([learned(1, 9), learned(2, 30)]),
            1,
            "the first is the more important"
        );
        assert!(table.probe(PositionKey(2)).is_none());
        table.new_search();
        assert_eq!(table.insert_learned([learned(2, 1)]), 1, "what is not brought again gives way");
        assert!(table.probe(PositionKey(1)).is_none());

        let slots = (1 << 20) / 16;
        assert_eq!(table.learned_share(), slots / 8);
        let all: Vec<Learned> = (0..65_536u64).map(|n| learned(spread(n), 9)).collect();
        table.unlearn([PositionKey(1), PositionKey(2)]);
        assert!(table.insert_learned(all) <= table.learned_share());
        for cluster in table.clusters() {
            assert!(cluster.0.iter().filter(|slot| slot.load().is_learned()).count() <= 1);
        }
    }

    #[test]
    fn a_deeper_result_stays_and_a_shallower_one_gives_way() {
        let table = table();
        table.store(PositionKey(1), &searched(10));
        table.store(PositionKey(HALF), &searched(8));
        assert_eq!(table.insert_learned([learned(1, 9), learned(HALF, 9)]), 1);
        assert!(!table.probe(PositionKey(1)).expect("stored").learned);
        assert!(table.probe(PositionKey(HALF)).expect("stored").learned);
    }

    #[test]
    fn an_update_replaces_and_unlearning_leaves_what_was_searched() {
        let table = table();
        table.insert_learned([learned(1, 9)]);
        let window = ScoreWindow::at_most(Score(-200));
        assert_eq!(table.insert_learned([Learned { window, depth: Depth(7), ..learned(1, 9) }]), 1);
        assert_eq!(table.probe(PositionKey(1)).expect("stored").depth, Depth(7));
        table.store(PositionKey(HALF), &searched(8));
        table.unlearn([PositionKey(1), PositionKey(HALF), PositionKey(5)]);
        assert!(table.probe(PositionKey(1)).is_none() && table.probe(PositionKey(HALF)).is_some());
    }
}
