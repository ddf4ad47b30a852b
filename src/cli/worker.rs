//! `engram worker`: takes tasks of `engram analyse --queue` and `engram tree grow --queue` from a server, and returns the
//! results.

use std::{
    collections::HashMap,
    ffi::OsStr,
    ops::Range,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use clap::{Args, builder::TypedValueParser, error::ErrorKind};
use crossbeam::channel::RecvTimeoutError;
use thiserror::Error;

use super::{
    CliError,
    analyse::{
        BatchTask, Finding, FoundAt, MAX_THREADS, SearchBackend, SearchKind, Workers, task_result, threads,
        version,
    },
    complain,
};
use crate::{
    fleet::{EntryId, FleetError, HeldTask, Queue, ServerAddress, TaskOutcome},
    uci::Interrupt,
};

/// A task that this many workers began and did not finish is abandoned.
const MAX_ATTEMPTS: u64 = 3;
/// How long an idle worker waits for the server, and a busy one for results.
const IDLE: Duration = Duration::from_secs(1);
const BUSY: Duration = Duration::from_millis(100);

/// The arguments of `engram worker`.
#[derive(Debug, Args)]
pub struct WorkerArguments {
    /// The server: redis://HOST or rediss://USER:PASSWORD@HOST:PORT.
    #[arg(long, value_name = "URL")]
    queue: ServerAddress,
    /// Positions that are searched at once. All cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    threads: Option<u64>,
    /// Time without a sign of life after which the tasks of a worker are taken over. Give all workers the same value.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    claim_after: u64,
    /// The most memory in MiB for the hash tables of all searches at once: a task that wants more fails. Without it they
    /// take what the tasks say.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..))]
    hash: Option<u64>,
}

/// Reads the address of a server, which may contain a password: unlike clap's own, its error does not repeat it.
#[derive(Clone)]
pub struct AddressParser;

impl clap::builder::ValueParserFactory for ServerAddress {
    type Parser = AddressParser;

    fn value_parser() -> AddressParser {
        AddressParser
    }
}

impl TypedValueParser for AddressParser {
    type Value = ServerAddress;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        text: &OsStr,
    ) -> Result<ServerAddress, clap::Error> {
        let wrong = |error: FleetError| {
            let option = argument.map(|argument| format!("{argument}: ")).unwrap_or_default();
            command.clone().error(ErrorKind::ValueValidation, format!("{option}{error}"))
        };
        text.to_str().unwrap_or_default().parse().map_err(wrong)
    }
}

/// Works until it is interrupted.
///
/// # Errors
/// The first connection fails, or a search thread does.
pub fn run(arguments: &WorkerArguments) -> Result<(), CliError> {
    let threads = threads(arguments.threads);
    let mut worker = TaskWorker {
        queue: Queue::new(arguments.queue.clone(), &version()),
        name: format!("{}-{:08x}", std::process::id(), fastrand::u32(..)),
        threads,
        hash: arguments.hash.and_then(|mib| usize::try_from(mib).ok()).unwrap_or(usize::MAX),
        claim_after: Duration::from_secs(arguments.claim_after),
        workers: None,
        held: HashMap::new(),
        deferred: Vec::new(),
        finished: Vec::new(),
        next: 0,
        kept_at: Instant::now(),
        claimed_at: None,
    };
    let server = &arguments.queue;
    let interrupt = Interrupt::by_signal();
    worker.turn().map_err(|error| failed(server, error))?;
    let version = version();
    complain(format_args!(
        "{threads} threads wait for tasks of version {version} at {server}; Ctrl-C ends them"
    ));
    let mut trouble = String::new();
    while !interrupt.is_requested() {
        match worker.turn() {
            Ok(()) => trouble.clear(),
            Err(WorkError::Server(error)) => {
                let text = error.to_string();
                if text != trouble {
                    complain(format_args!("{server}: {text}; trying again"));
                    trouble = text;
                }
                // The searches go on meanwhile.
                thread::sleep(IDLE);
                worker.collect(Duration::ZERO).map_err(|error| failed(server, error))?;
            }
            Err(error) => return Err(failed(server, error)),
        }
    }
    worker.give_back().map_err(|error| failed(server, error))
}

fn failed(server: &ServerAddress, trouble: WorkError) -> CliError {
    match trouble {
        WorkError::Server(error) => CliError::Task(format!("{server}: {error}")),
        WorkError::Search(error) => error,
    }
}

