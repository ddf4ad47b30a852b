//! What earlier games taught, in a file that outlives them.
//!
//! `learn/FORMAT.md` is the specification. From the bytes up: [`record`] and [`header`] are the codecs,
//! [`disk`] is every operation on files behind one trait, [`LearnFile`] opens, recovers and appends,
//! [`Ring`] is the file in memory, and [`Store`] is what an engine holds: a ring, and a thread that does what
//! must not be waited for.

mod append;
mod create;
pub mod disk;
mod error;
pub mod exchange;
mod file;
pub mod game;
pub mod header;
pub mod journal;
mod merge;
pub mod outcome;
pub mod policy;
pub mod reachability;
pub mod record;
mod ring;
mod score;
pub mod session;
mod store;
pub mod variation;
mod writer;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    time::{SystemTime, UNIX_EPOCH},
};

pub use append::{BLOCK, Locked, MOST_ADVICE, Patience};
pub use create::create;
pub use error::{FileError, OpenError, ReadOnly};
pub use file::{LearnFile, Mode, Progress, Unverified};
pub use merge::{Taken, beats, create_patiently, keep_what_fits};
pub use record::{Flags, Misfit, Origin, Record, Unlearnable};
pub use ring::{BEFORE_FIRST, Report, Ring};
pub use score::{LearnedScore, ParseScoreError};
pub use store::{News, Store, Written};

/// What the file is called in the user's data directory: with its format, so that engines of two formats keep
/// two files.
pub const FILE_NAME: &str = "learn-1.bin";

/// Seconds since 1970, as records count them.
pub fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}

/// The random number of this process that marks its records.
pub fn session() -> u32 {
    static SESSION: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *SESSION.get_or_init(|| random() as u32)
}

/// A random number: std seeds its hash maps from the system's source of randomness.
fn random() -> u64 {
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    if let Ok(since) = SystemTime::now().duration_since(UNIX_EPOCH) {
        hasher.write_u128(since.as_nanos());
    }
    hasher.finish()
}
