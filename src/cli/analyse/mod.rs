//! `engram analyse`: positions, test suites and games, several at once.
//!
//! ```text
//!  input -> items (positions, games) -> stretches of positions -> workers, an engine each
//!              |                                                    |
//!              '--> a window of unfinished items <--- findings -----'--> journal
//!                        |
//!                        '-> in the order of the input: text, JSON lines, PGN, HTML
//! ```
//! Only the window is in memory, so that a file may be of any size. What was found goes to a journal beside
//! the first output file at once; the same command goes on from there after an interruption.

mod epd;
mod html;
mod input;
mod journal;
mod judge;
mod openings;
mod output;
mod pool;
mod report;

use std::{
    collections::VecDeque,
    io::IsTerminal,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use input::{Input, Item};
use journal::Journal;
use openings::Openings;
use output::Sink;
use pool::{Answer, Finding, Learned, Settings, Work, Workers};
use report::Report;

use super::{CliError, Outcome, book::refuse_to_overwrite};
use crate::{
    learn::{LearnFile, Mode, OpenError},
    search::{Event, Limits},
    types::Depth,
    uci::Output,
};

/// Depth of each search if no limit is given, in plies.
const DEFAULT_DEPTH: u64 = 16;
/// Positions of a game that one worker searches in a row: long enough for the hash table to help, short
/// enough that a single game keeps all workers busy.
const STRETCH: usize = 12;

/// The arguments of `engram analyse`.
#[derive(Debug, Args)]
pub struct Analyse {
    /// A FEN (quoted or not), `startpos`, a file of positions (.epd, .fen), a file of games (.pgn), or `-`
    /// for the standard input.
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
    /// How many best lines are found.
    #[arg(long, default_value_t = 1, value_name = "LINES", value_parser = clap::value_parser!(u64).range(1..=256))]
    multipv: u64,
    /// Search threads in all: so many positions are searched at once, or a single one by all. All cores if
    /// not given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1024))]
    threads: Option<u64>,
    /// Size of the transposition tables in all, in MiB.
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=262_144))]
    hash: u64,
    /// Folders of Syzygy tablebases, separated as in PATH.
    #[arg(long, value_name = "FOLDERS", default_value = "")]
    syzygy: String,
    /// Tables of opening names, as `code, tab, name, tab, moves`; a table of main openings if not given.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    eco: Vec<PathBuf>,
    /// Write a line of JSON for each position or game; to the standard output if FILE is `-`.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the games with evaluations, judgements and better lines; `-` as above.
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Write a page with boards, graph and critical moments; `-` as above.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Use what a learning file says. It is only read, unless --write is given.
    #[arg(long, value_name = "FILE")]
    learn: Option<PathBuf>,
    /// Remember every position in the learning file, which is made if there is none.
    #[arg(long, requires = "learn")]
    write: bool,
    /// Overwrite output files that are there.
    #[arg(long)]
    force: bool,
}

/// An item whose positions are being searched.
struct Pending {
    item: Item,
    findings: Vec<Option<Finding>>,
    missing: usize,
}

/// What was done, for the last line.
#[derive(Default)]
struct Totals {
    positions: u64,
    nodes: u64,
    tasks: u64,
    solved: u64,
    points: u64,
    most_points: u64,
    skipped: usize,
}

/// Where results go.
struct Outputs {
    text: Option<Output>,
    json: Option<Sink>,
    pgn: Option<Sink>,
    html: Option<Sink>,
    openings: Openings,
    head_written: bool,
}

