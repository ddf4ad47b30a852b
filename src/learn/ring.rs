//! The ring in memory: every record of the file, and which of them count.
//!
//! Records are ordered by sequence number, `lap * 65,536 + slot`; the first is 65,536. The newest of a key counts; if
//! it is a tombstone, none does.
//!
//! Before each search all records are tested for whether their positions can still occur: by their signatures, which
//! are stored separately for that (256 KiB).

use std::{
    collections::{BTreeSet, HashMap},
    hash::{BuildHasherDefault, Hasher},
};

use super::{
    reachability::{Reachable, Signature},
    record::{self, Bytes, CAPACITY, RECORD_SIZE, Record, game_ply},
};
use crate::{
    position::Position,
    types::{PositionKey, spread},
};

/// The sequence number before the first, of a file without records.
pub const BEFORE_FIRST: u64 = CAPACITY as u64 - 1;

/// Slots from which advice is moved together: when the first record enters a block, the advice of the next block is
/// appended again.
pub const BLOCK: u64 = 1024;

/// The most live pieces of advice in a file: an eighth of the ring, so that keeping them costs little.
pub const MAX_ADVICE: usize = 8192;

/// An empty slot.
const EMPTY: Bytes = [0; RECORD_SIZE];

/// All records of a file.
pub struct Ring {
    file_id: u64,
    slots: Vec<Bytes>,
    /// The signature of the live record in each slot.
    signatures: Vec<u32>,
    newest: u64,
    /// Everything up to this sequence number is on the disk.
    synced: u64,
    /// Slot of the newest record of each key.
    by_key: HashMap<u64, u32, BuildHasherDefault<KeyHasher>>,
    live: usize,
    /// Sequence numbers of live advice.
    advice: BTreeSet<u64>,
    /// Positions whose last record is gone, since the last [`Ring::take_gone`].
    gone: Vec<PositionKey>,
}

/// Statistics of reading a file.
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
    /// Records that were not written completely, or damaged later.
    pub torn: usize,
    /// Records more than a lap old, in slots where a newer one was lost.
    pub stale: usize,
    /// Bytes missing at the end of the file.
    pub missing_bytes: u64,
}

impl Ring {
    /// The ring of a file without records.
    pub fn new(file_id: u64) -> Ring {
        Ring::unindexed(file_id, vec![EMPTY; CAPACITY], BEFORE_FIRST, 0)
    }

    /// A ring whose `records` are not indexed yet.
    fn unindexed(file_id: u64, slots: Vec<Bytes>, newest: u64, records: usize) -> Ring {
        Ring {
            file_id,
            signatures: vec![NOTHING_LIVE; slots.len()],
            slots,
            newest,
            synced: BEFORE_FIRST,
            by_key: HashMap::with_capacity_and_hasher(records, BuildHasherDefault::default()),
            live: 0,
            advice: BTreeSet::new(),
            gone: Vec::new(),
        }
    }

    /// The ring of a file whose slots hold these unchecked bytes. A slot that is torn, or not as new as it must be, is
    /// read again.
    pub(super) fn from_slots(
        file_id: u64,
        mut slots: Vec<Bytes>,
        reread: impl Fn(u32) -> Option<Bytes>,
    ) -> (Ring, Report) {
        let (mut report, mut newest, mut whole) = (Report::default(), BEFORE_FIRST, 0);
        for (slot, bytes) in (0..).zip(&mut slots) {
            let mut sequence = record::sequence(bytes, file_id, slot);
            if sequence.is_none() && *bytes != EMPTY {
                *bytes = reread(slot).unwrap_or(EMPTY);
                sequence = record::sequence(bytes, file_id, slot);
                if sequence.is_none() {
                    report.torn += 1;
                    *bytes = EMPTY;
                }
            }
            newest = newest.max(sequence.unwrap_or(0));
            whole += usize::from(sequence.is_some());
        }
        let mut ring = Ring::unindexed(file_id, slots, newest, whole);
        let mut counted = 0;
        for sequence in ring.window() {
            let slot = record::slot(sequence);
            if ring.stored(slot) != Some(sequence)
                && let Some(again) = reread(slot)
                && record::sequence(&again, file_id, slot) == Some(sequence)
            {
                // A writer was active between reading this slot and the next.
                ring.slots[slot as usize] = again;
            }
            match ring.stored(slot) {
                Some(stored) if stored == sequence => {
                    counted += 1;
                    report.unknown += usize::from(ring.record(slot).is_none());
                    ring.index(slot);
                }
                Some(_) => {
                    report.stale += 1;
                    ring.slots[slot as usize] = EMPTY;
                }
                None => {}
            }
        }
        report.live = ring.live;
        report.tombstones = ring.by_key.len() - ring.live;
        report.replaced = counted - report.unknown - ring.by_key.len();
        (ring, report)
    }

