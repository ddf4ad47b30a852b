//! Engram, a UCI chess engine that remembers.
//!
//! # Reading map
//! What happens to a line of input, and where:
//!
//! 1. [`uci`] reads the line, [`protocol`] parses it into a command, and [`uci`] translates that into
//!    positions, options and limits.
//! 2. [`engine`] holds position, tables and threads; it speaks values, never text.
//! 3. [`position`] is shakmaty's rules plus incremental keys, the path to the present position, static
//!    exchange evaluation and perft.
//! 4. [`search`] looks ahead: iterative deepening, aspiration windows, principal variation search,
//!    quiescence, on any number of threads. Begin with `search/node.rs`, its table of contents.
//! 5. [`eval`] says what a position is worth without looking ahead: `eval/net` is the network, `eval/classical` the
//!    evaluation by terms, one file a concept. Both keep in a pawn hash table what the pawns alone say.
//! 6. [`tt`] remembers what was searched, as windows of scores that are true only on a fitting path.
//! 7. [`learn`] remembers from game to game: before a search `engine/learning.rs` brings records of the file
//!    into the table, after it what `learn::policy` finds worth keeping goes back, before the move is announced.
//! 8. [`book`] knows openings, [`syzygy`] endings with few pieces: the engine asks both before it searches.
//! 9. Reports come back as [`search::Event`]s, which [`uci`] prints through [`protocol`] and [`cli`] counts.
//!
//! [`types`] are the values that all of them share: scores, depths, keys, packed moves; `files.rs` is how all of them
//! open and make files.
//!
//! A file imports only from layers below its own: `types`, then `position`, then `tt`, `eval`, `learn`,
//! `book`, `syzygy` and `protocol` (which do not know each other), then `search`, `engine`, `uci`, `cli` and
//! `main.rs`. A test holds this (`tests/architecture.rs`).
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod book;
pub mod cli;
pub mod engine;
pub mod eval;
mod files;
pub mod learn;
pub mod position;
pub mod processor;
pub mod protocol;
pub mod search;
pub mod syzygy;
pub mod tt;
pub mod types;
pub mod uci;
