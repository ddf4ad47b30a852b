//! The learning file as an engine holds it: everything known in memory, and nothing ever waited for.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard,
        atomic::{
            AtomicU64, AtomicUsize,
            Ordering::{Acquire, Release},
        },
    },
    thread,
    time::Duration,
};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use super::{
    append::Patience,
    disk::{Disk, SystemDisk},
    error::{FileError, OpenError},
    file::{LearnFile, Mode, read, write},
    record::Record,
    ring::{BEFORE_FIRST, Report, Ring},
    writer::{Job, PARTING, Writer},
};
use crate::types::PositionKey;

/// A learning file in use: a ring in memory, and a thread that does what takes time.
///
/// No call waits for a lock that another process holds, or for the disk to sync; [`Store::flush`] waits as
/// long as it is told. Reading the file once, in [`Store::open`] or when it was replaced, takes milliseconds.
pub struct Store {
    shared: Arc<Shared>,
    jobs: Option<Sender<Job>>,
    gone: Receiver<()>,
    /// Epoch and sequence number up to which [`Store::read_forward`] has told.
    told: Option<(u64, u64)>,
}

/// What the engine and the writer thread share.
///
/// `file` is held while something is read or written, so the engine only ever tries it; `ring` is held for
/// moments in which memory is changed. Who holds both took `file` first.
pub(super) struct Shared {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) path: PathBuf,
    pub(super) mode: Mode,
    pub(super) file: Mutex<Option<LearnFile>>,
    pub(super) ring: RwLock<Ring>,
    /// Records that the writer still has to write.
    pub(super) queued: AtomicUsize,
    /// Our newest record that is safe from a loss of power.
    pub(super) synced: AtomicU64,
    /// Records that were given up: nothing can be written.
    pub(super) given_up: AtomicUsize,
    messages: Mutex<Messages>,
}

#[derive(Default)]
struct Messages {
    waiting: Vec<String>,
    told: BTreeSet<String>,
}

/// What became of a record, the best first.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Written {
    /// It is in the file: if this process is killed now, nothing is lost.
    Now,
    /// The writer thread writes it as soon as it can.
    Queued,
    /// The file is only read; the record is not kept.
    Never,
}

/// What is new in the ring since the last look.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum News {
    /// Nothing.
    Nothing,
    /// What [`Ring::since`] tells from this sequence number on.
    Since(u64),
    /// All of it: what was told before counts no longer.
    Everything,
}

impl Store {
    /// Opens the file at `path`, or has it made in the background if there is none.
    ///
    /// # Errors
    /// What lies there cannot be used. It was left as it is.
    pub fn open(path: &Path, mode: Mode) -> Result<Store, OpenError> {
        Store::open_on(Arc::new(SystemDisk), path, mode)
    }

