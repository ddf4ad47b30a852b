//! `engram tune vary`: positions as a search meets them, unlike those of good games. Good players leave nothing
//! hanging, so from their games alone the values of material and of loose pieces cannot be learned.
//!
//! From a known position one to three random moves are played; an engine scores the result, and its main line is
//! followed to the first quiet position, which gets the score.

use std::{fs::OpenOptions, io::Write, path::PathBuf, time::Duration};

use clap::Args;
use fastrand::Rng;
use shakmaty::Color;

use super::{
    common::file_error,
    data,
    train::{self, LABEL_SCALE},
};
use crate::{
    cli::{
        CliError,
        prove::player::{EngineFailure, EnginePlayer, Program},
        refuse_input,
    },
    position::Position,
    protocol::{Command, Go, PositionStart},
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
    /// Use one position in this many.
    #[arg(long, default_value_t = 8)]
    every: usize,
}

/// Larger scores are left out, in centipawns.
const LIMIT: i32 = 1500;
/// An engine that takes longer for a search is taken to hang.
const SEARCH_TIMEOUT: Duration = Duration::from_secs(3600);

/// Writes varied positions until the data ends.
pub fn print(arguments: &VaryArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    refuse_input(&arguments.out, [&arguments.data])?;
    let program = Program { path: arguments.engine.clone(), arguments: Vec::new(), options: Vec::new() };
    let mut engine = EnginePlayer::start(&program)?;
    let out_failed = file_error(&arguments.out);
    let mut out = OpenOptions::new().create(true).append(true).open(&arguments.out).map_err(&out_failed)?;
    let mut random = Rng::with_seed(0x9e37_79b9_7f4a_7c15);
    let mut written = 0_u64;
    for (number, label) in data::read(&arguments.data)?.enumerate() {
        if interrupt.is_requested() {
            break;
        }
        let Some(label) =
            label?.filter(|_| !data::held_out(number) && random.usize(..arguments.every.max(1)) == 0)
        else {
            continue;
        };
        let Some(position) = with_random_moves(label.position, &mut random) else { continue };
        let found = resolve(&mut engine, position, arguments.depth).map_err(|fault| {
            CliError::Task(format!("{} gives no answer: it {fault}", arguments.engine.display()))
        })?;
        let Some((quiet, score)) = found else { continue };
        let chance = train::chance(score as f32, LABEL_SCALE);
        writeln!(out, "{} | {score} | {chance:.3}", quiet.fen()).map_err(&out_failed)?;
        written += 1;
        if written.is_multiple_of(10_000) {
            output.line(format_args!("{written} positions, line {number}"));
        }
    }
    output.line(format_args!("{written} positions"));
    engine.quit();
    Ok(())
}

/// One to three random moves, a third of them captures where there are any.
fn with_random_moves(mut position: Position, random: &mut Rng) -> Option<Position> {
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

/// The first quiet position of the main line that `engine` gives for `position`, and the score for White; nothing if
/// there is none, or if the game is decided.
fn resolve(
    engine: &mut EnginePlayer,
    mut position: Position,
    depth: u32,
) -> Result<Option<(Position, i32)>, EngineFailure> {
    let at = Command::Position { start: PositionStart::Fen(position.fen()), moves: Vec::new() };
    let go = Go { depth: Some(depth.into()), ..Go::default() };
    let answer = engine.search(&at, go, SEARCH_TIMEOUT)?;
    let Some(score) = answer.score.filter(|score| score.abs() <= LIMIT) else { return Ok(None) };
    let white = if position.turn() == Color::White { score } else { -score };
    for uci in answer.pv {
        let Ok(m) = uci.to_move(position.chess()) else { return Ok(None) };
        let next = position.play(m);
        if !position.in_check() && !data::is_noisy(&position, &uci.to_string()) && !next.in_check() {
            return Ok(Some((position, white)));
        }
        position = next;
    }
    Ok(None)
}
