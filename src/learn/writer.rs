//! The thread that does what an engine must not wait for: locks that others hold, syncs, making the file.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, atomic::Ordering::Release},
    thread,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender};

use super::{
    append::Patience,
    create::create,
    error::{FileError, OpenError},
    file::{LearnFile, read},
    record::{CAPACITY, Record},
    store::Shared,
};

/// What the writer is asked for.
pub(super) enum Job {
    /// Make the file.
    Create,
    /// Append a record.
    Append(Record),
    /// This record was appended by the engine: sync it some time.
    Wrote(u64),
    /// Write and sync everything now, then say whether that is done.
    Sync(Option<Sender<bool>>),
}

/// Records written within this time are synced together.
const GROUP: Duration = Duration::from_millis(700);
/// How soon a lock that others hold is tried again: at first, and at most.
const FIRST_RETRY: Duration = Duration::from_millis(1);
const LAST_RETRY: Duration = Duration::from_millis(50);
/// How soon a disk that refused is tried again.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// Others hold the lock for microseconds; who holds it for so long is stopped or stuck.
const STUCK: Duration = Duration::from_secs(2);
/// Records of one turn at the lock: others want it, too.
const TURN: usize = 256;
/// How long a writer whose store is gone goes on trying, and how long the store waits for it.
pub(super) const PARTING: Duration = Duration::from_millis(500);

