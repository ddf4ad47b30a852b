//! `engram tune sample`: positions as the search meets them. The engine plays against itself; a teacher labels a
//! random sample of the positions that its searches evaluate, including those with pending captures: the network
//! evaluates the same kind of positions.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use clap::Args;
use fastrand::Rng;
use shakmaty::{CastlingMode, Color};

use super::{
    super::{
        common::{file_error, threads},
        generate::{Player, follow, random_moves},
    },
    record::Sample,
    teacher::Teacher,
};
use crate::{
    cli::{CliError, prove::openings, refuse_input},
    locks::locked,
    position::Position,
    types::Verdict,
    uci::{Interrupt, Output},
};

/// The arguments of `engram tune sample`.
#[derive(Debug, Args)]
pub struct SampleArguments {
    /// The file to append records to; `-` for standard output (without progress messages then).
    out: PathBuf,
    /// The teacher: a program with its arguments that reads one FEN a line and answers the centipawns of the
    /// side to move, one number a line, at the latest after an empty line.
    #[arg(long)]
    teacher: String,
    /// Positions to make; Ctrl-C ends it earlier without losing labelled positions.
    #[arg(long, default_value_t = u64::MAX)]
    positions: u64,
    /// Minimum nodes for a move; each game draws its own number.
    #[arg(long, default_value_t = 400)]
    least_nodes: u64,
    /// Maximum nodes for a move.
    #[arg(long, default_value_t = 1600)]
    most_nodes: u64,
    /// Take one evaluated position in this many.
    #[arg(long, default_value_t = 6)]
    every: u64,
    /// Openings, EPD or FEN, one a line (Chess960 too); the other games begin with eight or nine random moves.
    #[arg(long)]
    openings: Option<PathBuf>,
    /// Games in a hundred that begin with one of the openings.
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u8).range(..=100))]
    opening_share: u8,
    /// Maximum number of plies of a game, for many different positions rather than whole games.
    #[arg(long)]
    plies: Option<usize>,
    /// Games at a time; as many as there are cores if absent.
    #[arg(long)]
    threads: Option<usize>,
}

/// Positions that a search evaluated, each with the side to move.
type Evaluated = Mutex<Vec<(Color, Sample)>>;

/// Positions that are labelled together.
const CHUNK: usize = 1 << 14;
/// In every third game one move in this many is random.
const STRAY: usize = 16;

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
        let teacher_failed = file_error(Path::new(&self.arguments.teacher));
        let mut teacher = Teacher::start(&self.arguments.teacher).map_err(&teacher_failed)?;
        let taken = Arc::<Evaluated>::default();
        let mut player = Player::new(self.arguments.least_nodes);
        let (evaluated, every, sink) = (AtomicU64::new(0), self.arguments.every.max(1), Arc::clone(&taken));
        player.engine.observe(
            &(Arc::new(move |position: &Position| {
                if evaluated.fetch_add(1, Relaxed) % every == 0 {
                    locked(&sink).push((position.turn(), Sample::new(position)));
                }
            }) as _),
        );
        let mut random = Rng::with_seed(seed);
        let mut samples = Vec::new();
        while !self.is_over(interrupt) {
            samples.append(&mut self.game(&mut player, &taken, &mut random));
            if samples.len() >= CHUNK {
                teacher.label(&mut samples).map_err(&teacher_failed)?;
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

    /// Plays a game and returns its share of the evaluated positions.
    fn game(&self, player: &mut Player, taken: &Evaluated, random: &mut Rng) -> Vec<Sample> {
        let arguments = self.arguments;
        player.nodes = random.u64(arguments.least_nodes..=arguments.most_nodes.max(arguments.least_nodes));
        let strays = random.usize(..3) == 0;
        let (start, plies) = match self.openings.as_slice() {
            [_, ..] if random.u8(..100) < arguments.opening_share => {
                (self.openings[random.usize(..self.openings.len())].clone(), random.usize(..4))
            }
            _ => (Position::default(), 8 + random.usize(..2)),
        };
        let Some(mut moves) = random_moves(&start, random, plies) else { return Vec::new() };
        // With a few moves from each start, clearing the histories would cost as much as the searches.
        if arguments.plies.is_none() {
            player.engine.new_game();
        }
        let mut samples: Vec<(Color, Sample)> = Vec::new();
        let mut verdict = Verdict::default();
        let result = loop {
            let Some((position, result)) = follow(&start, &moves) else { return Vec::new() };
            if result.is_some() {
                break result;
            }
            if arguments.plies.is_some_and(|most| moves.len() >= plies + most) {
                break None;
            }
            let Some((mut best, score)) = player.best_move(&start, &moves) else { return Vec::new() };
            samples.append(&mut locked(taken));
            verdict.push(position.turn(), score);
            if let Some(winner) = verdict.winner() {
                break Some(winner.fold_wb(1.0, 0.0));
            }
            if strays && random.usize(..STRAY) == 0 {
                best = random.choice(position.legal_moves()).unwrap_or(best);
            }
            moves.push(best.to_uci(CastlingMode::Chess960));
        };
        if let Some(result) = result {
            let white = (2.0 * result) as u8;
            for (turn, sample) in &mut samples {
                sample.result = if *turn == Color::White { white } else { 2 - white };
            }
        }
        samples.into_iter().map(|(_, sample)| sample).collect()
    }
}
