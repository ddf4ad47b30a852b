//! Updates of the history tables after a node.

use shakmaty::Move;

use super::{
    history::{MoveIndex, QuietHistory},
    node_state::Node,
    params::*,
    worker::Worker,
};
use crate::{
    position::{Position, is_noisy},
    types::{Depth, PackedMove, Ply, Score},
};

/// Moves searched before the best one. Moves that do not fit get no malus.
pub type SearchedMoves = arrayvec::ArrayVec<Move, 32>;

/// The history bonus of a cutoff at `depth`; the malus of the moves tried before it is as large.
pub fn bonus(depth: Depth) -> i32 {
    (history_base() + history_step() * depth.get()).clamp(0, history_bonus_max())
}

impl Worker {
    /// The quiet history of a node, for looking up each of its moves.
    pub fn quiet_history(&self, position: &Position, ply: Ply) -> QuietHistory<'_> {
        let history = &self.history;
        QuietHistory {
            us: position.turn(),
            threats: self.stack(ply).threats.all,
            butterfly: &history.butterfly,
            pawns: history.pawns.of_structure(position.keys().pawns),
            continuations: [1, 2, 4, 6].map(|back| history.continuation.after(self.move_before(ply, back))),
        }
    }

    /// Adds `bonus` (a malus if negative) to every history of a quiet move.
    pub fn update_quiet_history(&mut self, position: &Position, ply: Ply, m: Move, bonus: i32) {
        let us = position.turn();
        let now = MoveIndex::new(us, m);
        let threats = self.stack(ply).threats.all;
        let shares = [(1, SHARE), (2, SHARE), (4, continuation_4_share()), (6, continuation_6_share())];
        for (back, share) in shares {
            let earlier = self.move_before(ply, back);
            self.history.continuation.update(earlier, now, share_of(bonus, share));
        }
        self.history.butterfly.update(us, threats, m, bonus);
        self.history.pawns.update(position.keys().pawns, us, m, bonus);
    }

    /// A beta cutoff: a bonus for the move that caused it, a malus for those tried before it.
    pub fn update_after_cutoff(
        &mut self,
        node: &Node,
        m: Move,
        score: Score,
        quiets: &SearchedMoves,
        captures: &SearchedMoves,
    ) {
        let (position, ply) = (node.position, node.ply);
        let us = position.turn();
        let surprise = i32::from(score > node.window.beta + surprise_margin());
        let bonus = bonus(node.depth + surprise);
        // The parent's first move is refuted: it should have been ordered later.
        if self.stack_before(ply, 1).move_count == 1 {
            self.malus_for_previous_move(ply, bonus);
        }
        if is_noisy(m) {
            self.history.captures.update(us, m, bonus);
        } else {
            self.stack_mut(ply).killer = PackedMove::pack(m);
            self.update_quiet_history(position, ply, m, bonus);
            for &other in quiets {
                self.update_quiet_history(position, ply, other, -bonus);
            }
        }
        for &other in captures {
            self.history.captures.update(us, other, -bonus);
        }
    }

    /// Updates continuation history after the second search of a reduced move.
    pub fn update_after_research(&mut self, node: &Node, m: Move, raised_alpha: bool, depth: Depth) {
        let now = MoveIndex::new(node.position.turn(), m);
        let sign = if raised_alpha { 1 } else { -1 };
        for back in [1, 2] {
            let earlier = self.move_before(node.ply, back);
            let bonus = share_of(sign * bonus(depth), research_bonus_share());
            self.history.continuation.update(earlier, now, bonus);
        }
    }

    /// The move that led to `ply`, if it was a quiet one.
    fn quiet_previous_move(&self, ply: Ply) -> Option<Move> {
        self.stack_before(ply, 1).current_move.filter(|&m| !is_noisy(m))
    }

    /// No move at `ply` raised alpha: a bonus for the quiet move that led there.
    pub fn bonus_for_previous_move(&mut self, position: &Position, ply: Ply, depth: Depth) {
        let Some(m) = self.quiet_previous_move(ply) else { return };
        let bonus = share_of(bonus(depth), previous_move_bonus_share());
        let threats = self.stack_before(ply, 1).threats.all;
        self.history.butterfly.update(!position.turn(), threats, m, bonus);
        self.update_previous_continuation(ply, bonus);
    }

    /// A move at `ply` caused a cutoff: a malus for the quiet move that led there.
    fn malus_for_previous_move(&mut self, ply: Ply, malus: i32) {
        if self.quiet_previous_move(ply).is_some() {
            self.update_previous_continuation(ply, -malus);
        }
    }

    fn update_previous_continuation(&mut self, ply: Ply, bonus: i32) {
        let now = self.move_before(ply, 1);
        for back in [1, 2] {
            let earlier = self.move_before(ply, 1 + back);
            self.history.continuation.update(earlier, now, bonus);
        }
    }

    /// Evaluation-difference history: the opponent's quiet move gets a bonus if it improved the static evaluation for
    /// its side, or a malus if it worsened it, before any search of it; in butterfly and pawn history (Stockfish).
    pub fn update_eval_difference_history(&mut self, position: &Position, ply: Ply, static_eval: Score) {
        let before = self.stack_before(ply, 1).static_eval;
        if before != Score::NONE
            && let Some(m) = self.quiet_previous_move(ply)
        {
            // Each is for its side to move, so the sum is what the opponent's move lost.
            let loss = before.0 + static_eval.0;
            let bonus = (-loss * eval_difference_step()).clamp(-eval_difference_max(), eval_difference_max());
            let threats = self.stack_before(ply, 1).threats.all;
            self.history.butterfly.update(!position.turn(), threats, m, bonus);
            self.history.pawns.update(position.keys().pawns, !position.turn(), m, bonus);
        }
    }
}
