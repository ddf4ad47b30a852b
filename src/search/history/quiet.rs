//! The quiet history: the sum of all tables for a quiet move.

use shakmaty::{Bitboard, Color, Move, Role, Square};

use super::{
    super::params::*,
    ButterflyHistory,
    entry::{MOVES, piece_index},
};

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

impl<'h> QuietHistory<'h> {
    /// The score of a quiet move.
    #[inline]
    pub fn score(&self, m: Move) -> i32 {
        let (role, from, to) = match m {
            Move::Normal { role, from, to, .. } => (role, from, to),
            _ => (m.role(), m.from().unwrap_or(m.to()), m.to()),
        };
        self.of_piece(role, from).score(to)
    }

    /// The history of one piece's moves.
    #[inline]
    pub fn of_piece(&self, role: Role, from: Square) -> PieceHistory<'h> {
        let squares = |table: &'h [i16; MOVES]| &table.as_chunks().0[piece_index(self.us, role)];
        PieceHistory {
            threats: self.threats,
            butterfly: [false, true]
                .map(|threatened| self.butterfly.moves_from(self.us, self.threats, from, threatened)),
            pawns: squares(self.pawns),
            continuations: self.continuations.map(squares),
        }
    }
}

/// The quiet history of the moves of one piece: its rows of the tables, indexed by square of arrival.
pub struct PieceHistory<'h> {
    threats: Bitboard,
    /// To squares that the opponent does not attack, and to those that it attacks.
    butterfly: [&'h [i16; 64]; 2],
    pawns: &'h [i16; 64],
    continuations: [&'h [i16; 64]; 4],
}

impl PieceHistory<'_> {
    /// The score of the move to `to`: the sum of the tables, the two older continuations at a fraction.
    #[inline]
    pub fn score(&self, to: Square) -> i32 {
        let entry = |squares: &[i16; 64]| i32::from(squares[to as usize]);
        let [first, second, fourth, sixth] = self.continuations.map(entry);
        entry(self.butterfly[usize::from(self.threats.contains(to))])
            + entry(self.pawns)
            + first
            + second
            + (fourth + sixth) / continuation_far_div()
    }
}
