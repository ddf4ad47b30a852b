//! A chess position as the engine uses it: shakmaty's rules plus incremental keys.
//!
//! [`Position`] is copy-make: [`Position::play`] returns the child, so that no move has to be undone. [`PositionPath`] holds
//! the positions that led here, for repetitions and the fifty-move rule.

mod checks;
mod cuckoo;
mod generate;
mod keys;
pub(crate) mod notation;
mod openings;
mod path;
mod path_hash;
pub mod perft;
mod see;
mod state;
mod threats;

pub use checks::{CheckSquares, blockers};
pub use generate::{TakeQuiets, is_noisy};
pub use keys::Keys;
pub use openings::{Opening, Openings};
pub use path::PositionPath;
pub use path_hash::{PathHash, PathPart};
pub use state::Position;
pub use threats::Threats;
