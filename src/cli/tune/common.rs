//! Functions that several tuning commands share.

use std::{fs, io, path::Path};

use shakmaty::Move;

use crate::{cli::CliError, files, position::Position, processor};

/// Turns what the system says of a file into an error.
pub fn file_error(path: &Path) -> impl Fn(io::Error) -> CliError {
    move |error| CliError::Task(format!("{}: {error}", path.display()))
}

/// No position could be used.
pub fn no_data() -> CliError {
    CliError::Task("no positions to work with; `label --help` says how their file looks".to_owned())
}

/// The checkpoint belongs to another shape of network.
pub fn foreign_checkpoint(path: &Path) -> CliError {
    CliError::Task(format!("{} does not fit what is trained here; remove it to begin anew", path.display()))
}

/// Reads the state of an interrupted session, if there was one. A file that cannot be read must not be overwritten.
pub fn read_state(path: &Path) -> Result<Option<Vec<u8>>, CliError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(file_error(path)(error)),
    }
}

/// The number of threads: all cores if not given.
pub fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(processor::cores).max(1)
}

/// Writes a file atomically.
pub fn write(path: &Path, content: &[u8]) -> Result<(), CliError> {
    files::replace(path, content).map_err(file_error(path))
}

/// Is the side to move neither in check nor able to win something by a capture or a promotion? Only then a static
/// evaluation can be right.
pub fn is_quiet(position: &Position) -> bool {
    let wins = |m: Move| m.is_promotion() || m.is_capture() && position.see_ge(m, 1);
    !position.in_check() && !position.legal_moves().into_iter().any(wins)
}
