//! Resuming an analysis from the result of an earlier search with the same root.
//!
//! In an analysis the result of each finished iteration is stored apart from the entries of the nodes, because the
//! next iteration overwrites those and may not finish. A later search with the same root begins at the next depth. If
//! such a root occurs as a PV node of another tree, its score is returned if it was searched at least as deep: so
//! what was found in the child is known in the parent (the persistent hash of Rybka 3, Kaufman and Rajlich 2008; here
//! with depth, path and checksum).

use shakmaty::Move;

use crate::{
    position::{Position, PositionPath},
    tt::{RootResult, Table, file::HashFile},
    types::{Bound, Depth, PackedMove, Ply, PositionKey, Score},
};

/// Where results outlive a search: the table, and the hash file below it if there is one.
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
    /// Exact, or the lower bound of a learned record that knows no more.
    pub bound: Bound,
    /// Its line, as far as it is still known; at least one move.
    pub line: Vec<Move>,
}

impl ResultStore<'_> {
    /// The result of an earlier search with this root, if it is also valid at the end of `path`.
    pub fn resumed(self, root: &Position, path: &PositionPath) -> Option<Resumed> {
        let RootResult { hit, line } = self.root_result(root.key(), path, Ply::ROOT)?;
        let score = hit.window(path, Ply::ROOT)?.exact()?;
        let line = unpack_line(root, &line);
        (!line.is_empty()).then_some(Resumed { depth: hit.depth, score, bound: Bound::Exact, line })
    }

    /// Copies a root result that only this process has to the file: a search that resumes from it does not produce it
    /// again.
    pub fn share(self, root: PositionKey, path: &PositionPath) {
        if let (Some(file), Some(known)) = (self.file, self.table.roots().find(root, path, Ply::ROOT))
            && file.find_root(root, path, Ply::ROOT).is_none_or(|other| other.hit.depth < known.hit.depth)
        {
            file.keep_root(root, &known.hit.to_root_result(), &known.line);
        }
    }

    /// The deepest finished iteration with this root that is valid at the end of `path`.
    pub fn root_result(self, key: PositionKey, path: &PositionPath, ply: Ply) -> Option<RootResult> {
        let in_file = self.file.and_then(|file| file.find_root(key, path, ply));
        // `max_by_key` takes the last of equals, here the one that this process printed.
        in_file.into_iter().chain(self.table.roots().find(key, path, ply)).max_by_key(|found| found.hit.depth)
    }
}

/// The moves of a line, up to the first illegal one.
pub fn unpack_line(root: &Position, line: &[PackedMove]) -> Vec<Move> {
    let mut position = root.clone();
    let legal = |&packed: &PackedMove| {
        let m = position.unpack(packed)?;
        position = position.play(m);
        Some(m)
    };
    line.iter().map_while(legal).collect()
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
