//! `engram tune sample`: positions as the search meets them. The engine plays against itself; teachers label a random
//! sample of the positions that its searches evaluate, and of their neighbours, a random move or two away: a search
//! evaluates what follows bad moves, too. Only quiet positions are taken. Of the others no static evaluation can be right,
//! and what a network learns of them it lacks elsewhere. Nor are known endgames, which no network evaluates.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use clap::Args;
use fastrand::Rng;

use super::{
    super::{
        common::{file_error, is_quiet, threads},
        generate::{LONGEST, Player, random_moves},
    },
    label::is_samples,
    record::{SIZE, Sample},
    teacher::Teachers,
};
use crate::{
    cli::{CliError, in_parallel, prove::openings, refuse_input},
    eval::classical::is_known_endgame,
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
    /// move, one number a line, at the latest after an empty line. The label is the mean of what all teachers say;
    /// without a teacher it is 0, for a trainer that labels what it reads (benches/train).
    #[arg(long)]
    teacher: Vec<String>,
    /// Positions to make; Ctrl-C ends it earlier without losing labelled positions.
    #[arg(long, default_value_t = u64::MAX)]
    positions: u64,
    /// Minimum nodes for a move; each game draws its own number.
    #[arg(long, default_value_t = 300)]
    least_nodes: u64,
    /// Maximum nodes for a move.
    #[arg(long, default_value_t = 4_000)]
    most_nodes: u64,
    /// Take one evaluated position in this many, and a neighbour of it, if they are quiet and no known endgames.
    #[arg(long, default_value_t = 6)]
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
    /// Seed of the random numbers: runs with one thread and the same seed make the same samples. The time if absent.
    #[arg(long)]
    seed: Option<u64>,
}

/// Positions that are labelled together.
const CHUNK: usize = 1 << 14;
/// In every third game one move in this many is random.
const STRAY: usize = 16;

/// Plays games, has positions labelled and writes them, until there are enough.
pub fn print(arguments: &SampleArguments, output: &Output, interrupt: &Interrupt) -> Result<(), CliError> {
    refuse_input(&arguments.out, &arguments.openings)?;
    let failed = file_error(&arguments.out);
    let to_stdout = arguments.out == Path::new("-");
    let out: Box<dyn Write + Send> =
        if to_stdout { Box::new(io::stdout()) } else { Box::new(open(&arguments.out).map_err(failed)?) };
    let openings = arguments.openings.as_deref().map_or(Ok(Vec::new()), |path| openings(path, None, 0))?;
    let threads = threads(arguments.threads);
    let time = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |time| time.as_nanos() as u64);
    let seed = arguments.seed.unwrap_or_else(time);
    let shared = Samplers {
        arguments,
        openings,
        out: Mutex::new(out),
        written: AtomicU64::new(0),
        began: Instant::now(),
        has_failed: AtomicBool::new(false),
    };
    let say = |text: String| {
        if !to_stdout {
            output.line(text)
        }
    };
    let work = |thread| {
        let result = shared.work(seed ^ (thread as u64) << 48, interrupt, &say);
        shared.has_failed.fetch_or(result.is_err(), Relaxed);
        result
    };
    in_parallel(threads, threads, work, |_, ()| Ok(()))
}

/// Opens a file of samples to go on behind its last whole record: a write that was interrupted leaves a part of one.
fn open(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    if length > 0 && !is_samples(&file)? {
        return Err(io::Error::other("it is not a file of samples; name another or remove it"));
    }
    let whole = length - length % SIZE as u64;
    if whole < length {
        // Windows shortens no file that is open to be appended to.
        OpenOptions::new().write(true).open(path)?.set_len(whole)?;
    }
    Ok(file)
}

/// The shared state of the threads.
struct Samplers<'a> {
    arguments: &'a SampleArguments,
    openings: Vec<Position>,
    out: Mutex<Box<dyn Write + Send>>,
    written: AtomicU64,
    began: Instant,
    /// Has a thread failed? Then the others end.
    has_failed: AtomicBool,
}

