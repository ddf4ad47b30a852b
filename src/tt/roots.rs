//! The results of analyses at their roots: depth, score and line as they were printed last.
//!
//! They are stored apart from the entries of the table, which every search replaces. There is one for each path that
//! [`PathCheck`](super::PathCheck) distinguishes: the same position with another fifty-move clock may have another
//! score, and analysing that one must not delete the result of this one.

use std::{cmp::Reverse, collections::HashMap, sync::RwLock};

use super::{Hit, NodeResult, entry::Packed};
use crate::{
    locks::{read, write},
    position::PositionPath,
    types::{PackedMove, Ply, PositionKey},
};

/// Positions that are kept; the shallowest is replaced first.
const MAX_POSITIONS: usize = 4096;
/// Paths that are kept for each; the one at the highest clock, which is valid on the fewest others, is replaced first.
const MAX_PATHS: usize = 16;

/// The last finished iteration of an analysis.
#[derive(Clone, Debug)]
pub struct RootResult {
    /// Depth, score and path.
    pub hit: Hit,
    /// The line, its first move first.
    pub line: Vec<PackedMove>,
}

/// The deepest of `results` that is valid at the end of `path`, `ply` plies from the root; of equals the last.
pub fn deepest<T>(
    results: impl Iterator<Item = T>,
    hit: impl Fn(&T) -> Hit,
    path: &PositionPath,
    ply: Ply,
) -> Option<T> {
    results.filter(|found| hit(found).window(path, ply).is_some()).max_by_key(|found| hit(found).depth)
}

/// The results of this process.
#[derive(Default)]
pub struct Roots(RwLock<HashMap<PositionKey, Vec<RootResult>>>);

impl Roots {
    /// Keeps a result; it replaces one of the same path.
    pub fn keep(&self, root: PositionKey, record: &NodeResult, line: &[PackedMove]) {
        let hit = Packed::pack(root, record, None, 0).unpack();
        let mut roots = write(&self.0);
        if roots.len() >= MAX_POSITIONS && !roots.contains_key(&root) {
            let depth = |results: &[RootResult]| results.iter().map(|result| result.hit.depth).max();
            let shallowest = roots.iter().min_by_key(|(_, results)| depth(results)).map(|(&key, _)| key);
            shallowest.map(|key| roots.remove(&key));
        }
        let results = roots.entry(root).or_default();
        results.retain(|known| known.hit.path != record.path);
        if results.len() >= MAX_PATHS {
            let clock = |result: &RootResult| result.hit.path.clock();
            let narrowest = (0..results.len())
                .max_by_key(|&index| (clock(&results[index]), Reverse(results[index].hit.depth)));
            narrowest.map(|index| results.remove(index));
        }
        results.push(RootResult { hit, line: line.to_vec() });
    }

    /// The deepest result of a root that is valid at the end of `path`, `ply` plies from the root of the search.
    pub fn find(&self, root: PositionKey, path: &PositionPath, ply: Ply) -> Option<RootResult> {
        let roots = read(&self.0);
        deepest(roots.get(&root)?.iter(), |result| result.hit, path, ply).cloned()
    }

    /// Clears all results.
    pub(super) fn clear(&self) {
        write(&self.0).clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        tt::{PathCheck, ScoreWindow, entry::tests::at},
        types::{Depth, Score},
    };

    fn keep(roots: &Roots, key: u64, depth: i32, clock: u32) {
        let record = NodeResult {
            best: PackedMove::from_bits(77),
            window: ScoreWindow::exactly(Score(depth)),
            depth: Depth(depth),
            was_pv: true,
            path: PathCheck::new(&at(clock), Depth(depth)),
            ..NodeResult::default()
        };
        roots.keep(PositionKey(key), &record, &[record.best]);
    }

    fn depth(roots: &Roots, key: u64, clock: u32) -> Option<i32> {
        roots.find(PositionKey(key), &at(clock), Ply::ROOT).map(|result| result.hit.depth.get())
    }

    #[test]
    fn each_clock_has_its_own_result_and_far_from_the_counter_all_share_the_deepest() {
        let roots = Roots::default();
        for (depth, clock) in [(17, 0), (9, 90), (12, 4)] {
            keep(&roots, 5, depth, clock);
        }
        assert_eq!(
            [0, 4, 30, 90].map(|clock| depth(&roots, 5, clock)),
            [Some(17), Some(17), Some(17), Some(9)]
        );
        assert_eq!(depth(&roots, 5, 85), None);
        assert_eq!(depth(&roots, 6, 0), None);
        // The last result printed counts, even if it is less deep.
        keep(&roots, 5, 16, 0);
        assert_eq!(depth(&roots, 5, 0), Some(16));
    }

    #[test]
    fn a_result_at_clock_zero_outlives_any_number_at_other_clocks() {
        let roots = Roots::default();
        keep(&roots, 5, 9, 0);
        (81..99).for_each(|clock| keep(&roots, 5, 20, clock));
        assert_eq!((depth(&roots, 5, 0), depth(&roots, 5, 98)), (Some(9), Some(20)));
    }

    #[test]
    fn what_is_shallow_goes_first() {
        let roots = Roots::default();
        for key in 0..=MAX_POSITIONS as u64 {
            keep(&roots, key, if key == 7 { 5 } else { 20 }, 0);
        }
        assert_eq!((depth(&roots, 7, 0), depth(&roots, 0, 0)), (None, Some(20)));
    }
}
