//! The transposition table: results of the search, to be used again where other moves lead to the same position.
//!
//! One table serves all threads without locks. An entry is two words that check each other, so a torn or
//! foreign pair is recognised and ignored (`entry.rs`). A probe touches one cluster of four, which is a cache line
//! (`table.rs`). A hit
//! yields move and static evaluation at once, its score only through the path check ([`Hit::window`],
//! `path_check.rs`; what the check compares and why: [`PathHash`](crate::position::PathHash)). What the
//! learning file knows is put in before a search and is protected while it runs (`learned.rs`). Below the table
//! may lie a file that outlives the process ([`mod@file`]).

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
