//! Taking records in from elsewhere, in an order that no file decides.

use std::{
    cmp::Ordering,
    collections::HashSet,
    path::Path,
    sync::RwLock,
    thread,
    time::{Duration, Instant},
};

use super::{
    append::{BLOCK, Locked, MOST_ADVICE, Patience},
    create::create,
    disk::Disk,
    error::FileError,
    file::{LearnFile, read},
    record::{CAPACITY, Origin, PAYLOAD, Record},
    ring::Ring,
};

/// Does `new` come after `old`? By time, then depth, then the bytes that travel from file to file.
pub fn beats(new: &Record, old: &Record) -> bool {
    order(new, old).is_gt()
}

fn order(one: &Record, other: &Record) -> Ordering {
    let rank = |record: &Record| (record.time, record.depth);
    let bytes = |record: &Record| record.payload();
    rank(one).cmp(&rank(other)).then_with(|| bytes(one)[..PAYLOAD].cmp(&bytes(other)[..PAYLOAD]))
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

/// Keeps the newest record of each key, and of those as many as a file with so many pieces of live advice holds
/// together: more would overtake each other in the ring, and the same records taken in again would not be known. Advice
/// is kept before the rest. How many were left out for want of room.
pub fn keep_what_fits(records: &mut Vec<Record>, live_advice: usize) -> usize {
    let is_advice = |record: &Record| record.origin == Origin::Advice;
    // Advice that the ring comes near lies there twice for a while.
    let advice = live_advice + records.iter().filter(|record| is_advice(record)).count();
    let room = CAPACITY - 2 * BLOCK as usize - 2 * advice.min(MOST_ADVICE);
    let mut newest: Vec<usize> = (0..records.len()).collect();
    newest.sort_by(|&one, &other| {
        let (one, other) = (&records[one], &records[other]);
        is_advice(other).cmp(&is_advice(one)).then_with(|| order(other, one))
    });
    let mut seen = HashSet::new();
    newest.retain(|&index| seen.insert(records[index].key));
    let left_out = newest.len().saturating_sub(room);
    newest.truncate(room);
    let kept: HashSet<usize> = newest.into_iter().collect();
    let mut index = 0..;
    records.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
    left_out
}

/// Records of one turn at the lock, so that engines that play meanwhile do not wait long.
const TURN: usize = 256;
/// How long a tool waits for the lock.
const PATIENCE: Duration = Duration::from_secs(10);

/// As [`create()`], waiting for others up to some seconds.
///
/// # Errors
/// As there.
pub fn create_patiently(disk: &dyn Disk, path: &Path) -> Result<(), FileError> {
    let give_up = Instant::now() + PATIENCE;
    loop {
        match create(disk, path) {
            Err(FileError::Busy { .. }) if Instant::now() < give_up => {
                thread::sleep(Duration::from_millis(2));
            }
            done => return done,
        }
    }
}

impl LearnFile {
    /// Takes the lock, waiting for others up to some seconds.
    ///
    /// # Errors
    /// As [`LearnFile::lock`].
    pub fn lock_patiently<'a>(&'a mut self, ring: &'a RwLock<Ring>) -> Result<Locked<'a>, FileError> {
        let give_up = Instant::now() + PATIENCE;
        while !self.try_lock()? {
            if Instant::now() > give_up {
                return Err(FileError::Busy { path: self.path().to_owned() });
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.with_lock(ring, Patience::Enough)
    }

    /// Appends what beats the present record of its key, tombstones included, and syncs.
    ///
    /// # Errors
    /// As [`LearnFile::lock`] and [`Locked::append`]; what was appended before stays, and the same call
    /// again goes on where this one ended.
    pub fn take_in(&mut self, ring: &RwLock<Ring>, records: &[Record]) -> Result<Taken, FileError> {
        let mut taken = Taken::default();
        for turn in records.chunks(TURN) {
            let mut locked = self.lock_patiently(ring)?;
            for record in turn {
                match locked.take_in(record)? {
                    Verdict::New => taken.new += 1,
                    Verdict::Known => taken.known += 1,
                    Verdict::Refused => taken.refused += 1,
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
        let mut locked = self.lock_patiently(ring)?;
        if !locked.has_room_for(record) {
            return Err(FileError::TooMuchAdvice { limit: MOST_ADVICE });
        }
        let sequence = locked.append(record)?;
        drop(locked);
        self.sync()?;
        Ok(sequence)
    }
}

enum Verdict {
    New,
    Known,
    Refused,
}

impl Locked<'_> {
    fn take_in(&mut self, record: &Record) -> Result<Verdict, FileError> {
        let present = read(self.ring()).newest_of(record.key);
        if present.is_some_and(|present| !beats(record, &present)) {
            return Ok(Verdict::Known);
        }
        if !self.has_room_for(record) {
            return Ok(Verdict::Refused);
        }
        self.append(record)?;
        Ok(Verdict::New)
    }

    /// Advice is kept for ever, so there is room for so much only.
    fn has_room_for(&self, record: &Record) -> bool {
        let is_advice = |record: &Record| record.origin == Origin::Advice && record.is_live();
        let ring = read(self.ring());
        !is_advice(record)
            || ring.advice_len() < MOST_ADVICE
            || ring.newest_of(record.key).is_some_and(|present| is_advice(&present))
    }
}
