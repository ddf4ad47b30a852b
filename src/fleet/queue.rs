//! Work for many machines: a stream of tasks, a stream of results for each job, and a cache of results.
//!
//! Workers are one consumer group: the server gives each task to one of them and keeps it until its result is there. A
//! live worker renews the tasks it holds ([`Queue::keep`]); tasks that have not been renewed for a while are claimed by
//! others ([`Queue::claim`]). The name of a task is a hash of its content: equal tasks have the same name, and a result
//! that comes twice is the same result. The content of tasks and results is up to the callers.

use std::{collections::HashMap, time::Duration};

use redis::{Cmd, Value, cmd};

use super::{
    EntryId, FleetError, ServerAddress,
    connection::{Link, StreamEntry, entries, entries_of_one, read_as},
    task::{HeldTask, Task, TaskOutcome, TaskResult},
};

/// The consumer group that all workers are.
const GROUP: &str = "workers";
/// How long tasks and results wait for workers and collectors, in seconds: a week.
const KEPT: u64 = 7 * 24 * 3600;
/// How long the cache keeps a result, in seconds: half a year.
const KEPT_CACHE: u64 = 183 * 24 * 3600;
/// Entries that are scanned at a time.
const PAGE: usize = 256;
/// Results that are read, or looked up in the cache, at a time.
const RESULTS: usize = 16;

/// The streams on the server. A request fails if the network or the server does; the next one connects anew.
pub struct Queue {
    link: Link,
    /// Only programs of this version submit and take these tasks.
    version: String,
    /// How many results are asked for at a time.
    count: usize,
}

/// Tasks looked at for those that can be claimed, besides those that are held.
const PENDING: usize = 100;

/// A task that was given back has been idle for this long: longer than any worker waits.
const GIVEN_BACK: Duration = Duration::from_secs(86_400);

impl Queue {
    /// The queue for programs of one `version` on this server.
    pub fn new(server: ServerAddress, version: &str) -> Queue {
        Queue { link: Link::new(server), version: version.to_owned(), count: RESULTS }
    }

    /// The server.
    pub fn server(&self) -> &ServerAddress {
        &self.link.server
    }

    // The name in braces keeps all keys on one node of a cluster, where they can be changed in one transaction.

    fn tasks(&self) -> String {
        format!("{{engram}}:tasks:{}", self.version)
    }

    fn results(job: &str) -> String {
        format!("{{engram}}:results:{job}")
    }

    fn cache(&self, name: &str) -> String {
        format!("{{engram}}:cache:{}:{name}", self.version)
    }

    /// The tasks are removed when nobody has submitted or taken any for a week: no worker of their version is left.
    fn expiry(&self) -> Cmd {
        let mut expire = cmd("EXPIRE");
        expire.arg(self.tasks()).arg(KEPT);
        expire
    }

    /// Adds tasks to the queue.
    ///
    /// # Errors
    /// The network or the server. Some may be in the queue.
    pub fn submit(&mut self, tasks: &[Task]) -> Result<(), FleetError> {
        let stream = self.tasks();
        for page in tasks.chunks(PAGE) {
            let add = |task: &Task| {
                let mut add = cmd("XADD");
                add.arg(&stream).arg("*").arg("job").arg(&task.job).arg("task").arg(&task.text);
                add.arg("cache").arg(u8::from(task.cached));
                add
            };
            self.link.carry_out(&page.iter().map(add).collect::<Vec<_>>())?;
        }
        self.link.carry_out(&[self.expiry()])
    }

