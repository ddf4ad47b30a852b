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
mod annotate;
mod arguments;
mod backend;
mod claims;
pub mod epd;
mod finding_journal;
mod html;
mod input;
mod judge;
mod marks;
mod output;
mod outputs;
mod pool;
mod puzzles;
#[cfg(feature = "fleet")]
mod remote;
mod report;
mod rows;
mod searcher;
mod sink;
mod sqlite;
#[cfg(feature = "fleet")]
mod task;
pub(super) mod variations;
mod window;

use std::{io, path::Path, sync::Arc, time::Instant};

use claims::Claims;
use finding_journal::FindingJournal;
use indicatif::ProgressBar;
use outputs::Outputs;
use serde_json::{Value, json};

pub use self::arguments::Analyse;
pub(super) use self::{
    backend::SearchBackend,
    epd::EpdRecord,
    input::{AnalysisInput, Item, input_files},
    pool::{
        Arrival, Finding, MAX_THREADS, MoveList, SearchBudget, SearchKind, SearchSettings, Workers, threads,
    },
};
#[cfg(feature = "fleet")]
pub(super) use self::{
    pool::FoundAt,
    remote::RemoteWorkers,
    task::{BatchTask, result as task_result, version},
};
use super::{CliError, Completion, complain, counted, openings, say_if_interrupted, tablebase, ticking_bar};
use crate::{
    eval,
    learn::{FileError, LearnFile, Mode},
    position::Openings,
    search::Event,
    types::Bound,
    uci::Output,
};

/// The least size of a worker's transposition table in MiB, unless a smaller one is asked for.
const LEAST_HASH: usize = 16;
/// Depth of each search if no limit is given, in plies.
const DEFAULT_DEPTH: u64 = 16;

/// Runs the command.
///
/// # Errors
/// An input that cannot be read at all, an output that cannot be written. A broken game or line alone is
/// named and skipped.
pub fn run(arguments: &Analyse, output: &Output) -> Result<Completion, CliError> {
    let outputs: Vec<&Path> = arguments.outputs().into_iter().map(|(_, path)| path).collect();
    let input = AnalysisInput::open(&arguments.input, arguments.variations, &outputs)?;
    let openings = if arguments.eco.is_empty() { Openings::own() } else { openings::read(&arguments.eco)? };
    if !arguments.syzygy.is_empty() {
        tablebase::open(&arguments.syzygy)?;
    }
    let settings = settings(arguments, input.is_single());
    let setup = setup(arguments, &input, &settings);
    let earlier = setup.as_ref().map(|(file, setup)| finding_journal::find(file, setup)).transpose()?;
    let claims = Claims::open(arguments, &input, earlier.as_ref())?;
    let learn = arguments.learn.as_deref();
    let records_before = learn.map(|path| records(path, arguments.write)).transpose()?;
    let progress = progress(&input);
    let watch = watch(&progress, &input);
    #[cfg(feature = "fleet")]
    let mut backend: Box<dyn SearchBackend> = match &arguments.queue {
        Some(server) => {
            // The journal tells it from the same work elsewhere.
            let journal = earlier.as_ref().map(|earlier| earlier.identity());
            let work = setup.zip(journal).map(|((_, setup), journal)| format!("{setup} {journal:?}"));
            Box::new(RemoteWorkers::start(server, work, &settings, arguments.cache)?)
        }
        None => Box::new(Workers::start(&settings, watch)?),
    };
    #[cfg(not(feature = "fleet"))]
    let mut backend = Box::new(Workers::start(&settings, watch)?);

    // Nothing is refused any more: from here on files change.
    let is_resumed = earlier.as_ref().is_some_and(|earlier| earlier.len > 0);
    let mut journal = earlier.map(FindingJournal::resume).transpose()?;
    let mut outputs = Outputs::begin(claims, arguments, openings, output)?;
    if journal.is_some() {
        say_if_interrupted();
    }
    let start = Instant::now();
    if is_resumed {
        progress.suspend(|| complain("resuming unfinished work"));
    }
    let is_standard = |(_, path): &(&str, &Path)| *path == Path::new("-");
    let is_wanted = || match output.failure() {
        // Who closes a pipe has read enough; the files are still wanted.
        Some(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CliError::Output(error.to_string())),
        _ => Ok(!output.is_closed() || !arguments.outputs().iter().all(is_standard)),
    };
    let mut totals =
        window::search_all(&input, &mut *backend, &mut journal, &mut outputs, &progress, is_wanted)?;
    progress.finish_and_clear();
    totals.time = start.elapsed();
    outputs.finish(&totals)?;
    backend.finish();
    if matches!(is_wanted(), Ok(false)) {
        return Ok(Completion::Complete);
    }
    if let (Some(path), Some(before), false) =
        (learn, records_before, arguments.outputs().iter().any(is_standard))
    {
        let name = path.display();
        output.line(if arguments.write {
            format!("{} in {name}, {before} before", counted(records(path, false)?, "record"))
        } else {
            format!("{} in {name}, which was only read", counted(before, "record"))
        });
    }
    let unread = totals.unread.take();
    // More of a damaged file is never read; what the system refuses now it may give later, to the same command.
    let goes_on = matches!(&unread, Some(CliError::File(_, _, error)) if !is_damage(error.kind()));
    if let Some(journal) = journal.filter(|_| !goes_on) {
        journal.remove();
    }
    if let Some(error) = unread {
        return Err(error);
    }
    if totals.items == 0 && totals.skipped == 0 {
        complain(format_args!("there is neither a game nor a position in {}", input::text(&arguments.input)));
    }
    Ok(if totals.skipped > 0 || totals.items == 0 { Completion::Partial } else { Completion::Complete })
}

