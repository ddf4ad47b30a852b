//! The values that all layers share: [`Score`], [`Depth`], [`Ply`], [`Bound`], the hash keys,
//! [`PackedMove`] and [`SearchResult`].
//!
//! They are newtypes where a mix-up would be a silent bug (a depth used as a ply, a pawn key used as a
//! position key), and conversions between them have names.

mod bound;
mod chances;
mod depth;
mod keys;
mod mix;
mod packed_move;
mod prefetch;
mod quote;
mod score;
mod search_result;
mod verdict;

pub use bound::Bound;
pub use chances::ChanceModel;
pub use depth::{Depth, FIFTY_MOVE_MARGIN, MAX_PLY, Ply};
pub use keys::{MaterialKey, NonPawnKey, PathKey, PawnKey, PositionKey};
pub use mix::{mix, spread};
pub use packed_move::PackedMove;
pub use prefetch::prefetch;
pub use quote::quote;
pub use score::Score;
pub use search_result::{Iterations, ScoredLine, SearchResult};
pub use verdict::Verdict;
