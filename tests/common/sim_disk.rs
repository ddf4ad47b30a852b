//! A disk in memory that remembers every write, so that tests can lose power after any of them, and that
//! fails the operation that it is told to fail.
#![allow(dead_code)]

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use engram::learn::disk::{Access, Disk, DiskFile, FileInfo, Identity};

/// What happened to a file, in order.
#[derive(Clone, Debug)]
pub enum Event {
    Write { file: usize, offset: usize, bytes: Vec<u8> },
    Sync { file: usize },
    FailedSync { file: usize },
}

/// How the pages that a failed sync did not write are read from then on: as they were written, from memory, or as they
/// are on the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LostPages {
    #[default]
    AsWritten,
    AsOnDisk,
}

/// What a disk forbids: to open anything for writing, to open a lock file, to lock.
#[derive(Clone, Copy)]
pub enum Refusal {
    Writing(io::ErrorKind),
    LockFile,
    Locks,
}

#[derive(Default)]
struct State {
    names: BTreeMap<PathBuf, usize>,
    files: Vec<Vec<u8>>,
    locked: BTreeMap<usize, usize>,
    handles: usize,
    events: Vec<Event>,
    operations: usize,
    fail_at: Option<usize>,
    failed: bool,
    space: Option<usize>,
    refused_writes: usize,
    syncs_begun: usize,
    syncs_held: bool,
    syncs_fail: bool,
    lost_pages: LostPages,
    refusal: Option<Refusal>,
    refused_locks: usize,
    on_read: Option<Arc<OnRead>>,
}

/// What is done in place of a read; it reads by [`SimFile::read_now`].
type OnRead = dyn Fn(&SimFile, &mut [u8], u64) -> io::Result<usize> + Send + Sync;

/// The disk. Clones are the same one.
#[derive(Clone, Default)]
pub struct SimDisk(Arc<Mutex<State>>);

impl SimDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// A disk with one file.
    pub fn with(path: &Path, content: Vec<u8>) -> SimDisk {
        let state =
            State { names: BTreeMap::from([(path.to_owned(), 0)]), files: vec![content], ..State::default() };
        SimDisk(Arc::new(Mutex::new(state)))
    }

    /// What a process would read.
    pub fn content(&self, path: &Path) -> Option<Vec<u8>> {
        let state = self.state();
        state.names.get(path).map(|&file| state.files[file].clone())
    }

    /// The file at `path`, as its number in events.
    pub fn number(&self, path: &Path) -> usize {
        self.state().names[path]
    }

    /// Everything written and synced so far.
    pub fn events(&self) -> Vec<Event> {
        self.state().events.clone()
    }

    pub fn event_count(&self) -> usize {
        self.state().events.len()
    }

    /// The operation after `count` more fails, once.
    pub fn fail_after(&self, count: usize) {
        let mut state = self.state();
        state.fail_at = Some(state.operations + count);
        state.failed = false;
    }

    /// Did the failure come?
    pub fn has_failed(&self) -> bool {
        self.state().failed
    }

    pub fn limit_space(&self, bytes: Option<usize>) {
        self.state().space = bytes;
    }

    /// Writes that found no room.
    pub fn refused_writes(&self) -> usize {
        self.state().refused_writes
    }

    /// Whether a sync that begins goes on.
    pub fn hold_syncs(&self, hold: bool) {
        self.state().syncs_held = hold;
    }

    /// Syncs that have begun.
    pub fn syncs_begun(&self) -> usize {
        self.state().syncs_begun
    }

    pub fn fail_syncs(&self, fail: bool) {
        self.state().syncs_fail = fail;
    }

    /// What a failed sync does from now on. Later ones never cover the pages that it did not write.
    pub fn lose_pages(&self, lost: LostPages) {
        self.state().lost_pages = lost;
    }

    /// What a loss of power leaves if the system writes nothing before it is asked to; of a file made on this disk.
    pub fn durable(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        state.durable(state.names[path])
    }

    /// Forbids something from now on.
    pub fn refuse(&self, refusal: Refusal) {
        self.state().refusal = Some(refusal);
    }

    /// Does something else in place of every read from now on.
    pub fn on_read(
        &self,
        hook: impl Fn(&SimFile, &mut [u8], u64) -> io::Result<usize> + Send + Sync + 'static,
    ) {
        self.state().on_read = Some(Arc::new(hook));
    }

    /// Attempts to lock that were refused.
    pub fn refused_locks(&self) -> usize {
        self.state().refused_locks
    }
}

impl State {
    fn step(&mut self) -> io::Result<()> {
        self.operations += 1;
        if self.fail_at.is_some_and(|at| self.operations > at) {
            self.fail_at = None;
            self.failed = true;
            return Err(io::Error::other("simulated fault"));
        }
        Ok(())
    }

