//! Workers on other machines: tasks go to a queue on a server, results come from there, in any order.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    ops::Range,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use super::{
    backend::SearchBackend,
    pool::{Arrival, FoundAt, MAX_PENDING, MoveList, SearchBudget, SearchKind, SearchSettings},
    task::{BatchTask, read_result, version},
};
use crate::{
    cli::{CliError, complain, json},
    fleet::{EntryId, FleetError, Queue, ServerAddress, Task, TaskOutcome, TaskResult, name_of},
};

/// Maximum number of items in the queue or waiting for earlier ones: enough for two thousand threads.
const WINDOW: usize = MAX_PENDING;
/// How long the server is asked to wait for a result.
const WAIT: Duration = Duration::from_secs(1);
/// Time without a result after which the tasks are looked for on the server.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// The collector's side of the queue.
pub struct RemoteWorkers {
    queue: Queue,
    job: String,
    /// That of an analysis.
    budget: SearchBudget,
    /// Are results shared through the cache on the server?
    cached: bool,
    /// Tasks that have not been submitted yet.
    unsent: Vec<Task>,
    /// Tasks that wait for their result, by name. The same positions may occur several times.
    wanted: HashMap<String, Wanted>,
    /// Tasks that an earlier run of this job submitted.
    earlier: HashSet<String>,
    /// Results that nothing waits for yet, by the name of their task.
    unclaimed: HashMap<String, TaskResult>,
    ready: VecDeque<Arrival>,
    last: EntryId,
    /// Results that were taken in and can be deleted from the server.
    spent: Vec<EntryId>,
    /// When to check that the server still has the tasks.
    look_at: Instant,
    trouble: String,
    has_waited: bool,
}

struct Wanted {
    task: Task,
    kind: SearchKind,
    places: Vec<(Arc<MoveList>, Range<usize>)>,
    /// Has a result come that cannot be read?
    was_unreadable: bool,
}

impl RemoteWorkers {
    /// The queue for a job on this server. A resumed run has the same `work`, which identifies it. With `cached` results of
    /// earlier work are used, and kept.
    ///
    /// # Errors
    /// The server cannot be reached, or refuses.
    pub fn start(
        server: &ServerAddress,
        work: Option<String>,
        settings: &SearchSettings,
        cached: bool,
    ) -> Result<RemoteWorkers, CliError> {
        let failed = |error: FleetError| CliError::Task(format!("{server}: {error}"));
        let job = name_of(&work.unwrap_or_else(|| fastrand::u128(..).to_string()));
        let mut queue = Queue::new(server.clone(), &version());
        // In this order: a task is removed in the same step in which its result is added.
        let earlier = queue.outstanding(&job).map_err(failed)?.into_keys().collect();
        let mut workers = RemoteWorkers {
            queue,
            job,
            budget: settings.budget.clone(),
            cached,
            unsent: Vec::new(),
            wanted: HashMap::new(),
            earlier,
            unclaimed: HashMap::new(),
            ready: VecDeque::new(),
            last: EntryId::default(),
            spent: Vec::new(),
            look_at: Instant::now() + ANSWER_TIMEOUT,
            trouble: String::new(),
            has_waited: false,
        };
        while workers.read(Duration::ZERO).map_err(failed)? > 0 {}
        Ok(workers)
    }

    fn turn(&mut self) -> Result<(), FleetError> {
        self.discard()?;
        if Instant::now() >= self.look_at {
            return self.look_again();
        }
        self.submit()?;
        self.read(WAIT).map(|_| ())
    }

    fn discard(&mut self) -> Result<(), FleetError> {
        self.queue.discard(&self.job, &self.spent)?;
        self.spent.clear();
        Ok(())
    }

    /// Submits the new tasks, except those whose results are in the cache.
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

    /// Reads results, and returns their number.
    fn read(&mut self, wait: Duration) -> Result<usize, FleetError> {
        let results = self.queue.results_after(&self.job, self.last, wait)?;
        let count = results.len();
        for result in results {
            self.last = result.entry;
            self.look_at = Instant::now() + ANSWER_TIMEOUT;
            if self.wanted.contains_key(&result.name) || result.outcome.is_none() {
                self.take_in(result);
            } else {
                self.unclaimed.insert(result.name.clone(), result);
            }
        }
        Ok(count)
    }

