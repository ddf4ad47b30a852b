//! The file, the records and the messages of a store, which the engine and the writer thread share.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, RwLock, atomic::AtomicUsize},
};

use super::{
    disk::Disk,
    error::FileError,
    file::{LearnFile, Mode},
    ring::{Report, Ring},
};
use crate::locks::{locked, write};

/// What the engine and the writer thread share.
///
/// `file` is held during reads and writes, so the engine only tries to lock it; `ring` is held briefly, while memory is
/// changed. Lock order: `file` before `ring`.
pub(super) struct StoreState {
    pub disk: Arc<dyn Disk>,
    pub path: PathBuf,
    pub mode: Mode,
    pub file: Mutex<Option<LearnFile>>,
    pub ring: RwLock<Ring>,
    /// Records that the writer still has to write.
    pub queued: AtomicUsize,
    /// Records that were given up: nothing can be written.
    pub given_up: AtomicUsize,
    /// All messages for the user, and how many of them were taken.
    messages: Mutex<(Vec<String>, usize)>,
}

impl StoreState {
    pub fn new(disk: Arc<dyn Disk>, path: &Path, mode: Mode) -> StoreState {
        StoreState {
            disk,
            path: path.to_owned(),
            mode,
            file: Mutex::new(None),
            ring: RwLock::new(Ring::new(0)),
            queued: AtomicUsize::new(0),
            given_up: AtomicUsize::new(0),
            messages: Mutex::default(),
        }
    }

    pub fn file(&self) -> MutexGuard<'_, Option<LearnFile>> {
        locked(&self.file)
    }

    /// Keeps a message for the user, unless it was reported before.
    pub fn say(&self, message: String) {
        let (messages, _) = &mut *locked(&self.messages);
        if !messages.contains(&message) {
            log::warn!("{message}");
            messages.push(message);
        }
    }

    /// The messages for the user, each once.
    pub fn take_messages(&self) -> Vec<String> {
        let (messages, taken) = &mut *locked(&self.messages);
        let news = messages[*taken..].to_vec();
        *taken = messages.len();
        news
    }

    /// Opens the file that is at the path now.
    pub fn reopen(&self, file: &mut Option<LearnFile>) -> Result<(), FileError> {
        let (fresh, ring, report) = LearnFile::open_on(Arc::clone(&self.disk), &self.path, self.mode)?;
        write(&self.ring).replace(ring);
        let path = self.path.display();
        if let (Some(reason), Mode::Write) = (fresh.read_only(), self.mode) {
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

    /// Reads the records that others appended, or opens the file that is at the path now.
    pub fn read_forward(&self, file: &mut Option<LearnFile>) {
        let mut progress = file.as_ref().map_or(Ok(()), |open| open.refresh(&self.ring));
        if let Err(replaced @ FileError::Replaced(_)) = &progress {
            self.let_go(file, replaced);
            progress = Ok(());
        }
        if file.is_none() {
            progress = self.reopen(file);
        }
        match progress {
            // There is none yet, or it is being created.
            Ok(()) | Err(FileError::Missing(_) | FileError::Unfinished(_)) => {}
            Err(error) => self.say(error.to_string()),
        }
    }

    /// Closes a file that is no longer at its path: its records no longer count.
    pub fn let_go(&self, file: &mut Option<LearnFile>, why: &FileError) {
        *file = None;
        write(&self.ring).replace(Ring::new(0));
        self.say(why.to_string());
    }
}