    /// What the syncs that succeeded have written of a file; its length is never lost.
    fn durable(&self, file: usize) -> Vec<u8> {
        let mut content = vec![0; self.files[file].len()];
        let mut unsynced = Vec::new();
        for event in &self.events {
            match event {
                Event::Write { file: written, offset, bytes } if *written == file => {
                    unsynced.push((*offset, bytes));
                }
                Event::Sync { file: synced } if *synced == file => {
                    unsynced.drain(..).for_each(|(offset, bytes)| write_into(&mut content, offset, bytes));
                }
                Event::FailedSync { file: failed } if *failed == file => unsynced.clear(),
                _ => {}
            }
        }
        content
    }

    fn info(&self, file: usize) -> FileInfo {
        FileInfo {
            not_a_file: None,
            identity: Identity { device: 1, file: file as u64 },
            length: self.files[file].len() as u64,
        }
    }
}

impl Disk for SimDisk {
    fn info_at(&self, path: &Path) -> io::Result<FileInfo> {
        let mut state = self.state();
        state.step()?;
        let &file = state.names.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(state.info(file))
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.state().step()?;
        Ok(path.to_owned())
    }

    fn create_directories(&self, _: &Path) -> io::Result<()> {
        self.state().step()
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut state = self.state();
        state.step()?;
        let is_lock = path.extension().is_some_and(|extension| extension == "lock");
        match state.refusal {
            Some(Refusal::Writing(kind)) if access != Access::Read => return Err(kind.into()),
            Some(Refusal::LockFile) if is_lock => return Err(io::ErrorKind::PermissionDenied.into()),
            _ => {}
        }
        let file = match state.names.get(path) {
            Some(&file) => file,
            None if access == Access::Create => {
                state.files.push(Vec::new());
                let file = state.files.len() - 1;
                state.names.insert(path.to_owned(), file);
                file
            }
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        state.handles += 1;
        let handle = state.handles;
        drop(state);
        Ok(Box::new(SimFile { disk: self.clone(), file, handle }))
    }

    fn sync_directory(&self, _: &Path) -> io::Result<()> {
        self.state().step()
    }
}

/// An open file.
pub struct SimFile {
    disk: SimDisk,
    file: usize,
    handle: usize,
}

impl SimFile {
    /// Reads what the file holds at this moment.
    pub fn read_now(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.state();
        state.step()?;
        let content = &state.files[self.file];
        let from = content.len().min(offset as usize);
        let count = buffer.len().min(content.len() - from);
        buffer[..count].copy_from_slice(&content[from..from + count]);
        Ok(count)
    }
}

impl DiskFile for SimFile {
    fn info(&self) -> io::Result<FileInfo> {
        let mut state = self.disk.state();
        state.step()?;
        Ok(state.info(self.file))
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let hook = self.disk.state().on_read.clone();
        match hook {
            Some(hook) => hook(self, buffer, offset),
            None => self.read_now(buffer, offset),
        }
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut state = self.disk.state();
        let outcome = state.step();
        let offset = offset as usize;
        let mut count = if outcome.is_ok() { bytes.len() } else { bytes.len() / 2 };
        let mut full = false;
        if let Some(space) = state.space {
            let length = state.files[self.file].len();
            let allowed = space.max(length).saturating_sub(offset);
            full = count > allowed;
            count = count.min(allowed);
        }
        write_into(&mut state.files[self.file], offset, &bytes[..count]);
        state.events.push(Event::Write { file: self.file, offset, bytes: bytes[..count].to_vec() });
        state.refused_writes += usize::from(full);
        if full { Err(io::ErrorKind::StorageFull.into()) } else { outcome }
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.disk.state();
        let mut outcome = state.step();
        state.syncs_begun += 1;
        while state.syncs_held {
            drop(state);
            std::thread::sleep(Duration::from_millis(1));
            state = self.disk.state();
        }
        if state.syncs_fail {
            outcome = Err(io::Error::other("simulated fault of a sync"));
        }
        let file = self.file;
        state.events.push(if outcome.is_ok() { Event::Sync { file } } else { Event::FailedSync { file } });
        if outcome.is_err() && state.lost_pages == LostPages::AsOnDisk {
            state.files[file] = state.durable(file);
        }
        outcome
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.disk.state();
        state.step()?;
        if let Some(Refusal::Locks) = state.refusal {
            state.refused_locks += 1;
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(*state.locked.entry(self.file).or_insert(self.handle) == self.handle)
    }

    fn unlock(&self) -> io::Result<()> {
        // A process cannot be refused this: its end does it, too.
        let mut state = self.disk.state();
        if state.locked.get(&self.file) == Some(&self.handle) {
            state.locked.remove(&self.file);
        }
        Ok(())
    }
}

impl Drop for SimFile {
    fn drop(&mut self) {
        let _ = self.unlock();
    }
}

pub fn write_into(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if content.len() < offset + bytes.len() {
        content.resize(offset + bytes.len(), 0);
    }
    content[offset..offset + bytes.len()].copy_from_slice(bytes);
}
