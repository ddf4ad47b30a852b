//! Piece-square values: what a square is worth to a man, whatever else stands on the board.

use shakmaty::{Role, Square};

use super::{geometry::Side, pair::Pair, weights::WEIGHTS};

static TABLE: [[Pair; 64]; 6] = expand();

/// The rank and file parts of [`WEIGHTS`] added up for every role and square, seen from White's side.
const fn expand() -> [[Pair; 64]; 6] {
    let mut table = [[Pair::ZERO; 64]; 6];
    let mut role = 0;
    while role < 6 {
        let mut square = 0;
        while square < 64 {
            let (file, rank) = (square % 8, square / 8);
            let folded = if file < 4 { file } else { 7 - file };
            let parts = &WEIGHTS.squares[role];
            table[role][square] = parts.rank[rank].plus(parts.file[folded]);
            square += 1;
        }
        role += 1;
    }
    table
}

/// The worth of `square` to our man of `role`.
#[inline]
pub fn value<S: Side>(role: Role, square: Square) -> Pair {
    let seen = if S::US.is_white() { square } else { square.flip_vertical() };
    TABLE[role as usize - 1][seen.to_usize()]
}
