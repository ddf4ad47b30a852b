//! The evaluation: a position's worth without looking ahead.
//!
//! There are two. The [network](net) has learned what positions from the engine's own searches are worth; it is
//! the default. The [`classical`] evaluation adds up terms that have names, and explains the network's
//! values to people. Known endgames are recognised before either is asked.

pub mod classical;
mod evaluator;
mod fingerprint;
pub mod net;
mod pawn_table;

pub use evaluator::{Evaluation, Evaluator};
pub use fingerprint::fingerprint;
