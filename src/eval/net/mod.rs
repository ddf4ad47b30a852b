//! The network: an evaluation trained on labelled positions.
mod accumulator;
mod difference;
mod features;
mod file;
mod network;
mod pawns;

pub use accumulator::Accumulators;
pub use features::{INPUTS, View};
pub use file::{
    HEADS, Layout, NetworkError, ONE_HEAD, ONE_INPUT, PAWN_INPUTS, PAWN_UNITS, PawnLayout, SCALE,
};
pub use network::{EMBEDDED, Network, UNITS, head};
pub use pawns::PawnEntry;
