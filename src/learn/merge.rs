//! Taking in records from elsewhere; which of two counts does not depend on the file that they come from.

use std::{cmp::Ordering, collections::HashSet, path::Path, sync::RwLock};

use super::{
    append::{Locked, retry_while_busy},
    create::create,
    disk::{Disk, SystemDisk},
    error::FileError,
    file::{LearnFile, Mode},
    record::{CAPACITY, PAYLOAD, Record},
    ring::{BLOCK, MAX_ADVICE, Report, Ring},
};

use crate::locks::read;

/// Records of one turn at the lock, so that engines that play meanwhile do not wait long.
const RECORDS_PER_LOCK: usize = 256;

/// Does `new` take the place of `old`? Advice does so with everything learned, and nothing learned with advice, whenever
/// that was: else the later one does, by time, then depth, then the bytes that travel from file to file.
pub fn beats(new: &Record, old: &Record) -> bool {
    if new.is_live() && old.is_live() && new.is_advice() != old.is_advice() {
        return new.is_advice();
    }
    order(new, old).is_gt()
}

fn order(one: &Record, other: &Record) -> Ordering {
    let bytes = |record: &Record| record.payload();
    (one.time, one.depth)
        .cmp(&(other.time, other.depth))
        .then_with(|| bytes(one)[..PAYLOAD].cmp(&bytes(other)[..PAYLOAD]))
}

/// What became of records from elsewhere.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Appended.
    pub new: usize,
    /// Not appended: what is there is the same or comes later.
    pub known: usize,
    /// Advice for which there is no room.
    pub refused: usize,
}

/// Keeps the newest record of each key, and of those as many as a file with `live_advice` pieces of advice holds
/// together: more would overtake each other in the ring, and the same records taken in again would not be known. Advice
/// is kept before the rest. How many were left out for want of room.
pub fn keep_what_fits(records: &mut Vec<Record>, live_advice: usize) -> usize {
    // Advice that the ring comes near lies there twice for a while.
    let advice = live_advice + records.iter().filter(|record| record.is_advice()).count();
    let room = CAPACITY - 2 * BLOCK as usize - 2 * advice.min(MAX_ADVICE);
    let mut kept: Vec<usize> = (0..records.len()).collect();
    kept.sort_by(|&one, &other| {
        let (one, other) = (&records[one], &records[other]);
        other.is_advice().cmp(&one.is_advice()).then_with(|| order(other, one))
    });
    let mut seen = HashSet::new();
    kept.retain(|&index| seen.insert(records[index].key));
    let left_out = kept.len().saturating_sub(room);
    kept.truncate(room);
    kept.sort_unstable();
    *records = kept.into_iter().map(|index| records[index].clone()).collect();
    left_out
}

/// As [`create()`], waiting for others up to some seconds.
///
/// # Errors
/// As there.
pub fn create_with_timeout(disk: &dyn Disk, path: &Path) -> Result<(), FileError> {
    retry_while_busy(|| create(disk, path))
}

impl LearnFile {
    /// Opens a file to write into, reads it, and makes it first where it is missing or unfinished.
    ///
    /// # Errors
    /// As [`LearnFile::open`] and [`create()`]; a file that can only be read is one, too.
    pub fn open_or_create(path: &Path) -> Result<(LearnFile, Ring, Report), FileError> {
        let open = || LearnFile::open(path, Mode::Write)?.recover();
        let opened = match open() {
            Err(FileError::Missing(_) | FileError::Unfinished(_)) => {
                create_with_timeout(&SystemDisk, path)?;
                open()?
            }
            opened => opened?,
        };
        let reason = opened.0.read_only().map(str::to_owned);
        reason.map_or(Ok(opened), |reason| Err(FileError::ReadOnly(reason)))
    }

    /// Appends what [beats] the present record of its key, tombstones included, and syncs.
    ///
    /// # Errors
    /// As [`LearnFile::lock`] and [`Locked::append`]; what was appended before stays, and the same call again resumes
    /// where this one ended.
    pub fn take_in(&mut self, ring: &RwLock<Ring>, records: &[Record]) -> Result<Taken, FileError> {
        let mut taken = Taken::default();
        for turn in records.chunks(RECORDS_PER_LOCK) {
            let mut locked = self.lock_with_timeout(ring)?;
            for record in turn {
                if !read(ring).lacks(record) {
                    taken.known += 1;
                } else if !locked.has_room_for(record) {
                    taken.refused += 1;
                } else {
                    locked.append(record)?;
                    taken.new += 1;
                }
            }
        }
        self.sync()?;
        Ok(taken)
    }

    /// Appends one record whatever it beats, and syncs.
    ///
    /// # Errors
    /// As [`LearnFile::take_in`], and where there is no room for more advice.
    pub fn advise(&mut self, ring: &RwLock<Ring>, record: &Record) -> Result<u64, FileError> {
        let mut locked = self.lock_with_timeout(ring)?;
        if !locked.has_room_for(record) {
            return Err(FileError::TooMuchAdvice);
        }
        let sequence = locked.append(record)?;
        drop(locked);
        self.sync()?;
        Ok(sequence)
    }
}

impl Ring {
    /// Would this record be new here, as it [beats] what is known of its position?
    pub fn lacks(&self, record: &Record) -> bool {
        self.newest_of(record.key).is_none_or(|present| beats(record, &present))
    }
}

impl Locked<'_> {
    /// Advice is never overwritten, so its number is limited.
    fn has_room_for(&self, record: &Record) -> bool {
        let ring = read(self.ring());
        !record.is_advice()
            || ring.advice_len() < MAX_ADVICE
            || ring.newest_of(record.key).is_some_and(|present| present.is_advice())
    }
}
