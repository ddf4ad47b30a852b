//! Piece-square tables. For pieces other than pawns and kings they also depend on the halves of the board of both
//! kings.

use shakmaty::{Role, Square};

use super::{geometry::Side, pair::Pair, weights::WEIGHTS};

/// The value of `square` for our pawn or king.
#[inline]
pub fn weight<S: Side>(role: Role, square: Square) -> &'static Pair {
    let seen = if S::US.is_white() { square } else { square.flip_vertical() }.to_usize();
    // A table of the files a to d, with files e to h mirrored.
    let file = (seen % 8).min(7 - seen % 8);
    &WEIGHTS.squares[usize::from(role == Role::King)][4 * (seen / 8) + file]
}

/// The bits of a square to flip so that it is seen from our side with a king on files e to h.
#[derive(Copy, Clone, Debug)]
pub struct Flip(u32);

impl Flip {
    /// Our view with `king`, of either side, on files e to h.
    #[inline]
    pub fn new<S: Side>(king: Square) -> Flip {
        let vertical = if S::US.is_white() { 0 } else { 0b111_000 };
        Flip(if king.to_u32() & 7 < 4 { vertical | 0b111 } else { vertical })
    }

    /// The square's index in a table of 64.
    #[inline]
    pub fn index(self, square: Square) -> usize {
        ((square.to_u32() ^ self.0) & 63) as usize
    }
}
