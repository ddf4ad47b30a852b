//! What can go wrong with a hash file, each with what to do about it. The file is left as it was.

use std::{io, path::PathBuf};

use thiserror::Error;

/// A hash file that cannot be used.
#[derive(Debug, Error)]
pub enum HashFileError {
    /// There is no such file.
    #[error("there is no hash file {path}")]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// Something lies where a file was to be made.
    #[error("{path} is there already; name another file, or remove it first")]
    Exists {
        /// What was named.
        path: PathBuf,
    },
    /// Something else than a file.
    #[error("{path} is {kind}, not a hash file; name another file")]
    NotAFile {
        /// What was named.
        path: PathBuf,
        /// A directory, a device and the like, with its article.
        kind: &'static str,
    },
    /// A file of another program.
    #[error("{path} is no hash file of Engram and is left alone; name another file")]
    Foreign {
        /// What was named.
        path: PathBuf,
    },
    /// Another layout of the file.
    #[error("{path} has layout {found}, this engine reads {expected}; name another file")]
    Version {
        /// The file.
        path: PathBuf,
        /// Its layout.
        found: u16,
        /// Ours.
        expected: u16,
    },
    /// The right layout with other dimensions or another kind of key.
    #[error("{path} has {what}, which this engine does not know; name another file")]
    Layout {
        /// The file.
        path: PathBuf,
        /// What is unusual.
        what: &'static str,
    },
    /// The header fails its checksum.
    #[error("{path} has a damaged header; restore the file from a copy, or name another file")]
    Damaged {
        /// The file.
        path: PathBuf,
    },
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
         name another file, or empty this one with `engram hash clear`"
    )]
    Evaluation {
        /// The file.
        path: PathBuf,
        /// The evaluation that wrote it.
        found: u16,
        /// Ours.
        expected: u16,
    },
    /// Path checks of another mode.
    #[error(
        "{path} was written with PathHash {found}, not {expected}; name another file, or set PathHash {found}"
    )]
    PathMode {
        /// The file.
        path: PathBuf,
        /// Its mode.
        found: String,
        /// Ours.
        expected: &'static str,
    },
    /// An engine or a tool is at work on it.
    #[error("{path} is in use by {by}; try again when that is done")]
    Busy {
        /// The file.
        path: PathBuf,
        /// Who uses it.
        by: &'static str,
    },
    /// The disk is full.
    #[error("the disk has no room for the {bytes} bytes of {path}; free some, or set a smaller HashFileSize")]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// What it needs.
        bytes: u64,
    },
    /// It may not be written.
    #[error("{path} cannot be written ({source}); change its permissions, or name another file")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
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
