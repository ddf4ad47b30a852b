//! `engram tune vary`: positions as a search meets them, not as good games do. Good players leave nothing
//! hanging, so their games alone do not teach what material and loose pieces are worth.
//!
//! From a known position one to three random moves are played; an engine scores what comes of it, and its main
//! line is followed to the first quiet position, which gets the score.

use std::{
    fs::OpenOptions,
    io::{self, BufRead, BufReader, Write},
    path::PathBuf,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use clap::Args;
use fastrand::Rng;
use shakmaty::{Color, uci::UciMove};

use super::{TuneError, data, train};
use crate::{
    position::Position,
    protocol::{Message, ScoreValue},
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune vary`.
#[derive(Debug, Args)]
pub struct VaryArguments {
    /// Labelled positions to begin with, as for `fit`; those that it holds out are not used.
    data: PathBuf,
    /// The file to append to.
    out: PathBuf,
    /// The UCI engine that scores.
    #[arg(long)]
    engine: PathBuf,
    /// Depth of its searches.
    #[arg(long, default_value_t = 6)]
    depth: u32,
    /// Use one position of so many.
    #[arg(long, default_value_t = 8)]
    every: usize,
}

/// Scores beyond this are left out, in centipawns.
const LIMIT: i64 = 1500;

/// Writes varied positions until the data ends.
pub fn print(arguments: &VaryArguments, output: &Output, interrupt: &Interrupt) -> Result<(), TuneError> {
    let engine_failed = |error| TuneError::file(&arguments.engine, error);
    let out_failed = |error| TuneError::file(&arguments.out, error);
    let mut scorer = Scorer::start(arguments).map_err(engine_failed)?;
    let mut out = OpenOptions::new().create(true).append(true).open(&arguments.out).map_err(out_failed)?;
    let mut random = Rng::with_seed(0x9e37_79b9_7f4a_7c15);
    let (mut written, mut failure) = (0_u64, None);
    data::read(&arguments.data, |number, label| {
        let skipped = failure.is_some() || interrupt.is_requested() || data::held_out(number);
        let Some(label) = label.filter(|_| !skipped && random.usize(..arguments.every.max(1)) == 0) else {
            return;
        };
        let Some(position) = shaken(label.position, &mut random) else { return };
        match scorer.resolve(position) {
            Ok(None) => {}
            Ok(Some((quiet, score))) => {
                let chance = train::chance(score as f32, super::LABEL_SCALE);
                if let Err(error) = writeln!(out, "{} | {score} | {chance:.3}", quiet.fen()) {
                    failure = Some(out_failed(error));
                }
                written += 1;
                if written.is_multiple_of(10_000) {
                    output.line(format_args!("{written} positions, line {number}"));
                }
            }
            Err(error) => failure = Some(engine_failed(error)),
        }
    })?;
    output.line(format_args!("{written} positions"));
    failure.map_or(Ok(()), Err)
}

/// One to three random moves, a third of them captures where there are any.
fn shaken(mut position: Position, random: &mut Rng) -> Option<Position> {
    for _ in 0..[1, 1, 2, 3][random.usize(..4)] {
        let moves = position.legal_moves();
        let captures: Vec<_> = moves.iter().filter(|m| m.is_capture()).collect();
        let chosen = match captures.as_slice() {
            [_, ..] if random.usize(..3) == 0 => *captures[random.usize(..captures.len())],
            _ => random.choice(moves)?,
        };
        position = position.play(chosen);
    }
    position.has_legal_move().then_some(position)
}

/// A UCI engine that scores positions.
struct Scorer {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    depth: u32,
}

impl Scorer {
    fn start(arguments: &VaryArguments) -> io::Result<Scorer> {
        let mut process =
            Command::new(&arguments.engine).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let missing = || io::Error::other("it has no standard streams");
        let input = process.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(process.stdout.take().ok_or_else(missing)?);
        let mut scorer = Scorer { process, input, output, depth: arguments.depth };
        writeln!(scorer.input, "uci")?;
        while scorer.line()? != "uciok" {}
        Ok(scorer)
    }

    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            return Err(io::Error::other("it ended without an answer; it must be a UCI engine"));
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }

    /// The first quiet position of the main line and the score for White; nothing if there is none, or if
    /// the game is decided.
    fn resolve(&mut self, mut position: Position) -> io::Result<Option<(Position, i64)>> {
        writeln!(self.input, "position fen {}\ngo depth {}", position.fen(), self.depth)?;
        let (mut score, mut line) = (None, Vec::<UciMove>::new());
        loop {
            match self.line()?.parse() {
                Ok(Message::BestMove { .. }) => break,
                Ok(Message::Info(info)) if !info.pv.is_empty() && info.score.is_some() => {
                    score = info.score.map(|score| score.value);
                    line = info.pv;
                }
                _ => {}
            }
        }
        let Some(ScoreValue::Centipawns(score)) = score else { return Ok(None) };
        let white = i64::from(score) * if position.turn() == Color::White { 1 } else { -1 };
        if white.abs() > LIMIT {
            return Ok(None);
        }
        for uci in line {
            let Ok(m) = uci.to_move(position.chess()) else { return Ok(None) };
            let next = position.play(m);
            let best = uci.to_string();
            if !position.in_check() && !data::is_noisy(&position, &best) && !next.in_check() {
                return Ok(Some((position, white)));
            }
            position = next;
        }
        Ok(None)
    }
}

impl Drop for Scorer {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = writeln!(self.input, "quit");
        let _ = self.process.wait();
    }
}
