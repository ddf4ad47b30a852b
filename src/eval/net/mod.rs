//! The network: what a position is worth, learned from a teacher instead of written by hand.
mod accumulator;
mod difference;
mod features;
mod file;
mod network;
mod pawns;

pub use accumulator::Accumulators;
pub use features::{BUCKET_INPUTS, INPUTS, View};
pub use file::{Layout, NetworkError, ONE_HEAD, ONE_INPUT, PawnLayout};
pub use network::{EMBEDDED, Network, UNITS};
pub use pawns::{PAWN_INPUTS, PAWN_UNITS, PawnEntry};

/// Heads: which one speaks depends on the number of pieces.
pub const HEADS: usize = 8;

/// The head for a board with `pieces` pieces.
#[inline]
pub fn head(pieces: u32) -> usize {
    ((pieces.saturating_sub(1) / 4) as usize).min(HEADS - 1)
}
