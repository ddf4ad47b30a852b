use std::path::PathBuf;

use thiserror::Error;

use super::filter::FilterError;
use crate::{
    cli::{FileFailure, prove},
    engine::IllegalMove,
    learn::{FileError, RecordError, Unlearnable, exchange::LineError},
    uci::translate::FenError,
};

/// Why a tool failed, in one sentence.
#[derive(Debug, Error)]
pub enum LearnError {
    /// No file is named, and the system has no directory for the user's data.
    #[error("the system names no directory for the user's data; name a file with --file")]
    NoFile,
    /// The file cannot be opened, read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The position given cannot be used.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A filter cannot be understood.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// The experiment cannot be made.
    #[error(transparent)]
    Prove(#[from] prove::ProveError),
    /// The position or move cannot be learned.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The position does not fit into a record.
    #[error(transparent)]
    Unlearnable(#[from] Unlearnable),
    /// A move that the engine refuses.
    #[error(transparent)]
    Move(#[from] IllegalMove),
    /// Games without a player.
    #[error("{path} holds games; say whose lost games to learn from: --player NAME")]
    WhosePlayer {
        /// The games.
        path: PathBuf,
    },
    /// No filter was given.
    #[error("say what to forget: --below, --position, --origin, --day, --session, or --all")]
    ForgetWhat,
    /// Records that contradict themselves.
    #[error("{count} of the records contradict themselves, the first one, number {sequence}: {misfit}")]
    Damaged {
        /// How many.
        count: usize,
        /// The first.
        sequence: u64,
        /// What is wrong with it.
        misfit: RecordError,
    },
    /// Lines of a text that cannot be imported.
    #[error("{count} lines of {path} were left out, the first one is line {number}: {error}")]
    Text {
        /// The text.
        path: PathBuf,
        /// How many lines.
        count: usize,
        /// The first of them, from 1.
        number: usize,
        /// What is wrong with it.
        error: LineError,
    },
    /// Another file than the learning file.
    #[error(transparent)]
    Other(#[from] FileFailure),
}
