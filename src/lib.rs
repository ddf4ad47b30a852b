//! Engram, a UCI chess engine that remembers. The program is this library behind a command line; other programs can use
//! it as well.
//!
//! # Analysing a position
//! An [`Engine`] takes positions and [`Limits`] and reports [`Event`]s to a function, from threads of its own.
//! ```
//! use std::{sync::{Arc, mpsc}, time::Instant};
//! use engram::{Depth, Engine, Event, Limits, Position};
//! use engram::shakmaty::san::SanPlus;
//!
//! let (sender, events) = mpsc::channel();
//! let mut engine = Engine::new(Arc::new(move |event| drop(sender.send(event))));
//! let position = Position::from_fen("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1").ok_or("no position")?;
//! engine.set_position(position.clone(), &[])?;
//! engine.go(Limits { depth: Some(Depth(6)), ..Limits::default() }, Instant::now());
//! let best = loop {
//!     match events.recv()? {
//!         Event::Pv(line) => println!("depth {}: {} centipawns", line.depth.get(), line.score.centipawns()),
//!         // Every search ends in exactly one of these.
//!         Event::Finished { best, .. } => break best.ok_or("the game is over here")?,
//!         Event::CurrentMove { .. } | Event::Notice(_) => {}
//!     }
//! };
//! assert_eq!(SanPlus::from_move(position.chess().clone(), best).to_string(), "Rd8#");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Playing a game
//! The state of a game (transposition table, histories) is kept from move to move. As in UCI, give the engine the start
//! and all moves each time.
//! ```
//! use std::{sync::{Arc, mpsc}, time::Instant};
//! use engram::{Engine, Event, Limits, Position};
//! use engram::shakmaty::CastlingMode;
//!
//! let (sender, events) = mpsc::channel();
//! let mut engine = Engine::new(Arc::new(move |event| drop(sender.send(event))));
//! let mut moves = Vec::new();
//! engine.new_game();
//! while moves.len() < 20 {
//!     engine.set_position(Position::default(), &moves)?;
//!     engine.go(Limits { nodes: Some(500), ..Limits::default() }, Instant::now());
//!     let answer = events.iter().find_map(|event| match event {
//!         Event::Finished { best, .. } => Some(best),
//!         _ => None,
//!     });
//!     // No move: mate or stalemate.
//!     let Some(best) = answer.flatten() else { break };
//!     moves.push(best.to_uci(CastlingMode::Standard));
//! }
//! assert_eq!(moves.len(), 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Reading a learning file
//! [`LearnFile::open`] opens a learning file; [`LearnMode::Read`] changes nothing, whatever state the file is in.
//! ```
//! use engram::{LearnFile, LearnMode};
//! # use engram::{Position, learn::{Origin, Record, Store}};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("learn-1.bin");
//! # let store = Store::open(&path, LearnMode::Write)?;
//! # store.append(Record::new(&Position::default(), Origin::Drop)?);
//! # assert!(store.flush(std::time::Duration::from_secs(60)));
//!
//! let (_, ring, report) = LearnFile::open(&path, LearnMode::Read)?;
//! println!("{} records, {} of them damaged", ring.len(), report.torn);
//! for (_, record) in ring.iter() {
//!     let (position, best) = record.position_and_move()?;
//!     println!("{} {best:?} depth {}", position.fen(), record.depth);
//! }
//! assert!(ring.get(Position::default().key()).is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is stable
//! The names at the top of the crate and the types that they use change only with the second number of the version. The
//! modules are internal: they are public only for tests, benches and fuzz targets, and change at any time.
//!
//! # Reading map
//! What happens to a line of input, and where:
//!
//! 1. [`uci`] reads the line, [`protocol`] parses it into a command, and [`uci`] translates that into
//!    positions, options and limits.
//! 2. [`engine`] holds position, tables and threads; it speaks values, never text.
//! 3. [`position`] is shakmaty's rules plus incremental keys, the path to the current position, static exchange
//!    evaluation and perft.
//! 4. [`search`] is the search: iterative deepening, aspiration windows, principal variation search and quiescence, on
//!    any number of threads. Begin with `search/node.rs`, its table of contents.
//! 5. [`eval`] is the static evaluation: `eval/net` is the network, `eval/classical` the classical evaluation, one file
//!    for each concept. Both have a pawn hash table.
//! 6. [`tt`] is the transposition table: its entries hold score windows, each valid only on a matching path.
//! 7. [`learn`] is the learning file: before a search `engine/learning.rs` loads records into the transposition table;
//!    after it, before the move is announced, it writes new records by the rules of `learn::policy`.
//!    [`tree`] is an analysis that grows for hours in a file of its own, and is played from.
//! 8. [`book`] is the opening book, [`syzygy`] the endgame tablebases: both are probed before a search.
//! 9. `fleet`, a feature of the build, synchronises the learning files of several machines through a server, and
//!    distributes analyses.
//! 10. Results come back as [`search::Event`]s, which [`uci`] prints through [`protocol`], and which [`cli`] also uses.
//!
//! [`types`] are the values that all of them share: scores, depths, keys, packed moves. [`notice`] is what the user is
//! told besides results. `files.rs` opens and creates files, `locks.rs` locks mutexes, `processor.rs` chooses
//! instructions and priorities.
//!
//! A file imports only from layers below its own: `types`; `position` and `notice`; then `tt`, `eval`, `learn`, `book`,
//! `syzygy` and `protocol`, none of which imports another; then `search` and `tree`; then `fleet`; `engine`; `uci`; `cli`;
//! `main.rs`. A test enforces this (`tests/repository/architecture.rs`).
#![forbid(unsafe_op_in_unsafe_fn)]

pub mod book;
pub mod cli;
pub mod engine;
pub mod eval;
mod files;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod learn;
mod locks;
pub mod notice;
pub mod position;
pub mod processor;
pub mod protocol;
pub mod search;
pub mod syzygy;
pub mod tree;
pub mod tt;
pub mod types;
pub mod uci;

pub use engine::{Engine, IllegalMove, OutOfMemory};
pub use learn::{LearnFile, Mode as LearnMode, Record, Ring};
pub use position::Position;
pub use search::{ClockTime, Event, EventSink, Limits, PvInfo};
/// The rules of chess: moves, boards, FEN and SAN are the types of this version of shakmaty.
pub use shakmaty;
pub use types::{Bound, Depth, Score};
