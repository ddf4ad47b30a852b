//! The history tables: statistics of earlier nodes about moves and evaluations.
//!
//! Every entry is updated with gravity: a bonus counts less the closer the entry is to its limit, so that entries stay
//! within the limit and recent results weigh most.

mod continuation;
mod correction;
mod entry;
mod quiet;
mod tables;

pub use continuation::{ContinuationHistory, MoveIndex};
pub use correction::CorrectionHistory;
pub use quiet::QuietHistory;
pub use tables::{ButterflyHistory, CaptureHistory, PawnHistory};
