//! What outlives a search: results for the hash file, and the finished iterations from which an analysis
//! resumes.
//!
//! In an analysis each finished iteration is kept beside the nodes, so that no unfinished one can spoil it. A
//! later search with the same root begins at the next depth. And where such a root comes up inside another
//! tree, in a node of a principal variation, its score is the answer if it was searched at least as deep: so
//! what was found in the child is known in the parent (Kaufman and Rajlich called it the persistent hash
//! of Rybka 3, 2008; here with depth, path and checksum).

use shakmaty::Move;

use super::{node::NodeKind, task::Task, worker::Worker};
use crate::{
    position::{Path, Position},
    tt::{Hit, PathCheck, Record, ScoreWindow, Table, file::HashFile},
    types::{Bound, Depth, PackedMove, Ply, PositionKey, Score},
};

/// Finished iterations lie in the table under keys of their own.
const ITERATION_KEY: u64 = 0x5EED_0FA5_7A71_1E57;
/// So do the moves of their lines.
const LINE_KEY: u64 = 0xA11E_0F7A_E11E_5EED;
/// Shallower iterations are over at once.
const MIN_DEPTH: Depth = Depth(4);

/// The memory of searches: the table, and the file below it if there is one.
#[derive(Copy, Clone)]
pub struct Memory<'a> {
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

impl Memory<'_> {
    /// What an earlier search with this root came to, if that is true at the end of `path` as well.
    pub fn resumed(self, root: &Position, path: &Path) -> Option<Resumed> {
        let hit = self.iteration(root.key())?;
        let score = hit.window(path, Ply::ROOT)?.exact()?;
        let line = self.line(root, hit)?;
        Some(Resumed { depth: hit.depth, score, bound: Bound::Exact, line })
    }

    /// What only the table knows of a root comes into the file: a search that goes on from it will not find it again.
    pub fn share(self, root: PositionKey) {
        if let (Some(file), Some(hit)) = (self.file, self.table.probe(root ^ ITERATION_KEY))
            && file.iteration(root).is_none_or(|known| known.depth < hit.depth)
        {
            file.keep_iteration(root, &hit.to_root_record());
        }
    }

    fn iteration(self, key: PositionKey) -> Option<Hit> {
        let in_table = self.table.probe(key ^ ITERATION_KEY);
        let in_file = self.file.and_then(|file| file.iteration(key));
        in_table.into_iter().chain(in_file).max_by_key(|hit| hit.depth)
    }

    /// The line of an [iteration](Memory::iteration) that was finished at `position`.
    fn line(self, position: &Position, iteration: Hit) -> Option<Vec<Move>> {
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

/// `first` and the best moves after it, as many as a search of `depth` saw, until none is known or a position
/// comes again.
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

impl Task {
    fn memory(&self) -> Memory<'_> {
        Memory { table: &self.table, file: self.hash_file.as_deref() }
    }
}

impl Worker {
    /// Asks the table; and the file, where the table knows too little for a node of `depth`.
    #[inline]
    pub fn look_up<N: NodeKind>(&self, key: PositionKey, depth: Depth) -> Option<Hit> {
        let hit = self.task.table.probe(key);
        match &self.task.hash_file {
            Some(file)
                if N::PV || depth >= HashFile::LEAST_DEPTH && hit.is_none_or(|hit| hit.depth < depth) =>
            {
                file.recall(&self.task.table, key, hit)
            }
            _ => hit,
        }
    }

    /// Stores a result in the table; in the file too, if it is worth that.
    #[inline]
    pub fn store(&self, key: PositionKey, record: &Record) {
        self.task.table.store(key, record);
        if let Some(file) = &self.task.hash_file
            && file.wants(record)
            && (record.ply > Ply::ROOT || self.task.limits.search_moves.is_empty())
        {
            file.keep(key, record);
        }
    }

    /// In an analysis: the score of an inner node that was the root of a search of at least `depth`. Its line
    /// becomes the line of the node.
    pub fn found_as_root(&mut self, position: &Position, ply: Ply, depth: Depth) -> Option<Score> {
        let task = &self.task;
        if !task.analysis {
            return None;
        }
        let hit = task.memory().iteration(position.key())?;
        let score = hit.window(&self.path, ply)?.exact()?;
        if hit.depth < depth && !score.is_decisive() {
            return None;
        }
        let line = task.memory().line(position, hit)?;
        self.pv.set(ply, line);
        self.rest_on(hit);
        Some(score)
    }

    /// In an analysis: keeps what a finished iteration found, unless a deeper one is known.
    pub fn keep_iteration(&self, depth: Depth) {
        let task = &self.task;
        let best = &self.root_moves[0];
        if !task.analysis || depth < MIN_DEPTH || !task.limits.search_moves.is_empty() {
            return;
        }
        let key = task.root.key();
        let known = task.memory().iteration(key);
        let known = known.filter(|hit| hit.window(&task.path, Ply::ROOT).is_some());
        if known.is_some_and(|known| known.depth > depth) {
            return;
        }
        let record = Record {
            best: PackedMove::pack(best.root_move()),
            evaluation: None,
            window: ScoreWindow::exactly(best.score),
            depth,
            was_pv: true,
            path: PathCheck::new(&self.path, depth),
            ply: Ply::ROOT,
        };
        task.table.store(key ^ ITERATION_KEY, &record);
        if let Some(file) = &task.hash_file {
            file.keep_iteration(key, &record);
        }
        self.keep_line(&record);
    }

    fn keep_line(&self, root: &Record) {
        let task = &self.task;
        let mut position = task.root.clone();
        for (index, &m) in self.root_moves[0].pv.iter().enumerate() {
            if index > 0 {
                let depth = (root.depth - index as i32).max(Depth::ZERO);
                let window = ScoreWindow::OPEN;
                let record = Record { best: PackedMove::pack(m), window, depth, ..*root };
                let key = position.key();
                match &task.hash_file {
                    Some(file) => file.keep_line(key, &record),
                    None => task.table.store(key ^ LINE_KEY, &record),
                }
            }
            position = position.play(m);
        }
    }
}
