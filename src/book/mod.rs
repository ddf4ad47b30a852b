//! Opening books in the Polyglot format (F. Letouzey, 2004-2008): reading, choosing, making, learning.
//!
//! A book is a list of 16-byte entries, big-endian, sorted by key:
//!
//! ```text
//!  0 key u64   8 move u16   10 weight u16   12 learn u32
//! ```
//! The key is the engine's own [`PositionKey`](crate::types::PositionKey). A lookup is a binary search.
//!
//! The format does not define the meaning of `learn`, and programs use it differently. Engram counts the results of
//! its own games in it ([`LearnedBook`]), in a copy of the book in the user's data directory, where all fields begin
//! at zero, or with what a copy of an earlier version of the book has learned. The book itself is never written.

mod build;
mod choose;
mod entry;
mod file;
mod learn;

pub use build::{BookLimits, Builder, merge, to_bytes};
pub use choose::choose;
pub use entry::{BookEntry, BookMove, ENTRY_BYTES, raw_move};
pub use file::{Book, BookError};
pub use learn::{EntryResult, Experience, LearnedBook};