/// Does a decompressor say this of a file that is damaged or cut short?
fn is_damage(kind: io::ErrorKind) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(kind, InvalidData | InvalidInput | UnexpectedEof)
}

/// The number of live records in a learning file; to be written, a missing file is created. Without this check the
/// analysis would silently go on without a file that cannot be used.
fn records(path: &Path, write: bool) -> Result<usize, FileError> {
    let (_, records, _) =
        if write { LearnFile::open_or_create(path)? } else { LearnFile::open(path, Mode::Read)? };
    Ok(records.len())
}

/// The size in MiB of the table of each of `workers`, which share `total`.
pub(super) fn hash_of_worker(total: u64, workers: usize) -> usize {
    let total = total as usize;
    (total / workers).max(if total < LEAST_HASH { 1 } else { LEAST_HASH })
}

fn settings(arguments: &Analyse, single: bool) -> SearchSettings {
    let threads = threads(arguments.threads);
    let workers = if single { 1 } else { threads };
    let Analyse { depth, nodes, movetime, .. } = *arguments;
    let none = depth.is_none() && nodes.is_none() && movetime.is_none();
    let depth = if none { Some(DEFAULT_DEPTH) } else { depth };
    // A table is cleared before each batch, so it has no more room than the nodes of one can need. With a learning file
    // it also bounds how many records are loaded.
    let needed = nodes.filter(|_| arguments.learn.is_none()).map_or(usize::MAX, window::hash_for);
    let hash = hash_of_worker(arguments.hash, workers).min(needed);
    SearchSettings {
        budget: SearchBudget {
            depth: depth.map(|plies| plies as i32),
            nodes,
            movetime,
            multipv: arguments.multipv as usize,
            hash: hash.max(1),
            check_best: false,
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
    let (_, file) = file?;
    let name = input.fingerprint()?;
    let SearchBudget { depth, nodes, movetime, multipv, .. } = &settings.budget;
    // Names of other bytes than UTF-8 are told apart too.
    let spelt = |path: &Path| path.to_str().map_or_else(|| format!("{path:?}"), str::to_owned);
    let outputs: Vec<_> = files.iter().map(|(option, path)| format!("{option} {}", spelt(path))).collect();
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
        "variations": arguments.variations,
        "outputs": outputs,
    });
    Some((file, setup))
}

/// Counts bytes: how many positions there are is known only when the whole input was read.
fn progress(input: &AnalysisInput) -> ProgressBar {
    ticking_bar(input.bytes(), "{bar:20} {percent} %, {eta} left  {wide_msg}", "{spinner} {elapsed}  {msg}")
}

/// With a single position each iteration is a line above the bar.
fn watch(progress: &ProgressBar, input: &AnalysisInput) -> Arc<dyn Fn(&Event) + Send + Sync> {
    let AnalysisInput::Single(record) = input else { return Arc::new(|_| {}) };
    let (progress, position) = (progress.clone(), record.position.clone());
    progress.println(output::growing_head());
    Arc::new(move |event| {
        if let Event::Pv(line) = event
            && (line.multi_pv, line.bound) == (1, Bound::Exact)
        {
            progress.println(output::growing_text(&position, line));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_workers_have_no_tiny_tables_unless_they_are_asked_for() {
        let sizes = [(128, 2), (128, 256), (8, 256)].map(|(total, workers)| hash_of_worker(total, workers));
        assert_eq!(sizes, [64, 16, 1]);
    }
}
