//! Quiescence search: captures (and, in check, evasions) until the position is quiet enough for a static evaluation.

use shakmaty::Move;

use super::{
    moves::Best,
    node_state::{NodeEval, NodeKind, Window},
    params::*,
    picker::MovePicker,
    prune_move::Pruning,
    worker::Worker,
};
use crate::{
    position::{Position, is_noisy},
    tt::{Hit, NodeResult, ScoreWindow},
    types::{Bound, Depth, PackedMove, Ply, Score},
};

/// The facts on which the move loop of a quiescence node decides.
struct QNode<'a> {
    position: &'a Position,
    ply: Ply,
    in_check: bool,
    /// Static evaluation plus futility margin. With the gain of a capture it must exceed alpha.
    futility: Score,
    tt_move: Option<Move>,
}

impl Worker {
    /// The score of a position after the captures worth making, fail-soft.
    pub fn quiesce<N: NodeKind>(&mut self, position: &Position, ply: Ply, window: Window) -> Score {
        // Step 1. Count the node; return if the search is over. The score returned then is never used.
        if self.enter_node::<N>(ply) {
            return Score::ZERO;
        }

        // Step 2. Draws by rule, and the maximum ply.
        if let Some(score) = self.terminal_score(position, ply) {
            return score;
        }

        // Step 3. Transposition table. A result of any depth is at least as deep as this search.
        let tt_hit = self.probe_table(position, ply);
        let tt_window = tt_hit
            .filter(|hit| self.may_use_score::<N>(hit, position))
            .and_then(|hit| hit.window(&self.path, ply));
        if let (Some(hit), Some(tt_window)) = (tt_hit, tt_window)
            && !N::PV
            && let Some(score) = tt_window.decides(window.alpha, window.beta)
        {
            self.count_learned_cutoff(hit);
            self.inherit_taint(hit);
            self.drop_taint_unless_draw(score);
            return score;
        }
        let was_pv = N::PV || tt_hit.is_some_and(|hit| hit.was_pv);

        let in_check = position.in_check();
        // Step 4. Stand pat. Out of check the side to move need not capture, so the evaluation is a lower bound.
        let mut evaluation = NodeEval::IN_CHECK;
        let mut best = Best { score: -Score::INFINITE, m: None, move_count: 0 };
        let mut futility = -Score::INFINITE;
        let Window { mut alpha, beta } = window;
        if !in_check {
            evaluation = self.evaluate_node(position, ply, tt_hit, tt_window);
            best.score = evaluation.eval;
            if best.score >= beta {
                best.score = towards(beta, best.score);
                if tt_hit.is_none() {
                    self.store_quiet(position, ply, window, evaluation.raw_eval, &best, was_pv);
                }
                return best.score;
            }
            alpha = alpha.max(best.score);
            futility = best.score + qs_futility_margin();
        }

        // Steps 5 to 8. The moves.
        let tt_move = tt_move(position, tt_hit, in_check);
        let node = QNode { position, ply, in_check, futility, tt_move };
        self.quiesce_moves::<N>(&node, Window { alpha, beta }, &mut best);
        if self.stopped {
            return Score::ZERO;
        }

        // Step 9. Checkmate: all evasions were generated, and there is none.
        if in_check && best.move_count == 0 {
            return Score::mated_in(ply);
        }
        // Step 10. A score that fails high is moved towards beta, as when standing pat: the true score is
        // rarely as high as captures alone suggest.
        best.score =
            self.damped(best.score, |score| if score >= beta { towards(beta, score) } else { score });
        // Step 11. The result goes into the table, at depth 0.
        self.store_quiet(position, ply, window, evaluation.raw_eval, &best, was_pv);
        best.score
    }

