//! How the search reads and writes the transposition table and the hash file below it.

use super::{
    node_state::NodeKind, params::tb_store_depth, progress::ThreadResult, resume::unpack_line, worker::Worker,
};
use crate::{
    position::Position,
    tt::{Hit, NodeResult, PathCheck, RootResult, ScoreWindow, file::HashFile},
    types::{Bound, Depth, PackedMove, Ply, PositionKey, Score},
};

/// Shallower iterations are not kept: repeating them is faster than looking them up.
const MIN_ITERATION_DEPTH: Depth = Depth(4);

impl Worker {
    /// Probes the table. A child of a position that it does not have is rarely there (5 to 10 in 100, else 60), so it
    /// will be evaluated: half of that work is done while its cluster is loaded.
    #[inline]
    pub fn probe_table(&mut self, position: &Position, ply: Ply) -> Option<Hit> {
        if !self.stack_before(ply, 1).in_table && !position.in_check() {
            self.evaluator.prepare(position, ply);
        }
        let hit = self.task.table.probe(position.key());
        self.stack_mut(ply).in_table = hit.is_some();
        hit
    }

    /// Probes the table, and also the file if the table has no entry of sufficient depth, or in a PV node.
    #[inline]
    pub fn probe_tt<N: NodeKind>(&mut self, position: &Position, ply: Ply, depth: Depth) -> Option<Hit> {
        let hit = self.probe_table(position, ply);
        let key = position.key();
        match &self.task.hash_file {
            Some(file)
                if N::PV || depth >= HashFile::LEAST_DEPTH && hit.is_none_or(|hit| hit.depth < depth) =>
            {
                file.probe_into(&self.task.table, key, hit)
            }
            _ => hit,
        }
    }

    /// Stores a result in the table, and in the file if the file accepts it.
    #[inline]
    pub fn store(&self, key: PositionKey, result: &NodeResult) {
        self.task.table.store(key, result);
        if let Some(file) = &self.task.hash_file
            && file.wants(result)
        {
            file.keep(key, result);
        }
    }

    /// A result of this depth for the node at the end of the path, which says nothing yet.
    #[inline]
    pub fn node_result(&self, ply: Ply, depth: Depth) -> NodeResult {
        NodeResult { depth, ply, path: PathCheck::new(&self.path, depth), ..NodeResult::default() }
    }

    /// Stores a raw evaluation, so that later visits need not compute it again.
    pub fn store_raw_eval(&self, position: &Position, ply: Ply, raw_eval: Option<Score>, was_pv: bool) {
        let result = NodeResult { raw_eval, was_pv, ..self.node_result(ply, Depth::ZERO) };
        self.task.table.store(position.key(), &result);
    }

    /// Stores a tablebase result with a greater depth than the node's, since it is final.
    pub fn store_tablebase_window(&self, position: &Position, ply: Ply, depth: Depth, window: ScoreWindow) {
        let final_depth = (depth + tb_store_depth()).min(Depth::MAX);
        let result = NodeResult { window, depth: final_depth, ..self.node_result(ply, depth) };
        self.task.table.store(position.key(), &result);
    }

    /// In an analysis: the score of an inner node that was the root of a search of at least `depth`. Its line becomes the
    /// line of the node. A position that the path repeats is searched: its result may be that of this search, whose line
    /// would follow itself in a circle.
    pub fn resumed_score(&mut self, position: &Position, ply: Ply, depth: Depth) -> Option<Score> {
        let task = &self.task;
        if !task.analysis || self.path.occurrences() > 1 {
            return None;
        }
        let RootResult { hit, line } = task.results().root_result(position.key(), &self.path, ply)?;
        let score = hit.window(&self.path, ply)?.exact()?;
        if hit.depth < depth {
            return None;
        }
        let line = unpack_line(position, &line);
        if line.is_empty() {
            return None;
        }
        self.pv.set(ply, line);
        self.inherit_taint(hit);
        Some(score)
    }

    /// In an analysis: keeps a result that is about to be printed, whichever thread found it, unless one deeper than
    /// `reached`, the depth of this search, is known.
    pub fn keep_root(&self, result: &ThreadResult, reached: Depth) {
        let task = &self.task;
        let best = &result.lines[0];
        let depth = best.depth;
        let is_exact = best.has_score() && best.bound == Bound::Exact;
        if !task.analysis || depth < MIN_ITERATION_DEPTH || best.is_cursed() || !(task.is_free() && is_exact)
        {
            return;
        }
        let key = task.root.key();
        let known = task.results().root_result(key, &task.path, Ply::ROOT);
        if known.is_some_and(|known| known.hit.depth > reached) {
            return;
        }
        let result = NodeResult {
            best: PackedMove::pack(best.root_move()),
            window: ScoreWindow::exactly(best.shown_score()),
            was_pv: true,
            ..self.node_result(Ply::ROOT, depth)
        };
        let line: Vec<PackedMove> = best.pv.iter().map(|&m| PackedMove::pack(m)).collect();
        task.table.roots().keep(key, &result, &line);
        if let Some(file) = &task.hash_file {
            file.keep_root(key, &result, &line);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::{
        position::{Position, PositionPath},
        search::{
            Limits,
            main_thread::run_thread,
            task::SearchTask,
            worker::tests::{legal, worker_at},
        },
        tt::{NodeResult, ScoreWindow},
        types::{Depth, PackedMove, Ply, Score},
    };

    #[test]
    fn a_mate_that_a_shallow_search_found_is_not_the_result_of_a_deep_one() {
        let root = Position::default();
        let mut worker = worker_at(&root);
        worker.task = Arc::new(SearchTask {
            analysis: true,
            table: Arc::clone(&worker.task.table),
            ..SearchTask::idle(Arc::default())
        });
        let best = PackedMove::pack(legal(&root, "e2e4"));
        let window = ScoreWindow::exactly(Score::mate_in(Ply(9)));
        let result = NodeResult { best, window, depth: Depth(5), ..NodeResult::default() };
        worker.task.table.roots().keep(root.key(), &result, &[best]);
        let found = [5, 6].map(|depth| worker.resumed_score(&root, Ply::ROOT, Depth(depth)).is_some());
        assert_eq!(found, [true, false]);
    }

    #[test]
    fn a_search_of_some_moves_says_nothing_of_the_position() {
        let root = Position::default();
        let mut worker = worker_at(&root);
        let score = |moves: &[&str], worker: &mut super::Worker| {
            let search_moves = moves.iter().map(|uci| legal(&root, uci)).collect();
            let task = Arc::new(SearchTask {
                path: PositionPath::new(&root),
                limits: Limits { depth: Some(Depth(3)), search_moves, ..Limits::default() },
                table: Arc::clone(&worker.task.table),
                progress: Arc::clone(&worker.task.progress),
                ..SearchTask::idle(Arc::default())
            });
            run_thread(worker, Arc::clone(&task)).expect("it finds a move");
            task.table.probe(root.key()).and_then(|hit| hit.window(&task.path, Ply::ROOT))
        };
        assert_eq!(score(&["a2a3"], &mut worker), Some(ScoreWindow::OPEN));
        assert_ne!(score(&[], &mut worker), Some(ScoreWindow::OPEN));
    }
}
