//! `engram tune`: finds the weights with which the evaluation predicts the results of games best.
//!
//! A position's score is a nearly linear function of the weights (`model.rs`). Gradient descent (`train.rs`) minimises
//! the error of its winning chance against the result of the game and the score of a deeper search. The output is the
//! table that the program is compiled with (`table.rs`). The parameters of the search have no gradient: they are tuned
//! by games against itself (`spsa.rs`).

mod correlate;
mod data;
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

use clap::{Args, Subcommand};
use thiserror::Error;

use self::{
    generate::GenerateArguments,
    model::{Positions, Weight},
    network::{
        label::{self, LabelArguments},
        sample::{self, SampleArguments},
        train::{self as network_train, TrainArguments},
    },
    spsa::SpsaArguments,
    train::{TuningPlan, TuningState},
    vary::VaryArguments,
};
use crate::{
    cli,
    eval::{
        Evaluation,
        classical::{
            Caches,
            coefficients::{self, Coefficients},
        },
        net::Network,
    },
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

/// The arguments of `engram tune fit`.
#[derive(Debug, Args)]
pub struct FitArguments {
    /// Labelled positions; `-` for standard input.
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// The file to write the weights to.
    #[arg(long, default_value = "src/eval/classical/weights/table.rs")]
    table: PathBuf,
    /// The checkpoint from which an interrupted run resumes; removed at the end.
    #[arg(long, default_value = "tune.checkpoint")]
    checkpoint: PathBuf,
    /// Passes over the data.
    #[arg(long, default_value_t = 40)]
    epochs: usize,
    /// The share of the game's result in the target, 0 to 1.
    #[arg(long, default_value_t = 0.3)]
    result: f32,
    /// The scale of the evaluation: centipawns of one natural unit of the logistic function. Fitted if absent.
    #[arg(long)]
    scale: Option<f32>,
    /// First step, in centipawns.
    #[arg(long, default_value_t = 1.0)]
    rate: f32,
    /// Pull towards the first weights, in millionths of loss for 100 squared centipawns.
    #[arg(long, default_value_t = 0.02)]
    pull: f32,
    /// Positions a step.
    #[arg(long, default_value_t = 16384)]
    batch: usize,
}

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
    fn file(path: &Path) -> impl Fn(io::Error) -> TuneError {
        move |error| TuneError::File { path: path.to_owned(), error }
    }
}

/// Runs the command.
pub fn run(task: &TuneTask, output: &Output, interrupt: &Interrupt) -> Result<(), TuneError> {
    match task {
        TuneTask::Fit(arguments) => fit(arguments, output, interrupt),
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
        TuneTask::HeldOut { file, every } => print_held_out(file, *every, output),
    }
}

/// Reads a network.
fn network(path: &Path) -> Result<Network, TuneError> {
    let bytes = fs::read(path).map_err(TuneError::file(path))?;
    Network::from_bytes(&bytes).map_err(io::Error::other).map_err(TuneError::file(path))
}

/// The scale of the winning chance of a labelled score: at 100 centipawns the chance to win is 1/2, as in the model of
/// the score (win chance 1/2 at one pawn, draws in between, expected score 1/(1+exp(-cp/150))).
const LABEL_SCALE: f32 = 150.0;

/// Positions for training and for validation.
#[derive(Default)]
struct Sets {
    training: Positions,
    /// By file.
    validation: Vec<Positions>,
}

fn read(paths: &[PathBuf], output: &Output) -> Result<Sets, TuneError> {
    let mut sets = Sets::default();
    let mut caches = Caches::new(1);
    for path in paths {
        let mut validation = Positions::default();
        let (mut lines, mut unread) = (0_u64, 0_u64);
        data::read(path, |number, label| {
            lines += 1;
            let Some(label) = label else {
                unread += 1;
                return;
            };
            if label.noisy {
                return;
            }
            if let Some(found) = Coefficients::of(&label.position, &mut caches) {
                let chance = label.score.map_or(label.result, |score| train::chance(score, LABEL_SCALE));
                let held_out = data::held_out(number);
                let set = if held_out { &mut validation } else { &mut sets.training };
                set.push(&found, chance, label.result);
            }
        })?;
        sets.validation.push(validation);
        output.line(format_args!("{}: {lines} positions, {unread} of them unreadable", path.display()));
    }
    if sets.training.len() == 0 {
        return Err(TuneError::NoData);
    }
    Ok(sets)
}

fn fit(arguments: &FitArguments, output: &Output, interrupt: &Interrupt) -> Result<(), TuneError> {
    let first: Vec<Weight> = coefficients::present();
    let Sets { training, validation } = read(&arguments.data, output)?;
    output.line(format_args!(
        "{} positions to train with, {} to check with, {} weights, {:.0} of them in a position",
        training.len(),
        validation.iter().map(Positions::len).sum::<usize>(),
        first.len(),
        training.entries() as f64 / training.len() as f64,
    ));
    let mut plan = TuningPlan {
        scale: arguments.scale.unwrap_or(1.0),
        result_share: arguments.result,
        rate: arguments.rate,
        epochs: arguments.epochs,
        batch: arguments.batch,
        pull: arguments.pull * 1e-8,
    };
    if arguments.scale.is_none() {
        plan.scale = train::fit_scale(&training, &first, &plan);
    }
    let mut state = match read_state(&arguments.checkpoint)? {
        Some(text) => TuningState::from_text(&text)
            .filter(|state| state.weights.len() == first.len())
            .ok_or_else(|| TuneError::Checkpoint(arguments.checkpoint.clone()))?,
        None => TuningState::new(first.clone()),
    };
    let report = |state: &TuningState| {
        let checks: Vec<String> = validation
            .iter()
            .map(|positions| format!("{:.6}", train::loss(positions, &state.weights, &plan)))
            .collect();
        output.line(format_args!("pass {:>3}: validation {}", state.epoch, checks.join(" ")));
    };
    output.line(format_args!("scale {:.1}", plan.scale));
    report(&state);
    while state.epoch < plan.epochs {
        state.epoch(&training, &first, &plan);
        report(&state);
        write(&arguments.checkpoint, state.to_text().as_bytes())?;
        if interrupt.is_requested() {
            output.line(format_args!("stopped; to go on, run it again ({})", arguments.checkpoint.display()));
            return Ok(());
        }
    }
    output.line(format_args!("training {:.7}", train::loss(&training, &state.weights, &plan)));
    write(&arguments.table, table::source(coefficients::fields(), &state.weights).as_bytes())?;
    fs::remove_file(&arguments.checkpoint).map_err(TuneError::file(&arguments.checkpoint))
}

/// Reads the state of an interrupted session, if there was one. A file that cannot be read must not be overwritten.
fn read_state(path: &Path) -> Result<Option<String>, TuneError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(TuneError::file(path)(error)),
    }
}

/// The number of threads: all cores if not given.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(cli::cores).max(1)
}

/// Writes a file atomically.
fn write(path: &Path, content: &[u8]) -> Result<(), TuneError> {
    crate::files::replace(path, content).map_err(TuneError::file(path))
}

fn print_held_out(path: &Path, every: usize, output: &Output) -> Result<(), TuneError> {
    let mut usable = 0;
    for (number, line) in io::BufRead::lines(data::open(path)?).enumerate() {
        let line = line.map_err(TuneError::file(path))?;
        let quiet = |line: &str| data::parse(line).is_some_and(|label| !label.noisy);
        if data::held_out(number) && quiet(&line) {
            if usable % every.max(1) == 0 {
                output.line(&line);
            }
            usable += 1;
        }
    }
    Ok(())
}
