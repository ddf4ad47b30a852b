//! Appending: the only way in which a learning file changes.

use std::{sync::RwLock, time::Duration};

use super::{
    create::{fill_with_zeros, read_header},
    error::{FileError, refused},
    file::LearnFile,
    header::{FILE_SIZE, SLOTS},
    record::{self, Bytes, CAPACITY, RECORD_SIZE, Record},
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
        let locked = Locked { file: self, ring, time };
        match locked.file.length_in_place()? {
            FILE_SIZE.. => {}
            _ if time == AppendTime::Short => return Err(FileError::NeedsTime),
            length => locked.complete(length)?,
        }
        locked.file.read_forward(ring)?;
        Ok(locked)
    }

    /// Makes everything written so far survive a power failure.
    ///
    /// # Errors
    /// Everything written since the last successful sync may be lost.
    pub fn sync(&self) -> Result<(), FileError> {
        self.data.sync().map_err(refused(&self.path, "synced"))
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

    /// Writes the bytes of records again that this process wrote and whose sync failed, if their slots have not been
    /// reused since.
    pub(super) fn write_again(&mut self, sequences: &[u64]) -> Result<(), FileError> {
        let bytes = |sequence| read(self.ring).bytes(sequence).copied();
        let mut written = sequences.iter().filter_map(|&sequence| Some((sequence, bytes(sequence)?)));
        written.try_for_each(|(sequence, bytes)| self.put(sequence, &bytes))
    }

    /// Appends the advice again that the ring would overwrite in the next block.
    ///
    /// While the ring writes a block, all live advice of the block after it has a newer copy; a block that holds
    /// advice is entered only when those copies are synced. So every piece of advice is complete on the disk at every
    /// moment, whichever of the writes between two syncs a power failure keeps.
    fn make_room(&mut self) -> Result<(), FileError> {
        // A file with more advice than we allow, from another program, must not keep us in this loop.
        for _ in 0..=MAX_ADVICE {
            let (sequence, enters_advice, overtaken) = {
                let ring = read(self.ring);
                let sequence = ring.sequence() + 1;
                let (start, slot) = (sequence / BLOCK * BLOCK, record::slot(sequence));
                let enters_advice =
                    sequence == start && (slot..slot + BLOCK as u32).any(|slot| ring.holds_advice(slot));
                let safe = (start + 2 * BLOCK).saturating_sub(CAPACITY as u64);
                let oldest = ring.oldest_advice().filter(|&oldest| oldest < safe);
                (sequence, enters_advice, oldest.and_then(|oldest| ring.bytes(oldest).copied()))
            };
            if record::lap(sequence) == u32::MAX {
                let reason = "its sequence numbers are used up".to_owned();
                return Err(FileError::ReadOnly(self.file.path.clone(), reason));
            }
            if !enters_advice && overtaken.is_none() {
                return Ok(());
            }
            if self.time == AppendTime::Short {
                return Err(FileError::NeedsTime);
            }
            if enters_advice {
                self.file.sync()?;
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
        self.put(sequence, &bytes)?;
        write(self.ring).push(sequence, bytes);
        Ok(sequence)
    }

    fn put(&self, sequence: u64, bytes: &Bytes) -> Result<(), FileError> {
        let offset = SLOTS + u64::from(record::slot(sequence)) * RECORD_SIZE as u64;
        self.file.data.write_at(bytes, offset).map_err(refused(&self.file.path, "written"))
    }

    /// Restores the length of a file that another program cut short, so that appending cannot run out of space.
    fn complete(&self, length: u64) -> Result<(), FileError> {
        let LearnFile { data, path, .. } = &*self.file;
        read_header(&**data, path).map_err(|_| self.file.replaced())?;
        fill_with_zeros(&**data, length).map_err(refused(path, "completed"))?;
        self.file.sync()?;
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
