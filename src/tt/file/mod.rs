//! The persistent hash table: results of searches in a file, for later processes.
//!
//! Two designs were measured (`benches/notes/hash_file.md`). If the whole table is mapped, every entry is kept, but
//! the disk writes the whole file every few seconds. So the table stays in RAM, and a smaller mapped file
//! ([`HashFile`]) below it holds the entries that are deep ([`HashFile::LEAST_DEPTH`]) or exact scores of PV nodes. The
//! search probes it in PV nodes, and in nodes of that depth for which the table has no entry of sufficient depth.
//!
//! - `header.rs`: the first page; which search the scores belong to ([`HashOrigin`]).
//! - `cell.rs`: an entry of 32 bytes with its full key and a checksum, and the replacement rule.
//! - `disk.rs`: creates, opens and locks files. It never changes a file of another program, and allocates all bytes
//!   of a file.
//! - `map.rs`: the file in memory. Any number of processes may map it, with the lock-free rules of the table:
//!   an entry torn by two of them fails its checksum.
//! - `write_queue.rs`: the write queue, so that an hour of analysis does not wear out a disk.
//! - `tools.rs`: statistics, copies, other sizes. A file is never truncated in place. If another program truncates
//!   it, the system ends the process; `guard.rs` prints the reason first.
//!
//! The file has no flag for a clean shutdown: each entry is valid or invalid by itself.

pub(in crate::tt) mod cell;
mod disk;
mod error;
mod guard;
mod header;
mod map;
mod tools;
mod write_queue;

pub use disk::FileLocation;
pub use error::HashFileError;
pub use guard::limits_are_errors;
pub use header::{HashHeader, HashOrigin, LAYOUT, MAGIC};
pub use map::Map;
pub use tools::{DIMENSIONS, Survey, clear, resize};
pub use write_queue::HashFile;
