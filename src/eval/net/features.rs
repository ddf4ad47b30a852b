//! The inputs of the network, for one view. The board is turned so that the viewing side plays upwards, and mirrored so
//! that its own king is on files a to d. There are 64 inputs for each kind of piece, own and the opponent's.

use shakmaty::{Color, Role, Square};

use super::difference::PieceOn;

/// Inputs of a view, of which as many are set as there are pieces.
pub const INPUTS: usize = 768;

/// The view of the board by one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct View {
    side: Color,
    /// Combined by XOR with a square of the board, gives that of the view.
    turn: u32,
}

impl View {
    /// The view of `side`, whose king is on `king`.
    #[inline]
    pub fn new(side: Color, king: Square) -> View {
        let mirror = if king.file() as u32 >= 4 { 7 } else { 0 };
        let turn = mirror | if side == Color::Black { 56 } else { 0 };
        View { side, turn }
    }

    /// Is the board mirrored? Of a side's views that are, and of those that are not, a piece on a square sets the same
    /// input.
    #[inline]
    pub fn is_mirrored(self) -> bool {
        self.turn & 7 != 0
    }

    /// The input that a piece sets, below [`INPUTS`].
    #[inline]
    pub fn input(self, color: Color, role: Role, square: Square) -> usize {
        self.input_of(PieceOn::new(color, role, square))
    }

    /// The same for a piece of a [`Difference`](super::difference::Difference).
    #[inline]
    pub(super) fn input_of(self, piece: PieceOn) -> usize {
        let own = piece.is_white() == self.side.is_white();
        let kind = piece.role() - 1 + if own { 0 } else { 6 };
        kind * 64 + (piece.square() ^ self.turn) as usize
    }
}