/// Analyses what the arguments name.
///
/// # Errors
/// An input that cannot be read at all, an output that cannot be written. A broken game or line alone is
/// named and skipped.
pub fn run(arguments: &Analyse, output: &Output) -> Result<Outcome, CliError> {
    let input = Input::open(&arguments.input)?;
    let settings = settings(arguments, input.is_single());
    check_learning(arguments)?;
    let mut journal = journal(arguments, &input, &settings)?;
    let mut outputs = Outputs::open(arguments, output, journal.as_ref().is_some_and(|j| j.len() > 0))?;
    let progress = progress(&input)?;
    let watch = watch(&progress, input.is_single());
    let start = Instant::now();

    let workers = Workers::start(&settings, watch);
    let window = 2 * settings.workers + 2;
    let mut totals = Totals::default();
    let mut pending: VecDeque<Pending> = VecDeque::new();
    let mut first = 0;
    let mut items = input.items();
    let mut more = true;
    if journal.as_ref().is_some_and(|journal| journal.len() > 0) {
        let known = journal.as_ref().map_or(0, Journal::len);
        progress.suspend(|| eprintln!("going on with unfinished work: {known} positions are done"));
    }
    loop {
        while more && pending.len() < window {
            match items.next() {
                None => more = false,
                Some(Err(error)) => return Err(error),
                Some(Ok(Err(reason))) => {
                    totals.skipped += 1;
                    progress.suspend(|| eprintln!("{reason}"));
                }
                Some(Ok(Ok(item))) => {
                    pending.push_back(begin(item, first + pending.len(), &workers, &mut journal, &progress));
                }
            }
        }
        while pending.front().is_some_and(|front| front.missing == 0) {
            if let Some(done) = pending.pop_front() {
                first += 1;
                progress.suspend(|| outputs.write(done, &mut totals))?;
            }
        }
        if pending.is_empty() && !more {
            break;
        }
        if pending.is_empty() || output.is_closed() {
            if output.is_closed() {
                break;
            }
            continue;
        }
        let Some(answer) = workers.receive() else {
            return Err(CliError::Task("the search threads have ended; please report the input".to_owned()));
        };
        if let Some(journal) = &mut journal {
            journal.add(&answer)?;
        }
        let Answer { item, ply, finding } = answer;
        if let Some(place) = pending.get_mut(item - first) {
            place.findings[ply] = Some(finding);
            place.missing -= 1;
            progress.inc(1);
        }
    }
    progress.finish_and_clear();
    outputs.finish(&totals, start.elapsed(), input.is_single())?;
    if let Some(journal) = journal {
        journal.finish();
    }
    Ok(if totals.skipped > 0 { Outcome::Partial } else { Outcome::Complete })
}

/// Sends the positions of an item to the workers, except those that an earlier run has searched.
fn begin(
    item: Item,
    number: usize,
    workers: &Workers,
    journal: &mut Option<Journal>,
    progress: &ProgressBar,
) -> Pending {
    let (positions, work) = match &item {
        Item::Position(record) => {
            (vec![record.position.clone()], Work::of_moves(number, &record.position, &[]))
        }
        Item::Game(game) if game.moves.is_empty() => (Vec::new(), Work::of_moves(number, &game.start, &[])),
        Item::Game(game) => (game.positions(), Work::of_moves(number, &game.start, &game.moves)),
    };
    let mut findings: Vec<Option<Finding>> = vec![None; positions.len()];
    if let Some(journal) = journal {
        for (ply, position) in positions.iter().enumerate() {
            findings[ply] = journal.take(number, ply, position);
        }
    }
    let missing: Vec<usize> = (0..findings.len()).filter(|&ply| findings[ply].is_none()).collect();
    progress.inc((findings.len() - missing.len()) as u64);
    let work = Arc::new(work);
    for stretch in missing.chunks(STRETCH) {
        workers.send(&work, stretch.to_vec());
    }
    Pending { item, findings, missing: missing.len() }
}

/// A learning file that cannot be used is told of before the work begins.
fn check_learning(arguments: &Analyse) -> Result<(), CliError> {
    let Some(file) = &arguments.learn else { return Ok(()) };
    let mode = if arguments.write { Mode::Write } else { Mode::Read };
    match LearnFile::open(file, mode) {
        Ok(_) => Ok(()),
        Err(OpenError::Missing { .. } | OpenError::Unfinished { .. }) if arguments.write => Ok(()),
        Err(error) => Err(CliError::Task(error.to_string())),
    }
}

fn settings(arguments: &Analyse, single: bool) -> Settings {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.map_or(cores, |threads| threads as usize);
    let workers = if single { 1 } else { threads };
    let Analyse { depth, nodes, movetime, .. } = *arguments;
    let none = depth.is_none() && nodes.is_none() && movetime.is_none();
    let depth = if none { Some(DEFAULT_DEPTH) } else { depth };
    Settings {
        limits: Limits {
            depth: depth.map(|plies| Depth(plies.min(Depth::MAX.get() as u64) as i32)),
            nodes,
            movetime: movetime.map(Duration::from_millis),
            ..Limits::default()
        },
        multi_pv: arguments.multipv as usize,
        workers,
        threads: if single { threads } else { 1 },
        hash: (arguments.hash as usize / workers).max(1),
        syzygy: arguments.syzygy.clone(),
        learned: arguments.learn.clone().map(|file| Learned { file, write: arguments.write }),
    }
}

/// The journal, if a result goes to a file and there is more than one position.
fn journal(arguments: &Analyse, input: &Input, settings: &Settings) -> Result<Option<Journal>, CliError> {
    let files = [&arguments.json, &arguments.pgn, &arguments.html];
    let file = files.into_iter().flatten().find(|path| path.as_path() != Path::new("-"));
    let (Some(file), Some(name)) = (file, input.fingerprint()) else { return Ok(None) };
    let Limits { depth, nodes, movetime, .. } = &settings.limits;
    let work = format!(
        "engram {} analyse {name} depth {depth:?} nodes {nodes:?} movetime {movetime:?} multipv {}{}",
        env!("CARGO_PKG_VERSION"),
        settings.multi_pv,
        arguments.learn.as_ref().map_or(String::new(), |file| format!(" learn {}", file.display())),
    );
    Journal::open(file, &work).map(Some)
}

