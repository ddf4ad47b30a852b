//! `engram analyse`: positions, test suites and games, several at once.
//!
//! ```text
//!  input -> items (positions, games) -> batches of positions -> workers, an engine each
//!              |                                                    |
//!              '--> a window of unfinished items <--- findings -----'--> journal
//!                        |
//!                        '-> in the order of the input: text, JSON lines, PGN, HTML
//! ```
//! With `--queue` the workers are on other machines (`remote.rs`), and everything else is the same.
//!
//! Only the window is in memory, so a file may be of any size. Findings go at once to a journal beside the first output
//! file, from which the same command resumes after an interruption.

mod accuracy;
mod backend;
pub mod epd;
mod html;
mod input;
mod journal;
mod judge;
mod memory;
mod output;
mod outputs;
mod pool;
mod puzzles;
#[cfg(feature = "fleet")]
mod remote;
mod report;
mod rows;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(feature = "fleet")]
mod task;
mod window;

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use backend::SearchBackend;
use clap::Args;
use indicatif::ProgressBar;
use input::AnalysisInput;
use journal::FindingJournal;
use memory::LearnFileUse;
use outputs::Outputs;
use pool::SearchSettings;
use serde_json::{Value, json};

pub(super) use self::pool::SearchBudget;
#[cfg(feature = "fleet")]
pub(super) use self::{
    pool::{Finding, FoundAt, SearchKind, Workers},
    task::{BatchTask, result as task_result, version},
};
use super::{CliError, Completion, complain, cores, journal::EarlierRun, pawns, progress_bar, tablebase};
#[cfg(feature = "fleet")]
use crate::fleet::ServerAddress;
use crate::{eval, search::Event, uci::Output};

/// Maximum number of search threads.
pub(super) const MAX_THREADS: usize = 1024;
/// Maximum number of items that are searched or wait for an earlier one.
const MAX_PENDING: usize = 2 * MAX_THREADS + 2;
/// Depth of each search if no limit is given, in plies.
const DEFAULT_DEPTH: u64 = 16;

/// The arguments of `engram analyse`.
#[derive(Debug, Args)]
pub struct Analyse {
    /// A FEN (quoted or not, its last fields optional) or `startpos`, optionally followed by moves; or files of
    /// positions (.epd, .fen) or games (.pgn), also compressed (.gz, .bz2, .zst), or `-` for the standard input.
    #[arg(required = true, num_args = 1.., value_name = "FEN | FILE | -")]
    input: Vec<String>,
    /// Depth of each search in plies; 16 if no limit is given.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u64).range(1..=200))]
    depth: Option<u64>,
    /// Nodes of each search.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Time of each search in milliseconds.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    movetime: Option<u64>,
    /// Number of best lines.
    #[arg(long, default_value_t = 1, value_name = "LINES", value_parser = clap::value_parser!(u64).range(1..=256))]
    multipv: u64,
    /// Number of search threads: each searches a position of its own, or all of them a single one. All cores if not
    /// given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    threads: Option<u64>,
    /// Size of the transposition tables in all, in MiB.
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=262_144))]
    hash: u64,
    /// Folders of Syzygy tablebases, separated as in PATH.
    #[arg(long, value_name = "FOLDERS", default_value = "")]
    syzygy: String,
    /// Use this learning file in the searches. It is only read unless --write is given.
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,
    /// Remember every position analysed and those of its main line in the learning file, which is made if it is
    /// missing. It holds 65,536 positions, then the oldest are replaced: use a separate file for many games.
    #[arg(long, requires = "learn")]
    write: bool,
    /// A table of opening names, as `code, tab, name, tab, moves`, several if given several times; the
    /// public list of Lichess, some 3,800 names, if not given.
    #[arg(long, value_name = "FILE")]
    eco: Vec<PathBuf>,
    /// Write a line of JSON for each position or game; to the standard output if FILE is `-`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the games with evaluations, judgements and better lines; `-` as above.
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write a page for the browser, one file that loads nothing: tables of games and players, boards, the engine's
    /// lines, graph, accuracy and critical moments; `-` as above.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Have the positions searched by the machines that run `engram worker` with this URL of a Redis or Valkey server,
    /// such as redis://HOST. With --nodes or --depth the results are the same as on this machine alone.
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "URL", conflicts_with_all = ["learn", "syzygy", "puzzles"])]
    queue: Option<ServerAddress>,
    /// Keep the results on that server for half a year, and reuse earlier results with the same settings.
    #[cfg(feature = "fleet")]
    #[arg(long, requires = "queue")]
    cache: bool,
    /// Write a row of CSV for each position and line; `-` as above.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write an SQLite database with the tables games, positions and lines. Only in a program that was built with
    /// the feature `sqlite`.
    #[arg(long, value_name = "FILE")]
    sqlite: Option<PathBuf>,
    /// Write blunders with a single winning answer as puzzles, each checked by a deeper search: as PGN if the name ends
    /// in .pgn, else as EPD; `-` as above.
    #[arg(long, value_name = "FILE")]
    puzzles: Option<PathBuf>,
    /// Overwrite output files that are there.
    #[arg(long)]
    force: bool,
}

impl Analyse {
    /// The options that name an output, with what they name.
    fn outputs(&self) -> Vec<(&'static str, &Path)> {
        let options = [
            ("--json", &self.json),
            ("--pgn", &self.pgn),
            ("--html", &self.html),
            ("--csv", &self.csv),
            ("--sqlite", &self.sqlite),
            ("--puzzles", &self.puzzles),
        ];
        options.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect()
    }
}

