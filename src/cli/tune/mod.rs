//! `engram tune`: finds the weights with which the classical evaluation best predicts the results of games.
//!
//! A position's score is a nearly linear function of the weights (`model.rs`). Gradient descent (`train.rs`) minimises
//! the error of its winning chance against the result of the game and the score of a deeper search. The output is the
//! table that the program is compiled with (`table.rs`). The parameters of the search have no gradient: they are tuned
//! by self-play (`spsa.rs`). The network has a trainer of its own (`network/`).

mod common;
mod correlate;
mod data;
mod fit;
mod generate;
mod model;
mod network;
mod record;
mod spsa;
mod table;
mod train;
mod vary;
mod wdl;

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Subcommand;

use self::{
    common::file_error,
    fit::FitArguments,
    generate::GenerateArguments,
    network::{
        label::{self, LabelArguments},
        sample::{self, SampleArguments},
        train::{self as network_train, TrainArguments},
    },
    spsa::SpsaArguments,
    vary::VaryArguments,
};
use crate::{
    cli::CliError,
    eval::{Evaluation, net::Network},
    uci::{Interrupt, Output},
};

/// The tuning commands.
#[derive(Debug, Subcommand)]
pub enum TuneTask {
    /// Find weights and write the table that is compiled in.
    ///
    /// Each line of DATA is `FEN | score | result`: centipawns (100 = an even chance to win) and 1.0, 0.5 or
    /// 0.0, both for White; a fourth field may name the best move: if it is a capture or a promotion, the line is
    /// ignored. One block of 512 lines in 20 is held out of training for validation. Ctrl-C stops after the pass in
    /// progress, and the same command resumes there.
    Fit(FitArguments),
    /// Play games and write their positions with score and result, for `fit`.
    Generate(GenerateArguments),
    /// Have positions from inside the engine's own searches labelled by a teacher, for `train`.
    ///
    /// The teacher is any program that reads one FEN a line and answers one number a line.
    Sample(SampleArguments),
    /// Make samples of positions that have a score, or have samples labelled by another teacher, for `train`.
    Label(LabelArguments),
    /// Train the network with labelled samples.
    ///
    /// Prints the loss of training and validation samples, and writes the network with each checkpoint. Ctrl-C
    /// ends it; the same command resumes there.
    Train(TrainArguments),
    /// Make positions as a search meets them from those of good games, scored by another engine, for `fit`.
    Vary(VaryArguments),
    /// Tune the parameters of the search in games of the engine against itself (SPSA).
    Spsa(SpsaArguments),
    /// Fit the model of win, draw and loss to games from `generate`.
    Wdl {
        /// The file; `-` for standard input.
        file: PathBuf,
    },
    /// Compare evaluations with a deeper search.
    ///
    /// Each line of FILE is `FEN | reference | other | other …`, scores for White. Prints how well this
    /// evaluation and the other columns agree with the first.
    Correlate {
        /// The file; `-` for standard input.
        file: PathBuf,
        /// A network's file; the one inside the program if absent.
        #[arg(long)]
        net: Option<PathBuf>,
        /// Use the classical evaluation instead of a network.
        #[arg(long)]
        classical: bool,
    },
    /// Print the lines that `fit` holds out for validation, less those that it ignores.
    HeldOut {
        /// The file; `-` for standard input.
        file: PathBuf,
        /// Print one line in this many.
        #[arg(long, default_value_t = 1)]
        every: usize,
    },
}

/// Runs the command.
pub fn run(task: &TuneTask, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    match task {
        TuneTask::Fit(arguments) => fit::print(arguments, output, interrupt),
        TuneTask::Generate(arguments) => generate::print(arguments, output, interrupt),
        TuneTask::Sample(arguments) => sample::print(arguments, output, interrupt),
        TuneTask::Label(arguments) => label::print(arguments, output, interrupt),
        TuneTask::Train(arguments) => network_train::print(arguments, output, interrupt),
        TuneTask::Vary(arguments) => vary::print(arguments, output, interrupt),
        TuneTask::Spsa(arguments) => spsa::print(arguments, output, interrupt),
        TuneTask::Wdl { file } => wdl::print(file, output),
        TuneTask::Correlate { file, net, classical } => {
            let evaluation = match net {
                _ if *classical => Evaluation::Classical,
                Some(path) => Evaluation::Network(Arc::new(network(path)?)),
                None => Evaluation::default(),
            };
            correlate::print(file, &evaluation, output)
        }
        TuneTask::HeldOut { file, every } => fit::print_held_out(file, *every, output),
    }
}

/// Reads a network.
fn network(path: &Path) -> Result<Network, CliError> {
    let bytes = fs::read(path).map_err(file_error(path))?;
    Network::from_bytes(&bytes).map_err(io::Error::other).map_err(file_error(path))
}
