//! Geometry of the board: files, spans, rings; and the two sides as types, so that each term is written once, from the
//! point of view of "us", and compiled twice without branches on the colour.

use shakmaty::{Bitboard, Color, Square};

const FILE_A: u64 = 0x0101_0101_0101_0101;

/// Files c to f.
pub const CENTER_FILES: Bitboard = Bitboard(FILE_A << 2 | FILE_A << 3 | FILE_A << 4 | FILE_A << 5);
/// Files a to d.
pub const QUEEN_SIDE: Bitboard = Bitboard::WEST;
/// Files e to h.
pub const KING_SIDE: Bitboard = Bitboard::EAST;
/// The four central squares.
pub const CENTER: Bitboard = Bitboard::CENTER;

const fn ranks_ahead(color: Color, rank: usize) -> u64 {
    if color.is_white() { if rank == 7 { 0 } else { !0 << (8 * (rank + 1)) } } else { (1 << (8 * rank)) - 1 }
}

/// The nine squares around a king, moved inwards from the edge of the board so that there are always nine.
#[inline]
pub fn king_ring(king: Square) -> Bitboard {
    let [file, rank] = [king.to_u32() & 7, king.to_u32() >> 3].map(|coordinate| coordinate.clamp(1, 6) - 1);
    Bitboard(0x0007_0707 << (8 * rank) << file)
}

/// The king flank: the four files towards the nearer edge, or the four in the middle.
#[inline]
pub fn king_flank(king: Square) -> Bitboard {
    match king.to_u32() & 7 {
        0..=2 => QUEEN_SIDE,
        3 | 4 => CENTER_FILES,
        _ => KING_SIDE,
    }
}

/// The squares of the file of `square`.
#[inline]
pub fn file_of(square: Square) -> Bitboard {
    Bitboard(FILE_A << (square.to_u32() & 7))
}

/// The squares of the rank of `square`.
#[inline]
pub fn rank_of(square: Square) -> Bitboard {
    Bitboard(0xff << (square.to_u32() & 56))
}

/// The squares of the files beside that of `square`.
#[inline]
pub fn adjacent_files(square: Square) -> Bitboard {
    let file = file_of(square);
    west(file) | east(file)
}

/// The files of `squares`, as bits a to h.
#[inline]
pub fn files(squares: Bitboard) -> u8 {
    let mut bits = squares.0;
    bits |= bits >> 32;
    bits |= bits >> 16;
    bits |= bits >> 8;
    bits as u8
}

#[inline]
fn west(squares: Bitboard) -> Bitboard {
    Bitboard((squares.0 & !FILE_A) >> 1)
}

#[inline]
fn east(squares: Bitboard) -> Bitboard {
    Bitboard((squares.0 & !(FILE_A << 7)) << 1)
}

/// The number of squares.
#[inline]
pub fn count(squares: Bitboard) -> i32 {
    squares.count() as i32
}

/// One of the two sides as a type: "us" in a term.
pub trait Side: Copy {
    /// Our colour.
    const US: Color;
    /// The other side.
    type Them: Side<Them = Self>;
    /// Our index in per-colour arrays.
    const ME: usize = Self::US as usize;
    /// The opponent's index in per-colour arrays.
    const YOU: usize = 1 - Self::ME;

    /// Moves squares one rank forward.
    #[inline]
    fn push(squares: Bitboard) -> Bitboard {
        if Self::US.is_white() { Bitboard(squares.0 << 8) } else { Bitboard(squares.0 >> 8) }
    }

    /// The squares that at least one of `pawns` attacks.
    #[inline]
    fn pawn_attacks(pawns: Bitboard) -> Bitboard {
        let ahead = Self::push(pawns);
        west(ahead) | east(ahead)
    }

    /// The squares that two of `pawns` attack.
    #[inline]
    fn double_pawn_attacks(pawns: Bitboard) -> Bitboard {
        let ahead = Self::push(pawns);
        west(ahead) & east(ahead)
    }

    /// The rank from our side, 0 (back rank) to 7.
    #[inline]
    fn rank(square: Square) -> usize {
        let rank = square.to_usize() >> 3;
        if Self::US.is_white() { rank } else { 7 - rank }
    }

    /// A mask of ranks given from our side: bit 0 is our back rank.
    #[inline]
    fn ranks(bits: u8) -> Bitboard {
        let mut mask = 0;
        let mut rank = 0;
        while rank < 8 {
            let from_us = if Self::US.is_white() { rank } else { 7 - rank };
            if bits >> from_us & 1 == 1 {
                mask |= 0xff << (8 * rank);
            }
            rank += 1;
        }
        Bitboard(mask)
    }

    /// The squares ahead on the same file.
    #[inline]
    fn front(square: Square) -> Bitboard {
        file_of(square) & Self::front_ranks(square)
    }

    /// The squares ahead on the adjacent files: all squares that a pawn on `square` can ever attack.
    #[inline]
    fn attack_span(square: Square) -> Bitboard {
        adjacent_files(square) & Self::front_ranks(square)
    }

    /// All ranks ahead of that of `square`.
    #[inline]
    fn front_ranks(square: Square) -> Bitboard {
        Bitboard(ranks_ahead(Self::US, square.to_usize() >> 3))
    }

    /// The square one step ahead, from a rank that is not the last.
    #[inline]
    fn ahead(square: Square) -> Square {
        let index = square.to_u32();
        Square::new(if Self::US.is_white() { (index + 8) & 63 } else { index.wrapping_sub(8) & 63 })
    }
}

/// White as "us".
#[derive(Copy, Clone, Debug)]
pub struct White;

/// Black as "us".
#[derive(Copy, Clone, Debug)]
pub struct Black;

impl Side for White {
    const US: Color = Color::White;
    type Them = Black;
}

impl Side for Black {
    const US: Color = Color::Black;
    type Them = White;
}
