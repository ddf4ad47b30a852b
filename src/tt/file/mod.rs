//! The persistent hash: what the transposition table knows, in a file that is still there tomorrow.
//!
//! Two designs were measured (`benches/notes/hash_file.md`). Mapping the whole table keeps every entry and has the disk
//! write the whole file every few seconds. Built is the other: the table stays in RAM, and below it lies a
//! smaller mapped file ([`HashFile`]) of entries that are deep ([`HashFile::LEAST_DEPTH`]) or exact. The search
//! asks it where the table knows nothing, or too little for a node of such depth.
//!
//! - `header.rs`: the first page; which search the scores belong to ([`HashOrigin`]).
//! - `cell.rs`: an entry of 32 bytes with its full key and a checksum, and what gives way to what.
//! - `disk.rs`: making, opening, locking; nothing foreign is touched, no hole is left.
//! - `map.rs`: the file in memory. Any number of processes may map it, with the lock-free rules of the table:
//!   an entry torn by two of them fails its checksum.
//! - `journal.rs`: the queue before it, so that analysing for an hour does not wear a disk out.
//! - `tools.rs`: looking at a file, moving it to another size. A file is never made shorter in place. That a
//!   foreign program does so cannot be prevented; `guard.rs` says one sentence before the process ends.
//!
//! There is no flag for a clean end, because none is needed: each entry is good or bad by itself.

pub(in crate::tt) mod cell;
mod disk;
mod error;
mod guard;
mod header;
mod journal;
mod map;
mod tools;

pub use disk::FileLocation;
pub use error::HashFileError;
pub use guard::limits_are_errors;
pub use header::{HashHeader, HashOrigin, LAYOUT};
pub use journal::HashFile;
pub use map::Map;
pub use tools::{DIMENSIONS, Survey, clear, resize};
