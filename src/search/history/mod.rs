//! The history tables: what earlier nodes taught about moves and evaluations.
//!
//! Every entry is updated with gravity: a bonus counts for less the closer the entry is to its limit, so that it
//! stays within the limit and recent results weigh most.

mod continuation;
mod correction;
mod entry;
mod quiet;
mod tables;

pub use continuation::{ContinuationHistory, MoveIndex};
pub use correction::CorrectionHistory;
pub use quiet::QuietHistory;
pub use tables::{ButterflyHistory, CaptureHistory, PawnHistory};