pub(super) struct Writer {
    shared: Arc<Shared>,
    inbox: Receiver<Job>,
    queue: VecDeque<Record>,
    /// The file is wanted, also without records.
    create: bool,
    /// Sequence numbers of our records that are not synced, of this epoch of the ring.
    unsynced: Vec<u64>,
    epoch: u64,
    /// A sync failed: what the disk holds of `unsynced` is not known.
    lost: bool,
    sync_at: Option<Instant>,
    retry_at: Option<Instant>,
    retry_after: Duration,
    busy_since: Option<Instant>,
    waiting: Vec<Sender<bool>>,
    closing: bool,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, inbox: Receiver<Job>) -> Writer {
        Writer {
            shared,
            inbox,
            queue: VecDeque::new(),
            create: false,
            unsynced: Vec::new(),
            epoch: 0,
            lost: false,
            sync_at: None,
            retry_at: None,
            retry_after: FIRST_RETRY,
            busy_since: None,
            waiting: Vec::new(),
            closing: false,
        }
    }

    /// Works until the store is gone.
    pub(super) fn run(mut self) {
        while !self.closing {
            self.listen();
            while let Ok(job) = self.inbox.try_recv() {
                self.take(job);
            }
            if self.wants_the_file() && self.retry_at.is_none_or(|at| at <= Instant::now()) {
                self.write();
            }
            let due = self.sync_at.is_some_and(|at| at <= Instant::now());
            if due || (!self.waiting.is_empty() && !self.wants_the_file()) {
                self.sync();
            }
        }
        let give_up = Instant::now() + PARTING;
        while self.wants_the_file() && Instant::now() < give_up {
            self.write();
            if let Some(wait) = self.retry_at.and_then(|at| at.checked_duration_since(Instant::now())) {
                thread::sleep(wait.min(LAST_RETRY));
            }
        }
        self.sync();
    }

    fn wants_the_file(&self) -> bool {
        self.create || !self.queue.is_empty()
    }

    /// Waits for a job or for the time of the next retry or sync.
    fn listen(&mut self) {
        let retry = self.retry_at.filter(|_| self.wants_the_file());
        let job = match [retry, self.sync_at].into_iter().flatten().min() {
            Some(at) => self.inbox.recv_deadline(at),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match job {
            Ok(job) => self.take(job),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => self.closing = true,
        }
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Create => self.create = true,
            Job::Append(record) => {
                if self.queue.len() == CAPACITY {
                    // Nobody wrote for so long that the ring would have forgotten it anyway.
                    self.queue.pop_front();
                    self.shared.queued.fetch_sub(1, Release);
                }
                self.queue.push_back(record);
            }
            Job::Wrote(sequence) => self.wrote(sequence),
            Job::Sync(done) => {
                self.sync_at.get_or_insert_with(Instant::now);
                self.waiting.extend(done);
            }
        }
    }

    fn wrote(&mut self, sequence: u64) {
        self.forget_other_epochs();
        self.unsynced.push(sequence);
        self.sync_at.get_or_insert_with(|| Instant::now() + GROUP);
    }

    /// Another file lies there, or others wrote so much that ours are overtaken: nothing is left to sync.
    fn forget_other_epochs(&mut self) {
        let epoch = read(&self.shared.ring).epoch();
        if epoch != self.epoch {
            self.unsynced.clear();
            self.epoch = epoch;
        }
    }

    /// Writes what is queued, as far as the lock and the disk let it.
    fn write(&mut self) {
        let shared = Arc::clone(&self.shared);
        let mut file = shared.file();
        let before = self.queue.len();
        let outcome = self.write_turn(&mut file);
        let written = before - self.queue.len();
        shared.queued.fetch_sub(written, Release);
        drop(file);
        match outcome {
            Ok(()) => {
                self.create = false;
                self.busy_since = None;
                self.retry_after = FIRST_RETRY;
                self.retry_at = Some(Instant::now());
            }
            Err(FileError::Busy { path }) => {
                let since = *self.busy_since.get_or_insert_with(Instant::now);
                if since.elapsed() > STUCK {
                    let path = path.display();
                    shared.say(format!(
                        "another process holds the lock of {path}; what is learned waits for it"
                    ));
                }
                self.retry_at = Some(Instant::now() + self.retry_after);
                self.retry_after = (self.retry_after * 2).min(LAST_RETRY);
            }
            Err(replaced @ FileError::Replaced { .. }) => {
                // Next time with the file that lies there now, or a new one.
                shared.let_go(&mut shared.file(), &replaced);
                self.retry_at = Some(Instant::now());
            }
            Err(error) => {
                let hopeless = match &error {
                    // Too many open files, a server that does not answer: that may pass.
                    FileError::Open(OpenError::Io { source, .. }) => {
                        source.kind() == io::ErrorKind::PermissionDenied
                    }
                    other => matches!(other, FileError::ReadOnly(_) | FileError::Open(_)),
                };
                shared.say(error.to_string());
                if hopeless {
                    shared.queued.fetch_sub(self.queue.len(), Release);
                    shared.given_up.fetch_add(self.queue.len(), Release);
                    self.queue.clear();
                    self.create = false;
                }
                self.retry_at = Some(Instant::now() + AFTER_ERROR);
            }
        }
    }

    fn write_turn(&mut self, file: &mut Option<LearnFile>) -> Result<(), FileError> {
        if file.is_none() {
            match self.shared.reopen(file) {
                Err(FileError::Open(OpenError::Missing { .. } | OpenError::Unfinished { .. })) => {
                    create(&*self.shared.disk, &self.shared.path)?;
                    self.shared.reopen(file)?;
                }
                other => other?,
            }
        }
        let Some(file) = file.as_mut().filter(|_| !self.queue.is_empty()) else { return Ok(()) };
        let ring = &self.shared.ring;
        let mut written = Vec::new();
        let mut outcome = Ok(());
        {
            let mut locked = file.lock(ring, Patience::Enough)?;
            while let Some(record) = self.queue.front().filter(|_| written.len() < TURN) {
                match locked.append(record) {
                    Ok(sequence) => {
                        written.push(sequence);
                        self.queue.pop_front();
                    }
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
        }
        for sequence in written {
            self.wrote(sequence);
        }
        outcome
    }

    /// Syncs what was written, outside of every lock, and answers those who wait.
    fn sync(&mut self) {
        self.sync_at = None;
        self.forget_other_epochs();
        let unsynced = std::mem::take(&mut self.unsynced);
        let outcome = self.sync_file(&unsynced);
        let safe = outcome.is_ok();
        match outcome {
            Ok(()) => {
                self.lost = false;
                if let Some(&last) = unsynced.last() {
                    self.shared.synced.store(last, Release);
                }
            }
            Err(error) => {
                self.lost = true;
                self.unsynced.splice(..0, unsynced);
                self.sync_at = (!self.unsynced.is_empty()).then(|| Instant::now() + AFTER_ERROR);
                self.shared
                    .say(format!("{error}; until that works a loss of power may lose what was learned last"));
            }
        }
        if !self.wants_the_file() {
            for waiting in self.waiting.drain(..) {
                // Whoever waited may have lost patience.
                let _ = waiting.send(safe);
            }
        }
    }

    fn sync_file(&mut self, unsynced: &[u64]) -> Result<(), FileError> {
        if unsynced.is_empty() {
            return Ok(());
        }
        let data = {
            let mut file = self.shared.file();
            let Some(file) = file.as_mut() else { return Ok(()) };
            if self.lost {
                // After a failed sync the system may believe that the disk has what it has not: only
                // writing again makes the next sync mean something.
                file.lock(&self.shared.ring, Patience::Enough)?.write_again(unsynced)?;
            }
            Arc::clone(&file.data)
        };
        data.sync().map_err(|source| FileError::Io {
            path: self.shared.path.clone(),
            doing: "synced",
            source,
        })
    }
}
