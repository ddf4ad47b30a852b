//! Steps 13 to 15: pruning of whole nodes, in null-window nodes out of check.
//!
//! In check the static evaluation is unreliable, and in a PV node an error would change the move played.

use shakmaty::Move;

use super::{
    node_state::{Expect, Node, NonPvNode, Window},
    params::*,
    picker::MovePicker,
    worker::Worker,
};
use crate::{
    tt::{NodeResult, ScoreWindow},
    types::{PackedMove, Score},
};

impl Worker {
    /// Steps 13 to 15; the cheapest first.
    pub fn prune_node(&mut self, node: &Node) -> Option<Score> {
        reverse_futility(node).or_else(|| self.null_move(node)).or_else(|| self.probcut(node))
    }

    /// Step 14. Null move pruning. If passing fails high, a real move will as well. Not if the side to move has only
    /// pawns (zugzwang); cutoffs at high depth, or with a single piece, are verified by a search without null moves. (At
    /// low depth that is quiescence alone; a deeper one gained nothing.)
    fn null_move(&mut self, node: &Node) -> Option<Score> {
        let Node { position, ply, depth, window: Window { beta, .. }, .. } = *node;
        let passed = self.stack_before(ply, 1).current_move.is_none();
        if depth < nmp_min_depth()
            || node.expect != Expect::Cut
            || node.eval < beta
            || node.static_eval < beta - (nmp_static_base() + nmp_static_step() * depth.get())
            || beta.is_loss()
            || ply.index() < self.nmp_min_ply
            || passed
            || !position.has_non_pawn_material(position.turn())
        {
            return None;
        }
        let surplus = ((node.eval - beta) / nmp_eval_div()).min(nmp_eval_max());
        let reduction = nmp_base() + depth.get() / nmp_depth_div() + surplus;
        let child = self.make_null(position, ply)?;
        let window = Window::null(-beta);
        let score = -self.search::<NonPvNode>(&child, ply.next(), window, depth - reduction, Expect::All);
        self.unmake();
        if self.stopped || score < beta {
            return None;
        }
        // A mate found after a null move is not proven.
        let score = if score.is_decisive() { beta } else { score };
        let zugzwang_threatens =
            depth >= nmp_verify_min_depth() || position.non_pawn_material(position.turn()).count() == 1;
        if !zugzwang_threatens || self.nmp_min_ply > 0 {
            return Some(score);
        }
        let plies = share_of(depth.get() - reduction, nmp_verify_share()).max(1);
        self.nmp_min_ply = ply.index() + plies as usize;
        let window = Window::null(beta - 1);
        let verified = self.search::<NonPvNode>(position, ply, window, depth - reduction, Expect::All);
        self.nmp_min_ply = 0;
        (verified >= beta && !self.stopped).then_some(score)
    }

    /// Step 15. ProbCut. A good capture that beats beta by a margin in a shallower search will beat beta in
    /// the full one (Buro 1995).
    fn probcut(&mut self, node: &Node) -> Option<Score> {
        let Node { position, ply, depth, window: Window { beta, .. }, .. } = *node;
        let improving_margin = if node.improving { probcut_improving_margin() } else { 0 };
        let target = beta + probcut_margin() - improving_margin;
        let refuted = node.tt_window.is_some_and(|window| window.upper < target);
        if depth < probcut_min_depth() || beta.is_decisive() || refuted {
            return None;
        }
        let threshold = target - node.static_eval;
        let tt_move = node.tt_move.filter(|&m| node.tt_move_is_noisy() && position.see_ge(m, threshold));
        let shallow = depth - probcut_reduction();
        let mut picker = MovePicker::winning(threshold, tt_move, ply);
        while let Some(m) = picker.next(self, position) {
            let child = self.make(position, m, ply);
            let window = Window::null(target - 1).flip();
            let mut score = -self.quiesce::<NonPvNode>(&child, ply.next(), window);
            if score >= target && shallow > 0 {
                // The score of the second search does not depend on the taint of the first.
                self.path.clear_taint();
                score = -self.search::<NonPvNode>(&child, ply.next(), window, shallow, node.expect.flip());
            }
            self.unmake();
            if self.stopped {
                return None;
            }
            if score >= target {
                self.path.keep_last_child_taint();
                self.store_probcut(node, m, score);
                return Some(self.damped(score, |score| score - (target - beta)));
            }
        }
        None
    }

    fn store_probcut(&self, node: &Node, m: Move, score: Score) {
        // One ply for the move, plus the shallower search below it.
        let depth = node.depth - (probcut_reduction() - 1);
        let result = NodeResult {
            best: PackedMove::pack(m),
            raw_eval: node.raw_eval,
            window: ScoreWindow::at_least(score),
            was_pv: node.was_pv,
            ..self.node_result(node.ply, depth)
        };
        self.task.table.store(node.position.key(), &result);
    }
}

