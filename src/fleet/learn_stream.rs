//! The stream of learned records on the server: read forward in batches, each entry checked, and added to.

use std::time::Duration;

use redis::{Cmd, cmd};

use super::{
    EntryId, FleetError, ServerAddress,
    connection::{Link, StreamEntry, entries, entries_of_one},
    mirror::Mirror,
};
use crate::learn::{
    self, CLOCK_ERROR, Record,
    policy::Known,
    record::{self, CAPACITY, PAYLOAD, RECORD_SIZE},
};

/// Its name, which ends in the format of the records. The part in braces determines the node of a cluster.
pub(super) const NAME: &str = "{engram}:learn-1";
/// Entries that are read or sent at a time.
pub(super) const BATCH: usize = 512;
/// Records further ahead than this many days by the clock of this machine show that it is slow.
const MAX_DAYS_AHEAD: u32 = 7;
/// A day in seconds.
const DAY: u32 = 24 * 3600;
/// The only field of an entry: the 56 bytes of a record that are the same in every file.
const FIELD: &str = "r";

/// Entries as read; an invalid one has no record.
pub(super) type Batch = Vec<(EntryId, Option<Record>)>;

/// The result of reading on.
pub(super) enum Received {
    /// The next entries, to be confirmed by [`LearnStream::taken`].
    Batch(Batch),
    /// The entries that were read are gone.
    Lost,
}

/// The stream, and the position up to which it was read.
pub(super) struct LearnStream {
    pub(super) link: Link,
    /// Its content.
    pub(super) mirror: Mirror,
    /// An entry that was read; it stays there unless the server loses data.
    anchor: EntryId,
    /// An entry that was too large to be read.
    passed_over: EntryId,
    /// Number of entries requested at a time.
    count: usize,
    /// Was all of it read?
    caught_up: bool,
}

impl LearnStream {
    pub(super) fn new(server: ServerAddress) -> LearnStream {
        LearnStream {
            link: Link::new(server),
            mirror: Mirror::default(),
            anchor: EntryId::default(),
            passed_over: EntryId::default(),
            count: BATCH,
            caught_up: false,
        }
    }

    /// Was all of it read, at the last look?
    pub(super) fn is_caught_up(&self) -> bool {
        self.caught_up && self.link.is_open()
    }

    /// Goes back to its first entry.
    pub(super) fn rewind(&mut self) {
        self.mirror = Mirror::default();
        self.anchor = EntryId::default();
        self.caught_up = false;
    }

    /// Reads the next batch.
    ///
    /// # Errors
    /// The network or the server, or the clock of this machine is slow.
    pub(super) fn receive(&mut self) -> Result<Received, FleetError> {
        self.caught_up = false;
        let mut commands = Vec::new();
        if self.count > 1 && self.anchor != EntryId::default() {
            let mut check = cmd("XRANGE");
            check.arg(NAME).arg(self.anchor.to_string()).arg(self.anchor.to_string());
            commands.push(check);
        }
        let mut read = cmd("XREAD");
        read.arg("COUNT").arg(self.count).arg("STREAMS").arg(NAME).arg(self.mirror.last().to_string());
        commands.push(read);
        let answers = match self.link.ask(&commands, Duration::ZERO) {
            Err(FleetError::TooLarge(head)) => return self.too_large(&head),
            answers => answers?,
        };
        let mut answers = answers.into_iter();
        if commands.len() > 1 {
            let found = entries(answers.next().ok_or(FleetError::Nonsense)?)?;
            if !found.iter().any(|entry| entry.id == self.anchor) {
                return Ok(Received::Lost);
            }
        }
        let read = entries_of_one(answers.next().ok_or(FleetError::Nonsense)?)?;
        let batch: Batch = read.iter().map(|entry| (entry.id, checked(entry))).collect();
        let latest = batch.iter().filter_map(|(_, record)| record.as_ref()).map(|record| record.time).max();
        let days_ahead = latest.unwrap_or(0).saturating_sub(learn::now()) / DAY;
        if days_ahead > MAX_DAYS_AHEAD {
            return Err(FleetError::SlowClock(days_ahead));
        }
        self.caught_up = read.len() < self.count;
        self.count = (2 * self.count).min(BATCH);
        Ok(Received::Batch(batch))
    }

    /// Requests fewer entries next time; a single one that is too large is skipped.
    fn too_large(&mut self, head: &[u8]) -> Result<Received, FleetError> {
        if self.count > 1 {
            self.count = 1.max(self.count / 8);
            return Ok(Received::Batch(Vec::new()));
        }
        let last = self.mirror.last();
        let id = EntryId::first_in(head).filter(|&id| id > last).ok_or(FleetError::Nonsense)?;
        self.passed_over = id;
        self.count = 2;
        Ok(Received::Batch(vec![(id, None)]))
    }

    /// Confirms a batch: the entries after it are read next.
    pub(super) fn taken(&mut self, batch: Batch) {
        for (id, record) in batch {
            if id != self.passed_over {
                self.anchor = id;
            }
            self.mirror.push(id, record);
        }
    }

    /// Adds records; the oldest entries are dropped if there is no room. The new entries are read like any others.
    ///
    /// # Errors
    /// As [`LearnStream::receive`]. Some may have been added.
    pub(super) fn send(&mut self, records: &[Record]) -> Result<(), FleetError> {
        let commands: Vec<Cmd> = records.iter().map(add).collect();
        self.link.carry_out(&commands)
    }
}

/// The record in an entry, if it is valid and not much later than the entry by the server's clock.
fn checked(entry: &StreamEntry) -> Option<Record> {
    let [name, payload] = &entry.fields[..] else { return None };
    if name != FIELD.as_bytes() || payload.len() != PAYLOAD {
        return None;
    }
    let mut bytes = [0; RECORD_SIZE];
    bytes[..PAYLOAD].copy_from_slice(payload);
    let record = record::decode(&bytes)?;
    is_sound(&record, entry.id.millis / 1000 + u64::from(CLOCK_ERROR)).then_some(record)
}

/// Is a record valid, and not from after the second `latest`?
pub(super) fn is_sound(record: &Record, latest: u64) -> bool {
    u64::from(record.time) <= latest
        && record.position_and_move().is_ok()
        && (!record.is_live() || Known::of(record).is_some())
}

/// The command that adds a record to the stream, which drops its oldest entry if it is full.
fn add(record: &Record) -> Cmd {
    let mut add = cmd("XADD");
    add.arg(NAME).arg("MAXLEN").arg(CAPACITY).arg("*").arg(FIELD).arg(&record.payload()[..PAYLOAD]);
    add
}
