//! The data of an open learning file, and what a failed sync may have lost.
//!
//! After a failed sync the system may treat pages as written that are not: the next sync succeeds without them, and they
//! may be read from the disk again, with what was there before. So what is not synced is kept in memory. After a failed
//! sync it is written again, with the next lock.

use std::{io, sync::Mutex};

use super::{
    disk::DiskFile,
    header::SLOTS,
    record::{self, Bytes, RECORD_SIZE},
};
use crate::locks::locked;

/// A record as it was written, and its sequence number.
pub(super) type Written = (u64, Bytes);

/// The file that holds the records.
pub(super) struct DataFile {
    file: Box<dyn DiskFile>,
    unsynced: Mutex<Unsynced>,
}

/// What this process wrote since the last sync that succeeded.
#[derive(Default)]
struct Unsynced {
    records: Vec<Written>,
    /// A sync failed since: it is not known which of them are on the disk, or still in the file.
    sync_failed: bool,
}

impl DataFile {
    pub fn new(file: Box<dyn DiskFile>) -> DataFile {
        DataFile { file, unsynced: Mutex::default() }
    }

    /// The file itself.
    pub fn file(&self) -> &dyn DiskFile {
        &*self.file
    }

    /// Writes a record.
    pub fn write(&self, sequence: u64, bytes: &Bytes) -> io::Result<()> {
        let written = (sequence, *bytes);
        self.write_again(&written)?;
        let unsynced = &mut *locked(&self.unsynced);
        // What is written again in vain is kept once.
        if !(unsynced.sync_failed && unsynced.records.contains(&written)) {
            unsynced.records.push(written);
        }
        Ok(())
    }

    /// Did a sync fail whose records were not all written again since?
    pub fn sync_failed(&self) -> bool {
        locked(&self.unsynced).sync_failed
    }

    /// Syncs all that was written before, but for what an earlier sync may have lost. No lock is held meanwhile.
    pub fn sync(&self) -> io::Result<()> {
        let count = locked(&self.unsynced).records.len();
        let outcome = self.file.sync();
        let unsynced = &mut *locked(&self.unsynced);
        unsynced.sync_failed |= outcome.is_err();
        if !unsynced.sync_failed {
            unsynced.records.drain(..count);
        }
        outcome
    }

    /// What was written since the last sync that succeeded, in order.
    pub fn unsynced(&self) -> Vec<Written> {
        locked(&self.unsynced).records.clone()
    }

    /// Writes an unsynced record again, at its place.
    pub fn write_again(&self, (sequence, bytes): &Written) -> io::Result<()> {
        self.file.write_at(bytes, SLOTS + u64::from(record::slot(*sequence)) * RECORD_SIZE as u64)
    }

    /// The first `count` unsynced records were written again: these at their places, the others by [`DataFile::write`].
    pub fn written_again(&self, count: usize, in_place: Vec<Written>) {
        let mut unsynced = locked(&self.unsynced);
        unsynced.records.splice(..count, in_place);
        unsynced.sync_failed = false;
    }
}
