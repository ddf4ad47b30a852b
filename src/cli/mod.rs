//! The command line: without a subcommand Engram speaks UCI, with one it does that and leaves.
//!
//! The doc comments of [`Arguments`] are the manual that `--help` prints.

pub mod bench;
mod eval;
mod hash;
mod learn;
pub mod perft;
mod session;
#[cfg(feature = "tune")]
pub mod tune;

use std::{io::ErrorKind, path::PathBuf};

use clap::{Parser, Subcommand};
use thiserror::Error;

pub use self::hash::{HashError, HashTask};
use crate::{
    position::Position,
    uci::{DebugLog, Interrupt, Output, translate},
};

/// A UCI chess engine that remembers.
///
/// Without a subcommand Engram speaks UCI, the Universal Chess Interface, on its standard streams: add the
/// program to a chess GUI, or type `help` for the commands.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct Arguments {
    /// What to do instead.
    #[command(subcommand)]
    pub task: Option<Task>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Search a fixed set of positions and count the nodes.
    ///
    /// One thread, 16 MiB of hash, each position as if from a new game: the number of nodes is the same on
    /// every machine and changes only with what the search does. The last line is `N nodes M nps`.
    Bench {
        /// Depth of each search, in plies.
        #[arg(default_value_t = bench::DEFAULT_DEPTH, value_parser = clap::value_parser!(u64).range(1..=200))]
        depth: u64,
    },
    /// Count the positions that are DEPTH plies away.
    ///
    /// The standard test of move generation: transpositions count as often as they are reached.
    Perft {
        /// Depth in plies.
        #[arg(value_parser = clap::value_parser!(u64).range(0..=perft::MAX_DEPTH))]
        depth: u64,
        /// The position; the start position if not given.
        #[arg(long, value_name = "FEN")]
        fen: Option<String>,
        /// Print the count behind each first move too.
        #[arg(long)]
        divide: bool,
        /// Write castling as in Chess960, king takes rook, and read `KQkq` as the outermost rooks.
        #[arg(long)]
        chess960: bool,
    },
    /// Explain the static evaluation of a position.
    Eval {
        /// The position, quoted or not; the start position if not given.
        #[arg(value_name = "FEN", num_args = 0..)]
        fen: Vec<String>,
    },
    /// Look after hash files, which the option HashFile makes.
    #[command(subcommand)]
    Hash(HashTask),
    /// Look into the learning file, and change it.
    ///
    /// The file holds what earlier games taught: scores and moves of positions, 65,536 at most, the oldest
    /// making room for the newest; advice by human beings stays. Any number of engines may use it meanwhile.
    Learn(learn::Arguments),
    /// Find the weights of the evaluation.
    #[cfg(feature = "tune")]
    #[command(subcommand)]
    Tune(tune::TuneTask),
}

/// A subcommand that failed, in one sentence.
#[derive(Debug, Error)]
pub enum CliError {
    /// The position given cannot be used.
    #[error(transparent)]
    Fen(#[from] translate::FenError),
    /// A hash file cannot be used.
    #[error(transparent)]
    Hash(#[from] HashError),
    /// Something about the learning file.
    #[error(transparent)]
    Learn(#[from] learn::LearnError),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(String),
    /// Tuning failed.
    #[cfg(feature = "tune")]
    #[error(transparent)]
    Tune(#[from] tune::TuneError),
}

/// Does what the command line asks for. `learn_file` is the learning file where none is named.
///
/// # Errors
/// See [`CliError`].
pub fn run(arguments: Arguments, debug_log: DebugLog, learn_file: Option<PathBuf>) -> Result<(), CliError> {
    let output = Output::stdout();
    let interrupt = Interrupt::default();
    match arguments.task {
        None => session::run(&output, debug_log, learn_file),
        Some(Task::Bench { depth }) => bench::print(depth, &output, &interrupt),
        Some(Task::Perft { depth, fen, divide, chess960 }) => {
            let position = position(fen.as_deref(), chess960)?;
            perft::print(&position, depth, divide, &output, &interrupt);
        }
        Some(Task::Eval { fen }) => {
            let fen = (!fen.is_empty()).then(|| fen.join(" "));
            output.line(eval::explanation(&position(fen.as_deref(), false)?));
        }
        Some(Task::Hash(task)) => hash::run(task, &output)?,
        Some(Task::Learn(arguments)) => learn::run(&arguments, learn_file, &output)?,
        #[cfg(feature = "tune")]
        Some(Task::Tune(task)) => tune::run(&task, &output, &interrupt)?,
    }
    match output.failure() {
        // Whoever closes a pipe has read enough.
        Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Output(error.to_string())),
        _ => Ok(()),
    }
}

fn position(fen: Option<&str>, chess960: bool) -> Result<Position, CliError> {
    match fen {
        Some(fen) => Ok(translate::parse_fen(fen, chess960)?),
        None => Ok(translate::start_position(&crate::protocol::PositionStart::Startpos, chess960)?),
    }
}
