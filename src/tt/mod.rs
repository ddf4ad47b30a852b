//! The transposition table: results of the search, reused when other moves lead to the same position.
//!
//! One table serves all threads without locks. An entry is two words that check each other, so a torn entry or one of
//! another position is recognised and ignored (`entry.rs`). A probe touches one cluster of four entries, which is a
//! cache line (`table.rs`). A hit gives move and static evaluation directly, its score only through the path check
//! ([`Hit::window`], `path_check.rs`; what the check compares and why: [`PathHash`](crate::position::PathHash)).
//! Records of the learning file are inserted before a search and protected while it runs (`learned.rs`). Below the
//! table there may be a file that outlives the process ([`mod@file`]).

mod backing;
mod entry;
pub mod file;
mod learned;
mod path_check;
#[cfg(test)]
mod races;
mod roots;
mod score_window;
mod table;

pub use entry::{Hit, NodeResult};
pub use learned::Learned;
pub use path_check::{PathCheck, Taint};
pub use roots::{RootResult, Roots, deepest};
pub use score_window::ScoreWindow;
pub use table::Table;
