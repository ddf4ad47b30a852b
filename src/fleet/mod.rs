//! Several machines that share what they learn and distribute analyses. Only this code opens a socket.
//!
//! The server is a Redis or Valkey of the user's. [`ServerAddress`] is its address, [`Connection`] talks to it and
//! validates every answer, [`LearningShare`] synchronises a learning file with a stream of records there, and [`Queue`]
//! distributes tasks.
//!
//! Compiled only with the cargo feature `fleet`. Without it, or without an address, no socket is ever opened.

mod address;
mod connection;
mod learn_stream;
mod mirror;
mod queue;
mod share;
mod task;

use thiserror::Error;

pub use address::ServerAddress;
pub use connection::{Connection, EntryId, StreamEntry};
pub use queue::Queue;
pub use share::LearningShare;
pub use task::{HeldTask, Task, TaskOutcome, TaskResult, name_of};

/// The largest answer that is read, in bytes. Ours stay far below: a batch of learned records is 60 KiB.
const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Why a request to the server failed.
#[derive(Debug, Error)]
pub enum FleetError {
    /// The address of a server.
    #[error(
        "`{shown}` is no address of a server ({reason}); write redis://HOST or rediss://USER:PASSWORD@HOST:PORT"
    )]
    Address {
        /// The address, without what may be a password.
        shown: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The trusted certificates cannot be used.
    #[error("the certificates in {path} cannot be used: {reason}")]
    Certificates {
        /// Where they are looked for.
        path: String,
        /// What is wrong with them.
        reason: String,
    },
    /// The network, or the server does not answer.
    #[error("{0}")]
    Network(#[from] std::io::Error),
    /// The server refuses.
    #[error("the server says: {0}")]
    Refused(String),
    /// An answer larger than any of ours.
    #[error("an answer of the server is larger than {} KiB", MAX_ANSWER_BYTES >> 10)]
    TooLarge {
        /// How it begins.
        head: Vec<u8>,
    },
    /// An invalid answer.
    #[error("the server answers what no Redis or Valkey answers")]
    Nonsense,
}

/// Untrusted text made safe for a line of output: without control characters, and not too long.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
