//! Errors of hash files, each with advice. The file is left as it was.

use std::{
    io,
    path::{Path, PathBuf},
};

use thiserror::Error;

use crate::files::header::HeaderFault;

/// A hash file that cannot be used. The first field is its path.
#[derive(Debug, Error)]
pub enum HashFileError {
    /// There is no such file.
    #[error("there is no hash file {0}; check the path (HashFile creates one)")]
    Missing(PathBuf),
    /// There is already something where a file was to be created.
    #[error("{0} is there already; name another file, or remove it first")]
    Exists(PathBuf),
    /// Not a regular file; the second field says what it is, for instance `a directory`.
    #[error("{0} is {1}, not a hash file; name another file")]
    NotAFile(PathBuf, &'static str),
    /// A file of another program.
    #[error("{0} is not a hash file of Engram and is left alone; name another file")]
    Foreign(PathBuf),
    /// The header is damaged or of another format.
    #[error("{0} {1}")]
    Header(PathBuf, HeaderFault),
    /// The file is shorter or longer than its header says.
    #[error(
        "{path} is {found} bytes long and should be {expected}: it was cut or copied incompletely; \
         restore it from a copy, or name another file"
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Its length.
        found: u64,
        /// What the header says.
        expected: u64,
    },
    /// Scores of another evaluation.
    #[error(
        "{path} holds scores of another evaluation ({found:04x}, this engine's is {expected:04x}); \
         name another file, or remove this one"
    )]
    Evaluation {
        /// The file.
        path: PathBuf,
        /// The evaluation that wrote it.
        found: u16,
        /// Ours.
        expected: u16,
    },
    /// Scores that rest on another setting.
    #[error(
        "{path} was written with {option} {found}, not {expected}; name another file, or set {option} {found}"
    )]
    Setting {
        /// The file.
        path: PathBuf,
        /// The UCI option.
        option: &'static str,
        /// Its value when the file was made.
        found: String,
        /// Ours.
        expected: String,
    },
    /// An engine or a tool is using it.
    #[error("{0} is in use by {1}; try again when that is done")]
    Busy(PathBuf, &'static str),
    /// The disk has no room for this number of bytes.
    #[error("the disk has no room for the {1} bytes of {0}; free some, or choose a smaller size")]
    NoRoom(PathBuf, u64),
    /// It may not be written.
    #[error("{0} cannot be written ({1}); change its permissions, or name another file")]
    ReadOnly(PathBuf, io::Error),
    /// The system refused to open it, to read it, and so on.
    #[error("{0} cannot be {1} ({2}); check the disk and the permissions, or name another file")]
    Io(PathBuf, &'static str, io::Error),
}

/// Turns an error of the system into one that says what could not be done: `opened`, `read` and so on.
pub(super) fn refused(path: &Path, doing: &'static str) -> impl Fn(io::Error) -> HashFileError {
    move |error| HashFileError::Io(path.to_owned(), doing, error)
}
