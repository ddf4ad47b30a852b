//! The content of the stream of learned records: the best record of each position, in the order of merging.

use std::collections::{HashMap, VecDeque};

use super::EntryId;
use crate::learn::{Record, beats, record::CAPACITY};

/// The newest [`CAPACITY`] entries of the stream; older ones do not count.
#[derive(Default)]
pub(super) struct Mirror {
    /// The entries, oldest first, each with the key of its record if it is one.
    entries: VecDeque<(EntryId, Option<u64>)>,
    /// The best record of each position, and its entry.
    best: HashMap<u64, (EntryId, Record)>,
}

impl Mirror {
    /// The last entry that was read; if none was, the beginning.
    pub(super) fn last(&self) -> EntryId {
        self.entries.back().map_or_else(EntryId::default, |&(id, _)| id)
    }

    /// Adds the next entry, which may contain no record.
    pub(super) fn push(&mut self, id: EntryId, record: Option<Record>) {
        self.entries.push_back((id, record.as_ref().map(|record| record.key.0)));
        if let Some(record) = record.filter(|record| self.is_improved_by(record)) {
            self.best.insert(record.key.0, (id, record));
        }
        if self.entries.len() > CAPACITY
            && let Some((id, Some(key))) = self.entries.pop_front()
            && self.best.get(&key).is_some_and(|&(best, _)| best == id)
        {
            self.best.remove(&key);
        }
    }

    /// Has the stream neither the same record of this position nor a later one?
    pub(super) fn is_improved_by(&self, record: &Record) -> bool {
        self.best.get(&record.key.0).is_none_or(|(_, best)| beats(record, best))
    }

    /// The record of this position in the stream, if it is later.
    pub(super) fn later(&self, record: &Record) -> Option<&Record> {
        self.best.get(&record.key.0).map(|(_, best)| best).filter(|best| beats(best, record))
    }

    /// Number of entries that can be added before the oldest is dropped.
    pub(super) fn room(&self) -> usize {
        CAPACITY - self.entries.len()
    }

    /// The time, in seconds since 1970, from which on the stream has dropped nothing.
    pub(super) fn complete_since(&self) -> u64 {
        self.entries.front().filter(|_| self.room() == 0).map_or(0, |(id, _)| id.millis / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{learn::Origin, position::Position, types::PositionKey};

    fn record(key: u64, time: u32) -> Record {
        let blank = Record::new(&Position::default(), Origin::Drop).expect("the position fits");
        Record { key: PositionKey(key), time, ..blank }
    }

    #[test]
    fn a_stream_that_is_full_forgets_its_oldest_entries_here_as_there() {
        let mut mirror = Mirror::default();
        let id = |number: u64| EntryId { millis: 1_000_000 + 1000 * number, counter: 0 };
        mirror.push(id(0), Some(record(1, 50)));
        mirror.push(id(1), Some(record(2, 50)));
        mirror.push(id(2), Some(record(1, 40)));
        assert!(
            !mirror.is_improved_by(&record(1, 50))
                && !mirror.is_improved_by(&record(1, 49))
                && mirror.is_improved_by(&record(1, 51))
        );
        assert_eq!((mirror.complete_since(), mirror.last()), (0, id(2)));
        for number in 3..CAPACITY as u64 {
            mirror.push(id(number), None);
        }
        assert_eq!((mirror.room(), mirror.complete_since()), (0, 1000));
        mirror.push(id(CAPACITY as u64), None);
        assert!(mirror.is_improved_by(&record(1, 50)) && !mirror.is_improved_by(&record(2, 50)));
        assert_eq!((mirror.room(), mirror.complete_since(), mirror.best.len()), (0, 1001, 1));
    }
}
