//! What can go wrong between this program and the server.

use thiserror::Error;

use crate::types::quote;

/// The largest answer that is read, in bytes. Ours stay far below: a batch of learned records is 60 KiB.
pub(super) const MAX_ANSWER_BYTES: usize = 4 << 20;

/// Why a request to the server failed.
#[derive(Debug, Error)]
pub enum FleetError {
    /// What is wrong with the address of a server. The address is not repeated: it may contain a password.
    #[error(
        "this is not an address of a server ({0}); write redis://HOST or rediss://USER:PASSWORD@HOST:PORT"
    )]
    Address(String),
    /// The trusted certificates cannot be used: where they are looked for, and why not.
    #[error("the certificates in {0} cannot be used: {1}")]
    Certificates(String, String),
    /// The network, or the server does not answer.
    #[error("{0}")]
    Network(#[from] std::io::Error),
    /// The server refuses.
    #[error("the server says: {0}")]
    Refused(String),
    /// A record is so many days later than the clock of this machine.
    #[error(
        "records there are {0} days ahead of the clock of this machine: set the clock that is wrong (if that was the \
         server's, delete the stream)"
    )]
    SlowClock(u32),
    /// An answer larger than any of ours, and how it begins.
    #[error("an answer of the server is larger than {} KiB", MAX_ANSWER_BYTES >> 10)]
    TooLarge(Vec<u8>),
    /// An invalid answer.
    #[error("the answer is not one that Redis or Valkey gives")]
    Nonsense,
}

/// As much of a text that another program wrote as an error quotes.
pub(super) fn printable(text: &str) -> String {
    quote(text, 200)
}
