//! The network: an evaluation trained on labelled positions.
mod accumulator;
mod difference;
mod features;
mod file;
mod network;
mod pawns;
mod small;

pub use accumulator::Accumulators;
pub use features::{BUCKET_INPUTS, INPUTS, View};
pub use file::{
    FIRST, HEADS, Layout, NetworkError, ONE_FIRST, ONE_HEAD, ONE_INPUT, ONE_SECOND, ONE_SMALL, PAWN_INPUTS,
    PAWN_UNITS, PawnLayout, SECOND, SmallLayout,
};
pub use network::{EMBEDDED, Network, UNITS, head};
pub use pawns::PawnEntry;
