//! The rules, the evaluation and the search, seen from outside.

#[path = "../common/mod.rs"]
mod common;

mod book;
mod eval;
mod eval_terms;
mod keys;
mod net;
mod path;
mod path_traps;
mod perft;
mod search;
mod syzygy;
