//! The ring in memory: every record of the file, and which of them count.
//!
//! A record's place in time is its sequence number, `lap * 65,536 + slot`; the first is 65,536. The newest of
//! a key counts; a tombstone that is the newest of its key means that none does.

use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasherDefault, Hasher},
};

use super::record::{self, Bytes, CAPACITY, Kind, RECORD_SIZE, Record};
use crate::types::PositionKey;

/// The sequence number before the first: nothing was ever written.
pub const BEFORE_FIRST: u64 = CAPACITY as u64 - 1;

/// All records of a file.
pub struct Ring {
    file_id: u64,
    epoch: u64,
    slots: Vec<Bytes>,
    newest: u64,
    /// Slot of the newest record of each key.
    by_key: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    live: usize,
    /// Sequence numbers of live advice.
    advice: BTreeSet<u64>,
}

/// What was made of the bytes of a file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records that count.
    pub live: usize,
    /// Tombstones that count.
    pub tombstones: usize,
    /// Records that a newer one of the same key replaced.
    pub replaced: usize,
    /// Records of a kind that this format does not know.
    pub unknown: usize,
    /// Records that were not written whole, or damaged later.
    pub torn: usize,
    /// Records more than a lap old, left where a newer one was lost.
    pub stale: usize,
    /// Bytes that the file is too short.
    pub missing_bytes: u64,
}

impl Ring {
    /// The ring of a file without records.
    pub fn new(file_id: u64) -> Ring {
        Ring::unindexed(file_id, vec![[0; RECORD_SIZE]; CAPACITY], BEFORE_FIRST, 0)
    }

    /// A ring of whose `records` nothing is counted yet.
    fn unindexed(file_id: u64, slots: Vec<Bytes>, newest: u64, records: usize) -> Ring {
        Ring {
            file_id,
            epoch: 0,
            slots,
            newest,
            by_key: HashMap::with_capacity_and_hasher(records, BuildHasherDefault::default()),
            live: 0,
            advice: BTreeSet::new(),
        }
    }

    /// The ring of a file whose slots hold these bytes, of which nothing is known yet. A slot that is not
    /// whole, or not as new as it must be, is asked for again.
    pub(super) fn from_slots(
        file_id: u64,
        mut slots: Vec<Bytes>,
        reread: impl Fn(u32) -> Option<Bytes>,
    ) -> (Ring, Report) {
        let mut report = Report::default();
        let mut newest = BEFORE_FIRST;
        let mut whole = 0;
        for (slot, bytes) in (0..).zip(&mut slots) {
            if let Some(sequence) = record::sequence(bytes, file_id, slot) {
                newest = newest.max(sequence);
                whole += 1;
                continue;
            }
            if *bytes == [0; RECORD_SIZE] {
                continue;
            }
            let again = reread(slot).unwrap_or([0; RECORD_SIZE]);
            match record::sequence(&again, file_id, slot) {
                Some(sequence) => {
                    *bytes = again;
                    newest = newest.max(sequence);
                    whole += 1;
                }
                None => {
                    report.torn += 1;
                    *bytes = [0; RECORD_SIZE];
                }
            }
        }
        let mut ring = Ring::unindexed(file_id, slots, newest, whole);
        let mut counted = 0;
        for sequence in ring.window() {
            let slot = record::place(sequence).1;
            if ring.stored(slot) != Some(sequence)
                && let Some(again) = reread(slot)
                && record::sequence(&again, file_id, slot) == Some(sequence)
            {
                // A writer came by between the look at this slot and at the next.
                ring.slots[slot as usize] = again;
            }
            match ring.stored(slot) {
                Some(stored) if stored == sequence => {
                    counted += 1;
                    report.unknown += usize::from(ring.kind(slot) == Kind::Unknown);
                    ring.count(slot);
                }
                Some(_) => {
                    report.stale += 1;
                    ring.slots[slot as usize] = [0; RECORD_SIZE];
                }
                None => {}
            }
        }
        report.live = ring.live;
        report.tombstones = ring.by_key.len() - ring.live;
        report.replaced = counted - report.unknown - ring.by_key.len();
        (ring, report)
    }

    /// The file that this is the ring of.
    pub fn file_id(&self) -> u64 {
        self.file_id
    }

    /// Changes when the ring was read anew (another file in place of ours, or so much appended by others
    /// that this ring was overtaken), so that sequence numbers before and after do not belong together.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Sequence number of the newest record; [`BEFORE_FIRST`] if there is none.
    pub fn sequence(&self) -> u64 {
        self.newest
    }

    /// Number of records that count, tombstones apart.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Is nothing known?
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Number of live pieces of advice.
    pub fn advice_len(&self) -> usize {
        self.advice.len()
    }

