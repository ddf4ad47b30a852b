//! Can a position still occur? The test never rejects one that can, and is fast enough for every record before every
//! search.
//!
//! Some things never come back in a game: a piece, a pawn on its home square, a castling right. Packed into one word
//! they are compared by a few instructions without a branch, sixteen records at a time if the processor can. For
//! positions that pass, it is then tested whether their pawns can have come from those of the root.
//!
//! ```text
//! 31   30        26 25  24      20 19          18 17          16 15           8 7            0
//! guard| black pieces | guard | white pieces | black rights | white rights | black home pawns | white home pawns
//! ```
//! Rights are counted in unary (one: 01, two: 11), so that fewer is a subset.

use shakmaty::{Bitboard, Board, Castles, CastlingSide, Color, Position as _};

use crate::position::Position;

/// The facts that the test compares.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// The irreversible facts, packed as drawn above.
    pub bits: u32,
    /// Pawns of white.
    pub white_pawns: Bitboard,
    /// Pawns of black.
    pub black_pawns: Bitboard,
}

const SUBSET: u32 = (1 << 20) - 1;
const WHITE_PIECES: u32 = 20;
const BLACK_PIECES: u32 = 26;
const GUARDS: u32 = 1 << 25 | 1 << 31;
const MAX_PIECES: usize = 31;

impl Signature {
    /// The signature of a position.
    pub fn of(position: &Position) -> Signature {
        let (board, castles): (&Board, &Castles) = (position.board(), position.chess().castles());
        let rights = |color| CastlingSide::ALL.into_iter().filter(|&side| castles.has(color, side)).count();
        let pawns = |color| board.pawns() & board.by_color(color);
        let pieces = |color| board.by_color(color).count();
        Signature::new(
            [pawns(Color::White), pawns(Color::Black)],
            [pieces(Color::White), pieces(Color::Black)],
            [rights(Color::White), rights(Color::Black)],
        )
    }

    /// The signature of a position as a record stores it, in the stable encoding of shakmaty's `PackedSetup`: the
    /// occupied squares, big-endian, then four bits a piece. Invalid bytes give some signature.
    pub fn of_packed(setup: &[u8; 24]) -> Signature {
        let word = |from: usize| std::array::from_fn(|byte| setup[from + byte]);
        let mut left = u64::from_be_bytes(word(0));
        let pieces = left.count_ones() as usize;
        let (mut white_pawns, mut black_pawns, mut passing, mut sums) = (0, 0, 0, 0);
        // Without a branch on the kind of piece, which would be unpredictable: 65,536 records are read while the first
        // search waits.
        for mut nibbles in [u64::from_le_bytes(word(8)), u64::from_le_bytes(word(16))] {
            for _ in 0..left.count_ones().min(16) {
                let square = left & left.wrapping_neg();
                left ^= square;
                let kind = &PIECES[nibbles as usize & 15];
                nibbles >>= 4;
                white_pawns |= square & kind.white_pawn;
                black_pawns |= square & kind.black_pawn;
                passing |= square & kind.passing;
                sums += kind.sums;
            }
        }
        // A pawn that has just made a double step has the colour of its half of the board.
        white_pawns |= passing & WHITE_HALF;
        black_pawns |= passing & !WHITE_HALF;
        let sum = |shift: u32| (sums >> shift & 0xFF) as usize;
        let black = sum(0) + (passing & !WHITE_HALF).count_ones() as usize;
        Signature::new(
            [Bitboard(white_pawns), Bitboard(black_pawns)],
            [pieces - black, black],
            [sum(8), sum(16)],
        )
    }

    fn new(pawns: [Bitboard; 2], pieces: [usize; 2], rights: [usize; 2]) -> Signature {
        let [white_pawns, black_pawns] = pawns;
        let unary = |count: usize| (1u32 << count.min(2)) - 1;
        let pieces = pieces.map(|count| count.min(MAX_PIECES) as u32);
        let bits = (white_pawns.0 >> 8 & 0xFF) as u32
            | ((black_pawns.0 >> 48 & 0xFF) as u32) << 8
            | unary(rights[0]) << 16
            | unary(rights[1]) << 18
            | pieces[0] << WHITE_PIECES
            | pieces[1] << BLACK_PIECES;
        Signature { bits, white_pawns, black_pawns }
    }
}

/// The lower four ranks.
const WHITE_HALF: u64 = 0xFFFF_FFFF;

/// What a piece contributes to a signature, by its code in a packed position.
#[derive(Copy, Clone)]
struct PackedPiece {
    white_pawn: u64,
    black_pawn: u64,
    passing: u64,
    /// `black rights 8 | white rights 8 | black pieces 8`, the last lowest.
    sums: u32,
}

