//! `engram analyse`, from what it reads to the page that it writes, and `engram tablebase`.

#[path = "../common/mod.rs"]
mod common;

mod input;
mod outputs;
mod page;
mod pgn;
mod puzzles;
mod tablebase;
mod tables;
mod usage;