    /// Steps 5 to 8: the loop over the moves.
    fn quiesce_moves<N: NodeKind>(&mut self, node: &QNode, window: Window, best: &mut Best) {
        let &QNode { position, ply, in_check, .. } = node;
        let Window { mut alpha, beta } = window;
        let mut picker = if in_check {
            self.stack_mut(ply).threats = position.threats_by(!position.turn());
            MovePicker::new(node.tt_move, PackedMove::NONE, ply)
        } else {
            MovePicker::winning(qs_exchange(), node.tt_move, ply)
        };
        while let Some(m) = picker.next(self, position) {
            best.move_count += 1;
            // Steps 5 to 7. Pruning, once there is a score that is no loss. A futile capture still raises the best score to
            // the most it could score.
            if !best.score.is_loss() {
                match prune(node, alpha, m, best.move_count) {
                    Pruning::Search => {}
                    Pruning::Skip => continue,
                    Pruning::Futile(most) => {
                        best.score = best.score.max(most);
                        continue;
                    }
                    Pruning::SkipQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
            }
            let child = self.make(position, m, ply);
            let score = -self.quiesce::<N>(&child, ply.next(), Window { alpha, beta }.flip());
            self.unmake();
            if self.stopped {
                return;
            }
            // Step 8. New best move, new alpha, cutoff.
            if score > best.score {
                best.score = score;
                if score > alpha {
                    alpha = score;
                    best.m = Some(m);
                    if N::PV {
                        self.pv.extend(ply, m);
                    }
                    if score >= beta {
                        self.path.keep_last_child_taint();
                        return;
                    }
                }
            }
        }
    }

    /// Stores a result of quiescence. Only a selection of moves was searched, so the score is a bound, never exact.
    fn store_quiet(
        &self,
        position: &Position,
        ply: Ply,
        window: Window,
        raw_eval: Option<Score>,
        best: &Best,
        was_pv: bool,
    ) {
        let window = match Bound::of(best.score, window.alpha, window.beta) {
            Bound::Lower => ScoreWindow::at_least(best.score),
            Bound::Upper | Bound::Exact => ScoreWindow::at_most(best.score),
        };
        let best = best.m.map_or(PackedMove::NONE, PackedMove::pack);
        let result = NodeResult { best, raw_eval, window, was_pv, ..self.node_result(ply, Depth::ZERO) };
        self.task.table.store(position.key(), &result);
    }
}

/// A score above beta, moved towards it.
fn towards(beta: Score, score: Score) -> Score {
    let weight = qs_beta_weight();
    Score((score.0 + weight * beta.0) / (weight + 1))
}

/// The table's move, if quiescence would try it.
fn tt_move(position: &Position, hit: Option<Hit>, in_check: bool) -> Option<Move> {
    hit.and_then(|hit| position.unpack(hit.best)).filter(|&m| in_check || is_noisy(m))
}

/// Steps 5 to 7: is a move worth a search?
fn prune(node: &QNode, alpha: Score, m: Move, move_count: usize) -> Pruning {
    let &QNode { position, in_check, futility, .. } = node;
    if in_check {
        // Step 5. Quiet evasions. After a few moves, one of which avoids mate, the rest are skipped.
        if !is_noisy(m) && move_count > qs_max_evasions() as usize {
            return Pruning::SkipQuiets;
        }
    } else {
        // Step 6. Captures. Only the first few, and only those that can raise alpha (futility).
        if move_count > qs_max_moves() as usize && m.promotion().is_none() {
            return Pruning::Skip;
        }
        let gain = Position::material_gain(m);
        if futility + gain <= alpha {
            return Pruning::Futile(futility + gain);
        }
        if futility <= alpha && !position.see_ge(m, qs_futility_exchange()) {
            return Pruning::Futile(futility);
        }
    }
    // Step 7. Static exchange evaluation. Out of check the picker has tested captures already, except the table's move.
    let threshold = if in_check { qs_evasion_exchange() } else { qs_exchange() };
    let unchecked = in_check || Some(m) == node.tt_move;
    if unchecked && !position.see_ge(m, threshold) { Pruning::Skip } else { Pruning::Search }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::PositionPath,
        search::{
            node_state::NonPvNode,
            worker::tests::{legal, position, worker_at},
        },
    };

    /// The queen's check leaves one evasion, and it repeats a position of the line.
    #[test]
    fn a_perpetual_check_below_quiescence_stays_a_draw_that_depends_on_the_path() {
        let root = position("4Q2k/6p1/8/8/8/8/2q2PPP/6K1 b - - 10 60");
        let mut worker = worker_at(&root);
        let (mut position, mut ply) = (root, Ply::ROOT);
        for uci in ["h8h7", "e8h5", "h7g8", "h5e8"] {
            position = worker.make(&position, legal(&position, uci), ply);
            ply = ply.next();
        }
        // A draw fails high here, since Black may lose two pawns.
        let window = Window::null(Score(-200));
        assert_eq!(worker.quiesce::<NonPvNode>(&position, ply, window), Score::ZERO);
        assert!(worker.path.is_tainted());
        let hit = worker.task.table.probe(position.key()).unwrap();
        assert!(hit.taint().is_some());
        // On another path nothing is known of it.
        assert_eq!(hit.window(&PositionPath::new(&position), ply), None);
    }
}
