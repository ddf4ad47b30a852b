//! What can go wrong with a learning file, each with what to do about it.

use std::{io, path::PathBuf};

use thiserror::Error;

/// A learning file that cannot be opened. It was left as it is.
#[derive(Debug, Error)]
pub enum OpenError {
    /// There is no such file.
    #[error("there is no learning file {path}")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Something else than a file.
    #[error("{path} is {kind}, not a learning file; name another file")]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// A directory, a device and the like, with its article.
        kind: &'static str,
    },
    /// A file of another program.
    #[error("{path} is no learning file and is left alone; name another file")]
    Foreign {
        /// What was named.
        path: PathBuf,
    },
    /// A newer (or unknown) format.
    #[error(
        "{path} is written in format {found}, this engine reads {expected}; \
         export it with the engine that wrote it, or name another file"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u16,
        /// Ours.
        expected: u16,
    },
    /// The right format with other dimensions or another kind of key.
    #[error("{path} has {what}, which this engine does not know; name another file")]
    Layout {
        /// The file.
        path: PathBuf,
        /// What is unusual.
        what: &'static str,
    },
    /// The first 64 bytes are damaged.
    #[error("{path} has a damaged header; restore the file from a copy, or name another file")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// Another process is making the file at this moment, or was killed while it did.
    #[error("{path} is not finished yet; the next engine that may write completes it")]
    Unfinished {
        /// The file.
        path: PathBuf,
    },
    /// The system refused something.
    #[error("{path} cannot be {doing} ({source}); check the disk and the permissions, or name another file")]
    Io {
        /// The file.
        path: PathBuf,
        /// Opened, read and the like.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a file is only read.
#[derive(Debug, Error)]
pub enum ReadOnly {
    /// The user wanted it so.
    #[error("as asked")]
    Asked,
    /// The file must not be written.
    #[error("the file cannot be written: {0}")]
    Data(io::Error),
    /// The lock file beside it cannot be used.
    #[error("its lock file cannot be used: {0}")]
    Lock(io::Error),
    /// The file has been written 2^48 times, which no disk survives: the lap is at its end.
    #[error("its sequence numbers are used up; export it and import the text into a new file")]
    Full,
}

/// Something that could not be written or read on an open file. Nothing that was there is lost.
#[derive(Debug, Error)]
pub enum FileError {
    /// The file is only read.
    #[error("the learning file is read-only: {0}")]
    ReadOnly(String),
    /// The file is gone or another one lies in its place.
    #[error("{path} was replaced or removed by another program")]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Advice has to be moved and synced first, which takes longer than the caller wants to wait.
    #[error("advice has to be moved first")]
    NeedsTime,
    /// Somebody else holds the lock.
    #[error("another process is writing to {path}")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// There are as many pieces of advice as the ring guarantees to keep.
    #[error(
        "the file holds {limit} pieces of advice, which is the most; remove some with `engram learn forget`"
    )]
    TooMuchAdvice {
        /// The most there may be.
        limit: usize,
    },
    /// The system refused something.
    #[error("{path} cannot be {doing}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Written, locked and the like.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// While reopening a replaced file.
    #[error(transparent)]
    Open(#[from] OpenError),
}