    /// The tasks of a job in the queue, waiting or held by a worker, by name.
    ///
    /// # Errors
    /// The network or the server.
    pub fn outstanding(&mut self, job: &str) -> Result<HashMap<String, EntryId>, FleetError> {
        let (mut found, mut after, mut count) = (HashMap::new(), "-".to_owned(), PAGE);
        loop {
            let mut range = cmd("XRANGE");
            range.arg(self.tasks()).arg(&after).arg("+").arg("COUNT").arg(count);
            let page = match self.link.ask_one(range, Duration::ZERO) {
                Err(FleetError::TooLarge(_)) if count > 1 => {
                    count = 1;
                    continue;
                }
                Err(FleetError::TooLarge(head)) => {
                    let id = EntryId::first_in(&head).ok_or(FleetError::Nonsense)?;
                    vec![StreamEntry { id, fields: Vec::new() }]
                }
                answer => entries(answer?)?,
            };
            let tasks = page.iter().filter_map(|entry| Some((Task::of(entry)?, entry.id)));
            let of_job = tasks.filter(|(task, _)| task.job == job);
            found.extend(of_job.map(|(task, id)| (task.name(), id)));
            match page.last() {
                Some(last) if page.len() == count => after = format!("({}", last.id),
                _ => return Ok(found),
            }
            count = PAGE;
        }
    }

    /// Removes the tasks of a job that nobody waits for any more.
    ///
    /// # Errors
    /// The network or the server.
    pub fn withdraw(&mut self, job: &str) -> Result<(), FleetError> {
        let there = self.outstanding(job)?;
        there.into_values().try_for_each(|id| self.remove(id))
    }

    /// Results of a job after the entry `after`; waits up to `wait` for one.
    ///
    /// # Errors
    /// The network or the server.
    pub fn results_after(
        &mut self,
        job: &str,
        after: EntryId,
        wait: Duration,
    ) -> Result<Vec<TaskResult>, FleetError> {
        let mut read = cmd("XREAD");
        read.arg("COUNT").arg(self.count);
        if !wait.is_zero() {
            read.arg("BLOCK").arg(wait.as_millis() as u64);
        }
        read.arg("STREAMS").arg(Queue::results(job)).arg(after.to_string());
        let entries = match self.link.ask_one(read, wait) {
            Err(FleetError::TooLarge(_)) if self.count > 1 => {
                self.count = 1;
                return self.results_after(job, after, wait);
            }
            Err(FleetError::TooLarge(head)) => {
                // Not a result of ours.
                let id = EntryId::first_in(&head).filter(|&id| id > after).ok_or(FleetError::Nonsense)?;
                vec![StreamEntry { id, fields: Vec::new() }]
            }
            answer => entries_of_one(answer?)?,
        };
        self.count = RESULTS;
        Ok(entries.iter().map(TaskResult::of).collect())
    }

    /// Deletes results that have been processed.
    ///
    /// # Errors
    /// The network or the server.
    pub fn discard(&mut self, job: &str, results: &[EntryId]) -> Result<(), FleetError> {
        if results.is_empty() {
            return Ok(());
        }
        let mut delete = cmd("XDEL");
        delete.arg(Queue::results(job));
        results.iter().for_each(|id| {
            delete.arg(id.to_string());
        });
        self.link.ask_one(delete, Duration::ZERO).map(|_| ())
    }

    /// Deletes the stream of a job that is done.
    ///
    /// # Errors
    /// The network or the server.
    pub fn remove_results(&mut self, job: &str) -> Result<(), FleetError> {
        let mut delete = cmd("DEL");
        delete.arg(Queue::results(job));
        self.link.ask_one(delete, Duration::ZERO).map(|_| ())
    }

    /// The cached results of these tasks, in their order.
    ///
    /// # Errors
    /// The network or the server.
    pub fn cached(&mut self, tasks: &[Task]) -> Result<Vec<Option<String>>, FleetError> {
        let mut found = Vec::with_capacity(tasks.len());
        for page in tasks.chunks(RESULTS) {
            let mut get = cmd("MGET");
            page.iter().for_each(|task| {
                get.arg(self.cache(&task.name()));
            });
            match self.link.ask_one(get, Duration::ZERO) {
                // A result that is too large or no text is not ours.
                Err(FleetError::TooLarge(_)) => found.extend(page.iter().map(|_| None)),
                answer => {
                    let values: Vec<Value> = read_as(answer?)?;
                    if values.len() != page.len() {
                        return Err(FleetError::Nonsense);
                    }
                    found.extend(values.into_iter().map(|value| read_as(value).ok()));
                }
            }
        }
        Ok(found)
    }

