//! The learning file of an engine: all records in memory, and a thread for everything that may block.

use std::{
    path::Path,
    sync::{
        Arc, RwLockReadGuard,
        atomic::Ordering::{Acquire, Release},
    },
    thread,
    time::Duration,
};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use super::{
    append::AppendTime,
    create::prepare,
    disk::{Disk, SystemDisk},
    error::{FileError, refused},
    file::{LearnFile, Mode},
    kept_games::KeptGame,
    record::Record,
    ring::Ring,
    store_state::StoreState,
    writer::{CLOSE_TIMEOUT, Job, Writer},
};
use crate::{
    files::ProcessLog,
    locks::{read, write},
    types::PositionKey,
};

/// A learning file in use: a ring in memory, and a thread for everything that takes time.
///
/// No call waits for a lock that another process holds, or for a sync, except [`Store::flush`], [`Store::close`] and
/// dropping it, which have timeouts. Reading the whole file, in [`Store::open`] or after it was replaced, takes
/// milliseconds.
pub struct Store {
    shared: Arc<StoreState>,
    jobs: Option<Sender<Job>>,
    /// Closed when the writer thread has ended.
    gone: Receiver<()>,
}

/// The result of appending a record, best first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Written {
    /// It is in the file: if this process is killed now, nothing is lost.
    Now,
    /// The writer thread writes it as soon as it can.
    Queued,
    /// The file is read-only; the record is lost.
    Never,
}

impl Store {
    /// Opens the file at `path`; if there is none, it is created in the background.
    ///
    /// # Errors
    /// The file cannot be used. It is left as it is.
    pub fn open(path: &Path, mode: Mode) -> Result<Store, FileError> {
        Store::open_on(Arc::new(SystemDisk), path, mode)
    }

    /// As [`Store::open`], on any disk.
    ///
    /// # Errors
    /// As there.
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path, mode: Mode) -> Result<Store, FileError> {
        let shared = Arc::new(StoreState::new(disk, path, mode));
        let missing = match shared.reopen(&mut shared.file()) {
            Err(FileError::Missing(_) | FileError::Unfinished(_)) => true,
            opened => opened.map(|()| false)?,
        };
        let (jobs, inbox) = unbounded();
        let (leaving, gone) = bounded(0);
        let writer = Writer::new(Arc::clone(&shared), inbox);
        let work = move || {
            writer.run();
            drop(leaving);
        };
        let started = thread::Builder::new().name("learn".to_owned()).spawn(work);
        started.map_err(refused(path, "served by a thread"))?;
        let store = Store { shared, jobs: Some(jobs), gone };
        if missing && mode == Mode::Write {
            store.send(Job::Create);
        }
        Ok(store)
    }

    /// Can a file at `path`, where none is, be created?
    ///
    /// # Errors
    /// No: the folder cannot be written, for instance.
    pub fn check_missing(path: &Path) -> Result<(), FileError> {
        prepare(&SystemDisk, path).map(|_| ())
    }

    /// The path by which the file was opened.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// All records. This is a lock: do not hold it longer than a loop over them takes.
    pub fn live(&self) -> RwLockReadGuard<'_, Ring> {
        read(&self.shared.ring)
    }

    /// Reads the records that other processes appended, without a lock on the file. If the writer thread is using the
    /// file, they are read at the next call.
    pub fn read_forward(&mut self) {
        if let Ok(mut file) = self.shared.file.try_lock() {
            self.shared.read_forward(&mut file);
        }
    }

    /// Appends a record: at once if that takes microseconds, otherwise through the writer thread.
    pub fn append(&self, record: Record) -> Written {
        if self.shared.mode == Mode::Read {
            return Written::Never;
        }
        // Records stay in order: queued ones are written first.
        if self.shared.queued.load(Acquire) == 0
            && let Ok(mut file) = self.shared.file.try_lock()
            && let Some(file) = file.as_mut()
        {
            if file.read_only().is_some() {
                return Written::Never;
            }
            let appended =
                file.lock(&self.shared.ring, AppendTime::Short).and_then(|mut locked| locked.append(&record));
            if appended.is_ok() {
                self.send(Job::Wrote);
                return Written::Now;
            }
            // The writer thread gets the same error, has time to retry, and reports it.
        }
        self.shared.queued.fetch_add(1, Release);
        self.send(Job::Append(record));
        Written::Queued
    }

    /// Appends records in order. Returns the worst of the results.
    pub fn append_all(&self, records: impl IntoIterator<Item = Record>) -> Written {
        records.into_iter().map(|record| self.append(record)).max().unwrap_or(Written::Now)
    }

    /// A game is over, whose records were appended before. As soon as they are in the file and synced, the writer thread
    /// adds the game to the file of [kept games](super::kept_games) and removes its log. If this process is killed first,
    /// the next one takes the game over.
    pub fn end_game(&self, game: Option<&KeptGame>, log: Option<ProcessLog>) {
        if !self.is_read_only() {
            self.send(Job::Game { pgn: game.map(KeptGame::pgn), log });
        }
    }

    /// Writes and syncs everything, waiting at most `timeout`. Returns whether everything is synced.
    pub fn flush(&self, timeout: Duration) -> bool {
        self.flushed().recv_timeout(timeout).unwrap_or(false)
    }

    /// Requests that everything is written and synced, and returns the channel on which it is told whether that
    /// succeeded.
    pub fn flushed(&self) -> Receiver<bool> {
        let (done, waiting) = bounded(1);
        self.send(Job::Sync(done));
        waiting
    }

    /// Is the file read-only? Then the reason is among the [messages](Store::take_messages).
    pub fn is_read_only(&self) -> bool {
        let file = self.shared.file.try_lock();
        let is_read_only = |open: &LearnFile| open.read_only().is_some();
        self.shared.mode == Mode::Read || file.is_ok_and(|file| file.as_ref().is_some_and(is_read_only))
    }

    /// The messages for the user, each once.
    pub fn take_messages(&self) -> Vec<String> {
        self.shared.take_messages()
    }

    /// Positions whose last record is gone since the last call.
    pub fn take_gone(&self) -> Vec<PositionKey> {
        write(&self.shared.ring).take_gone()
    }

    /// Closes the file, after up to a second in which the queue is written. Returns how many records were not written.
    pub fn close(mut self) -> usize {
        self.leave();
        self.shared.queued.load(Acquire) + self.shared.given_up.load(Acquire)
    }

    /// Lets the writer thread finish, unless that was done before.
    fn leave(&mut self) {
        if self.jobs.take().is_some() {
            // Returns an error as soon as the writer thread has ended.
            let _ = self.gone.recv_timeout(2 * CLOSE_TIMEOUT);
        }
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The writer thread ends only after this channel is closed.
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.leave();
    }
}
