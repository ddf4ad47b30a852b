//! The loop over the moves of a node: steps 16 to 23.

use shakmaty::Move;

use super::{
    history_updates::SearchedMoves,
    node_state::{Expect, Node, NodeKind, NonPvNode, PvNode, Window},
    params::*,
    picker::MovePicker,
    preference::preferred,
    prune_move::{Candidate, Pruning, prune_move},
    worker::Worker,
};
use crate::{
    position::{CheckSquares, Position, is_noisy},
    types::{Depth, PackedMove, Score},
};

/// The outcome of the move loop.
pub struct Best {
    /// The best score found.
    pub score: Score,
    /// The move that raised alpha, if one did.
    pub m: Option<Move>,
    /// Moves picked, pruned ones included.
    pub move_count: usize,
}

/// A move being searched.
struct Current<'a> {
    candidate: &'a Candidate,
    /// The position after it, and the depth left for that.
    child: &'a Position,
    new_depth: Depth,
}

impl Worker {
    /// Steps 16 to 23: the loop over the moves.
    pub fn search_moves<N: NodeKind>(&mut self, node: &mut Node) -> Best {
        let Node { position, ply, mut window, .. } = *node;
        let mut best = Best { score: -Score::INFINITE, m: None, move_count: 0 };
        let checks = CheckSquares::new(position);
        let us = position.turn();
        let (killer, threats) = (self.stack(ply).killer, self.stack(ply).threats.all);
        let mut picker = MovePicker::new(node.tt_move, killer, ply);
        let mut quiets = SearchedMoves::new();
        let mut captures = SearchedMoves::new();

        while let Some(m) = picker.next(self, position) {
            if PackedMove::pack(m) == node.excluded || (N::ROOT && !self.is_root_candidate(m)) {
                continue;
            }
            best.move_count += 1;
            let move_count = best.move_count;
            // A preference for a root move shifts its window, and is not part of its score.
            let worth = if N::ROOT { self.worth(m) } else { 0 };
            let below = if N::ROOT { window.below_preferred(worth) } else { window };
            if N::ROOT {
                self.announce(m, move_count);
            }
            let noisy = is_noisy(m);
            let history = if noisy {
                self.history.captures.get(us, m)
            } else {
                picker.history().unwrap_or_else(|| self.quiet_history(position, ply).score(m))
            };
            let candidate = Candidate {
                m,
                move_count,
                noisy,
                gives_check: checks.gives_check(m),
                threatened: threats.contains(m.to()) || m.from().is_some_and(|from| threats.contains(from)),
                history,
                reduction: self.base_reduction(node.depth, move_count),
                alpha: window.alpha,
            };

            // Steps 16 to 19. Move-loop pruning, once a move that does not get mated has been searched. Not in pawn
            // endings, where a quiet move may be the only one that does not lose (zugzwang).
            let prunable = !N::ROOT && !best.score.is_loss() && position.has_non_pawn_material(us);
            if prunable && is_pruned(node, &candidate, &mut picker, &mut best) {
                continue;
            }

            // Step 20. Singular extension. If the table's move is the only good one, it is searched deeper.
            let mut extension = 0;
            if !N::ROOT && Some(m) == node.tt_move {
                match self.singular_extension::<N>(node, m) {
                    Ok(plies) => extension = plies,
                    Err(score) => return Best { score, m: Some(m), ..best },
                }
            }

            let nodes_before = self.nodes;
            let child = &self.make(position, m, ply);
            let new_depth = node.depth + (extension - 1);
            let double_extensions = self.stack_before(ply, 1).double_extensions + u8::from(extension >= 2);
            let entry = self.stack_mut(ply);
            entry.double_extensions = double_extensions;
            entry.move_count = move_count;

            // Steps 21 and 22. The search of the move.
            let current = Current { candidate: &candidate, child, new_depth };
            let mut score = self.search_move::<N>(node, &current, below, best.score);
            self.unmake();
            if self.stopped {
                return best;
            }

            // Step 23. New best move, new alpha, cutoff.
            if N::ROOT {
                let nodes = self.nodes - nodes_before;
                self.record_root(m, score, below, move_count, nodes);
                score = preferred(score, worth);
            }
            if self.update_best::<N>(node, m, score, &mut window, &mut best) {
                self.update_after_cutoff(node, m, score, &quiets, &captures);
                return best;
            }
            let tried = if noisy { &mut captures } else { &mut quiets };
            if Some(m) != best.m {
                // Moves that do not fit get no malus.
                let _ = tried.try_push(m);
            }
        }
        best
    }

