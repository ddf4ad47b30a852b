//! Piece-square values: what a square is worth to a man, whatever else stands on the board.

use shakmaty::{Role, Square};

use super::{geometry::Side, pair::Pair, weights::WEIGHTS};

/// For each square its place in a table of the files a to d, e to h mirrored.
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

/// The worth of `square` to our man of `role`.
#[inline]
pub fn weight<S: Side>(role: Role, square: Square) -> &'static Pair {
    let seen = if S::US.is_white() { square } else { square.flip_vertical() };
    &WEIGHTS.squares[role as usize - 1][usize::from(FOLDED[seen.to_usize()])]
}
