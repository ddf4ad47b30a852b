//! The root node: announces its moves, keeps the result of each, and compares them by score and preference.

use std::time::Duration;

use shakmaty::Move;

use super::{
    event::Event, node_state::Window, params::advice_min_depth, root_move::RootMove, worker::Worker,
};
use crate::types::{Bound, Depth, Ply, Score};

/// After this time the move being searched is announced.
const ANNOUNCE_AFTER: Duration = Duration::from_secs(3);

impl Worker {
    /// May this move be searched at the root now? Only if it is in `searchmoves`, does not begin an earlier line
    /// (MultiPV), and has the best tablebase rank of the remaining moves.
    pub fn is_root_candidate(&self, m: Move) -> bool {
        let rest = &self.root_moves[self.pv_index..];
        let class = |root: &RootMove| (root.rank, root.is_advised);
        rest.iter().take_while(|root| class(root) == class(&rest[0])).any(|root| root.root_move() == m)
    }

    /// Reports which move is being searched, in a long search.
    pub fn announce(&self, m: Move, move_count: usize) {
        if self.id == 0 && self.task.clock.elapsed() >= ANNOUNCE_AFTER {
            let number = move_count + self.pv_index;
            (self.task.sink)(Event::CurrentMove { depth: self.root_depth, root_move: m, number });
        }
    }

    /// Keeps the result of the `move_count`th root move, searched with `window` in `nodes` nodes.
    pub fn record_root(&mut self, m: Move, score: Score, window: Window, move_count: usize, nodes: u64) {
        let seldepth = self.seldepth;
        let child_line = self.pv.line(Ply(1));
        let Some(root) = self.root_moves.iter_mut().find(|root| root.root_move() == m) else { return };
        root.nodes += nodes;
        if move_count > 1 && score <= window.alpha {
            // Fail low: the move is no better than the best so far.
            root.score = -Score::INFINITE;
            return;
        }
        root.score = score;
        root.bound = Bound::of(score, window.alpha, window.beta);
        root.depth = self.root_depth;
        root.seldepth = seldepth;
        root.pv.truncate(1);
        root.pv.extend_from_slice(child_line);
        if self.found.lines.len() == 1 {
            let root = root.clone();
            self.keep_better(root);
        }
    }

    /// Keeps the best move of an unfinished iteration as the result, with its exact score or a lower bound, if it is
    /// another than that of the last finished one. It counts in the vote at once.
    fn keep_better(&mut self, best: RootMove) {
        let known = &self.found.lines[0];
        let is_answer = known.has_score() && known.bound == Bound::Exact;
        let is_other = best.root_move() != known.root_move();
        // In a game a move counts as soon as it fails high; an analysis answers with exact scores and whole lines.
        let counts = match best.bound {
            Bound::Exact => !is_answer || self.has_line(&best),
            Bound::Lower => !self.task.analysis,
            Bound::Upper => false,
        };
        // If it loses, a move not searched yet may hold out longer.
        if !counts || is_answer && (!is_other || best.score.is_loss()) {
            return;
        }
        // The iteration has not compared it with all moves: it counts as found by the one before.
        self.found.lines = vec![RootMove { depth: self.found.depth, ..best }];
        if self.id != 0 && self.found.depth > 0 {
            self.task.progress.show(self.id, self.found.clone());
        }
    }

    /// Has it got a line, or does the game end with it?
    fn has_line(&self, root: &RootMove) -> bool {
        root.pv.len() > 1 || root.score.mate_plies() == Some(1) || self.is_drawn_after(root)
    }

    /// The worth of the preference for a root move.
    pub fn worth(&self, m: Move) -> i32 {
        self.root_moves.iter().find(|root| root.root_move() == m).map_or(0, |root| root.worth)
    }

    /// Sets the worth of each preference in an iteration to `depth`. Advised moves compete with the others from a
    /// certain depth on, or if all of them lose.
    pub fn weigh_preferences(&mut self, depth: Depth) {
        for root in &mut self.root_moves {
            root.worth = root.preference.map_or(0, |preference| preference.worth(depth));
        }
        let first = &self.root_moves[0];
        let is_lost = first.previous.is_loss() && first.previous != -Score::INFINITE;
        if depth >= advice_min_depth() || is_lost {
            for root in &mut self.root_moves {
                root.is_advised = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        position::Position,
        search::{
            progress::ThreadResult,
            task::SearchTask,
            worker::tests::{legal, worker_at},
        },
    };

    const WINDOW: Window = Window { alpha: Score(20), beta: Score(50) };

    /// The answer of a search stopped after its second move had `score` in an iteration whose best score before was 30.
    fn answer(analysis: bool, score: i32) -> (Move, Score, Bound) {
        let position = Position::default();
        let mut worker = worker_at(&position);
        worker.task = Arc::new(SearchTask { analysis, ..SearchTask::idle(Arc::default()) });
        let [first, second] = ["e2e4", "d2d4"].map(|uci| RootMove::new(legal(&position, uci)));
        let finished = RootMove { score: Score(30), ..first.clone() };
        worker.found = ThreadResult { lines: vec![finished], depth: Depth(5) };
        worker.root_moves = vec![first, second.clone()];
        worker.record_root(second.root_move(), Score(score), WINDOW, 2, 1);
        let best = &worker.found.lines[0];
        (best.root_move(), best.score, best.bound)
    }

    #[test]
    fn a_move_that_fails_high_is_the_answer_in_a_game_but_not_in_an_analysis() {
        let [first, second] = ["e2e4", "d2d4"].map(|uci| legal(&Position::default(), uci));
        assert_eq!(answer(false, 60), (second, Score(60), Bound::Lower));
        assert_eq!(answer(true, 60), (first, Score(30), Bound::Exact));
        assert_eq!(answer(false, 20), (first, Score(30), Bound::Exact));
    }
}