    /// The id of the file.
    pub fn file_id(&self) -> u64 {
        self.file_id
    }

    /// Sequence number of the newest record; [`BEFORE_FIRST`] if there is none.
    pub fn sequence(&self) -> u64 {
        self.newest
    }

    /// Number of records that count, without tombstones.
    pub fn len(&self) -> usize {
        self.live
    }

    /// Are there no records?
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Number of live pieces of advice.
    pub fn advice_len(&self) -> usize {
        self.advice.len()
    }

    /// The newest record of a position, also if it is a tombstone.
    pub fn newest_of(&self, key: PositionKey) -> Option<Record> {
        self.by_key.get(&key.0).and_then(|&slot| self.record(slot))
    }

    /// The live record of a position.
    pub fn get(&self, key: PositionKey) -> Option<Record> {
        self.newest_of(key).filter(Record::is_live)
    }

    /// Sequence number of the live record of a position.
    pub fn sequence_of(&self, key: PositionKey) -> Option<u64> {
        self.by_key.get(&key.0).and_then(|&slot| self.stored(slot))
    }

    /// All live records, oldest first, with sequence numbers.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Record)> + '_ {
        self.since(BEFORE_FIRST).filter(|(_, record)| record.is_live())
    }

    /// All positions with a live record.
    pub fn keys(&self) -> impl Iterator<Item = PositionKey> + '_ {
        let live = (0..).zip(&self.slots).filter(|&(slot, _)| self.is_live(slot));
        live.map(|(_, bytes)| record::key(bytes))
    }

    /// The records whose positions can still occur after `root`. If there are more than an eighth of `room`, the
    /// nearest in game ply come first (of equally near ones the confirmed), `room` of them; fewer are not sorted.
    pub fn relevant(&self, root: &Position, room: usize) -> Vec<Record> {
        let reach = Reachable::of(root);
        let mut found = Vec::new();
        // In blocks, so that the common case, a whole block of positions that cannot occur, is one test.
        for (block, signatures) in self.signatures.chunks(LANES).enumerate() {
            if !signatures.iter().fold(false, |any, &signature| any | reach.allows_bits(signature)) {
                continue;
            }
            for (slot, &signature) in ((block * LANES) as u32..).zip(signatures) {
                if reach.allows_bits(signature) && self.is_live(slot) {
                    found.extend(
                        self.record(slot).filter(|record| reach.allows(&Signature::of_packed(&record.setup))),
                    );
                }
            }
        }
        if found.len() > room / 8 {
            let ply = game_ply(root);
            found.sort_by_key(|record| (record.game_ply.abs_diff(ply), !record.flags.confirmed));
            found.truncate(room);
        }
        found
    }

    /// Positions whose last record is gone since the last call.
    pub fn take_gone(&mut self) -> Vec<PositionKey> {
        std::mem::take(&mut self.gone)
    }

    /// The newest record of each key, of those appended after `sequence`, oldest first, **tombstones included**.
    pub fn since(&self, sequence: u64) -> impl Iterator<Item = (u64, Record)> + '_ {
        let window = self.window();
        (window.start.max(sequence.saturating_add(1))..window.end).filter_map(|sequence| {
            let slot = record::slot(sequence);
            let counts = self.stored(slot) == Some(sequence) && self.is_newest(slot);
            Some((sequence, self.record(slot).filter(|_| counts)?))
        })
    }

    /// The bytes written as `sequence`, if they are still there.
    pub(super) fn bytes(&self, sequence: u64) -> Option<&Bytes> {
        let slot = record::slot(sequence);
        (self.stored(slot) == Some(sequence)).then(|| &self.slots[slot as usize])
    }

    /// Sequence number of the oldest piece of live advice.
    pub(super) fn oldest_advice(&self) -> Option<u64> {
        self.advice.first().copied()
    }

    /// Must be synced before this slot is overwritten? It holds advice, and what replaced it, its copy for instance, may
    /// not be on the disk.
    pub(super) fn needs_sync(&self, slot: u32) -> bool {
        let advice = self.record(slot).filter(Record::is_advice);
        advice.and_then(|advice| self.sequence_of(advice.key)).is_some_and(|newest| newest > self.synced)
    }

    /// Everything that is in the ring was synced.
    pub(super) fn set_synced(&mut self) {
        self.synced = self.newest;
    }

    /// Adds a record that was read or written as `sequence`, the newest so far.
    pub(super) fn push(&mut self, sequence: u64, bytes: Bytes) {
        let slot = record::slot(sequence);
        if self.stored(slot).is_some() {
            self.unindex(slot);
        }
        self.slots[slot as usize] = bytes;
        self.newest = sequence;
        self.index(slot);
    }

    /// Replaces this ring by another.
    pub(super) fn replace(&mut self, ring: Ring) {
        let mut gone = std::mem::take(&mut self.gone);
        gone.extend(self.keys().filter(|&key| ring.get(key).is_none()));
        *self = Ring { gone, ..ring };
    }

    /// The sequence numbers that count: the newest 65,536.
    fn window(&self) -> std::ops::Range<u64> {
        let end = self.newest + 1;
        end.saturating_sub(CAPACITY as u64).max(CAPACITY as u64)..end
    }

    /// Sequence number of the record in a slot; all slots have been checked.
    fn stored(&self, slot: u32) -> Option<u64> {
        record::unchecked_sequence(&self.slots[slot as usize], slot)
    }

    /// The record in a slot; none if it is empty, or of an unknown format.
    fn record(&self, slot: u32) -> Option<Record> {
        record::decode(&self.slots[slot as usize])
    }

    /// Does the record in this slot count?
    fn is_live(&self, slot: u32) -> bool {
        self.signatures[slot as usize] != NOTHING_LIVE
    }

    /// Is the record in `slot` the newest of its key?
    fn is_newest(&self, slot: u32) -> bool {
        self.by_key.get(&record::key(&self.slots[slot as usize]).0) == Some(&slot)
    }

    /// Indexes the record in `slot`, the newest of all: an older one of its key no longer counts.
    fn index(&mut self, slot: u32) {
        let Some(record) = self.record(slot) else { return };
        if let Some(older) = self.by_key.insert(record.key.0, slot) {
            self.retire(older);
        }
        if record.is_live() {
            self.live += 1;
            self.signatures[slot as usize] = Signature::of_packed(&record.setup).bits;
        } else {
            self.gone.push(record.key);
        }
        if record.is_advice() {
            self.advice.extend(self.stored(slot));
        }
    }

    /// Removes the record in `slot` from the index, before it is overwritten.
    fn unindex(&mut self, slot: u32) {
        if self.is_newest(slot) {
            let key = record::key(&self.slots[slot as usize]);
            self.by_key.remove(&key.0);
            self.gone.push(key);
            self.retire(slot);
        }
    }

    /// The record in `slot` no longer counts.
    fn retire(&mut self, slot: u32) {
        self.live -= usize::from(self.record(slot).is_some_and(|record| record.is_live()));
        self.signatures[slot as usize] = NOTHING_LIVE;
        if let Some(sequence) = self.stored(slot) {
            self.advice.remove(&sequence);
        }
    }
}

