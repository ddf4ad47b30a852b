//! What earlier games taught, in a file that outlives them.
//!
//! `learn/FORMAT.md` is the specification. From the bytes up, each importing only from those above it:
//!
//! ```text
//! score, record         the bytes of a record and what they say
//! reachability, ring    what can still occur; the index of what is known
//! error, header, disk   what can go wrong; the first bytes of a file; operations on files behind one trait
//! create, file          making a file; opening it and reading forward
//! append, merge         the only ways in which it changes
//! writer, store         the file as an engine holds it: a ring, and a thread that does what must not be waited for
//! policy, game, session pure: searches and games in, records out
//! games                 the games that the records belong to
//! exchange, journal     records as text; the games in progress, beside the file
//! ```

mod append;
mod create;
pub mod disk;
mod error;
pub mod exchange;
mod file;
pub(crate) mod game;
pub(crate) mod games;
pub mod header;
pub(crate) mod journal;
mod merge;
pub mod policy;
pub mod reachability;
pub mod record;
mod ring;
mod score;
pub(crate) mod session;
mod stamp;
mod store;
mod writer;

pub use append::{AppendTime, Locked};
pub use create::create;
pub use error::FileError;
pub use file::{LearnFile, Mode, Unverified};
pub use merge::{Taken, beats, create_with_timeout, keep_what_fits};
pub use record::{Flags, Origin, Record, RecordError, Unlearnable};
pub use ring::{BEFORE_FIRST, BLOCK, MAX_ADVICE, Report, Ring};
pub use score::{LearnedScore, ParseScoreError};
pub use stamp::{now, session};
pub use store::{Store, Written};

/// What the file is called in the user's data directory: with its format, so that engines of two formats keep
/// two files.
pub const FILE_NAME: &str = "learn-1.bin";