    /// Takes up to `count` waiting tasks for the worker `name`; waits up to `wait` for the first.
    ///
    /// # Errors
    /// The network or the server.
    pub fn take(&mut self, name: &str, count: usize, wait: Duration) -> Result<Vec<HeldTask>, FleetError> {
        let mut read = cmd("XREADGROUP");
        read.arg("GROUP").arg(GROUP).arg(name).arg("COUNT").arg(count);
        if !wait.is_zero() {
            read.arg("BLOCK").arg(wait.as_millis() as u64);
        }
        read.arg("STREAMS").arg(self.tasks()).arg(">");
        self.link.carry_out(&[self.expiry()])?;
        let answer = self.ask_as_worker(read, wait)?;
        self.held(entries_of_one(answer)?, 0)
    }

    /// Claims up to `count` tasks that have been `idle` this long for the worker `name`, except those that it `holds`. One
    /// that `alone` workers or more have begun is claimed alone, by a worker that holds nothing.
    ///
    /// # Errors
    /// The network or the server.
    pub fn claim(
        &mut self,
        name: &str,
        holds: &[EntryId],
        idle: Duration,
        count: usize,
        alone: u64,
    ) -> Result<Vec<HeldTask>, FleetError> {
        let idle = (idle.as_millis() as u64).max(1);
        let mut pending = cmd("XPENDING");
        pending
            .arg(self.tasks())
            .arg(GROUP)
            .arg("IDLE")
            .arg(idle)
            .arg("-")
            .arg("+")
            .arg(holds.len() + PENDING + count);
        // Number, worker, time since it was claimed, and how often it was.
        let pending: Vec<(Vec<u8>, Value, Value, u64)> =
            read_as(self.ask_as_worker(pending, Duration::ZERO)?)?;
        let mut held = Vec::new();
        let ids =
            pending.into_iter().filter_map(|(id, _, _, attempts)| Some((EntryId::parse(&id)?, attempts)));
        let others =
            ids.filter(|(id, attempts)| !holds.contains(id) && (*attempts < alone || holds.is_empty()));
        for (id, attempts) in others.take(count) {
            if attempts >= alone && !held.is_empty() {
                continue;
            }
            let mut claim = cmd("XCLAIM");
            claim.arg(self.tasks()).arg(GROUP).arg(name).arg(idle).arg(id.to_string());
            let claimed = match self.link.ask_one(claim, Duration::ZERO) {
                // Not a task of ours.
                Err(FleetError::TooLarge(_)) => {
                    self.drop_entry(id)?;
                    continue;
                }
                answer => entries(answer?)?,
            };
            // Empty if another worker was quicker.
            held.extend(self.held(claimed, attempts)?);
            if attempts >= alone && !held.is_empty() {
                break;
            }
        }
        Ok(held)
    }

    /// The tasks in entries that a worker got after `attempts` others; invalid entries are deleted.
    fn held(&mut self, entries: Vec<StreamEntry>, attempts: u64) -> Result<Vec<HeldTask>, FleetError> {
        let mut held = Vec::new();
        for entry in entries {
            match Task::of(&entry) {
                Some(task) => held.push(HeldTask { entry: entry.id, task, attempts }),
                None => self.drop_entry(entry.id)?,
            }
        }
        Ok(held)
    }

