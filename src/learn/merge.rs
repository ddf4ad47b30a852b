//! Merging records from elsewhere. Which of two records counts does not depend on the file that they come from.

use std::{cmp::Ordering, collections::HashSet, path::Path, sync::RwLock};

use super::{
    append::{Locked, RECORDS_PER_LOCK, retry_while_busy},
    create::create,
    disk::SystemDisk,
    error::FileError,
    file::{LearnFile, Mode},
    record::{CAPACITY, PAYLOAD, Record},
    ring::{BEFORE_FIRST, BLOCK, MAX_ADVICE, Report, Ring},
};

use crate::{locks::read, types::PositionKey};

/// Does `new` replace `old`? Of two live records the one of the higher [rank](Record::rank) counts, whatever their times;
/// otherwise the greater one, by time, then depth, then payload.
pub fn beats(new: &Record, old: &Record) -> bool {
    let are_live = new.is_live() && old.is_live();
    let by_rank = if are_live { new.rank().cmp(&old.rank()) } else { Ordering::Equal };
    by_rank.then_with(|| order(new, old)).is_gt()
}

fn order(one: &Record, other: &Record) -> Ordering {
    (one.time, one.depth)
        .cmp(&(other.time, other.depth))
        .then_with(|| one.payload()[..PAYLOAD].cmp(&other.payload()[..PAYLOAD]))
}

/// Seconds by which a record from elsewhere may be from the future: clocks differ. One from later would count more than
/// all that is learned until then.
pub const CLOCK_ERROR: u32 = 24 * 3600;

/// The result of merging records.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Appended.
    pub new: usize,
    /// Not appended: the known record is the same or counts more.
    pub known: usize,
    /// Not appended: the position was forgotten here later.
    pub forgotten: usize,
    /// Advice for which there is no room.
    pub refused: usize,
}

/// Keeps the newest record of each key, and of those as many as fit into the file of `ring` beside its newer ones: more
/// would overwrite those and each other, and merging the same records again would append them again. Those of higher
/// [rank](Record::rank) are kept first. Returns how many did not fit. Advice comes last, where the ring does not come to it
/// again.
pub fn keep_what_fits(records: &mut Vec<Record>, ring: &Ring) -> usize {
    // Advice that is here already may be appended again.
    let moved =
        if ring.advice_len() > 0 { 2 * (BLOCK as usize + ring.advice_len().min(MAX_ADVICE)) } else { 0 };
    let room = CAPACITY - moved;
    let first = |one: &Record, other: &Record| other.rank().cmp(&one.rank()).then_with(|| order(other, one));
    let mut kept: Vec<usize> = (0..records.len()).collect();
    kept.sort_by(|&one, &other| first(&records[one], &records[other]));
    let mut seen = HashSet::new();
    kept.retain(|&index| seen.insert(records[index].key));
    // What is known here needs no room.
    let (new, known): (Vec<usize>, Vec<usize>) =
        kept.into_iter().partition(|&index| ring.is_improved_by(&records[index]));
    let replaced: HashSet<PositionKey> = new.iter().map(|&index| records[index].key).collect();
    let present = ring.since(BEFORE_FIRST).map(|(_, record)| record);
    let mut present: Vec<Record> = present.filter(|record| !replaced.contains(&record.key)).collect();
    present.sort_by(first);
    // What comes before a record must fit as well.
    let before = |record: &Record| present.partition_point(|present| first(present, record).is_lt());
    let fits = |&(place, &index): &(usize, &usize)| place + before(&records[index]) < room;
    let count = new.iter().enumerate().take_while(fits).count();
    let left_out = new.len() - count;
    let mut kept = known;
    kept.extend(&new[..count]);
    kept.sort_unstable_by_key(|&index| (records[index].is_advice(), index));
    *records = kept.into_iter().map(|index| records[index].clone()).collect();
    left_out
}

impl LearnFile {
    /// Opens a file that will be written.
    ///
    /// # Errors
    /// As [`LearnFile::open`], and if the file is read-only.
    pub fn open_to_write(path: &Path) -> Result<(LearnFile, Ring, Report), FileError> {
        let opened = LearnFile::open(path, Mode::Write)?;
        let reason = opened.0.read_only().map(str::to_owned);
        reason.map_or(Ok(opened), |reason| Err(FileError::ReadOnly(path.to_owned(), reason)))
    }

    /// As [`LearnFile::open_to_write`], but creates the file first if it is missing or unfinished.
    ///
    /// # Errors
    /// As there, and as [`create()`].
    pub fn open_or_create(path: &Path) -> Result<(LearnFile, Ring, Report), FileError> {
        match LearnFile::open_to_write(path) {
            Err(FileError::Missing(_) | FileError::Unfinished(_)) => {
                retry_while_busy(|| create(&SystemDisk, path))?;
                LearnFile::open_to_write(path)
            }
            opened => opened,
        }
    }

    /// Appends the records that [beat](beats) the current record of their key, tombstones included, and syncs.
    ///
    /// # Errors
    /// As [`LearnFile::lock`] and [`Locked::append`]. What was appended before the error stays; the same call again
    /// appends the rest.
    pub fn merge(&mut self, ring: &RwLock<Ring>, records: &[Record]) -> Result<Merged, FileError> {
        let mut merged = Merged::default();
        for turn in records.chunks(RECORDS_PER_LOCK) {
            let mut locked = self.lock_with_timeout(ring)?;
            for record in turn {
                if !read(ring).is_improved_by(record) {
                    let forgotten = record.is_live() && read(ring).get(record.key).is_none();
                    *if forgotten { &mut merged.forgotten } else { &mut merged.known } += 1;
                } else if !locked.has_room_for(record) {
                    merged.refused += 1;
                } else {
                    locked.append(record)?;
                    merged.new += 1;
                }
            }
        }
        self.sync(ring)?;
        Ok(merged)
    }

    /// Appends one record, whatever is known of its position, and syncs.
    ///
    /// # Errors
    /// As [`LearnFile::merge`], and if there is no room for more advice.
    pub fn advise(&mut self, ring: &RwLock<Ring>, record: &Record) -> Result<u64, FileError> {
        let mut locked = self.lock_with_timeout(ring)?;
        if !locked.has_room_for(record) {
            return Err(FileError::TooMuchAdvice);
        }
        let sequence = locked.append(record)?;
        drop(locked);
        self.sync(ring)?;
        Ok(sequence)
    }
}

impl Ring {
    /// Is this record new here, or does it [beat](beats) the known record of its position?
    pub fn is_improved_by(&self, record: &Record) -> bool {
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
