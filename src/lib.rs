//! Engram: a UCI chess engine that remembers.
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod cli;
pub mod engine;
pub mod eval;
pub mod position;
pub mod protocol;
pub mod search;
pub mod tt;
pub mod types;
pub mod uci;
