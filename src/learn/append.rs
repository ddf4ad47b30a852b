//! Appending: the only way in which a learning file changes.

use std::{
    sync::{Arc, RwLock},
    time::Duration,
};

use super::{
    create::{fill_with_zeros, read_header},
    data_file::Written,
    error::{FileError, refused},
    file::LearnFile,
    header::FILE_SIZE,
    record::{self, Bytes, CAPACITY, Record},
    ring::{BLOCK, MAX_ADVICE, Ring},
};

use crate::{
    files::retry_within,
    locks::{read, write},
};

/// How long a tool waits for the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// Records appended before the lock is released, so that engines that play meanwhile do not wait long.
pub(super) const RECORDS_PER_LOCK: usize = 256;

/// How long an append may take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AppendTime {
    /// Microseconds: a move is waiting for it.
    Short,
    /// As long as the disk needs.
    Any,
}

/// A locked file, to which records can be appended: the lock is held until this is dropped, the path still leads to
/// this file, and everything that others appended is in the ring.
pub struct Locked<'a> {
    file: &'a mut LearnFile,
    ring: &'a RwLock<Ring>,
    time: AppendTime,
}

impl LearnFile {
    /// Takes the lock, if it is free, and reads forward.
    ///
    /// # Errors
    /// The file is read-only, locked by others, replaced, or cannot be read.
    pub fn lock<'a>(&'a mut self, ring: &'a RwLock<Ring>, time: AppendTime) -> Result<Locked<'a>, FileError> {
        self.try_lock()?;
        self.with_lock(ring, time)
    }

    /// Takes the lock, waiting for others up to some seconds.
    ///
    /// # Errors
    /// As [`LearnFile::lock`].
    pub fn lock_with_timeout<'a>(&'a mut self, ring: &'a RwLock<Ring>) -> Result<Locked<'a>, FileError> {
        retry_while_busy(|| self.try_lock())?;
        self.with_lock(ring, AppendTime::Any)
    }

    fn try_lock(&mut self) -> Result<(), FileError> {
        let lock =
            self.lock.as_mut().map_err(|reason| FileError::ReadOnly(self.path.clone(), reason.clone()))?;
        match lock.try_lock(&*self.disk).map_err(refused(&self.path, "locked"))? {
            true => Ok(()),
            false => Err(FileError::Busy(self.path.clone())),
        }
    }

    /// The steps between taking the lock and appending.
    fn with_lock<'a>(
        &'a mut self,
        ring: &'a RwLock<Ring>,
        time: AppendTime,
    ) -> Result<Locked<'a>, FileError> {
        // From here on dropping this releases the lock, whatever goes wrong.
        let mut locked = Locked { file: self, ring, time };
        let length = locked.file.length_in_place()?;
        let sync_failed = locked.file.data.sync_failed();
        if time == AppendTime::Short && (length < FILE_SIZE || sync_failed) {
            return Err(FileError::NeedsTime);
        }
        if length < FILE_SIZE {
            locked.complete(length)?;
        }
        if sync_failed {
            locked.write_again()?;
        } else {
            locked.file.read_forward(ring)?;
        }
        Ok(locked)
    }

    /// Makes everything that was written through this survive a power failure, waiting some seconds for the lock if it
    /// has to be written again.
    ///
    /// # Errors
    /// Everything written since the last successful sync may be lost, if this process ends before a later one succeeds.
    pub fn sync(&mut self, ring: &RwLock<Ring>) -> Result<(), FileError> {
        retry_while_busy(|| self.restore(ring))?;
        self.data.sync().map_err(refused(&self.path, "synced"))
    }

    /// Did a sync fail whose records were not all written again since?
    pub fn sync_failed(&self) -> bool {
        self.data.sync_failed()
    }

    /// Writes again what a failed sync may have lost.
    pub(super) fn restore(&mut self, ring: &RwLock<Ring>) -> Result<(), FileError> {
        if self.sync_failed() {
            drop(self.lock(ring, AppendTime::Any)?);
        }
        Ok(())
    }
}

