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
    /// A sync failed since: it is not known which of them are on the disk.
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
        self.file.write_at(bytes, offset(sequence))?;
        locked(&self.unsynced).records.push((sequence, *bytes));
        Ok(())
    }

    /// Was anything written that is not synced?
    pub fn is_unsynced(&self) -> bool {
        !locked(&self.unsynced).records.is_empty()
    }

    /// Did a sync fail, and nothing was written again since?
    pub fn sync_failed(&self) -> bool {
        locked(&self.unsynced).sync_failed
    }

    /// Syncs what was written before. No lock is held meanwhile.
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

    /// Writes again what a failed sync may have lost, the same bytes at the same place. Returns the records whose place
    /// another process, which found it free, has used since: they have to be appended again. The lock must be held.
    pub fn write_again(&self, file_id: u64) -> io::Result<Vec<Written>> {
        let mut unsynced = locked(&self.unsynced);
        let (mut again, mut displaced) = (Vec::new(), Vec::new());
        for &(sequence, bytes) in &unsynced.records {
            let slot = record::slot(sequence);
            let mut there = [0; RECORD_SIZE];
            self.file.read_at(&mut there, offset(sequence))?;
            match record::sequence(&there, file_id, slot) {
                // The file was overwritten by another.
                _ if record::sequence(&bytes, file_id, slot).is_none() => {}
                // The ring has gone round.
                Some(later) if later > sequence => {}
                Some(same) if same == sequence && there != bytes => displaced.push((sequence, bytes)),
                _ => {
                    self.file.write_at(&bytes, offset(sequence))?;
                    again.push((sequence, bytes));
                }
            }
        }
        *unsynced = Unsynced { records: again, sync_failed: false };
        Ok(displaced)
    }

    /// Keeps records that could not be written again, for the next attempt.
    pub fn keep(&self, records: &[Written]) {
        let mut unsynced = locked(&self.unsynced);
        unsynced.records.extend_from_slice(records);
        unsynced.sync_failed = true;
    }
}

/// Where a record is in the file.
fn offset(sequence: u64) -> u64 {
    SLOTS + u64::from(record::slot(sequence)) * RECORD_SIZE as u64
}
