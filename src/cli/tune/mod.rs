//! `engram tune`: trains the network (`network/`) on positions of the engine's own searches and games (`generate.rs`),
//! and says how well it judges the games of others (`held_out.rs`).

mod common;
mod data;
mod generate;
mod held_out;
mod network;
mod siblings;
mod wdl;

use std::path::PathBuf;

use clap::Subcommand;

use self::{
    generate::GenerateArguments,
    held_out::HeldOutArguments,
    network::{
        label::{self, LabelArguments},
        sample::{self, SampleArguments},
        train::{self as network_train, TrainArguments},
    },
    siblings::SiblingsArguments,
};
use crate::{
    cli::CliError,
    uci::{Interrupt, Output},
};

/// The tuning commands.
#[derive(Debug, Subcommand)]
pub enum TuneTask {
    /// Play games and write their positions with score and result, for `label` and `wdl`.
    Generate(GenerateArguments),
    /// Have positions from inside the engine's own searches labelled by a teacher, for `train`.
    ///
    /// The teacher is any program that reads one FEN a line and answers one number a line.
    Sample(SampleArguments),
    /// Make samples of positions that have a score, or have samples labelled by another teacher, for `train`.
    ///
    /// Positions come from `generate`, or are lines of the form `FEN | score | result`: centipawns (100 = an even
    /// chance to win) and 1.0, 0.5 or 0.0, both for White; a fourth field may name the best move. One block of 512
    /// in 20 is left out, for `held-out`.
    Label(LabelArguments),
    /// Train the network with labelled samples.
    ///
    /// Prints the loss of training and validation samples, and writes the network with each checkpoint. Ctrl-C
    /// ends it; the same command resumes there.
    Train(TrainArguments),
    /// Fit the model of win, draw and loss to games from `generate`.
    Wdl {
        /// The file; `-` for standard input.
        file: PathBuf,
    },
    /// Compare evaluations with the scores of positions that `label` leaves out.
    ///
    /// Prints the mean error of the winning chance, after the scale that fits best, and its correlation with that of
    /// the score: for all quiet positions, and by score, pieces, queens and castling.
    HeldOut(HeldOutArguments),
    /// Compare how evaluations tell the moves of a position apart.
    ///
    /// This foretells strength in games: a search chooses between moves, so an error that all of them share does no harm.
    Siblings(SiblingsArguments),
}

/// Runs the command.
pub fn run(task: &TuneTask, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    match task {
        TuneTask::Generate(arguments) => generate::print(arguments, output, interrupt),
        TuneTask::Sample(arguments) => sample::print(arguments, output, interrupt),
        TuneTask::Label(arguments) => label::print(arguments, output, interrupt),
        TuneTask::Train(arguments) => network_train::print(arguments, output, interrupt),
        TuneTask::Wdl { file } => wdl::print(file, output),
        TuneTask::HeldOut(arguments) => held_out::print(arguments, output),
        TuneTask::Siblings(arguments) => siblings::print(arguments, output),
    }
}