impl Locked<'_> {
    /// The ring, with everything in it.
    pub fn ring(&self) -> &RwLock<Ring> {
        self.ring
    }

    /// Appends a record and returns its sequence number.
    ///
    /// # Errors
    /// It could not be written completely; the next append uses the same slot. Or advice has to be moved first, for
    /// which [`AppendTime::Short`] is not enough.
    pub fn append(&mut self, record: &Record) -> Result<u64, FileError> {
        self.make_room()?;
        self.write(record.payload())
    }

    /// Writes again what a failed sync may have lost. What is still in the file, in memory at least, is written at the
    /// same place, before anything is appended that may need a sync of it; the rest is appended by the rule of a merge:
    /// others may have written later records meanwhile. After an error all of it is done again.
    fn write_again(&mut self) -> Result<(), FileError> {
        self.file.read_anew(self.ring)?;
        let data = Arc::clone(&self.file.data);
        let unsynced = data.unsynced();
        let count = unsynced.len();
        let newest =
            unsynced.iter().fold(read(self.ring).sequence(), |newest, written| newest.max(written.0));
        let is_there = |written: &Written| read(self.ring).bytes(written.0) == Some(&written.1);
        let (in_place, lost): (Vec<Written>, Vec<Written>) = unsynced.into_iter().partition(is_there);
        for written in &in_place {
            data.write_again(written).map_err(refused(&self.file.path, "written"))?;
        }
        let file_id = read(self.ring).file_id();
        for (sequence, bytes) in lost {
            // Another file may have been copied over this one.
            let is_of_this_file = record::sequence(&bytes, file_id, record::slot(sequence)).is_some();
            let is_overwritten = sequence + CAPACITY as u64 <= newest;
            if let Some(record) = record::decode(&bytes).filter(|_| is_of_this_file && !is_overwritten)
                && read(self.ring).is_improved_by(&record)
            {
                self.append(&record)?;
            }
        }
        data.written_again(count, in_place);
        Ok(())
    }

    /// Appends the advice again that the ring would overwrite in the next block.
    ///
    /// While the ring writes a block, all live advice of the block after it has a newer copy; the slot of a piece of
    /// advice is overwritten only when that copy is synced. So every piece of advice is complete on the disk at every
    /// moment, whichever of the writes between two syncs a power failure keeps.
    fn make_room(&mut self) -> Result<(), FileError> {
        // A file with more advice than we allow, from another program, must not keep us in this loop.
        for _ in 0..=MAX_ADVICE {
            let (sequence, needs_sync, overtaken) = {
                let ring = read(self.ring);
                let sequence = ring.sequence() + 1;
                let safe = (sequence / BLOCK * BLOCK + 2 * BLOCK).saturating_sub(CAPACITY as u64);
                let oldest = ring.oldest_advice().filter(|&oldest| oldest < safe);
                let overtaken = oldest.and_then(|oldest| ring.bytes(oldest).copied());
                (sequence, ring.needs_sync(record::slot(sequence)), overtaken)
            };
            if record::lap(sequence) == u32::MAX {
                let reason = "its sequence numbers are used up".to_owned();
                return Err(FileError::ReadOnly(self.file.path.clone(), reason));
            }
            if !needs_sync && overtaken.is_none() {
                return Ok(());
            }
            if self.time == AppendTime::Short {
                return Err(FileError::NeedsTime);
            }
            if needs_sync {
                self.sync()?;
                write(self.ring).set_synced();
            }
            match overtaken {
                Some(advice) => self.write(advice)?,
                None => return Ok(()),
            };
        }
        Ok(())
    }

    fn write(&mut self, payload: Bytes) -> Result<u64, FileError> {
        let (file_id, sequence) = {
            let ring = read(self.ring);
            (ring.file_id(), ring.sequence() + 1)
        };
        let bytes = record::seal(payload, file_id, sequence);
        self.file.data.write(sequence, &bytes).map_err(refused(&self.file.path, "written"))?;
        write(self.ring).push(sequence, bytes);
        Ok(sequence)
    }

    /// Syncs what every process has written.
    fn sync(&self) -> Result<(), FileError> {
        self.file.data.sync().map_err(refused(&self.file.path, "synced"))
    }

    /// Restores the length of a file that another program cut short, so that appending cannot run out of space.
    fn complete(&self, length: u64) -> Result<(), FileError> {
        let LearnFile { data, path, .. } = &*self.file;
        read_header(data.file(), path).map_err(|error| self.file.unreadable(error))?;
        fill_with_zeros(data.file(), length).map_err(refused(path, "completed"))?;
        self.sync()?;
        self.file.read_anew(self.ring)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if let Ok(lock) = &self.file.lock {
            lock.unlock();
        }
    }
}

/// Repeats `attempt` for some seconds while others hold the lock.
pub fn retry_while_busy<T>(attempt: impl FnMut() -> Result<T, FileError>) -> Result<T, FileError> {
    retry_within(LOCK_TIMEOUT, |error| matches!(error, FileError::Busy(_)), attempt)
}
