//! Workers on other machines: tasks go to a queue on a server, results come from there, in any order.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{
    MOST_PENDING,
    crew::Arrival,
    pool::{FoundAt, MoveList, SearchKind, SearchSettings},
    task::{StretchTask, TaskSettings, read_result},
};
use crate::{
    cli::worker::version,
    fleet::{EntryId, FleetError, Queue, ServerAddress, Task, TaskOutcome, name_of},
};

/// Items that are in the queue or wait for those before them, at any time: enough for two thousand threads.
pub(super) const WINDOW: usize = MOST_PENDING;
/// How long the server is asked to wait for a result.
const WAIT: Duration = Duration::from_secs(1);
/// After so long without a result it is looked whether the server still has what it was given.
const PATIENCE: Duration = Duration::from_secs(15);

/// The collector's side of the queue.
pub(super) struct RemoteWorkers {
    queue: Queue,
    job: String,
    settings: TaskSettings,
    /// Are results kept for others, and those of others used?
    cached: bool,
    /// Tasks that are still to be put into the queue.
    unsent: Vec<Task>,
    /// What waits for its result, by the name of the task. The same positions may be wanted several times.
    wanted: HashMap<String, Wanted>,
    /// What an earlier run of this job put into the queue.
    earlier: HashSet<String>,
    ready: VecDeque<Arrival>,
    last: EntryId,
    /// Results that were handed out, to be taken from the server.
    spent: Vec<EntryId>,
    /// When it is looked whether the server still has what it was given.
    look_at: Instant,
    trouble: String,
    has_waited: bool,
}

struct Wanted {
    task: Task,
    places: Vec<(Arc<MoveList>, Range<usize>)>,
}

impl RemoteWorkers {
    /// The queue for a job. The `work` it is says the same when it is begun again.
    ///
    /// # Errors
    /// The server is not there, or refuses.
    pub(super) fn start(
        server: &ServerAddress,
        work: &str,
        settings: &SearchSettings,
        cached: bool,
    ) -> Result<RemoteWorkers, FleetError> {
        let job = name_of(work);
        let mut queue = Queue::new(server.clone(), &version());
        let earlier = queue.outstanding(&job)?;
        Ok(RemoteWorkers {
            queue,
            job,
            settings: TaskSettings::of(settings),
            cached,
            unsent: Vec::new(),
            wanted: HashMap::new(),
            earlier,
            ready: VecDeque::new(),
            last: EntryId::default(),
            spent: Vec::new(),
            look_at: Instant::now() + PATIENCE,
            trouble: String::new(),
            has_waited: false,
        })
    }

