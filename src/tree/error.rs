use std::path::{Path, PathBuf};

use rusqlite::{Error, ErrorCode};
use thiserror::Error;

/// A tree that cannot be used, in one sentence.
#[derive(Debug, Error)]
pub enum TreeError {
    /// There is no file.
    #[error("there is no tree {0}; `engram tree {0} add startpos` makes one")]
    Missing(PathBuf),
    /// The file is something else.
    #[error("{0} is {1}, not a tree, and is left alone; name another file")]
    Foreign(PathBuf, String),
    /// A database of `engram analyse` to which no position was added, or an empty one.
    #[error("{0} has no tree yet; `engram tree {0} add startpos` begins one")]
    Empty(PathBuf),
    /// Another version of the schema.
    #[error(
        "the tree {0} is written in format {1}, this program reads {2}: use the version of Engram that wrote it, or take its \
         positions into a new tree (`engram analyse` writes the same tables)"
    )]
    Version(PathBuf, i64, i64),
    /// Another process has been writing for too long.
    #[error(
        "the tree {0} is in use by another process, which keeps it locked; try again when that has ended"
    )]
    Busy(PathBuf),
    /// The disk is full.
    #[error("the tree {0} cannot be written: the disk is full; what was in it is safe")]
    Full(PathBuf),
    /// The file is damaged.
    #[error(
        "the tree {0} is damaged, or the disk could not be read ({1}): try again first; `.recover` of the sqlite3 shell \
         saves what can be read"
    )]
    Damaged(PathBuf, String),
    /// Anything else that SQLite says.
    #[error("the tree {0} cannot be used ({1}); check the disk, its free space and who may write there")]
    Database(PathBuf, String),
}

impl TreeError {
    /// What SQLite said about the file at `path`.
    pub(super) fn of(path: &Path, error: &Error) -> TreeError {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => TreeError::Busy(path),
            Some(ErrorCode::DiskFull) => TreeError::Full(path),
            Some(ErrorCode::NotADatabase) => TreeError::Foreign(path, "a file of another kind".to_owned()),
            Some(ErrorCode::DatabaseCorrupt) => TreeError::Damaged(path, error.to_string()),
            _ => TreeError::Database(path, error.to_string()),
        }
    }
}
