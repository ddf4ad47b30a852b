//! `engram tune fit`: the weights of the classical evaluation.

use std::{
    fs,
    io::BufRead,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{
    common::{file_error, foreign_checkpoint, no_data, read_state, write},
    data,
    model::{Positions, Weight},
    table,
    train::{self, LABEL_SCALE, TuningPlan, TuningState},
};
use crate::{
    cli::{CliError, refuse_input},
    eval::classical::{
        Caches,
        coefficients::{self, Coefficients},
    },
    uci::{Interrupt, Output},
};

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

/// Positions for training and for validation.
#[derive(Default)]
struct Sets {
    training: Positions,
    /// By file.
    validation: Vec<Positions>,
}

fn read(paths: &[PathBuf], output: &Output) -> Result<Sets, CliError> {
    let mut sets = Sets::default();
    let mut caches = Caches::new(1);
    for path in paths {
        let mut validation = Positions::default();
        let (mut lines, mut unread) = (0_u64, 0_u64);
        for (number, label) in data::read(path)?.enumerate() {
            lines += 1;
            let Some(label) = label? else {
                unread += 1;
                continue;
            };
            if label.noisy {
                continue;
            }
            if let Some(found) = Coefficients::of(&label.position, &mut caches) {
                let chance = label.score.map_or(label.result, |score| train::chance(score, LABEL_SCALE));
                let held_out = data::held_out(number);
                let set = if held_out { &mut validation } else { &mut sets.training };
                set.push(&found, chance, label.result);
            }
        }
        sets.validation.push(validation);
        output.line(format_args!("{}: {lines} positions, {unread} of them unreadable", path.display()));
    }
    if sets.training.len() == 0 {
        return Err(no_data());
    }
    Ok(sets)
}

/// Fits the weights and writes their table.
pub fn print(arguments: &FitArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    for path in [&arguments.table, &arguments.checkpoint] {
        refuse_input(path, &arguments.data)?;
    }
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
        Some(bytes) => TuningState::from_text(&String::from_utf8_lossy(&bytes))
            .filter(|state| state.weights.len() == first.len())
            .ok_or_else(|| foreign_checkpoint(&arguments.checkpoint))?,
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
    fs::remove_file(&arguments.checkpoint).map_err(file_error(&arguments.checkpoint))
}

/// Prints the lines that are held out of training.
pub fn print_held_out(path: &Path, every: usize, output: &Output) -> Result<(), CliError> {
    let mut usable = 0;
    for (number, line) in data::open(path)?.lines().enumerate() {
        let line = line.map_err(file_error(path))?;
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
