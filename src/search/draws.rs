//! Draws by rule, and the taint that they leave on the scores above them.
//!
//! A score that depends on a repetition, or on the fifty-move counter, is true on the path on which it was found and
//! perhaps on no other. [`PositionPath`](crate::position::PositionPath) tracks on which earlier position the results below a node
//! depend; an entry stored there carries that taint, and is reused only where the position is on the path too
//! ([`PathHash`](crate::position::PathHash)).

use super::{root_move::RootMove, worker::Worker};
use crate::{
    position::Position,
    tt::Hit,
    types::{MAX_PLY, Ply, Score},
};

impl Worker {
    /// The score of a draw for the side to move: zero, or contempt.
    pub fn draw_score(&self, position: &Position) -> Score {
        self.task.strength.draw(position.turn(), &self.task.root)
    }

    /// The score of a node that is a draw by rule: by the fifty-move counter, by repetition, by insufficient material, or,
    /// after a root move, by stalemate: further down a node that searches its moves finds that out.
    fn draw_by_rule(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        if ply == Ply::ROOT.next() && !position.in_check() && !position.has_legal_move() {
            return Some(self.draw_score(position));
        }
        if position.halfmoves() >= 100 {
            // A checkmate on the hundredth ply takes precedence.
            let mated = position.in_check() && !position.has_legal_move();
            self.path.taint_by_counter();
            return Some(if mated { Score::mated_in(ply) } else { self.draw_score(position) });
        }
        if let Some(distance) = self.path.repetition(ply) {
            self.path.taint_by_repetition(distance);
            return Some(self.draw_score(position));
        }
        position.is_insufficient_material().then(|| self.draw_score(position))
    }

    /// The score of a node below which nothing is searched: a draw by rule, or the end of the stack.
    pub fn terminal_score(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        if let Some(score) = self.draw_by_rule(position, ply) {
            return Some(score);
        }
        let at_end = ply.index() >= MAX_PLY - 1;
        at_end.then(|| match position.in_check() {
            true => self.draw_score(position),
            false => self.evaluate_node(position, ply, None, None).static_eval,
        })
    }

    /// Can the side to move draw by repeating an earlier position? Then the node is worth at least a draw.
    pub fn has_upcoming_repetition(&mut self, position: &Position, ply: Ply) -> bool {
        let distance = self.path.upcoming_repetition(position, ply);
        if let Some(distance) = distance {
            self.path.taint_by_repetition(distance);
        }
        distance.is_some()
    }

    /// Is the game a draw for certain once this root move is played, by the tablebases or by the rules?
    pub fn is_drawn_after(&self, root: &RootMove) -> bool {
        root.tb_score.map_or_else(|| self.ends_in_draw(root), |score| !score.is_decisive())
    }

    /// Is the game over as a draw by the rules once this root move is played?
    pub fn ends_in_draw(&self, root: &RootMove) -> bool {
        let child = self.task.root.play(root.root_move());
        let mut path = self.task.path.clone();
        path.push(&child);
        path.is_draw(&child)
    }

    /// The score of this node comes from the table, so the node takes over the taint of the entry.
    pub fn inherit_taint(&mut self, hit: Hit) {
        if let Some(taint) = hit.taint() {
            self.path.taint_by_stored(taint.reach());
        }
    }

    /// Drops the taint of this node unless its score is the draw score: another line decided it.
    pub fn drop_taint_unless_draw(&mut self, score: Score) {
        if score.0.abs() != self.task.strength.contempt.abs() {
            self.path.clear_taint();
        }
    }

    /// A score that fails high, moved to where `estimate` puts it, unless it is decisive or a draw that depends on the
    /// path: such scores are no estimates, and a draw that no longer looks like one would lose its taint above.
    pub fn damped(&mut self, score: Score, estimate: impl FnOnce(Score) -> Score) -> Score {
        self.drop_taint_unless_draw(score);
        if score.is_decisive() || self.path.is_tainted() { score } else { estimate(score) }
    }
}
