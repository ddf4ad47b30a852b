//! Can a position still occur? A test that never says no wrongly and is fast enough to ask of every record
//! before every search.
//!
//! Some things never come back in a game: a man, a pawn on its home square, a right to castle. Packed into one
//! word they are compared by a few instructions without a branch, sixteen records at a time where the
//! processor can; what passes is asked whether its pawns can have come from those of the root.
//!
//! ```text
//! 31   30        26 25  24      20 19          18 17          16 15           8 7            0
//! guard| black men | guard | white men | black rights | white rights | black home pawns | white home pawns
//! ```
//! Rights are counted in unary (one: 01, two: 11), so that fewer is a subset.

use shakmaty::{Bitboard, Board, Castles, CastlingSide, Color, Position as _, Rank};

use crate::position::Position;

/// What a comparison of two positions needs.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// What never comes back.
    pub signature: u32,
    /// Pawns of white.
    pub white_pawns: Bitboard,
    /// Pawns of black.
    pub black_pawns: Bitboard,
}

const SUBSET: u32 = (1 << 20) - 1;
const WHITE_MEN: u32 = 20;
const BLACK_MEN: u32 = 26;
const GUARDS: u32 = 1 << 25 | 1 << 31;
const MOST_MEN: usize = 31;

impl Footprint {
    /// Of a position on the board.
    pub fn of(position: &Position) -> Footprint {
        let (board, castles): (&Board, &Castles) = (position.board(), position.chess().castles());
        let rights = |color| CastlingSide::ALL.into_iter().filter(|&side| castles.has(color, side)).count();
        let pawns = |color| board.pawns() & board.by_color(color);
        let men = |color| board.by_color(color).count();
        Footprint::new(
            [pawns(Color::White), pawns(Color::Black)],
            [men(Color::White), men(Color::Black)],
            [rights(Color::White), rights(Color::Black)],
        )
    }

    /// Of a position as a record holds it, in the stable encoding of shakmaty's `PackedSetup`: the occupied
    /// squares, big-endian, then four bits a man. Bytes that are no position give some footprint.
    pub fn of_packed(setup: &[u8; 24]) -> Footprint {
        let word = |from: usize| std::array::from_fn(|byte| setup[from + byte]);
        let mut occupied = Bitboard(u64::from_be_bytes(word(0)));
        let nibbles =
            u128::from(u64::from_le_bytes(word(8))) | u128::from(u64::from_le_bytes(word(16))) << 64;
        let all = occupied;
        let (mut nibbles, mut pawns, mut black, mut rights) = (nibbles, [Bitboard::EMPTY; 2], 0, [0; 2]);
        while let Some(square) = occupied.pop_front() {
            match nibbles as u8 & 15 {
                0 => pawns[0].add(square),
                1 => {
                    pawns[1].add(square);
                    black += 1;
                }
                // A pawn that has just made a double step.
                12 if square.rank() <= Rank::Fourth => pawns[0].add(square),
                12 => {
                    pawns[1].add(square);
                    black += 1;
                }
                // Rooks that may castle.
                13 => rights[0] += 1,
                14 => {
                    rights[1] += 1;
                    black += 1;
                }
                // Black men have odd numbers.
                man => black += usize::from(man & 1),
            }
            nibbles >>= 4;
        }
        Footprint::new(pawns, [all.count() - black, black], rights)
    }

    fn new(pawns: [Bitboard; 2], men: [usize; 2], rights: [usize; 2]) -> Footprint {
        let [white_pawns, black_pawns] = pawns;
        let unary = |count: usize| (1u32 << count.min(2)) - 1;
        let men = men.map(|count| count.min(MOST_MEN) as u32);
        let signature = (white_pawns.0 >> 8 & 0xFF) as u32
            | ((black_pawns.0 >> 48 & 0xFF) as u32) << 8
            | unary(rights[0]) << 16
            | unary(rights[1]) << 18
            | men[0] << WHITE_MEN
            | men[1] << BLACK_MEN;
        Footprint { signature, white_pawns, black_pawns }
    }
}

/// What can still come from a root.
#[derive(Copy, Clone, Debug)]
pub struct Reach {
    signature: u32,
    white: Bitboard,
    black: Bitboard,
    white_pawns: usize,
    black_pawns: usize,
}

impl Reach {
    /// What can come from `root`.
    pub fn of(root: &Footprint) -> Reach {
        let (mut white, mut black) = (root.white_pawns, root.black_pawns);
        for _ in 0..6 {
            white = white | white.shift(8) | white.shift(7) & !FILE_H | white.shift(9) & !FILE_A;
            black = black | black.shift(-8) | black.shift(-7) & !FILE_A | black.shift(-9) & !FILE_H;
        }
        Reach {
            signature: root.signature,
            white,
            black,
            white_pawns: root.white_pawns.count(),
            black_pawns: root.black_pawns.count(),
        }
    }

    /// May a position with this signature come? Says no only where it is certain.
    #[inline(always)]
    pub fn admits(&self, signature: u32) -> bool {
        // No bit that is not there any more, and no borrow through the guard above either count.
        let gone = signature & !self.signature & SUBSET;
        let left = ((self.signature | GUARDS) - (signature & !SUBSET)) & GUARDS;
        gone | (left ^ GUARDS) == 0
    }

    /// May one with these pawns come?
    pub fn admits_pawns(&self, white: Bitboard, black: Bitboard) -> bool {
        (white.without(self.white) | black.without(self.black)).is_empty()
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
        let mut random = seed;
        while line.len() < 200 {
            let position = line.last().expect("never empty");
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            line.push(position.play(moves[(random >> 33) as usize % moves.len()]));
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

    fn admits(root: &Position, later: &Position) -> bool {
        let (reach, later) = (Reach::of(&Footprint::of(root)), Footprint::of(later));
        reach.admits(later.signature) && reach.admits_pawns(later.white_pawns, later.black_pawns)
    }

    #[test]
    fn a_packed_position_has_the_footprint_of_the_board() {
        for seed in 0..50 {
            for position in walk(seed) {
                assert_eq!(Footprint::of_packed(&packed(&position)), Footprint::of(&position));
            }
        }
    }

    #[test]
    fn nothing_that_comes_is_refused() {
        for seed in 0..50 {
            let line = walk(seed);
            for (index, root) in line.iter().enumerate().step_by(7) {
                for later in &line[index..] {
                    assert!(admits(root, later), "{} then {}", root.fen(), later.fen());
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
            refused += other.iter().filter(|position| !admits(root, position)).count();
            asked += other.len();
        }
        assert!(refused * 4 > asked * 3, "{refused} of {asked}");
    }

    #[test]
    fn nonsense_has_a_footprint_too() {
        let _ = Footprint::of_packed(&[0xFF; 24]);
        assert_eq!(Footprint::of_packed(&[0; 24]), Footprint::default());
    }
}
