//! Resuming an analysis: what an earlier search with the same root came to.
//!
//! In an analysis each finished iteration is stored under a key of its own, beside the entries of the nodes: the
//! next iteration, which may not be finished, overwrites those. A later search with the same root begins at
//! the next depth. Where such a root comes up inside another tree, in a PV node, its score is the answer if
//! it was searched at least as deep: so what was found in the child is known in the parent (Kaufman and
//! Rajlich called it the persistent hash of Rybka 3, 2008; here with depth, path and checksum).

use shakmaty::Move;

use crate::{
    position::{Path, Position},
    tt::{Hit, Table, file::HashFile},
    types::{Bound, Depth, PackedMove, Ply, PositionKey, Score},
};

/// Finished iterations lie in the table under the key of their root, changed by this.
pub const ITERATION_KEY: u64 = 0x5EED_0FA5_7A71_1E57;
/// The moves of their lines lie under the keys of their positions, changed by this.
pub const LINE_KEY: u64 = 0xA11E_0F7A_E11E_5EED;

/// Where results outlive a search: the table, and the file below it if there is one.
#[derive(Copy, Clone)]
pub struct ResultStore<'a> {
    /// In RAM.
    pub table: &'a Table,
    /// On disk.
    pub file: Option<&'a HashFile>,
}

/// The last finished iteration of an earlier search with the same root.
#[derive(Clone, Debug)]
pub struct Resumed {
    /// Its depth.
    pub depth: Depth,
    /// Its score.
    pub score: Score,
    /// What that says: an analysis that was stopped may know only that it is at least so much.
    pub bound: Bound,
    /// Its line, as far as it is still known; at least one move.
    pub line: Vec<Move>,
}

impl ResultStore<'_> {
    /// What an earlier search with this root came to, if that is true at the end of `path` as well.
    pub fn resumed(self, root: &Position, path: &Path) -> Option<Resumed> {
        let hit = self.iteration(root.key())?;
        let score = hit.window(path, Ply::ROOT)?.exact()?;
        let line = self.line(root, hit)?;
        Some(Resumed { depth: hit.depth, score, bound: Bound::Exact, line })
    }

    /// Copies to the file what only the table knows of a root: a search that resumes from it does not find it
    /// again.
    pub fn share(self, root: PositionKey) {
        if let (Some(file), Some(hit)) = (self.file, self.table.probe(root ^ ITERATION_KEY))
            && file.iteration(root).is_none_or(|known| known.depth < hit.depth)
        {
            file.keep_iteration(root, &hit.to_root_result());
        }
    }

    /// The deepest finished iteration with this root.
    pub fn iteration(self, key: PositionKey) -> Option<Hit> {
        let in_table = self.table.probe(key ^ ITERATION_KEY);
        let in_file = self.file.and_then(|file| file.iteration(key));
        in_table.into_iter().chain(in_file).max_by_key(|hit| hit.depth)
    }

    /// The line of an [iteration](ResultStore::iteration) that was finished at `position`.
    pub fn line(self, position: &Position, iteration: Hit) -> Option<Vec<Move>> {
        let first = position.unpack(iteration.best)?;
        Some(best_line(position, first, iteration.depth, |key| self.next_of_line(key)))
    }

    fn next_of_line(self, key: PositionKey) -> Option<PackedMove> {
        let in_file = self.file.and_then(|file| file.line(key));
        let in_table = || self.table.probe(key ^ LINE_KEY).map(|hit| hit.best);
        let known = || self.table.probe(key).map(|hit| hit.best);
        in_file.or_else(in_table).or_else(known)
    }
}

/// `first` and the best moves after it: at most `depth`, and until none is known or a position repeats.
pub fn best_line(
    position: &Position,
    first: Move,
    depth: Depth,
    best: impl Fn(PositionKey) -> Option<PackedMove>,
) -> Vec<Move> {
    let plies = depth.get().unsigned_abs() as usize;
    let mut line = vec![first];
    let mut seen = vec![position.key()];
    let mut position = position.play(first);
    while line.len() < plies && !seen.contains(&position.key()) {
        let key = position.key();
        let Some(next) = best(key).and_then(|best| position.unpack(best)) else { break };
        seen.push(key);
        line.push(next);
        position = position.play(next);
    }
    line
}
