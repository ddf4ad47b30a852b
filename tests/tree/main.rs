//! `engram tree`, and what the engine plays from a tree.

#[path = "../common/mod.rs"]
mod common;

mod growth;
mod output;
