//! `engram tune sample`: positions as a search meets them. A quick player plays games with itself; teachers label a random
//! sample of their positions, and of positions a random move or two away: a search evaluates what follows bad moves,
//! too. Of each the positions after some of its moves are taken, because a search chooses between them. Only quiet
//! positions are taken. Of the others no static evaluation can be right, and what a network learns of them it lacks elsewhere.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use clap::Args;
use fastrand::Rng;

use super::{
    super::{
        common::{file_error, is_quiet, threads},
        generate::{LONGEST, random_moves},
    },
    player::Player,
    record::Sample,
    teacher::Teachers,
};
use crate::{
    cli::{CliError, prove::openings, refuse_input},
    locks::locked,
    position::{Position, PositionPath},
    types::Verdict,
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune sample`.
#[derive(Debug, Args)]
pub struct SampleArguments {
    /// The file to append records to; `-` for standard output (without progress messages then).
    out: PathBuf,
    /// A teacher: a program with its arguments that reads one FEN a line and answers the centipawns of the side to
    /// move, one number a line, at the latest after an empty line. The label is the mean of what all teachers say.
    #[arg(long, required = true)]
    teacher: Vec<String>,
    /// Positions to make; Ctrl-C ends it earlier without losing labelled positions.
    #[arg(long, default_value_t = u64::MAX)]
    positions: u64,
    /// Take one position of a game in this many, and a neighbour of it: up to eight positions after each.
    #[arg(long, default_value_t = 8)]
    every: u64,
    /// Openings, EPD or FEN, one a line (Chess960 too); the other games begin with eight or nine random moves.
    #[arg(long)]
    openings: Option<PathBuf>,
    /// Games in a hundred that begin with one of the openings.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u8).range(..=100))]
    opening_share: u8,
    /// Maximum number of plies of a game, for many different positions rather than whole games.
    #[arg(long)]
    plies: Option<usize>,
    /// Games at a time; as many as there are cores if absent.
    #[arg(long)]
    threads: Option<usize>,
}

/// Positions that are labelled together.
const CHUNK: usize = 1 << 14;
/// Positions after different moves of one position.
const SIBLINGS: usize = 8;
/// Up to so much is added to the evaluation of a move, in units of a score; each game draws its own number.
const NOISE: std::ops::Range<i32> = 5..60;

/// Plays games, has positions labelled and writes them, until there are enough.
pub fn print(arguments: &SampleArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    refuse_input(&arguments.out, &arguments.openings)?;
    let failed = file_error(&arguments.out);
    let to_stdout = arguments.out == Path::new("-");
    let out: Box<dyn Write + Send> = if to_stdout {
        Box::new(io::stdout())
    } else {
        Box::new(OpenOptions::new().create(true).append(true).open(&arguments.out).map_err(failed)?)
    };
    let openings = match &arguments.openings {
        Some(path) => openings(path, None, 0)?,
        None => Vec::new(),
    };
    let threads = threads(arguments.threads);
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
    let shared = Samplers {
        arguments,
        openings,
        out: Mutex::new(out),
        written: AtomicU64::new(0),
        began: Instant::now(),
        failure: Mutex::new(None),
    };
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let (shared, seed) = (&shared, seed ^ thread << 48);
            scope.spawn(move || {
                let said = |text: String| {
                    if !to_stdout {
                        output.line(text)
                    }
                };
                if let Err(error) = shared.work(seed, interrupt, &said) {
                    *locked(&shared.failure) = Some(error);
                }
            });
        }
    });
    match shared.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// The shared state of the threads.
struct Samplers<'a> {
    arguments: &'a SampleArguments,
    openings: Vec<Position>,
    out: Mutex<Box<dyn Write + Send>>,
    written: AtomicU64,
    began: Instant,
    failure: Mutex<Option<CliError>>,
}

impl Samplers<'_> {
    fn is_over(&self, interrupt: &Interrupt) -> bool {
        // Relaxed: a thread that sees it late labels a chunk more.
        interrupt.is_requested()
            || self.written.load(Relaxed) >= self.arguments.positions
            || locked(&self.failure).is_some()
    }

    /// One thread: games, and whenever enough positions have come together, labels for them.
    fn work(&self, seed: u64, interrupt: &Interrupt, say: &dyn Fn(String)) -> Result<(), CliError> {
        let mut teachers = Teachers::start(&self.arguments.teacher)?;
        let (mut player, mut random) = (Player::new(), Rng::with_seed(seed));
        let mut samples = Vec::new();
        while !self.is_over(interrupt) {
            self.game(&mut player, &mut random, &mut samples);
            if samples.len() >= CHUNK {
                teachers.label(&mut samples)?;
                self.write(&samples, say)?;
                samples.clear();
            }
        }
        Ok(())
    }

    fn write(&self, samples: &[Sample], say: &dyn Fn(String)) -> Result<(), CliError> {
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_bytes()).collect();
        let mut out = locked(&self.out);
        out.write_all(&bytes).map_err(file_error(&self.arguments.out))?;
        let before = self.written.fetch_add(samples.len() as u64, Relaxed);
        let now = before + samples.len() as u64;
        if before >> 20 != now >> 20 {
            let rate = now as f64 / self.began.elapsed().as_secs_f64();
            say(format!("{now} positions, {rate:.0} a second"));
        }
        Ok(())
    }

    /// Plays a game and takes samples from it.
    fn game(&self, player: &mut Player, random: &mut Rng, samples: &mut Vec<Sample>) {
        let arguments = self.arguments;
        let noise = random.i32(NOISE);
        let (start, plies) = match self.openings.as_slice() {
            [_, ..] if random.u8(..100) < arguments.opening_share => {
                (self.openings[random.usize(..self.openings.len())].clone(), random.usize(..4))
            }
            _ => (Position::default(), 8 + random.usize(..2)),
        };
        let Some((mut position, _)) = random_moves(&start, random, plies) else { return };
        let mut path = PositionPath::new(&position);
        let mut verdict = Verdict::default();
        for _ in 0..arguments.plies.unwrap_or(LONGEST) {
            if path.is_draw(&position) {
                break;
            }
            let Some((best, score)) = player.best_move(&position, noise, random) else { break };
            if random.u64(..arguments.every.max(1)) == 0 {
                samples.extend(siblings(&position, random));
                if let Some(parent) = neighbour(&position, random) {
                    samples.extend(siblings(&parent, random));
                }
            }
            verdict.push(position.turn(), score);
            if verdict.winner().is_some() {
                break;
            }
            position = position.play(best);
            path.push(&position);
        }
    }
}

/// Quiet positions after some of a position's moves.
fn siblings(parent: &Position, random: &mut Rng) -> Vec<Sample> {
    let mut moves: Vec<_> = parent.legal_moves().into_iter().collect();
    random.shuffle(&mut moves);
    let children = moves.into_iter().filter(|m| !m.is_capture()).map(|m| parent.play(m));
    let quiet = children.filter(|child| child.has_legal_move() && is_quiet(child));
    quiet.take(SIBLINGS).map(|child| Sample::new(&child)).collect()
}

/// The position after a random move, or two in one of four cases. A move that gives nothing away is drawn more often.
fn neighbour(position: &Position, random: &mut Rng) -> Option<Position> {
    let mut position = position.clone();
    for _ in 0..1 + usize::from(random.u8(..4) == 0) {
        let moves = position.legal_moves();
        let mut drawn = (0..3).filter_map(|_| random.choice(&moves).copied());
        let last = drawn.next()?;
        let m = std::iter::once(last).chain(drawn).find(|&m| position.see_ge(m, 0)).unwrap_or(last);
        position = position.play(m);
    }
    Some(position)
}