fn progress(input: &Input) -> Result<ProgressBar, CliError> {
    if !std::io::stderr().is_terminal() {
        return Ok(ProgressBar::hidden());
    }
    let (bar, template) = match input.count()? {
        Some(positions) => (ProgressBar::new(positions), "{bar:30} {pos}/{len} positions, {eta} left {msg}"),
        None => (ProgressBar::new_spinner(), "{spinner} {pos} positions, {elapsed} {msg}"),
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
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
        if let Event::Line(line) = event
            && line.multi_pv == 1
        {
            progress.set_message(format!("depth {}, {}", line.depth.get(), report::pawns(line.score)));
        }
    })
}

impl Outputs {
    fn open(arguments: &Analyse, output: &Output, resumed: bool) -> Result<Outputs, CliError> {
        let open = |path: &Option<PathBuf>| -> Result<Option<Sink>, CliError> {
            let Some(path) = path else { return Ok(None) };
            if path != Path::new("-") {
                refuse_to_overwrite(path, arguments.force || resumed)?;
            }
            Sink::open(path, output).map(Some)
        };
        let openings =
            if arguments.eco.is_empty() { Openings::own() } else { Openings::read(&arguments.eco)? };
        let (json, pgn, html) = (open(&arguments.json)?, open(&arguments.pgn)?, open(&arguments.html)?);
        let standard = [&arguments.json, &arguments.pgn, &arguments.html];
        let taken = standard.into_iter().flatten().any(|path| path == Path::new("-"));
        let mut outputs = Outputs {
            text: (!taken).then(|| output.clone()),
            json,
            pgn,
            html,
            openings,
            head_written: false,
        };
        if let Some(html) = &mut outputs.html {
            let name = arguments.input.join(" ");
            let file = Path::new(&name).file_name().filter(|_| Path::new(&name).is_file());
            html.write(&html::head(&file.map_or(name.clone(), |file| file.to_string_lossy().into_owned())))?;
        }
        Ok(outputs)
    }

    /// Writes a finished item.
    fn write(&mut self, done: Pending, totals: &mut Totals) -> Result<(), CliError> {
        let findings: Vec<Finding> = done.findings.into_iter().flatten().collect();
        totals.positions += findings.len() as u64;
        totals.nodes += findings.iter().map(|finding| finding.nodes).sum::<u64>();
        match done.item {
            Item::Position(record) => {
                let Some(finding) = findings.first() else { return Ok(()) };
                let result = record.result(finding);
                totals.tasks += u64::from(result.solved.is_some());
                totals.solved += u64::from(result.solved == Some(true));
                totals.points += u64::from(result.points.unwrap_or(0));
                totals.most_points += u64::from(record.most_points());
                if let Some(text) = &self.text {
                    if record.is_single {
                        text.line(output::position_text(&record.position, finding));
                    } else {
                        if !self.head_written {
                            self.head_written = true;
                            text.line(output::records_head());
                        }
                        text.line(output::record_text(&record, finding));
                    }
                }
                if let Some(json) = &mut self.json {
                    json.write(&output::record_json(&record, finding))?;
                }
                if let Some(html) = &mut self.html {
                    html.write(&html::position(&record, finding))?;
                }
            }
            Item::Game(game) => {
                let opening = self.openings.of(&game.start, &game.moves).cloned();
                let report = Report::new(game, opening, findings);
                if let Some(text) = &self.text {
                    text.line(output::game_text(&report));
                }
                if let Some(json) = &mut self.json {
                    json.write(&output::game_json(&report))?;
                }
                if let Some(pgn) = &mut self.pgn {
                    pgn.write(&output::game_pgn(&report))?;
                }
                if let Some(html) = &mut self.html {
                    html.write(&html::game(&report))?;
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, totals: &Totals, time: Duration, single: bool) -> Result<(), CliError> {
        if let Some(html) = &mut self.html {
            html.write(html::FOOT)?;
        }
        let Some(text) = &self.text else { return Ok(()) };
        if totals.tasks > 0 {
            let share = 100.0 * totals.solved as f64 / totals.tasks as f64;
            text.line(format_args!("solved {} of {} ({share:.1} %)", totals.solved, totals.tasks));
        }
        if totals.most_points > 0 {
            text.line(format_args!("points {} of {}", totals.points, totals.most_points));
        }
        if !single {
            let Totals { positions, nodes, skipped, .. } = totals;
            let nps = *nodes as f64 / time.as_secs_f64().max(1e-9);
            text.line(format_args!(
                "{positions} positions, {nodes} nodes in {:.1} s, {nps:.0} nodes a second, {skipped} skipped",
                time.as_secs_f64(),
            ));
        }
        Ok(())
    }
}
