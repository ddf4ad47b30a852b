//! `engram tree grow`.

use std::{
    collections::HashMap,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::ProgressBar;

#[cfg(feature = "fleet")]
use crate::{cli::analyse::RemoteWorkers, fleet::ServerAddress};
use crate::{
    cli::{
        CliError, Completion,
        analyse::{
            Arrival, Finding, MAX_THREADS, MoveList, SearchBackend, SearchBudget, SearchKind, SearchSettings,
            Workers, hash_of_worker, threads,
        },
        complain, lower_priority, minutes, pawns, pgn, tablebase, ticking_bar,
    },
    eval,
    files::info_at,
    tree::{Job, Tree, TreeError, TreeSearch},
    types::Depth,
    uci::{Interrupt, Output, counted},
};

/// How often a leaf is asked for that another grower holds.
const TICK: Duration = Duration::from_millis(200);

/// Roots of the tree whose lines are shown at the end.
const SHOWN: usize = 20;

#[derive(Debug, Args)]
pub(super) struct GrowArguments {
    /// Stop after this many minutes.
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: Option<u64>,
    /// Stop after this many searches.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    positions: Option<u64>,
    /// Nodes of each search.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Positions that are searched at once. All cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    threads: Option<u64>,
    /// Total size of the transposition tables in MiB, each of at least 16 if the total is.
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=262_144))]
    hash: u64,
    /// Folders of Syzygy tablebases, separated as in PATH.
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    syzygy: String,
    /// Have the positions searched by the machines that run `engram worker` with this URL of a Redis or Valkey server,
    /// as many at once as --threads says.
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "URL", conflicts_with = "syzygy")]
    queue: Option<ServerAddress>,
}

/// Grows the tree until a limit, a signal, or until nothing is left to search; partially if searches failed.
///
/// # Errors
/// The tree cannot be written, or no search thread is left.
pub(super) fn run(
    tree: &mut Tree,
    arguments: &GrowArguments,
    output: &Output,
) -> Result<Completion, CliError> {
    if !arguments.syzygy.is_empty() {
        tablebase::open(&arguments.syzygy)?;
    }
    super::roots(tree)?;
    lower_priority();
    let workers = threads(arguments.threads);
    let hash = hash_of_worker(arguments.hash, workers);
    let budget = SearchBudget { nodes: Some(arguments.nodes), multipv: 1, hash, ..SearchBudget::default() };
    let syzygy = arguments.syzygy.clone();
    let settings = SearchSettings { budget, workers, threads: 1, syzygy, ..SearchSettings::default() };
    let local = || Workers::start(&settings, Arc::new(|_| {})).map(Box::new);
    #[cfg(feature = "fleet")]
    let mut backend: Box<dyn SearchBackend> = match &arguments.queue {
        Some(server) => Box::new(RemoteWorkers::start(server, None, &settings, false)?),
        None => local()?,
    };
    #[cfg(not(feature = "fleet"))]
    let mut backend = local()?;
    let growth = Growth {
        at_once: workers,
        limit: arguments.positions.unwrap_or(u64::MAX),
        deadline: arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes)),
        interrupt: Interrupt::by_signal(),
        progress: ticking_bar(
            arguments.positions,
            "{bar:30} {pos} of {len} searches, {eta} left  {msg}",
            "{spinner} {pos} searches in {elapsed}  {msg}",
        ),
        begun: Instant::now(),
        searched: 0,
        failed: 0,
    };
    let grown = growth.run(tree, &mut *backend, &settings.budget, output);
    backend.finish();
    grown
}

struct Growth {
    /// Searches under way at once.
    at_once: usize,
    limit: u64,
    deadline: Option<Instant>,
    interrupt: Interrupt,
    progress: ProgressBar,
    begun: Instant,
    searched: u64,
    /// Searches that failed, which count against the limit.
    failed: u64,
}