    /// As [`Store::open`], on any disk.
    ///
    /// # Errors
    /// As there.
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path, mode: Mode) -> Result<Store, OpenError> {
        let shared = Arc::new(Shared {
            disk,
            path: path.to_owned(),
            mode,
            file: Mutex::new(None),
            ring: RwLock::new(Ring::new(0)),
            queued: AtomicUsize::new(0),
            synced: AtomicU64::new(BEFORE_FIRST),
            given_up: AtomicUsize::new(0),
            messages: Mutex::default(),
        });
        let mut missing = false;
        match shared.reopen(&mut shared.file()) {
            Ok(()) => {}
            Err(FileError::Open(OpenError::Missing { .. } | OpenError::Unfinished { .. })) => missing = true,
            Err(FileError::Open(error)) => return Err(error),
            Err(FileError::Io { path, doing, source }) => {
                return Err(OpenError::Io { path, doing, source });
            }
            Err(other) => {
                let source = std::io::Error::other(other.to_string());
                return Err(OpenError::Io { path: path.to_owned(), doing: "opened", source });
            }
        }
        let (jobs, inbox) = unbounded();
        let (leaving, gone) = bounded(0);
        let writer = Writer::new(Arc::clone(&shared), inbox);
        let started = thread::Builder::new().name("learn".to_owned()).spawn(move || {
            writer.run();
            drop(leaving);
        });
        if let Err(source) = started {
            return Err(OpenError::Io { path: path.to_owned(), doing: "served by a thread", source });
        }
        if missing && mode == Mode::Write {
            // The writer lives as long as this channel.
            let _ = jobs.send(Job::Create);
        }
        Ok(Store { shared, jobs: Some(jobs), gone, told: None })
    }

    /// The name that the file was opened by.
    pub fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Everything known. Do not hold it for longer than a loop over it takes.
    pub fn live(&self) -> RwLockReadGuard<'_, Ring> {
        read(&self.shared.ring)
    }

    /// Takes in what other processes appended, and says what is new since the last call, whoever wrote it.
    /// The first call says everything. Takes no lock; if the writer thread is at the file just now, its news
    /// come with the next call.
    pub fn read_forward(&mut self) -> News {
        if let Ok(mut file) = self.shared.file.try_lock() {
            self.shared.read_forward(&mut file);
        }
        let ring = read(&self.shared.ring);
        let (epoch, sequence) = (ring.epoch(), ring.sequence());
        match self.told.replace((epoch, sequence)) {
            Some((told, _)) if told != epoch => News::Everything,
            Some((_, told)) if told == sequence => News::Nothing,
            Some((_, told)) => News::Since(told),
            None => News::Everything,
        }
    }

    /// Appends a record: at once if that takes microseconds, else through the writer thread.
    pub fn append(&self, record: Record) -> Written {
        if self.shared.mode == Mode::Read {
            return Written::Never;
        }
        // Records stay in order: nothing overtakes what is queued.
        if self.shared.queued.load(Acquire) == 0
            && let Ok(mut file) = self.shared.file.try_lock()
            && let Some(file) = file.as_mut()
        {
            if file.read_only().is_some() {
                return Written::Never;
            }
            let appended =
                file.lock(&self.shared.ring, Patience::None).and_then(|mut locked| locked.append(&record));
            if let Ok(sequence) = appended {
                self.send(Job::Wrote(sequence));
                return Written::Now;
            }
            // The writer meets the same trouble, has time for it, and tells of it.
        }
        self.shared.queued.fetch_add(1, Release);
        self.send(Job::Append(record));
        Written::Queued
    }

    /// Asks for everything written so far to be made safe from a loss of power, without waiting for it.
    pub fn sync(&self) {
        self.send(Job::Sync(None));
    }

    /// Writes and syncs everything and waits for it, but not longer than `timeout`. Is all of it safe now?
    pub fn flush(&self, timeout: Duration) -> bool {
        let (done, waiting) = bounded(1);
        self.send(Job::Sync(Some(done)));
        waiting.recv_timeout(timeout).unwrap_or(false)
    }

    /// Sequence number of the newest record of this process that is safe from a loss of power;
    /// [`BEFORE_FIRST`] if there is none.
    pub fn synced(&self) -> u64 {
        self.shared.synced.load(Acquire)
    }

    /// Is the file only read? Then the reason is among the [messages](Store::take_messages).
    pub fn is_read_only(&self) -> bool {
        self.shared.mode == Mode::Read
            || self
                .shared
                .file
                .try_lock()
                .is_ok_and(|file| file.as_ref().is_some_and(|file| file.read_only().is_some()))
    }

    /// What the user should be told, each sentence once.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.messages().waiting)
    }

    /// Positions of which something was known and nothing is any more, since the last call.
    pub fn take_gone(&self) -> Vec<PositionKey> {
        write(&self.shared.ring).take_gone()
    }

    /// Leaves the file, after up to a second in which what waits is written. How many records could not be.
    pub fn close(mut self) -> usize {
        self.leave();
        self.shared.queued.load(Acquire) + self.shared.given_up.load(Acquire)
    }

    fn leave(&mut self) {
        self.jobs = None;
        // Ends with an error as soon as the writer has left.
        let _ = self.gone.recv_timeout(2 * PARTING);
    }

    fn send(&self, job: Job) {
        if let Some(jobs) = &self.jobs {
            // The writer leaves only after this channel is closed.
            let _ = jobs.send(job);
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Shared {
    pub(super) fn file(&self) -> MutexGuard<'_, Option<LearnFile>> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a sentence for the user, unless it was said before.
    pub(super) fn say(&self, message: String) {
        let mut messages = self.messages();
        if messages.told.insert(message.clone()) {
            log::warn!("{message}");
            messages.waiting.push(message);
        }
    }

    /// Opens whatever lies at the path now.
    pub(super) fn reopen(&self, file: &mut Option<LearnFile>) -> Result<(), FileError> {
        let (fresh, ring, report) =
            LearnFile::open_on(Arc::clone(&self.disk), &self.path, self.mode)?.recover()?;
        write(&self.ring).replace(ring);
        let path = self.path.display();
        if let Some(reason) = fresh.read_only()
            && self.mode == Mode::Write
        {
            self.say(format!("learning file {path} is only read, nothing new is learned: {reason}"));
        }
        if report != (Report { live: 0, tombstones: 0, replaced: 0, stale: 0, ..report }) {
            log::info!("learning file {path}: {report:?}");
        }
        if report.missing_bytes > 0 {
            let missing = report.missing_bytes;
            self.say(format!(
                "learning file {path} was cut short by {missing} bytes; what is left of it is used"
            ));
        }
        *file = Some(fresh);
        Ok(())
    }

    fn read_forward(&self, file: &mut Option<LearnFile>) {
        let progress = match file {
            Some(open) => match open.is_in_place() {
                Ok(true) => open.read_forward(&self.ring).map(|_| ()),
                Ok(false) => Err(FileError::Replaced { path: self.path.clone() }),
                Err(error) => Err(error),
            },
            None => self.reopen(file),
        };
        let progress = match progress {
            Err(replaced @ FileError::Replaced { .. }) => {
                self.let_go(file, &replaced);
                self.reopen(file)
            }
            other => other,
        };
        match progress {
            Ok(()) => {}
            // There is none yet, or it is being made.
            Err(FileError::Open(OpenError::Missing { .. } | OpenError::Unfinished { .. })) => {}
            Err(error) => self.say(error.to_string()),
        }
    }

    /// The file is no longer the one that was opened: what it taught counts no longer.
    pub(super) fn let_go(&self, file: &mut Option<LearnFile>, why: &FileError) {
        *file = None;
        write(&self.ring).replace(Ring::new(0));
        self.say(why.to_string());
    }
}
