//! The inputs of the network, for one view. The board is turned so that the viewing side plays upwards, and mirrored so
//! that its own king is on files a to d. There are 64 inputs for each kind of piece, own and the opponent's, and all of
//! them once for each king bucket: a part of the board in which the own king may be.

use shakmaty::{Color, Role, Square};

use super::difference::PieceOn;

/// Inputs of a king bucket, of which as many are set as there are pieces.
const BUCKET_INPUTS: usize = 768;
/// King buckets.
const BUCKETS: usize = 4;
/// Inputs of a view.
pub const INPUTS: usize = BUCKETS * BUCKET_INPUTS;

/// The view of the board by one side.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct View {
    side: Color,
    /// Combined by XOR with a square of the board, gives that of the view.
    turn: u32,
    bucket: usize,
}

impl View {
    /// Views of a side that differ in their inputs: see [`View::frame`].
    pub const FRAMES: usize = 2 * BUCKETS;

    /// The view of `side`, whose king is on `king`.
    #[inline]
    pub fn new(side: Color, king: Square) -> View {
        let mirror = if king.file() as u32 >= 4 { 7 } else { 0 };
        let turn = mirror | if side == Color::Black { 56 } else { 0 };
        View { side, turn, bucket: bucket(king as u32 ^ turn) }
    }

    /// The frame of the view, below [`View::FRAMES`]: with the same frame a piece on a square sets the same input.
    #[inline]
    pub fn frame(self) -> usize {
        2 * self.bucket + usize::from(self.turn & 7 != 0)
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
        self.bucket * BUCKET_INPUTS + kind * 64 + (piece.square() ^ self.turn) as usize
    }
}

/// The bucket of a king on a square of its view: castled, in the middle of the first rank, on the second rank, beyond
/// it.
#[inline]
fn bucket(king: u32) -> usize {
    match (king / 8, king % 8) {
        (0, 0..=1) => 0,
        (0, _) => 1,
        (1, _) => 2,
        _ => 3,
    }
}