    /// Renews the tasks that the worker `name` holds.
    ///
    /// # Errors
    /// The network or the server.
    pub fn keep(&mut self, name: &str, held: &[EntryId]) -> Result<(), FleetError> {
        if held.is_empty() {
            return Ok(());
        }
        let mut claim = cmd("XCLAIM");
        claim.arg(self.tasks()).arg(GROUP).arg(name).arg(0);
        held.iter().for_each(|id| {
            claim.arg(id.to_string());
        });
        claim.arg("JUSTID");
        self.ask_as_worker(claim, Duration::ZERO).map(|_| ())
    }

    /// Gives back tasks that the worker `name` has not finished, with the number of workers that had begun them before:
    /// they can be claimed at once. (One that another worker has claimed meanwhile is searched twice.)
    ///
    /// # Errors
    /// The network or the server.
    pub fn give_back(&mut self, name: &str, held: &[(EntryId, u64)]) -> Result<(), FleetError> {
        for (id, attempts) in held {
            let mut claim = cmd("XCLAIM");
            claim.arg(self.tasks()).arg(GROUP).arg(name).arg(0).arg(id.to_string());
            claim
                .arg("IDLE")
                .arg(GIVEN_BACK.as_millis() as u64)
                .arg("RETRYCOUNT")
                .arg(*attempts)
                .arg("JUSTID");
            self.ask_as_worker(claim, Duration::ZERO)?;
        }
        Ok(())
    }

    /// Adds the result of a task and removes the task, in one step.
    ///
    /// # Errors
    /// The network or the server. It can be repeated.
    pub fn finish(&mut self, held: &HeldTask, outcome: &TaskOutcome) -> Result<(), FleetError> {
        let (task, name) = (&held.task, held.task.name());
        let results = Queue::results(&task.job);
        let (kind, text) = match outcome {
            TaskOutcome::Done(text) => ("result", text),
            TaskOutcome::Failed(reason) => ("failed", reason),
        };
        let mut commands = vec![cmd("MULTI"), cmd("XADD"), cmd("EXPIRE"), cmd("XACK"), cmd("XDEL")];
        commands[1].arg(&results).arg("*").arg("name").arg(&name).arg(kind).arg(text);
        commands[2].arg(&results).arg(KEPT);
        commands[3].arg(self.tasks()).arg(GROUP).arg(held.entry.to_string());
        commands[4].arg(self.tasks()).arg(held.entry.to_string());
        if let (true, TaskOutcome::Done(_)) = (task.cached, outcome) {
            let mut keep = cmd("SET");
            keep.arg(self.cache(&name)).arg(text).arg("EX").arg(KEPT_CACHE);
            commands.push(keep);
        }
        commands.push(cmd("EXEC"));
        self.link.carry_out(&commands)
    }

    /// Deletes an invalid entry.
    fn drop_entry(&mut self, id: EntryId) -> Result<(), FleetError> {
        log::warn!("entry {id} of {} is not a task and was removed", self.tasks());
        self.remove(id)
    }

    /// Removes a task.
    fn remove(&mut self, id: EntryId) -> Result<(), FleetError> {
        let mut commands = [cmd("XACK"), cmd("XDEL")];
        commands[0].arg(self.tasks()).arg(GROUP).arg(id.to_string());
        commands[1].arg(self.tasks()).arg(id.to_string());
        self.link.carry_out(&commands)
    }

    /// As [`Link::ask_one`]; creates the group if the server has none, or has lost it.
    fn ask_as_worker(&mut self, command: Cmd, wait: Duration) -> Result<Value, FleetError> {
        match self.link.ask_one(command.clone(), wait) {
            Err(FleetError::Refused(text)) if text.starts_with("NOGROUP") => {
                let mut create = cmd("XGROUP");
                create.arg("CREATE").arg(self.tasks()).arg(GROUP).arg(0).arg("MKSTREAM");
                match self.link.ask_one(create, Duration::ZERO) {
                    // Another worker was quicker.
                    Err(FleetError::Refused(text)) if text.starts_with("BUSYGROUP") => {}
                    made => _ = made?,
                }
                self.link.ask_one(command, wait)
            }
            answer => answer,
        }
    }
}
