//! Errors of learning files, each with advice. No content of the file is lost.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::ring::MAX_ADVICE;
use crate::files::header::HeaderFault;

/// A learning file that cannot be opened, read or written. The first field, if there is one, is its path.
#[derive(Debug, Error)]
pub enum FileError {
    /// There is no such file.
    #[error(
        "there is no learning file {0}: nothing has been learned there yet (an engine creates it when it first plays); if you named it, check the path"
    )]
    Missing(PathBuf),
    /// No file is named, and there is no place for one.
    #[error("the system names no directory for the user's data; name a file with LearnFile")]
    NoFolder,
    /// Not a regular file; the second field says what it is, with its article: a directory, a device and the like.
    #[error("{0} is {1}, not a learning file; name another file")]
    NotAFile(PathBuf, &'static str),
    /// A file of another program.
    #[error("{0} is not a learning file and is left alone; name another file")]
    Foreign(PathBuf),
    /// The first 64 bytes are damaged or of another format.
    #[error("{0} {1}")]
    Header(PathBuf, HeaderFault),
    /// Another process is creating the file at this moment, or was killed while creating it.
    #[error(
        "{0} was left incomplete; start an engine without LearnReadOnly, or repeat the command, to complete it"
    )]
    Unfinished(PathBuf),
    /// The file is read-only, for the reason given.
    #[error("the learning file {0} is read-only: {1}")]
    ReadOnly(PathBuf, String),
    /// The file is gone or another one is in its place.
    #[error("{0} was replaced or removed by another program")]
    Replaced(PathBuf),
    /// Advice has to be moved and synced first, which takes longer than the caller allows.
    #[error("advice has to be moved first")]
    NeedsTime,
    /// Another process holds the lock.
    #[error("another process is writing to {0}")]
    Busy(PathBuf),
    /// There are as many pieces of advice as the ring guarantees to keep.
    #[error(
        "the file holds {MAX_ADVICE} pieces of advice, which is the most; remove some with `engram learn forget`"
    )]
    TooMuchAdvice,
    /// The system refused something: opening, reading and the like.
    #[error("{0} cannot be {1} ({2}); check the disk and the permissions, or name another file")]
    Io(PathBuf, &'static str, io::Error),
}

/// Turns an error of the system into one that says what could not be done: `opened`, `read` and so on.
pub(super) fn refused(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> FileError {
    move |error| match error.kind() {
        io::ErrorKind::NotFound if doing == "opened" => FileError::Missing(path.to_owned()),
        io::ErrorKind::IsADirectory => FileError::NotAFile(path.to_owned(), "a directory"),
        _ => FileError::Io(path.to_owned(), doing, error),
    }
}
