//! The inputs of the network: what one side sees. Each view has 768 of them: 64 squares for each kind of piece,
//! own and the opponent's, on a board that is turned so that the viewer plays upwards and mirrored so that its own
//! king stands on the files a to d.

use shakmaty::{Color, Role, Square};

/// Inputs of a view, of which as many are set as there are pieces.
pub const INPUTS: usize = 768;

/// From where a side looks at the board.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct View {
    side: Color,
    /// Turns a square of the board into one of the view.
    turn: u32,
}

impl View {
    /// The view of `side`, whose king is on `king`.
    #[inline]
    pub fn new(side: Color, king: Square) -> View {
        let mirror = if king.file() as u32 >= 4 { 7 } else { 0 };
        View { side, turn: mirror | if side == Color::Black { 56 } else { 0 } }
    }

    /// Is the board mirrored?
    #[inline]
    pub fn is_mirrored(self) -> bool {
        self.turn & 7 != 0
    }

    /// The input that a piece sets, below [`INPUTS`].
    #[inline]
    pub fn input(self, color: Color, role: Role, square: Square) -> usize {
        let kind = role as usize - 1 + if color == self.side { 0 } else { 6 };
        kind * 64 + (square as u32 ^ self.turn) as usize
    }
}
