//! A player that looks one move ahead, for hundreds of games a second on a core: what a network learns depends on the
//! number of different games that it has seen more than on how well they were played.

use std::cmp::Reverse;

use fastrand::Rng;
use shakmaty::Move;

use crate::{
    eval::{Evaluation, Evaluator},
    position::Position,
    types::{Ply, Score},
};

/// Pawn hash in MiB.
const PAWN_HASH_MIB: usize = 4;
/// The first moves by evaluation, between which what the reply may capture decides.
const CANDIDATES: usize = 6;

/// The player of both sides.
pub struct Player(Evaluator);

impl Player {
    pub fn new() -> Player {
        Player(Evaluator::new(&Evaluation::default(), PAWN_HASH_MIB))
    }

    /// A mate, or the move after which the evaluation, less what the reply may capture, is best, and its score; none if
    /// the game is over. By chance up to `noise` units of a score are added to each evaluation.
    pub fn best_move(&mut self, position: &Position, noise: i32, random: &mut Rng) -> Option<(Move, Score)> {
        // The accumulators of the children are computed from this one.
        self.0.evaluate(position, Ply::ROOT);
        let mut moves: Vec<(i32, Move, Position)> = Vec::new();
        for m in position.legal_moves() {
            let child = position.play(m);
            if child.in_check() && !child.has_legal_move() {
                return Some((m, -Score::mated_in(Ply::ROOT.next())));
            }
            let evaluation = -self.0.evaluate(&child, Ply::ROOT.next());
            moves.push((evaluation.0 + random.i32(0..=noise), m, child));
        }
        moves.sort_by_key(|&(evaluation, ..)| Reverse(evaluation));
        let score = |evaluation: i32, child: &Position| match child.has_legal_move() {
            true => Score(evaluation - most_won(child)),
            false => Score::ZERO,
        };
        let candidates = moves.iter().take(CANDIDATES);
        let scored = candidates.map(|(evaluation, m, child)| (*m, score(*evaluation, child)));
        scored.max_by_key(|&(_, score)| score)
    }
}

/// The most that a capture wins, in units of a score: the piece, half of it, or next to nothing.
fn most_won(position: &Position) -> i32 {
    let won = |m: Move| {
        let gain = Position::material_gain(m);
        [gain, gain / 2, 1].into_iter().find(|&least| position.see_ge(m, least)).unwrap_or(0)
    };
    position.legal_moves().into_iter().filter(|m| m.is_capture()).map(won).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tune::data;

    #[test]
    fn it_mates_captures_and_does_not_leave_a_piece_to_be_taken() {
        for (fen, best) in [
            ("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1", "a1a8"),
            ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5"),
            ("4k3/2p5/3n4/4P3/8/8/8/4K2R b - - 0 1", "d6"),
        ] {
            let position = data::position(fen).expect(fen);
            let (m, _) = Player::new().best_move(&position, 0, &mut Rng::with_seed(1)).expect("a move");
            let text = m.to_uci(shakmaty::CastlingMode::Standard).to_string();
            assert!(text.starts_with(best), "{fen}: {text}");
        }
        let over = data::position("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1").expect("stalemate");
        assert!(Player::new().best_move(&over, 0, &mut Rng::with_seed(1)).is_none());
    }
}