/// Step 13. Reverse futility pruning (+85 ± 39). The evaluation is so far above beta that a shallow search is
/// unlikely to bring it below. With a quiet table move only at low depth: that move may show why the evaluation is
/// wrong.
fn reverse_futility(node: &Node) -> Option<Score> {
    let Window { beta, .. } = node.window;
    let margin = rfp_margin() * node.depth.get() - if node.improving { rfp_improving_margin() } else { 0 };
    let safe = node.depth <= rfp_max_depth()
        && !node.was_pv
        && !beta.is_loss()
        && !node.eval.is_decisive()
        && node.eval - margin >= beta
        && (node.tt_move.is_none() || node.tt_move_is_noisy() || node.depth <= rfp_quiet_tt_move_max_depth());
    let weight = rfp_beta_weight();
    safe.then(|| Score((node.eval.0 + weight * beta.0) / (weight + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::Position,
        search::worker::tests::{legal, node, position, worker_at},
        types::{Depth, Ply},
    };

    /// White is a rook ahead.
    const AHEAD: &str = "1nbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQk - 0 2";
    /// White takes a queen for nothing.
    const HANGING: &str = "rnb1kbnr/ppp1pppp/8/8/3q4/4P3/PPPP1PPP/RNBQKBNR w KQkq - 0 4";

    #[test]
    fn reverse_futility_returns_a_score_between_beta_and_the_evaluation() {
        let position = position(AHEAD);
        let mut worker = worker_at(&position);
        let mut pruned = |depth: i32, eval: i32, change: fn(&mut Node)| {
            let mut node = node(&mut worker, &position, Score::ZERO, depth);
            node.eval = Score(eval);
            change(&mut node);
            reverse_futility(&node)
        };
        let margin = rfp_margin() * 4;
        let score = pruned(4, margin, |_| {}).expect("pruned");
        assert!(score > Score::ZERO && score < Score(margin), "{score:?}");
        assert_eq!(pruned(4, margin - 1, |_| {}), None);
        assert!(pruned(4, margin - rfp_improving_margin(), |node| node.improving = true).is_some());
        assert_eq!(pruned(rfp_max_depth() + 1, 3000, |_| {}), None);
        assert_eq!(pruned(4, 3000, |node| node.was_pv = true), None);
        assert_eq!(pruned(1, Score::mate_in(Ply(3)).0, |_| {}), None);
        assert_eq!(pruned(1, 3000, |node| node.window = Window::null(Score::mated_in(Ply(3)))), None);
        // A quiet table move may show why the evaluation is wrong.
        assert_eq!(pruned(5, 3000, |node| node.tt_move = Some(legal(node.position, "b1c3"))), None);
        assert!(pruned(4, 3000, |node| node.tt_move = Some(legal(node.position, "b1c3"))).is_some());
    }

    /// The score of the null move at `position`, and the nodes that it took.
    fn null(position: &Position, change: impl FnOnce(&mut Worker, &mut Node)) -> (Option<Score>, u64) {
        let mut worker = worker_at(position);
        worker.stack_mut(Ply::ROOT).current_move = Some(legal(&Position::default(), "e2e4"));
        let mut node = node(&mut worker, position, Score(100), 6);
        change(&mut worker, &mut node);
        (worker.null_move(&node), worker.nodes)
    }

    #[test]
    fn passing_fails_high_where_the_side_is_far_ahead() {
        let ahead = position(AHEAD);
        let (score, nodes) = null(&ahead, |_, _| {});
        assert!(score.is_some_and(|score| score >= Score(100) && !score.is_decisive()) && nodes > 0);
        let refused: [fn(&mut Worker, &mut Node); 7] = [
            |_, node| node.depth = Depth(nmp_min_depth() - 1),
            |_, node| node.expect = Expect::All,
            |_, node| node.eval = Score(99),
            |_, node| node.static_eval = Score(-1000),
            |_, node| node.window = Window::null(Score::mated_in(Ply(3))),
            // Two null moves in a row would be a search of the same position.
            |worker, _| worker.stack_mut(Ply::ROOT).current_move = None,
            // A cutoff is being verified.
            |worker, node| worker.nmp_min_ply = node.ply.index() + 1,
        ];
        for (index, change) in refused.into_iter().enumerate() {
            assert_eq!(null(&ahead, change), (None, 0), "case {index}");
        }
        // In a pawn ending the side may be in zugzwang.
        assert_eq!(null(&position("4k3/8/8/8/8/8/PPPP4/4K3 w - - 0 1"), |_, _| {}), (None, 0));
    }

    #[test]
    fn a_capture_that_beats_beta_by_a_margin_cuts_off_and_is_stored() {
        let position = position(HANGING);
        let cut = |change: fn(&mut Node)| {
            let mut worker = worker_at(&position);
            let mut node = node(&mut worker, &position, Score::ZERO, 6);
            change(&mut node);
            let score = worker.probcut(&node);
            (score, worker.nodes, worker.task.table.probe(position.key()))
        };
        let (score, nodes, hit) = cut(|_| {});
        assert!(score.is_some_and(|score| score >= Score::ZERO) && nodes > 0);
        let hit = hit.expect("stored");
        assert_eq!(hit.best, PackedMove::pack(legal(&position, "e3d4")));
        assert_eq!(hit.depth, Depth(6 - (probcut_reduction() - 1)));
        let refused: [fn(&mut Node); 4] = [
            |node| node.depth = Depth(probcut_min_depth() - 1),
            |node| node.window = Window::null(Score::mate_in(Ply(9))),
            // The table knows that no move beats beta by that much.
            |node| node.tt_window = Some(ScoreWindow::at_most(Score(50))),
            // No capture wins so much.
            |node| node.static_eval = node.static_eval - 4000,
        ];
        for (index, change) in refused.into_iter().enumerate() {
            let (score, nodes, hit) = cut(change);
            assert!(score.is_none() && nodes == 0 && hit.is_none(), "case {index}");
        }
    }
}