/// Runs the command.
///
/// # Errors
/// An input that cannot be read at all, an output that cannot be written. A broken game or line alone is
/// named and skipped.
pub fn run(arguments: &Analyse, output: &Output) -> Result<Completion, CliError> {
    let input = AnalysisInput::open(&arguments.input)?;
    let settings = settings(arguments, input.is_single());
    let setup = setup(arguments, &input, &settings);
    let earlier = setup.as_ref().map(|(file, setup)| journal::find(file, setup)).transpose()?;
    outputs::refuse(arguments, &input, earlier.as_ref().is_some_and(EarlierRun::is_there))?;
    let known = earlier.as_ref().map_or(0, |earlier| earlier.len);
    let mut journal = earlier.map(FindingJournal::resume).transpose()?;
    let memory = LearnFileUse::open(arguments.learn.as_deref(), arguments.write)?;
    if !arguments.syzygy.is_empty() {
        tablebase::open(&arguments.syzygy)?;
    }
    let mut outputs = Outputs::open(arguments, output)?;
    let progress = progress(&input)?;
    let watch = watch(&progress, input.is_single());
    let start = Instant::now();

    let to_file = arguments.outputs().iter().any(|(_, path)| *path != Path::new("-"));
    let mut backend = SearchBackend::start(arguments, &settings, setup, watch)?;
    if known > 0 {
        progress.suspend(|| eprintln!("going on with unfinished work: {known} results are there"));
    }
    let totals = window::search_all(&input, &mut backend, &mut journal, &mut outputs, &progress, || {
        to_file || !output.is_closed()
    })?;
    progress.finish_and_clear();
    outputs.finish(&totals, start.elapsed(), input.is_single())?;
    backend.finish();
    if let (Some(memory), Some(text)) = (&memory, &outputs.text) {
        text.line(memory.summary()?);
    }
    if let Some(journal) = journal {
        journal.remove();
    }
    if totals.items == 0 && totals.skipped == 0 {
        complain(format_args!("there is neither a game nor a position in {}", arguments.input.join(", ")));
    }
    Ok(if totals.skipped > 0 || totals.items == 0 { Completion::Partial } else { Completion::Complete })
}

fn settings(arguments: &Analyse, single: bool) -> SearchSettings {
    let threads = arguments.threads.map_or(cores().min(MAX_THREADS), |threads| threads as usize);
    let workers = if single { 1 } else { threads };
    let Analyse { depth, nodes, movetime, .. } = *arguments;
    let none = depth.is_none() && nodes.is_none() && movetime.is_none();
    let depth = if none { Some(DEFAULT_DEPTH) } else { depth };
    SearchSettings {
        budget: SearchBudget {
            depth: depth.map(|plies| plies as i32),
            nodes,
            movetime,
            multipv: arguments.multipv as usize,
            hash: (arguments.hash as usize / workers).max(1),
        },
        workers,
        threads: if single { threads } else { 1 },
        syzygy: arguments.syzygy.clone(),
        learn: arguments.learn.clone(),
        write: arguments.write,
    }
}

/// The description of this work and the output file beside its journal, if a result goes to a file and there is more
/// than one position.
fn setup<'a>(
    arguments: &'a Analyse,
    input: &AnalysisInput,
    settings: &SearchSettings,
) -> Option<(&'a Path, Value)> {
    let files = arguments.outputs();
    let file = files.iter().find(|(_, path)| path.is_file() || !path.exists() && *path != Path::new("-"));
    let (Some((_, file)), Some(name)) = (file, input.fingerprint()) else { return None };
    let SearchBudget { depth, nodes, movetime, multipv, .. } = &settings.budget;
    let outputs: Vec<_> = files.iter().map(|(option, path)| format!("{option} {}", path.display())).collect();
    let setup = json!({
        "engram": format!("{} evaluation {:04x}", env!("CARGO_PKG_VERSION"), eval::fingerprint()),
        "input": name,
        "depth": depth,
        "nodes": nodes,
        "movetime": movetime,
        "multipv": multipv,
        "hash": arguments.hash,
        "syzygy": settings.syzygy,
        "learn": settings.learn.as_ref().map(|path| path.display().to_string()),
        "write": settings.write,
        "outputs": outputs,
    });
    Some((file, setup))
}

fn progress(input: &AnalysisInput) -> Result<ProgressBar, CliError> {
    if !std::io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let positions = input.count()?;
    let template = match positions {
        Some(_) => "{bar:30} {pos}/{len} positions, {eta} left {msg}",
        None => "{spinner} {pos} positions, {elapsed} {msg}",
    };
    let bar = progress_bar(positions, template);
    bar.enable_steady_tick(Duration::from_millis(200));
    Ok(bar)
}

/// With a single position the bar shows how deep the search is.
fn watch(progress: &ProgressBar, single: bool) -> Arc<dyn Fn(&Event) + Send + Sync> {
    if !single {
        return Arc::new(|_| {});
    }
    let progress = progress.clone();
    Arc::new(move |event| {
        if let Event::Pv(line) = event
            && line.multi_pv == 1
        {
            progress.set_message(format!("depth {}, {}", line.depth.get(), pawns(line.score)));
        }
    })
}