impl Growth {
    fn is_over(&self, output: &Output) -> bool {
        self.interrupt.is_requested()
            || output.is_closed()
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Does something in the tree, as soon as no other process keeps the file locked.
    fn patiently<T>(
        &self,
        output: &Output,
        mut act: impl FnMut() -> Result<T, TreeError>,
    ) -> Result<T, TreeError> {
        let mut is_told = false;
        loop {
            match act() {
                Err(TreeError::Busy(path)) if !self.is_over(output) => {
                    if !std::mem::replace(&mut is_told, true) {
                        let text = "is kept locked by another process; growth resumes when it is unlocked";
                        self.progress
                            .suspend(|| complain(format_args!("the tree {} {text}", path.display())));
                    }
                }
                done => return done,
            }
        }
    }

    fn run(
        mut self,
        tree: &mut Tree,
        backend: &mut dyn SearchBackend,
        budget: &SearchBudget,
        output: &Output,
    ) -> Result<Completion, CliError> {
        let mut jobs: HashMap<usize, Job> = HashMap::new();
        let identity = |tree: &Tree| info_at(tree.path()).map(|info| info.identity).ok();
        let opened = identity(tree);
        let (mut begun, mut is_complete) = (0, false);
        while !self.is_over(output) {
            let ended = self.searched + self.failed;
            while jobs.len() < self.at_once && ended + (jobs.len() as u64) < self.limit {
                let Some(job) = self.patiently(output, || tree.next_job())? else { break };
                let work = Arc::new(MoveList::up_to(begun, &job.position, &[]));
                let nodes = budget.nodes.map(|nodes| nodes.saturating_mul(job.effort));
                let budget = SearchBudget { multipv: job.lines, nodes, ..budget.clone() };
                backend.send(&work, 0..1, SearchKind::Analysis, budget);
                jobs.insert(begun, job);
                begun += 1;
            }
            if jobs.is_empty() {
                // Another grower holds what is left; its searches bring new leaves.
                if ended < self.limit && self.patiently(output, || tree.is_searched_elsewhere())? {
                    thread::sleep(TICK);
                    continue;
                }
                is_complete = ended < self.limit;
                break;
            }
            match backend.receive() {
                Some(Arrival::Found(found)) => {
                    let Some(job) = jobs.remove(&found.item) else { continue };
                    let search = search_of(found.finding);
                    self.patiently(output, || tree.record(&job, &search))?;
                    self.searched += 1;
                    self.progress.inc(1);
                    self.progress.set_message(describe(&job));
                }
                #[cfg(feature = "fleet")]
                Some(Arrival::Failed { item, reason, .. }) => {
                    let Some(job) = jobs.remove(&item) else { continue };
                    self.patiently(output, || tree.record(&job, &TreeSearch::default()))?;
                    self.failed += 1;
                    self.progress.suspend(|| complain(format_args!("{}: {reason}", describe(&job))));
                }
                Some(Arrival::Nothing) => {}
                None => {
                    return Err(CliError::Task(
                        "no search thread is left; run the command again with fewer --threads".to_owned(),
                    ));
                }
            }
        }
        self.progress.finish_and_clear();
        jobs.values().try_for_each(|job| tree.release(job))?;
        if identity(tree) != opened {
            return Err(CliError::Task(format!(
                "the tree {} is no longer there: it was removed, moved or replaced while it grew",
                tree.path().display()
            )));
        }
        let size = tree.size()?;
        let time = match self.begun.elapsed().as_secs() {
            seconds @ 0..60 => counted(seconds, "second"),
            seconds => counted(seconds / 60, "minute"),
        };
        let end = match is_complete {
            true if tree.is_focused()? => {
                "; nothing is left to search below the focus; `focus` alone grows everywhere"
            }
            true => "; nothing is left to search",
            false => "",
        };
        output.line(format_args!(
            "{} in {time}; the tree has {}, {} searched{end}",
            counted(self.searched, "search"),
            counted(size.positions, "position"),
            size.searched
        ));
        let roots = tree.roots()?;
        for (root, sides) in roots.iter().take(SHOWN) {
            let Some(view) = tree.look(root)? else { continue };
            let Some(score) = view.score else { continue };
            let line = tree.expected(root, &[])?;
            let from = if roots.len() > 1 { format!(", from {}", root.fen()) } else { String::new() };
            output.line(format_args!(
                "the tree for {}{from}: {} at depth {}{}{}",
                super::names(sides),
                pawns(score),
                view.depth.get(),
                if line.is_empty() { "" } else { ", " },
                pgn::line(root, &line)
            ));
        }
        if roots.len() > SHOWN {
            output.line(format_args!("and {}", counted(roots.len() - SHOWN, "more root")));
        }
        Ok(if self.failed > 0 { Completion::Partial } else { Completion::Complete })
    }
}

/// The moves to the position of a job, as they are written.
fn describe(job: &Job) -> String {
    format!("{} ({:.1} bits)", pgn::line(&job.root, &job.line), job.cost)
}

/// A finding as the tree takes it.
fn search_of(finding: Finding) -> TreeSearch {
    TreeSearch {
        depth: Depth(finding.depth),
        nodes: finding.nodes,
        millis: finding.millis,
        evaluation_id: eval::fingerprint(),
        lines: finding.lines,
    }
}
