//! What the search reads from the transposition table and the hash file below it, and what it writes there.

use super::{
    node_state::NodeKind,
    params::tb_store_depth,
    resume::{ITERATION_KEY, LINE_KEY},
    worker::Worker,
};
use crate::{
    position::Position,
    tt::{Hit, NodeResult, PathCheck, ScoreWindow, file::HashFile},
    types::{Depth, PackedMove, Ply, PositionKey, Score},
};

/// Iterations less deep than this are repeated sooner than they are looked up.
const MIN_ITERATION_DEPTH: Depth = Depth(4);

impl Worker {
    /// Probes the table; and the file, where the table knows too little for a node of `depth`.
    #[inline]
    pub fn probe_tt<N: NodeKind>(&self, key: PositionKey, depth: Depth) -> Option<Hit> {
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
    pub fn store(&self, key: PositionKey, result: &NodeResult) {
        self.task.table.store(key, result);
        if let Some(file) = &self.task.hash_file
            && file.wants(result)
            // A root search with some moves only is no result of the position.
            && (result.ply > Ply::ROOT || self.task.limits.search_moves.is_empty())
        {
            file.keep(key, result);
        }
    }

    /// Keeps a raw evaluation, so that no other visit needs to compute it.
    pub fn store_raw_eval(&self, position: &Position, ply: Ply, raw_eval: Option<Score>, was_pv: bool) {
        let result = NodeResult {
            best: PackedMove::NONE,
            raw_eval,
            window: ScoreWindow::OPEN,
            depth: Depth::ZERO,
            was_pv,
            path: PathCheck::new(&self.path, Depth::ZERO),
            ply,
        };
        self.task.table.store(position.key(), &result);
    }

    /// Keeps an answer of the tablebases, as if it had been searched deeper: it will not change.
    pub fn store_tablebase_window(&self, position: &Position, ply: Ply, depth: Depth, window: ScoreWindow) {
        let result = NodeResult {
            best: PackedMove::NONE,
            raw_eval: None,
            window,
            depth: (depth + tb_store_depth()).min(Depth::MAX),
            was_pv: false,
            path: PathCheck::new(&self.path, depth),
            ply,
        };
        self.task.table.store(position.key(), &result);
    }

    /// In an analysis: the score of an inner node that was the root of a search of at least `depth`. Its line
    /// becomes the line of the node.
    pub fn resumed_score(&mut self, position: &Position, ply: Ply, depth: Depth) -> Option<Score> {
        let task = &self.task;
        if !task.analysis {
            return None;
        }
        let hit = task.results().iteration(position.key())?;
        let score = hit.window(&self.path, ply)?.exact()?;
        if hit.depth < depth && !score.is_decisive() {
            return None;
        }
        let line = task.results().line(position, hit)?;
        self.pv.set(ply, line);
        self.inherit_taint(hit);
        Some(score)
    }

    /// In an analysis: keeps what a finished iteration found, unless a deeper one is known.
    pub fn keep_iteration(&self, depth: Depth) {
        let task = &self.task;
        let best = &self.root_moves[0];
        if !task.analysis || depth < MIN_ITERATION_DEPTH || !task.limits.search_moves.is_empty() {
            return;
        }
        let key = task.root.key();
        let known = task.results().iteration(key);
        let known = known.filter(|hit| hit.window(&task.path, Ply::ROOT).is_some());
        if known.is_some_and(|known| known.depth > depth) {
            return;
        }
        let result = NodeResult {
            best: PackedMove::pack(best.root_move()),
            raw_eval: None,
            window: ScoreWindow::exactly(best.score),
            depth,
            was_pv: true,
            path: PathCheck::new(&self.path, depth),
            ply: Ply::ROOT,
        };
        task.table.store(key ^ ITERATION_KEY, &result);
        if let Some(file) = &task.hash_file {
            file.keep_iteration(key, &result);
        }
        self.keep_line(&result);
    }

    /// Keeps the moves of the line too: the entries of its nodes may be overwritten.
    fn keep_line(&self, root: &NodeResult) {
        let task = &self.task;
        let mut position = task.root.clone();
        for (index, &m) in self.root_moves[0].pv.iter().enumerate() {
            if index > 0 {
                let depth = (root.depth - index as i32).max(Depth::ZERO);
                let window = ScoreWindow::OPEN;
                let result = NodeResult { best: PackedMove::pack(m), window, depth, ..*root };
                let key = position.key();
                match &task.hash_file {
                    Some(file) => file.keep_line(key, &result),
                    None => task.table.store(key ^ LINE_KEY, &result),
                }
            }
            position = position.play(m);
        }
    }
}