    /// Takes in a result; false if its task is still to be done.
    fn take_in(&mut self, result: TaskResult) -> bool {
        self.spent.push(result.entry);
        match result.outcome {
            // One that cannot be read is asked for again later.
            Some(TaskOutcome::Done(text)) => self.arrived(&result.name, &text),
            Some(TaskOutcome::Failed(reason)) => {
                self.failed(&result.name, &reason);
                true
            }
            None => false,
        }
    }

    /// Submits the tasks that are neither queued nor done: they are new, or the server has lost them.
    fn look_again(&mut self) -> Result<(), FleetError> {
        let there = self.queue.outstanding(&self.job)?;
        // In this order, as at the start.
        self.last = EntryId::default();
        while self.read(Duration::ZERO)? > 0 {}
        let missing = self.wanted.iter().filter(|(name, _)| !there.contains_key(*name));
        self.unsent = missing.map(|(_, wanted)| wanted.task.clone()).collect();
        self.look_at = Instant::now() + ANSWER_TIMEOUT;
        if there.len() == self.wanted.len() && !std::mem::replace(&mut self.has_waited, true) {
            complain(format_args!(
                "no result yet; start workers: engram worker, with the same --queue (of version {}, as this program)",
                version()
            ));
        }
        self.submit()
    }

    /// Takes in a result; false if it is not valid.
    fn arrived(&mut self, name: &str, text: &str) -> bool {
        let Some(wanted) = self.wanted.get_mut(name) else { return false };
        let read = wanted.places.iter().map(|(work, plies)| read_result(text, work, plies));
        let Some(found) = read.collect::<Option<Vec<_>>>() else {
            if std::mem::replace(&mut wanted.was_unreadable, true) {
                self.failed(name, "its result cannot be read, for the second time");
            }
            return false;
        };
        self.has_waited = true;
        for ((work, plies), findings) in wanted.places.iter().zip(found) {
            let found = plies.clone().zip(findings);
            let found = found.map(|(ply, finding)| {
                Arrival::Found(FoundAt { item: work.item, ply, kind: wanted.kind, finding })
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
}

impl SearchBackend for RemoteWorkers {
    fn window(&self) -> usize {
        WINDOW
    }

    fn budget(&self) -> &SearchBudget {
        &self.budget
    }

    /// Submits the positions after `plies` moves as a task for one worker.
    fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind, budget: SearchBudget) {
        let batch = BatchTask::new(work, &plies, &budget);
        let task = Task { job: self.job.clone(), text: json(&batch), cached: self.cached };
        let name = task.name();
        let place = (Arc::clone(work), plies);
        if let Some(wanted) = self.wanted.get_mut(&name) {
            wanted.places.push(place);
            return;
        }
        let wanted = Wanted { task: task.clone(), kind, places: vec![place], was_unreadable: false };
        self.wanted.insert(name.clone(), wanted);
        let is_queued = self.earlier.remove(&name);
        let is_done = self.unclaimed.remove(&name).is_some_and(|result| self.take_in(result));
        if !is_queued && !is_done {
            self.unsent.push(task);
        }
    }

    /// What comes within [`WAIT`]; `None` if no task is outstanding.
    fn receive(&mut self) -> Option<Arrival> {
        if self.ready.is_empty() {
            if self.wanted.is_empty() {
                // All results are in the journal by now; on the server they expire after a week.
                let _ = self.discard();
                return None;
            }
            match self.turn() {
                Ok(()) => self.trouble.clear(),
                Err(error) => {
                    let text = format!("{}: {error}; trying again", self.queue.server());
                    if text != self.trouble {
                        complain(&text);
                        self.trouble = text;
                    }
                    // The server may have lost the tasks.
                    self.look_at = Instant::now();
                    thread::sleep(WAIT);
                }
            }
        }
        Some(self.ready.pop_front().unwrap_or(Arrival::Nothing))
    }

    /// Removes everything from the server.
    fn finish(mut self: Box<Self>) {
        if !self.wanted.is_empty() {
            // If this fails, the tasks are done for nobody.
            let _ = self.queue.withdraw(&self.job);
        }
        // If this fails, the results expire after a week.
        let _ = self.queue.remove_results(&self.job);
    }
}