impl Samplers<'_> {
    fn is_over(&self, interrupt: &Interrupt) -> bool {
        // Relaxed: a thread that sees it late labels a chunk more.
        interrupt.is_requested()
            || self.written.load(Relaxed) >= self.arguments.positions
            || self.has_failed.load(Relaxed)
    }

    /// One thread: games, and whenever enough positions have come together, labels for them.
    fn work(&self, seed: u64, interrupt: &Interrupt, say: &dyn Fn(String)) -> Result<(), CliError> {
        let mut teachers = Teachers::start(&self.arguments.teacher)?;
        let mut random = Rng::with_seed(seed);
        // Positions that a search evaluated, and neighbours, which are drawn in the search's own thread.
        let taken = Arc::<Mutex<Vec<Sample>>>::default();
        let drawn = Mutex::new(random.fork());
        let mut player = Player::new(self.arguments.least_nodes);
        let (evaluated, every, sink) = (AtomicU64::new(0), self.arguments.every.max(1), Arc::clone(&taken));
        player.engine.observe(
            &(Arc::new(move |position: &Position| {
                if evaluated.fetch_add(1, Relaxed) % every == 0 {
                    let both = [Some(position.clone()), neighbour(position, &mut locked(&drawn))];
                    locked(&sink).extend(both.iter().flatten().filter_map(sample_of));
                }
            }) as _),
        );
        let mut samples = Vec::new();
        while !self.is_over(interrupt) {
            self.game(&mut player, &mut random);
            samples.append(&mut locked(&taken));
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

    /// Plays a game; the player's searches show what they evaluate.
    fn game(&self, player: &mut Player, random: &mut Rng) {
        let arguments = self.arguments;
        player.nodes = random.u64(arguments.least_nodes..=arguments.most_nodes.max(arguments.least_nodes));
        let strays = random.usize(..3) == 0;
        let (start, plies) = match self.openings.as_slice() {
            [_, ..] if random.u8(..100) < arguments.opening_share => {
                (self.openings[random.usize(..self.openings.len())].clone(), random.usize(..4))
            }
            _ => (Position::default(), 8 + random.usize(..2)),
        };
        let Some((mut position, _)) = random_moves(&start, random, plies) else { return };
        // With a few moves from each start, clearing the histories would cost as much as the searches.
        if arguments.plies.is_none() {
            player.engine.new_game();
        }
        let mut path = PositionPath::new(&position);
        let mut verdict = Verdict::default();
        for _ in 0..arguments.plies.unwrap_or(LONGEST) {
            if !position.has_legal_move() || path.is_draw(&position) {
                break;
            }
            // Searched without the moves before it: to play them again would cost as much as the search.
            let Some((mut best, score)) = player.best_move(&position, &[]) else { break };
            verdict.push(position.turn(), score);
            if verdict.winner().is_some() {
                break;
            }
            if strays && random.usize(..STRAY) == 0 {
                best = random.choice(position.legal_moves()).unwrap_or(best);
            }
            position = position.play(best);
            path.push(&position);
        }
    }
}

/// A position as a sample, if the network evaluates it, it is quiet, and it has no more pieces than a sample holds.
fn sample_of(position: &Position) -> Option<Sample> {
    let is_taken = !is_known_endgame(position) && is_quiet(position);
    Sample::new(position).filter(|_| is_taken)
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
    position.has_legal_move().then_some(position)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn known_endgames_and_positions_that_are_not_quiet_are_no_samples() {
        let is_taken = |fen: &str| sample_of(&Position::from_fen(fen).expect(fen)).is_some();
        assert!(is_taken("8/5k2/3r4/8/8/2R5/1P3K2/8 w - - 0 1"));
        for fen in ["8/8/4k3/8/8/3K4/3R4/8 w - - 0 1", "8/5k2/2r5/8/8/2R5/1P3K2/8 w - - 0 1"] {
            assert!(!is_taken(fen), "{fen}");
        }
    }

    #[test]
    fn a_file_of_samples_is_continued_behind_its_last_whole_record_and_no_other_file_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("samples.bin");
        let sample = Sample::new(&Position::default()).expect("a sample").to_bytes();
        fs::write(&path, [&sample[..], &sample[..7]].concat()).expect("written");
        open(&path).expect("samples").write_all(&sample).expect("written");
        assert_eq!(fs::read(&path).expect("readable"), [sample, sample].concat());
        for text in ["1. e4 *\n", "[Event \"Casual game\"]\n\n1. e4 e5 *\n"] {
            fs::write(&path, text).expect("written");
            assert!(open(&path).is_err());
            assert_eq!(fs::read_to_string(&path).expect("readable"), text);
        }
    }
}
