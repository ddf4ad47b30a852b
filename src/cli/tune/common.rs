//! What several tuning commands share.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::{files, processor};

/// Why tuning failed.
#[derive(Debug, Error)]
pub enum TuneError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// No line could be used.
    #[error("no line of the form `FEN | score | result` was found")]
    NoData,
    /// The games cannot be played.
    #[error("{0}")]
    Games(String),
    /// The checkpoint belongs to another table of weights.
    #[error("{0} does not fit this version's weights; remove it to begin anew")]
    Checkpoint(PathBuf),
}

impl TuneError {
    /// Turns what the system says of a file into an error.
    pub fn file(path: &Path) -> impl Fn(io::Error) -> TuneError {
        move |error| TuneError::File { path: path.to_owned(), error }
    }
}

/// Reads the state of an interrupted session, if there was one. A file that cannot be read must not be overwritten.
pub fn read_state(path: &Path) -> Result<Option<Vec<u8>>, TuneError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TuneError::file(path)(error)),
    }
}

/// The number of threads: all cores if not given.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(processor::cores).max(1)
}

/// Writes a file atomically.
pub fn write(path: &Path, content: &[u8]) -> Result<(), TuneError> {
    files::replace(path, content).map_err(TuneError::file(path))
}
