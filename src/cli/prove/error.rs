use std::{io, path::PathBuf};

use thiserror::Error;

use super::player::Unplayable;
use crate::{
    cli::{FileFailure, journal::JournalError},
    learn::FileError,
};

/// Why an experiment cannot be made.
#[derive(Debug, Error)]
pub enum ProveError {
    /// An engine does not play.
    #[error(transparent)]
    Unplayable(#[from] Unplayable),
    /// Engram itself is not found.
    #[error("the system does not say where this program is: {0}")]
    Executable(io::Error),
    /// The opening file holds a line that is no position.
    #[error("line {number} of {path} is no opening: {reason}")]
    Opening {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The opening file holds nothing.
    #[error("{0} holds no positions; write one EPD or FEN a line")]
    NoOpenings(PathBuf),
    /// The experiment in the folder cannot be resumed.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The results would overwrite it.
    #[error("{0} is there already and is not of this command; name another folder with --out")]
    Taken(PathBuf),
    /// A file cannot be used.
    #[error(transparent)]
    File(#[from] FileFailure),
    /// The path of a file cannot be sent to the engine.
    #[error("{0} has a name that UCI cannot say; name another folder with --out")]
    Unnameable(PathBuf),
    /// The engine does not use its learning file.
    #[error("Engram does not open its learning file: {0}")]
    NoFile(String),
    /// A lost game cannot be studied.
    #[error("`engram learn study` failed: {0}")]
    Study(String),
    /// The learning file of an arm cannot be written.
    #[error(transparent)]
    Learn(#[from] FileError),
}
