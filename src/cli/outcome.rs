//! How a subcommand ends.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::{
    book::BookError,
    engine::{IllegalMove, study::StudyError},
    files::OutputError,
    learn::{FileError, exchange::LineError},
    tree::TreeError,
    tt::file::HashFileError,
    uci::translate::FenError,
};

/// How a subcommand that did not fail ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Completion {
    /// All of it was done.
    Complete,
    /// Parts of the input could not be used, or searches failed; each was reported.
    Partial,
}

/// Why a subcommand failed, in one sentence.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file cannot be opened, read, written, and what the system says.
    #[error("{0} cannot be {1} ({2})")]
    File(PathBuf, &'static str, io::Error),
    /// A file that is not written to.
    #[error("{0} {1}")]
    Refused(PathBuf, OutputError),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(String),
    /// The task cannot be done, in words.
    #[error("{0}")]
    Task(String),
}

/// The errors of the engine, in words.
macro_rules! in_words {
    ($($error:ty),*) => {
        $(impl From<$error> for CliError {
            fn from(error: $error) -> CliError {
                CliError::Task(error.to_string())
            }
        })*
    };
}

in_words!(FenError, IllegalMove, HashFileError, BookError, FileError, LineError, TreeError, StudyError);

/// Turns what the system says of a file that was being `doing` (opened, read, written) into an error.
pub(super) fn refused(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> CliError {
    move |error| CliError::File(path.to_owned(), doing, error)
}