    /// Has the positions after `plies` moves of a work searched by one worker.
    pub(super) fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>) {
        let stretch = StretchTask::new(work, &plies, &self.settings);
        // Numbers and strings: this cannot fail.
        let text = serde_json::to_string(&stretch).unwrap_or_default();
        let task = Task { job: self.job.clone(), text, cached: self.cached };
        let name = task.name();
        if !self.wanted.contains_key(&name) && !self.earlier.remove(&name) {
            self.unsent.push(task.clone());
        }
        let wanted = self.wanted.entry(name).or_insert_with(|| Wanted { task, places: Vec::new() });
        wanted.places.push((Arc::clone(work), plies));
    }

    /// The next result, however long that takes; nothing if none is wanted.
    pub(super) fn receive(&mut self) -> Option<Arrival> {
        loop {
            if let Some(arrival) = self.ready.pop_front() {
                return Some(arrival);
            }
            if self.wanted.is_empty() {
                // It is in the journal by now. What stays on the server goes by itself after a week.
                let _ = self.discard();
                return None;
            }
            match self.turn() {
                Ok(()) => self.trouble.clear(),
                Err(error) => {
                    let text = format!("{}: {error}; trying again", self.queue.server());
                    if text != self.trouble {
                        eprintln!("{text}");
                        self.trouble = text;
                    }
                    // It may have lost what it had.
                    self.look_at = Instant::now();
                    thread::sleep(WAIT);
                }
            }
        }
    }

    fn turn(&mut self) -> Result<(), FleetError> {
        self.discard()?;
        self.submit()?;
        if Instant::now() >= self.look_at {
            return self.look_again();
        }
        self.read(WAIT).map(|_| ())
    }

    fn discard(&mut self) -> Result<(), FleetError> {
        self.queue.discard(&self.job, &self.spent)?;
        self.spent.clear();
        Ok(())
    }

    /// Puts what is wanted into the queue, unless the cache has it.
    fn submit(&mut self) -> Result<(), FleetError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        if self.cached {
            let found = self.queue.cached(&self.unsent)?;
            let unsent = std::mem::take(&mut self.unsent);
            for (task, found) in unsent.into_iter().zip(found) {
                let is_there = found.is_some_and(|text| self.arrived(&task.name(), &text));
                if !is_there {
                    self.unsent.push(task);
                }
            }
        }
        self.queue.submit(&self.unsent)?;
        self.unsent.clear();
        Ok(())
    }

    /// Reads results. How many?
    fn read(&mut self, wait: Duration) -> Result<usize, FleetError> {
        let results = self.queue.results_after(&self.job, self.last, wait)?;
        let count = results.len();
        for result in results {
            self.last = result.entry;
            self.spent.push(result.entry);
            self.look_at = Instant::now() + PATIENCE;
            match result.outcome {
                // What comes twice is not wanted the second time; what cannot be read is done again some time.
                Some(TaskOutcome::Done(text)) => _ = self.arrived(&result.name, &text),
                Some(TaskOutcome::Failed(reason)) => self.failed(&result.name, &reason),
                None => {}
            }
        }
        Ok(count)
    }

    /// Puts into the queue again what is wanted and neither there nor done: the server has lost it.
    fn look_again(&mut self) -> Result<(), FleetError> {
        let there = self.queue.outstanding(&self.job)?;
        // A result comes in the same moment in which its task goes: what was not there any more is among these.
        self.last = EntryId::default();
        while self.read(Duration::ZERO)? > 0 {}
        let missing = self.wanted.iter().filter(|(name, _)| !there.contains(*name));
        self.unsent = missing.map(|(_, wanted)| wanted.task.clone()).collect();
        self.look_at = Instant::now() + PATIENCE;
        if there.len() == self.wanted.len() && !std::mem::replace(&mut self.has_waited, true) {
            eprintln!(
                "no result yet; workers are started with: engram worker --queue {}",
                self.queue.server()
            );
        }
        self.submit()
    }

    /// Takes a result in. Is it one?
    fn arrived(&mut self, name: &str, text: &str) -> bool {
        let Some(wanted) = self.wanted.get(name) else { return false };
        let read = wanted.places.iter().map(|(work, plies)| read_result(text, work, plies));
        let Some(found) = read.collect::<Option<Vec<_>>>() else { return false };
        self.has_waited = true;
        for ((work, plies), findings) in wanted.places.iter().zip(found) {
            let found = plies.clone().zip(findings);
            let found = found.map(|(ply, finding)| {
                Arrival::Found(FoundAt { item: work.item, ply, kind: SearchKind::Analysis, finding })
            });
            self.ready.extend(found);
        }
        self.wanted.remove(name);
        true
    }

    fn failed(&mut self, name: &str, reason: &str) {
        let Some(wanted) = self.wanted.remove(name) else { return };
        for (work, plies) in wanted.places {
            let reason = reason.to_owned();
            self.ready.push_back(Arrival::Failed { item: work.item, count: plies.len(), reason });
        }
    }

    /// The work is done: nothing of it stays on the server.
    pub(super) fn finish(mut self) {
        // What stays goes by itself after a week.
        let _ = self.queue.remove_results(&self.job);
    }
}
