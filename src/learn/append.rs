//! Appending: the only way in which a learning file changes.

use std::sync::RwLock;

use super::{
    create::fill_with_zeros,
    error::{FileError, ReadOnly},
    file::{LearnFile, Place, read, write},
    header::{FILE_SIZE, SLOTS},
    record::{self, Bytes, CAPACITY, RECORD_SIZE, Record},
    ring::Ring,
};

/// Slots that are cleared of advice together. When the first record enters a block, the advice of the next
/// one is appended again; before the first record enters that one, the copies are synced.
pub const BLOCK: u64 = 1024;

/// Most live pieces of advice in a file: an eighth of the ring, so that keeping them costs little.
pub const MOST_ADVICE: usize = 8192;

/// How long an append may take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Microseconds: a move is waiting for it.
    None,
    /// As long as the disk needs.
    Enough,
}

/// The right to append: the lock is held until this is dropped, the path still leads to this file, and
/// everything that others appended is in the ring.
pub struct Locked<'a> {
    file: &'a mut LearnFile,
    ring: &'a RwLock<Ring>,
    patience: Patience,
}

impl LearnFile {
    /// Takes the lock, if it is free, and reads forward.
    ///
    /// # Errors
    /// The file is read-only, locked by others, replaced, or cannot be read.
    pub fn lock<'a>(
        &'a mut self,
        ring: &'a RwLock<Ring>,
        patience: Patience,
    ) -> Result<Locked<'a>, FileError> {
        if !self.try_lock()? {
            return Err(FileError::Busy { path: self.path.clone() });
        }
        self.with_lock(ring, patience)
    }

    pub(super) fn try_lock(&mut self) -> Result<bool, FileError> {
        let lock = self.lock.as_mut().map_err(|reason| FileError::ReadOnly(reason.to_string()))?;
        let locked = lock.try_lock(&*self.disk);
        locked.map_err(|source| self.failure("locked", source))
    }

    /// What there is to do between taking the lock and appending.
    pub(super) fn with_lock<'a>(
        &'a mut self,
        ring: &'a RwLock<Ring>,
        patience: Patience,
    ) -> Result<Locked<'a>, FileError> {
        // From here on dropping it gives the lock back, whatever goes wrong.
        let locked = Locked { file: self, ring, patience };
        match locked.file.look()? {
            Place::Ours => {}
            Place::Shortened(_) if patience == Patience::None => return Err(FileError::NeedsTime),
            Place::Shortened(length) => locked.complete(length)?,
            Place::Replaced | Place::Gone => {
                return Err(FileError::Replaced { path: locked.file.path.clone() });
            }
        }
        locked.file.read_forward(ring)?;
        Ok(locked)
    }

    /// Makes everything written so far survive a loss of power.
    ///
    /// # Errors
    /// What was written since the last success may be lost.
    pub fn sync(&self) -> Result<(), FileError> {
        self.data.sync().map_err(|error| self.failure("synced", error))
    }
}

impl Locked<'_> {
    /// The ring, with everything in it.
    pub fn ring(&self) -> &RwLock<Ring> {
        self.ring
    }

    /// Appends a record and tells its sequence number.
    ///
    /// # Errors
    /// It could not be written whole; the next append uses the same place. Or, without
    /// [patience](Patience::None), advice has to be moved first.
    pub fn append(&mut self, record: &Record) -> Result<u64, FileError> {
        self.make_room()?;
        self.write(record.payload())
    }

    /// Writes the bytes of records again that this process wrote and a sync lost, as far as they are still
    /// the ones that count there.
    pub(super) fn write_again(&mut self, sequences: &[u64]) -> Result<(), FileError> {
        for &sequence in sequences {
            let bytes = read(self.ring).bytes(sequence).copied();
            if let Some(bytes) = bytes {
                self.put(sequence, &bytes)?;
            }
        }
        Ok(())
    }

    /// Appends again what advice the ring would overtake in the next block.
    ///
    /// While the ring writes a block, all live advice of the block after it has a newer copy; a block that
    /// holds advice is entered only when those copies are synced. So every piece of advice is on the disk
    /// whole at every moment, whichever of the writes between two syncs a loss of power keeps.
    fn make_room(&mut self) -> Result<(), FileError> {
        // More advice than we ever admit is somebody else's, and must not keep us here for ever.
        for _ in 0..=MOST_ADVICE {
            let (sequence, enters_advice, overtaken) = {
                let ring = read(self.ring);
                let sequence = ring.sequence() + 1;
                let (start, slot) = (sequence / BLOCK * BLOCK, record::place(sequence).1);
                let enters_advice =
                    sequence == start && (slot..slot + BLOCK as u32).any(|slot| ring.holds_advice(slot));
                let safe = (start + 2 * BLOCK).saturating_sub(CAPACITY as u64);
                let oldest = ring.oldest_advice().filter(|&oldest| oldest < safe);
                (sequence, enters_advice, oldest.and_then(|oldest| ring.bytes(oldest).copied()))
            };
            if record::place(sequence).0 == u32::MAX {
                return Err(FileError::ReadOnly(ReadOnly::Full.to_string()));
            }
            if !enters_advice && overtaken.is_none() {
                return Ok(());
            }
            if self.patience == Patience::None {
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
        let offset = SLOTS + u64::from(record::place(sequence).1) * RECORD_SIZE as u64;
        self.file.data.write_at(bytes, offset).map_err(|error| self.file.failure("written", error))
    }

    /// Gives a file that others cut short its length back, so that appending cannot run out of space.
    fn complete(&self, length: u64) -> Result<(), FileError> {
        if self.file.header().is_err() {
            return Err(FileError::Replaced { path: self.file.path.clone() });
        }
        let filled = fill_with_zeros(&*self.file.data, length.min(FILE_SIZE));
        filled.map_err(|error| self.file.failure("completed", error))?;
        self.file.sync()?;
        self.file.read_anew(self.ring)?;
        Ok(())
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        if let Ok(lock) = &self.file.lock {
            lock.unlock();
        }
    }
}