    /// What is known of a position, the tombstone of a forgotten one included.
    pub fn newest_of(&self, key: PositionKey) -> Option<Record> {
        self.by_key.get(&key.0).and_then(|&slot| record::decode(&self.slots[slot as usize]).ok())
    }

    /// What is known of a position.
    pub fn get(&self, key: PositionKey) -> Option<Record> {
        self.newest_of(key).filter(Record::is_live)
    }

    /// Sequence number of what is known of a position.
    pub fn sequence_of(&self, key: PositionKey) -> Option<u64> {
        self.by_key.get(&key.0).and_then(|&slot| self.stored(slot))
    }

    /// Everything that counts, oldest first, with sequence numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Record)> + '_ {
        self.since(BEFORE_FIRST).filter(|(_, record)| record.is_live())
    }

    /// The newest record of each key that came after `sequence`, oldest first, **tombstones included**.
    pub fn since(&self, sequence: u64) -> impl Iterator<Item = (u64, Record)> + '_ {
        let window = self.window();
        (window.start.max(sequence.saturating_add(1))..window.end).filter_map(|sequence| {
            let slot = record::place(sequence).1;
            if self.stored(slot) != Some(sequence) || !self.is_newest(slot) {
                return None;
            }
            record::decode(&self.slots[slot as usize]).ok().map(|record| (sequence, record))
        })
    }

    /// The bytes written as `sequence`, if they are still there.
    pub(super) fn bytes(&self, sequence: u64) -> Option<&Bytes> {
        let slot = record::place(sequence).1;
        (self.stored(slot) == Some(sequence)).then(|| &self.slots[slot as usize])
    }

    /// Sequence number of the oldest piece of live advice.
    pub(super) fn oldest_advice(&self) -> Option<u64> {
        self.advice.first().copied()
    }

    /// Does this slot hold advice, live or not?
    pub(super) fn holds_advice(&self, slot: u32) -> bool {
        self.stored(slot).is_some() && self.kind(slot) == Kind::Advice
    }

    /// Takes in a record that was read or written as `sequence`, the newest so far.
    pub(super) fn push(&mut self, sequence: u64, bytes: Bytes) {
        let slot = record::place(sequence).1;
        if self.stored(slot).is_some() {
            self.discount(slot);
        }
        self.slots[slot as usize] = bytes;
        self.newest = sequence;
        self.count(slot);
    }

    /// Puts another ring in the place of this one.
    pub(super) fn replace(&mut self, ring: Ring) {
        let epoch = self.epoch + 1;
        *self = Ring { epoch, ..ring };
    }

    /// The sequence numbers that can be in the file: the newest lap.
    fn window(&self) -> std::ops::Range<u64> {
        let end = self.newest + 1;
        end.saturating_sub(CAPACITY as u64).max(CAPACITY as u64)..end
    }

    /// Sequence number of what lies in a slot. Slots hold nothing that was not checked.
    fn stored(&self, slot: u32) -> Option<u64> {
        let bytes = &self.slots[slot as usize];
        let lap = u32::from_le_bytes([bytes[56], bytes[57], bytes[58], bytes[59]]);
        (lap > 0).then(|| u64::from(lap) * CAPACITY as u64 + u64::from(slot))
    }

    fn kind(&self, slot: u32) -> Kind {
        record::kind(&self.slots[slot as usize])
    }

    /// Is there nothing newer of the key of what lies in `slot`?
    fn is_newest(&self, slot: u32) -> bool {
        self.by_key.get(&record::key(&self.slots[slot as usize]).0) == Some(&slot)
    }

    /// The record in `slot` is the newest of all: it counts, and an older one of its key no longer.
    fn count(&mut self, slot: u32) {
        let kind = self.kind(slot);
        if kind == Kind::Unknown {
            return;
        }
        let key = record::key(&self.slots[slot as usize]).0;
        if let Some(older) = self.by_key.insert(key, slot) {
            self.uncount(older);
        }
        if kind != Kind::Tombstone {
            self.live += 1;
        }
        if kind == Kind::Advice {
            self.advice.extend(self.stored(slot));
        }
    }

    /// The record in `slot` is about to be overwritten.
    fn discount(&mut self, slot: u32) {
        if self.is_newest(slot) {
            self.by_key.remove(&record::key(&self.slots[slot as usize]).0);
            self.uncount(slot);
        }
    }

    fn uncount(&mut self, slot: u32) {
        if self.kind(slot) != Kind::Tombstone {
            self.live -= 1;
        }
        if let Some(sequence) = self.stored(slot) {
            self.advice.remove(&sequence);
        }
    }
}

/// Keys are random numbers already; a multiplication spreads those that somebody made up.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(self.0 ^ u64::from(byte));
        }
    }
}
