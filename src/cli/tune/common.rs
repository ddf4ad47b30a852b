//! Functions that several tuning commands share.

use std::{io, path::Path};

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
