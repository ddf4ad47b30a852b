//! The static evaluation.
//!
//! There are two. The [network](net), the default, was trained on positions from the engine's own searches. The
//! [`classical`] evaluation adds up named terms, which also help to explain the network's values. Known endgames have
//! evaluations of their own with both.

pub mod classical;
mod evaluator;
mod fingerprint;
pub mod net;
mod pawn_table;

pub use evaluator::{Evaluation, Evaluator};
pub use fingerprint::fingerprint;
