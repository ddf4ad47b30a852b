//! The difference of two boards, by which an accumulator is updated from one to the other.

use shakmaty::{Board, Color, Role, Square};

/// A board as four bitboards. The bits of a square in the first three are the number of the piece there (pawn 1 to
/// king 6, 0 for none), the last is set if it is white. So two boards are compared in a few instructions.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardCode([u64; 4]);

const _: () = assert!(Role::Pawn as u32 == 1 && Role::King as u32 == 6);

impl BoardCode {
    #[inline(always)]
    pub fn new(board: &Board) -> BoardCode {
        let [pawns, knights, bishops] = [board.pawns().0, board.knights().0, board.bishops().0];
        let [rooks, queens, kings] = [board.rooks().0, board.queens().0, board.kings().0];
        BoardCode([
            pawns | bishops | queens,
            knights | bishops | kings,
            rooks | queens | kings,
            board.by_color(Color::White).0,
        ])
    }

    /// The squares on which two boards differ.
    #[inline(always)]
    fn differing(&self, other: &BoardCode) -> u64 {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        (a ^ e) | (b ^ f) | (c ^ g) | (d ^ h)
    }

    /// On how many squares two boards differ.
    #[inline(always)]
    pub fn distance(&self, other: &BoardCode) -> u32 {
        self.differing(other).count_ones()
    }

    /// The piece on `square`, if any.
    #[inline(always)]
    fn piece_on(&self, square: u32) -> PieceOn {
        let [low, middle, high, white] = self.0.map(|plane| (plane >> square & 1) as u16);
        PieceOn((low | middle << 1 | high << 2 | white << 3) << 6 | square as u16)
    }
}

/// A piece on its square: `white 1 | role 3 (pawn 1 to king 6, none 0) | square 6`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PieceOn(u16);

impl PieceOn {
    #[inline(always)]
    pub fn new(color: Color, role: Role, square: Square) -> PieceOn {
        PieceOn(u16::from(color.is_white()) << 9 | (role as u16) << 6 | square as u16)
    }

    #[inline(always)]
    pub fn is_white(self) -> bool {
        self.0 & 1 << 9 != 0
    }

    /// Pawn 1 to king 6.
    #[inline(always)]
    pub fn role(self) -> usize {
        usize::from(self.0 >> 6 & 7)
    }

    #[inline(always)]
    pub fn square(self) -> u32 {
        u32::from(self.0 & 63)
    }
}

/// Pieces on their squares, at most one for each.
#[derive(Copy, Clone, Debug)]
pub struct PieceList {
    pieces: [PieceOn; 64],
    len: usize,
}

impl PieceList {
    const EMPTY: PieceList = PieceList { pieces: [PieceOn(0); 64], len: 0 };

    /// Adds a piece if there is one. Without a branch, since the order of a move's two squares is unpredictable.
    #[inline(always)]
    fn push(&mut self, piece: PieceOn) {
        if let Some(end) = self.pieces.get_mut(self.len) {
            *end = piece;
            self.len += usize::from(piece.role() != 0);
        }
    }

    #[inline(always)]
    pub fn as_slice(&self) -> &[PieceOn] {
        &self.pieces[..self.len.min(64)]
    }
}

/// The difference of two boards.
pub struct Difference {
    /// The pieces of the second board that the first does not have.
    pub added: PieceList,
    /// The pieces of the first board that the second does not have.
    pub removed: PieceList,
}

impl Difference {
    #[inline(always)]
    pub fn new(before: &BoardCode, after: &BoardCode) -> Difference {
        let mut difference = Difference { added: PieceList::EMPTY, removed: PieceList::EMPTY };
        let mut rest = before.differing(after);
        while rest != 0 {
            let square = rest.trailing_zeros();
            difference.added.push(after.piece_on(square));
            difference.removed.push(before.piece_on(square));
            rest &= rest - 1;
        }
        difference
    }
}
