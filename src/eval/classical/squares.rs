//! Piece-square tables. For pieces other than pawns and kings they also depend on the halves of the board of both
//! kings.

use shakmaty::{Role, Square};

use super::{geometry::Side, pair::Pair, weights::WEIGHTS};

/// For each square its index in a table of the files a to d, with files e to h mirrored.
static FOLDED: [u8; 64] = fold();

const fn fold() -> [u8; 64] {
    let mut table = [0; 64];
    let mut square = 0;
    while square < 64 {
        let (file, rank) = (square % 8, square / 8);
        let folded = if file < 4 { file } else { 7 - file };
        table[square] = (4 * rank + folded) as u8;
        square += 1;
    }
    table
}

/// The value of `square` for our pawn or king.
#[inline]
pub fn weight<S: Side>(role: Role, square: Square) -> &'static Pair {
    let seen = if S::US.is_white() { square } else { square.flip_vertical() };
    &WEIGHTS.squares[usize::from(role == Role::King)][usize::from(FOLDED[seen.to_usize()])]
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