/// Signatures that are tested together: four 512-bit or eight 256-bit registers.
const LANES: usize = 64;

/// The signature of a slot without a live record: thirty-one pieces a side, which no record has.
const NOTHING_LIVE: u32 = !(1 << 25 | 1 << 31);

/// Keys are random numbers already; the multiplication also spreads keys of a forged file.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = spread(key).rotate_left(32);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(self.0 ^ u64::from(byte)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::Origin;

    /// The positions of a game, each after the first legal move, and a ring with a record of each.
    fn game(plies: usize) -> (Vec<Position>, Ring) {
        let (mut line, mut ring) = (vec![Position::default()], Ring::new(7));
        for (sequence, ply) in (CAPACITY as u64..).zip(0..plies) {
            let record = Record::new(&line[ply], Origin::EveryRoot).expect("the position fits");
            ring.push(sequence, record::encode(&record, 7, sequence));
            line.push(line[ply].play(line[ply].legal_moves()[0]));
        }
        (line, ring)
    }

    #[test]
    fn only_what_can_occur_comes_and_the_nearest_if_not_all() {
        let (line, ring) = game(40);
        assert_eq!(ring.relevant(&line[0], 1 << 20).len(), 40);
        let later = ring.relevant(&line[20], 1 << 20);
        assert!(later.len() >= 20 && later.len() < 40, "{}", later.len());
        let near = ring.relevant(&line[20], 5);
        let distances: Vec<u16> = near.iter().map(|record| record.game_ply.abs_diff(20)).collect();
        assert!(near.len() == 5 && distances.is_sorted(), "{distances:?}");
    }

    #[test]
    fn what_is_forgotten_is_gone_and_does_not_come() {
        let (line, mut ring) = game(10);
        let tombstone = ring.get(line[3].key()).expect("known").tombstone(1);
        let sequence = ring.sequence() + 1;
        ring.push(sequence, record::encode(&tombstone, 7, sequence));
        assert_eq!(ring.take_gone(), [line[3].key()]);
        assert_eq!((ring.len(), ring.relevant(&line[0], 1 << 20).len(), ring.keys().count()), (9, 9, 9));
        ring.replace(Ring::new(8));
        assert_eq!((ring.take_gone().len(), ring.keys().count()), (9, 0));
    }
}
