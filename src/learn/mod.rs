//! The learning file: records of earlier games, for later ones.
//!
//! `learn/FORMAT.md` is the specification. The modules, from the bytes up, each importing only from those above it:
//!
//! ```text
//! score, record         the bytes of a record and their meaning
//! reachability, ring    which positions can still occur; the index of all records
//! error, stamp          errors; time and session
//! header, disk          the first bytes of a file; file operations behind one trait
//! create, file          creating a file; opening it and reading forward
//! append, merge         the only ways in which a file changes
//! policy, game, session pure: searches and games in, records out
//! games                 reconstructs the games of the records
//! exchange, kept_games  records as text; games as PGN beside the file
//! store_state           the file, the records in memory and the messages of an engine
//! writer, store         the file in an engine: a thread for everything that may block
//! game_log              the games in progress, beside the file
//! ```

mod append;
mod create;
mod data_file;
pub mod disk;
mod error;
pub mod exchange;
mod file;
pub(crate) mod game;
pub(crate) mod game_log;
pub(crate) mod games;
pub mod header;
pub mod kept_games;
mod merge;
pub mod policy;
pub mod reachability;
pub mod record;
mod ring;
mod score;
pub(crate) mod session;
mod stamp;
mod store;
mod store_state;
mod writer;

pub(crate) use append::retry_while_busy;
pub use append::{AppendTime, Locked};
pub use create::create;
pub use error::FileError;
pub use file::{LearnFile, Mode};
pub use merge::{CLOCK_ERROR, Merged, beats, keep_what_fits};
pub use record::{Flags, Origin, Record, RecordError, Unlearnable};
pub use ring::{BEFORE_FIRST, BLOCK, MAX_ADVICE, Report, Ring};
pub use score::{LearnedScore, ParseScoreError};
pub use stamp::{now, session};
pub use store::{Store, Written};

/// The name of the file in the user's data directory. It contains the format, so that engines with different formats
/// use different files.
pub const FILE_NAME: &str = "learn-1.bin";