#[derive(Debug, Error)]
enum WorkError {
    #[error(transparent)]
    Server(#[from] FleetError),
    #[error(transparent)]
    Search(#[from] CliError),
}

struct TaskWorker {
    queue: Queue,
    name: String,
    threads: usize,
    /// The most memory in MiB for all hash tables.
    hash: usize,
    claim_after: Duration,
    /// The search threads, and the hash in MiB of each.
    workers: Option<(usize, Workers)>,
    /// Tasks that are being searched, by number.
    held: HashMap<usize, Searching>,
    /// Tasks with another size of the hash: they wait until nothing is searched.
    deferred: Vec<HeldTask>,
    /// Tasks whose outcome is still to be returned.
    finished: Vec<(HeldTask, TaskOutcome)>,
    /// Number of the next task.
    next: usize,
    kept_at: Instant,
    claimed_at: Option<Instant>,
}

struct Searching {
    task: HeldTask,
    plies: Range<usize>,
    findings: Vec<Option<Finding>>,
}

impl TaskWorker {
    /// Renews held tasks, returns outcomes, takes more if there is room, and waits a moment for findings.
    fn turn(&mut self) -> Result<(), WorkError> {
        if self.kept_at.elapsed() > self.claim_after / 3 {
            let held: Vec<EntryId> = self.tasks().map(|task| task.entry).collect();
            self.queue.keep(&self.name, &held)?;
            self.kept_at = Instant::now();
        }
        self.return_outcomes()?;
        let held: Vec<EntryId> = self.tasks().map(|task| task.entry).collect();
        if self.held.is_empty() {
            for task in std::mem::take(&mut self.deferred) {
                self.begin(task)?;
            }
        }
        // A few more than threads, so that none waits for the network. But a task that others held is claimed only if it
        // can be begun at once, and one that two workers did not finish is searched alone: none must be blamed for another.
        let is_alone = self.tasks().any(|task| task.attempts + 1 >= MAX_ATTEMPTS);
        let most = self.threads + self.threads / 4 + 1;
        let room =
            if self.deferred.is_empty() && !is_alone { most.saturating_sub(self.held.len()) } else { 0 };
        let free = self.threads.saturating_sub(self.held.len()).min(room);
        if free > 0 && self.claimed_at.is_none_or(|at| at.elapsed() > self.claim_after / 2) {
            self.claimed_at = Some(Instant::now());
            let claimed = self.queue.claim(&self.name, &held, self.claim_after, free, MAX_ATTEMPTS - 1)?;
            claimed.into_iter().try_for_each(|task| self.begin(task))?;
        } else if room > 0 {
            let wait = if self.held.is_empty() { IDLE.min(self.claim_after / 2) } else { Duration::ZERO };
            let taken = self.queue.take(&self.name, room, wait)?;
            taken.into_iter().try_for_each(|task| self.begin(task))?;
        }
        self.collect(BUSY)
    }

    /// The tasks that it holds.
    fn tasks(&self) -> impl Iterator<Item = &HeldTask> {
        let searched = self.held.values().map(|searching| &searching.task);
        searched.chain(&self.deferred).chain(self.finished.iter().map(|(task, _)| task))
    }

    /// Returns outcomes. Those that the server refuses, for want of memory for instance, are kept.
    fn return_outcomes(&mut self) -> Result<(), FleetError> {
        while let Some((task, outcome)) = self.finished.last() {
            match self.queue.finish(task, outcome) {
                // Something else is where the results of this job should be, and stays there.
                Err(FleetError::Refused(reason)) if reason.starts_with("WRONGTYPE") => {
                    log::warn!("a result is lost: {reason}");
                }
                done => done?,
            }
            self.finished.pop();
        }
        Ok(())
    }

    /// Returns outcomes, and the tasks whose outcome is not returned, as if they had not been begun.
    fn give_back(mut self) -> Result<(), WorkError> {
        let returned = self.return_outcomes();
        let held: Vec<(EntryId, u64)> = self.tasks().map(|task| (task.entry, task.attempts)).collect();
        self.queue.give_back(&self.name, &held)?;
        Ok(returned?)
    }

    /// Begins the search of a task, or fails it.
    fn begin(&mut self, task: HeldTask) -> Result<(), WorkError> {
        if task.attempts >= MAX_ATTEMPTS {
            let reason = format!("{MAX_ATTEMPTS} workers began it, and none finished it");
            self.finished.push((task, TaskOutcome::Failed(reason)));
            return Ok(());
        }
        let read = serde_json::from_str::<BatchTask>(&task.task.text).map_err(|error| error.to_string());
        let number = self.next;
        let (batch, work, plies) = match read
            .and_then(|read| read.work(number).map(|(work, plies)| (read, work, plies)))
        {
            Ok(read) => read,
            Err(reason) => {
                self.finished.push((task, TaskOutcome::Failed(format!("the task cannot be read: {reason}"))));
                return Ok(());
            }
        };
        let hash = batch.budget().hash;
        if hash.saturating_mul(self.threads) > self.hash {
            let reason = format!(
                "it wants {hash} MiB of hash for each of {} searches at once, and the worker allows {} in all (--hash)",
                self.threads, self.hash
            );
            self.finished.push((task, TaskOutcome::Failed(reason)));
            return Ok(());
        }
        if self.workers.as_ref().is_none_or(|&(hash, _)| hash != batch.settings.hash) {
            if !self.held.is_empty() {
                self.deferred.push(task);
                return Ok(());
            }
            self.workers = None;
            let workers = Workers::start(&batch.search_settings(self.threads), Arc::new(|_| {}));
            self.workers = Some((batch.settings.hash, workers?));
        }
        if let Some((_, workers)) = &mut self.workers {
            workers.send(&Arc::new(work), plies.clone(), SearchKind::Analysis, batch.budget());
        }
        self.next += 1;
        self.held.insert(number, Searching { task, findings: vec![None; plies.len()], plies });
        Ok(())
    }

    /// Waits up to `timeout` for a finding.
    fn collect(&mut self, timeout: Duration) -> Result<(), WorkError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let mut timeout = timeout;
        loop {
            let Some((_, workers)) = &self.workers else { return Ok(()) };
            match workers.receive_within(timeout) {
                Ok(found) => self.found(found),
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                // A worker that claims the tasks of this process may succeed.
                Err(RecvTimeoutError::Disconnected) => {
                    let text = "a search thread has failed; please report the input of this task";
                    return Err(CliError::Task(text.to_owned()).into());
                }
            }
            timeout = Duration::ZERO;
            if !self.finished.is_empty() {
                return Ok(());
            }
        }
    }

    fn found(&mut self, found: FoundAt) {
        let Some(searching) = self.held.get_mut(&found.item) else { return };
        searching.findings[found.ply - searching.plies.start] = Some(found.finding);
        if searching.findings.iter().all(Option::is_some)
            && let Some(done) = self.held.remove(&found.item)
        {
            let findings: Vec<Finding> = done.findings.into_iter().flatten().collect();
            self.finished.push((done.task, TaskOutcome::Done(task_result(&findings))));
        }
    }
}
