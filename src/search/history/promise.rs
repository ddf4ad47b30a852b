use shakmaty::{Bitboard, Color, Move};

use super::{MOVES, QuietHistory, piece_to};

/// What the histories promise of the quiet moves of one node: butterfly, pawn-structure and continuation
/// history, looked up once for all moves.
pub struct Promise<'h> {
    pub us: Color,
    pub threats: Bitboard,
    pub quiets: &'h QuietHistory,
    pub structure: &'h [i16; MOVES],
    /// What follows the moves played 1, 2, 4 and 6 plies before.
    pub follow: [&'h [i16; MOVES]; 4],
}

impl Promise<'_> {
    /// The sum for a move.
    #[inline]
    pub fn of(&self, m: Move) -> i32 {
        let (role, from, to) = match m {
            Move::Normal { role, from, to, .. } => (role, from, to),
            _ => (m.role(), m.from().unwrap_or(m.to()), m.to()),
        };
        let index = piece_to(self.us, role, to);
        let [first, second, fourth, sixth] = self.follow.map(|table| i32::from(table[index]));
        self.quiets.between(self.us, self.threats, from, to)
            + i32::from(self.structure[index])
            + first
            + second
            + (fourth + sixth) / 2
    }
}