const PIECES: [PackedPiece; 16] = {
    let mut pieces = [PackedPiece { white_pawn: 0, black_pawn: 0, passing: 0, sums: 0 }; 16];
    let mut number = 1;
    while number < 12 {
        // Black pieces have odd numbers.
        pieces[number].sums = 1;
        number += 2;
    }
    pieces[0].white_pawn = u64::MAX;
    pieces[1].black_pawn = u64::MAX;
    // A pawn that can be captured en passant; rooks with castling rights; the black king with Black to move.
    pieces[12].passing = u64::MAX;
    pieces[13].sums = 1 << 8;
    pieces[14].sums = 1 << 16 | 1;
    pieces[15].sums = 1;
    pieces
};

/// The test for positions that can still occur after a root.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Reachable {
    bits: u32,
    white: Bitboard,
    black: Bitboard,
    white_pawns: usize,
    black_pawns: usize,
}

impl Reachable {
    /// The test for positions after `root`.
    pub fn of(root: &Position) -> Reachable {
        let root = Signature::of(root);
        let (mut white, mut black) = (root.white_pawns, root.black_pawns);
        for _ in 0..6 {
            white = white | white.shift(8) | white.shift(7) & !FILE_H | white.shift(9) & !FILE_A;
            black = black | black.shift(-8) | black.shift(-7) & !FILE_A | black.shift(-9) & !FILE_H;
        }
        Reachable {
            bits: root.bits,
            white,
            black,
            white_pawns: root.white_pawns.count(),
            black_pawns: root.black_pawns.count(),
        }
    }

    /// May a position with these bits of a signature occur? False only if it certainly cannot.
    #[inline(always)]
    pub fn allows_bits(&self, signature: u32) -> bool {
        // No bit that the root does not have, and no borrow through the guard bit above either count of pieces.
        let gone = signature & !self.bits & SUBSET;
        let left = ((self.bits | GUARDS) - (signature & !SUBSET)) & GUARDS;
        gone | (left ^ GUARDS) == 0
    }

    /// The whole test, pawn structures included.
    pub fn allows(&self, signature: &Signature) -> bool {
        let &Signature { bits, white_pawns: white, black_pawns: black } = signature;
        self.allows_bits(bits)
            && (white.without(self.white) | black.without(self.black)).is_empty()
            && white.count() <= self.white_pawns
            && black.count() <= self.black_pawns
    }
}

const FILE_A: Bitboard = Bitboard(0x0101_0101_0101_0101);
const FILE_H: Bitboard = Bitboard(0x8080_8080_8080_8080);

#[cfg(test)]
mod tests {
    use shakmaty::{EnPassantMode, packed::PackedSetup};

    use super::*;

    /// A game of pseudo-random moves.
    fn walk(seed: u64) -> Vec<Position> {
        let mut line = vec![Position::default()];
        let mut random = fastrand::Rng::with_seed(seed);
        while line.len() < 200 {
            let position = line.last().expect("never empty");
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            line.push(position.play(moves[random.usize(..moves.len())]));
        }
        line
    }

    fn packed(position: &Position) -> [u8; 24] {
        let setup = position.chess().to_setup(EnPassantMode::PseudoLegal);
        let packed = PackedSetup::pack_standard_normalized(&setup).expect("a legal position");
        let mut bytes = [0; 24];
        bytes[..packed.as_bytes().len()].copy_from_slice(packed.as_bytes());
        bytes
    }

    fn allows(root: &Position, later: &Position) -> bool {
        Reachable::of(root).allows(&Signature::of(later))
    }

    #[test]
    fn a_packed_position_has_the_signature_of_the_board() {
        for seed in 0..50 {
            for position in walk(seed) {
                assert_eq!(Signature::of_packed(&packed(&position)), Signature::of(&position));
            }
        }
    }

    #[test]
    fn nothing_that_comes_is_refused() {
        for seed in 0..50 {
            let line = walk(seed);
            for (index, root) in line.iter().enumerate().step_by(7) {
                for later in &line[index..] {
                    assert!(allows(root, later), "{} then {}", root.fen(), later.fen());
                }
            }
        }
    }

    #[test]
    fn most_of_what_cannot_come_is_refused() {
        let (mut refused, mut asked) = (0, 0);
        for seed in 0..20 {
            let (ours, other) = (walk(seed), walk(seed + 100));
            let root = &ours[ours.len().min(60) - 1];
            refused += other.iter().filter(|position| !allows(root, position)).count();
            asked += other.len();
        }
        assert!(refused * 4 > asked * 3, "{refused} of {asked}");
    }

    #[test]
    fn nonsense_has_a_signature_too() {
        let _ = Signature::of_packed(&[0xFF; 24]);
        assert_eq!(Signature::of_packed(&[0; 24]), Signature::default());
    }
}
