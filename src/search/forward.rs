//! Forward pruning of whole nodes: results that a shallow look makes near certain.

use super::{
    node::{Expect, Node, NonPv, Window},
    params::*,
    picker::{Picker, Want},
    worker::Worker,
};
use crate::{
    position::Position,
    tt::{PathCheck, Record, ScoreWindow},
    types::{PackedMove, Score},
};

impl Worker {
    /// Steps 8 to 11, at nodes with a null window, out of check.
    pub fn prune_node(&mut self, node: &Node) -> Option<Score> {
        self.razor(node)
            .or_else(|| reverse_futility(node))
            .or_else(|| self.null_move(node))
            .or_else(|| self.probcut(node))
    }

    /// Step 8. Razoring. So far below alpha that only a capture could help: ask quiescence.
    fn razor(&mut self, node: &Node) -> Option<Score> {
        let Window { alpha, .. } = node.window;
        let margin = razor_base() + razor_step() * node.depth.get();
        if node.depth > razor_max_depth() || node.estimate + margin > alpha || alpha.is_decisive() {
            return None;
        }
        let score = self.quiesce::<NonPv>(node.position, node.ply, Window::null(alpha));
        (score <= alpha && !self.stopped).then_some(score)
    }

    /// Step 10. Null move. If passing still reaches beta, moving will. Not where the side to move has only
    /// pawns (zugzwang); deep cutoffs, and those of a single piece, are verified without null moves.
    fn null_move(&mut self, node: &Node) -> Option<Score> {
        let Node { position, ply, depth, window: Window { beta, .. }, .. } = *node;
        if depth < nmp_min_depth()
            || node.expect != Expect::Cut
            || node.estimate < beta
            || node.evaluation < beta - 20 * depth.get() + 160
            || beta.is_loss()
            || ply.index() < self.null_move_from
            || self.moved_before(ply, 1) == Default::default() && ply.index() > 0
            || !position.has_pieces(position.turn())
        {
            return None;
        }
        let surplus = ((node.estimate - beta) / nmp_eval_div()).min(nmp_eval_max());
        let reduction = nmp_base() + depth.get() / nmp_depth_div() + surplus;
        let child = self.make_null(position, ply)?;
        let score =
            -self.search::<NonPv>(&child, ply.next(), Window::null(-beta), depth - reduction, Expect::All);
        self.unmake();
        if self.stopped || score < beta {
            return None;
        }
        // A mate found by passing is no proof.
        let score = if score.is_decisive() { beta } else { score };
        let zugzwang_threatens =
            depth >= nmp_verify_min_depth() || position.pieces(position.turn()).count() == 1;
        if !zugzwang_threatens || self.null_move_from > 0 {
            return Some(score);
        }
        self.null_move_from = ply.index() + (3 * (depth.get() - reduction) / 4).max(1) as usize;
        let verified =
            self.search::<NonPv>(position, ply, Window::null(beta - 1), depth - reduction, Expect::All);
        self.null_move_from = 0;
        (verified >= beta && !self.stopped).then_some(score)
    }

    /// Step 11. ProbCut. A good capture that beats beta by a margin in a shallower search will beat beta in
    /// the full one (Buro 1995).
    fn probcut(&mut self, node: &Node) -> Option<Score> {
        let Node { position, ply, depth, window: Window { beta, .. }, .. } = *node;
        let target = beta + probcut_margin() - if node.improving { 50 } else { 0 };
        let refuted = node.known.is_some_and(|known| known.upper < target);
        if depth < probcut_min_depth() || beta.is_decisive() || refuted {
            return None;
        }
        let threshold = target - node.evaluation;
        let table_move =
            node.table_move.filter(|&m| node.table_move_is_noisy() && position.exchange_wins(m, threshold));
        let shallow = depth - probcut_reduction();
        let mut picker = Picker::new(Want::Noisy, table_move, PackedMove::NONE, ply);
        picker.only_winning(threshold);
        while let Some(m) = picker.next(self, position) {
            let child = self.make(position, m, ply);
            let window = Window::null(target - 1).flip();
            let mut score = -self.quiesce::<NonPv>(&child, ply.next(), window);
            if score >= target && shallow > 0 {
                score = -self.search::<NonPv>(&child, ply.next(), window, shallow, node.expect.flip());
            }
            self.unmake();
            if self.stopped {
                return None;
            }
            if score >= target {
                self.remember_probcut(node.position, node, m, score);
                return Some(if score.is_decisive() { score } else { score - (target - beta) });
            }
        }
        None
    }

    fn remember_probcut(&self, position: &Position, node: &Node, m: shakmaty::Move, score: Score) {
        let depth = node.depth - (probcut_reduction() - 1);
        let record = Record {
            best: PackedMove::pack(m),
            evaluation: node.hit.and_then(|hit| hit.evaluation),
            window: ScoreWindow::at_least(score),
            depth,
            was_pv: node.was_pv,
            path: PathCheck::new(&self.path, depth),
            ply: node.ply,
        };
        self.task.table.store(position.key(), &record);
    }
}

/// Step 9. Reverse futility. So far above beta that a shallow search will not bring it back.
fn reverse_futility(node: &Node) -> Option<Score> {
    let Window { beta, .. } = node.window;
    let margin = rfp_margin() * node.depth.get() - if node.improving { rfp_improving_margin() } else { 0 };
    let safe = node.depth <= rfp_max_depth()
        && !node.was_pv
        && !beta.is_loss()
        && !node.estimate.is_decisive()
        && node.estimate - margin >= beta
        && (node.table_move.is_none() || node.table_move_is_noisy() || node.depth <= 4);
    safe.then(|| Score((node.estimate.0 + 2 * beta.0) / 3))
}