    /// Step 23: updates best score, best move and alpha. Returns whether the move causes a cutoff.
    fn update_best<N: NodeKind>(
        &mut self,
        node: &mut Node,
        m: Move,
        score: Score,
        window: &mut Window,
        best: &mut Best,
    ) -> bool {
        if score <= best.score {
            return false;
        }
        best.score = score;
        if score <= window.alpha {
            return false;
        }
        best.m = Some(m);
        if N::PV {
            self.pv.extend(node.ply, m);
        }
        if score >= window.beta {
            // The cutoff depends on this move alone, so the taint of the others is dropped.
            self.path.keep_last_child_taint();
            let entry = self.stack_mut(node.ply);
            entry.cutoff_count = entry.cutoff_count.saturating_add(1);
            return true;
        }
        window.alpha = score;
        // The other moves are unlikely to beat it by much, so they are searched a ply less deep. Not at low depth,
        // where a ply is a large part of it, and not at high depth, where an error would be expensive.
        if node.depth > raised_alpha_min_depth()
            && node.depth < raised_alpha_max_depth()
            && !score.is_decisive()
        {
            node.depth -= 1;
        }
        false
    }

    /// Steps 21 and 22: searches a move: reduced, at full depth with a null window, and with the full window, as far as
    /// its score requires.
    fn search_move<N: NodeKind>(
        &mut self,
        node: &Node,
        current: &Current,
        window: Window,
        best_score: Score,
    ) -> Score {
        let &Current { candidate: &Candidate { move_count, .. }, child, new_depth } = current;
        let ply = node.ply.next();
        let null_window = Window::null(window.alpha).flip();
        let mut score = -Score::INFINITE;

        // Step 21. Late move reduction (+107 ± 41). A late move is searched less deeply, and again if it fails high.
        if node.depth >= lmr_min_depth() && move_count >= lmr_min_moves() as usize + usize::from(N::ROOT) {
            score = self.search_reduced::<N>(node, current, window.alpha, best_score);
        } else if !N::PV || move_count > 1 {
            // Step 22. Principal variation search. A null window shows whether the move is better; if it is, a PV node
            // searches it again with the full window for its score.
            score = -self.search::<NonPvNode>(child, ply, null_window, new_depth, node.expect.flip());
        }
        if N::PV && (move_count == 1 || score > window.alpha) {
            self.path.clear_taint();
            score = -self.search::<PvNode>(child, ply, window.flip(), new_depth, Expect::All);
        }
        score
    }

    /// Step 21: a late move, with a null window.
    fn search_reduced<N: NodeKind>(
        &mut self,
        node: &Node,
        current: &Current,
        alpha: Score,
        best_score: Score,
    ) -> Score {
        let &Current { candidate, child, new_depth } = current;
        let &Candidate { m, noisy, gives_check, history, .. } = candidate;
        let ply = node.ply.next();
        let null_window = Window::null(alpha).flip();
        let history = if noisy { history * lmr_capture_history_factor() } else { history };
        let reduction = self.adjusted_reduction::<N>(node, m, candidate.reduction, history, gives_check);
        // A negative reduction extends by a ply, in PV nodes only.
        let deepest = (new_depth.get() + i32::from(N::PV)).max(1);
        let reduced = Depth((new_depth.get() - reduction / PLY).clamp(1, deepest));
        self.stack_mut(node.ply).reduction = reduction;
        let mut score = -self.search::<NonPvNode>(child, ply, null_window, reduced, Expect::Cut);
        self.stack_mut(node.ply).reduction = 0;
        if score > alpha && reduced < new_depth {
            let deeper =
                score > best_score + research_deeper_base() + research_deeper_step() * new_depth.get();
            let shallower = score < best_score + research_shallower_margin();
            let again = new_depth + (i32::from(deeper) - i32::from(shallower));
            if again > reduced {
                // The score of the second search does not depend on the taint of the first.
                self.path.clear_taint();
                score = -self.search::<NonPvNode>(child, ply, null_window, again, node.expect.flip());
            }
            if !noisy {
                self.update_after_research(node, m, score > alpha, new_depth);
            }
        }
        score
    }
}

/// Steps 16 to 19: is a move skipped? A futile move still raises the best score to the most it could score, so that the
/// node's upper bound stays correct.
#[inline(always)]
fn is_pruned(node: &Node, candidate: &Candidate, picker: &mut MovePicker, best: &mut Best) -> bool {
    match prune_move(node, candidate) {
        Pruning::Search => return false,
        Pruning::Skip => {}
        Pruning::SkipQuiets => picker.skip_quiets(),
        Pruning::Futile(score) => {
            if !best.score.is_decisive() && !score.is_decisive() {
                best.score = best.score.max(score);
            }
        }
    }
    true
}
