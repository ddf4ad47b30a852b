//! The quiet history: what all tables together say about a quiet move.

use shakmaty::{Bitboard, Color, Move};

use super::{super::params::*, ButterflyHistory, MOVES, piece_to};

/// The quiet history of one node: butterfly, pawn and continuation history, looked up once for all its moves.
pub struct QuietHistory<'h> {
    pub us: Color,
    /// Squares that the opponent attacks.
    pub threats: Bitboard,
    pub butterfly: &'h ButterflyHistory,
    /// Pawn history of the pawn structure.
    pub pawns: &'h [i16; MOVES],
    /// Continuation history after the moves made 1, 2, 4 and 6 plies before.
    pub continuations: [&'h [i16; MOVES]; 4],
}

impl QuietHistory<'_> {
    /// The score of a quiet move: the sum of the tables, the two older continuations at a fraction.
    #[inline]
    pub fn score(&self, m: Move) -> i32 {
        let (role, from, to) = match m {
            Move::Normal { role, from, to, .. } => (role, from, to),
            _ => (m.role(), m.from().unwrap_or(m.to()), m.to()),
        };
        let index = piece_to(self.us, role, to);
        let [first, second, fourth, sixth] = self.continuations.map(|table| i32::from(table[index]));
        self.butterfly.get(self.us, self.threats, from, to)
            + i32::from(self.pawns[index])
            + first
            + second
            + (fourth + sixth) / continuation_far_div()
    }
}
