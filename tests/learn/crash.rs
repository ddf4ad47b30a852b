//! The learning file after crashes: every prefix of every write, every mixture that a loss of power can leave,
//! every operation that can fail.
//!
//! A scenario runs on a disk in memory that keeps a journal. Each test then builds the images that a crash
//! could leave and demands of each: it opens, nothing in it was never written, nothing is missing that had
//! been reported as safe, and learning goes on.

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, RwLock},
};

use engram::learn::{
    AppendTime, BLOCK, FileError, LearnFile, Mode, Record, Ring, Store, create, record::CAPACITY,
};

use crate::common::{
    TIMEOUT, is_full,
    learn::{self, bare},
    random::Random,
    sim_disk::{Event, LostPages, SimDisk, write_into},
    until,
};

const PATH: &str = "/disk/engram.learn";

fn path() -> &'static Path {
    Path::new(PATH)
}

fn open(disk: &SimDisk) -> Result<(LearnFile, RwLock<Ring>), FileError> {
    let (file, ring, _) = LearnFile::open_on(Arc::new(disk.clone()), path(), Mode::Write)?;
    Ok((file, RwLock::new(ring)))
}

/// Opens a file as the next engine would: made or completed where that is needed.
fn made(disk: &SimDisk) -> Result<(LearnFile, RwLock<Ring>), FileError> {
    match open(disk) {
        Err(FileError::Missing(_) | FileError::Unfinished(_)) => {
            create(disk, path())?;
            open(disk)
        }
        other => other,
    }
}

fn append(file: &mut LearnFile, ring: &RwLock<Ring>, record: &Record) -> Result<u64, FileError> {
    file.lock(ring, AppendTime::Any)?.append(record)
}

/// What an image must hold: everything of `safe`, nothing that is not in `written`.
fn check(image: Vec<u8>, safe: &[Record], written: &HashMap<u64, Record>, what: &str) {
    let disk = SimDisk::with(path(), image);
    let (mut file, ring) = made(&disk).unwrap();
    for (_, record) in ring.read().unwrap().iter() {
        assert_eq!(written.get(&record.key.0), Some(&record), "{what}: never written");
    }
    for record in safe {
        assert_eq!(ring.read().unwrap().get(record.key).as_ref(), Some(record), "{what}: lost");
    }
    let one_more = bare(u64::MAX);
    append(&mut file, &ring, &one_more).unwrap();
    let (_, reopened) = open(&disk).unwrap();
    assert_eq!(reopened.read().unwrap().get(one_more.key), Some(one_more), "{what}: no way on");
    let kept = safe.iter().filter(|record| reopened.read().unwrap().get(record.key).is_some()).count();
    assert!(kept + 1 >= safe.len(), "{what}: going on lost more than the oldest");
}

/// Replays the events of one file into `content`.
fn replay(content: &mut Vec<u8>, file: usize, events: &[Event]) {
    for event in events {
        if let Event::Write { file: written, offset, bytes } = event
            && *written == file
        {
            write_into(content, *offset, bytes);
        }
    }
}

#[test]
fn a_kill_at_any_moment_of_the_making_leaves_a_file_or_none() {
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let events = disk.events();
    let file = disk.number(path());
    let zeros = 4_198_400usize.div_ceil(1 << 16);
    let writes: Vec<bool> = events.iter().map(|event| matches!(event, Event::Write { .. })).collect();
    let expected = [&vec![true; zeros], &[false, true, false][..]].concat();
    assert_eq!(writes, expected, "zeros, a sync, the header, a sync");
    // The zeros are written piece by piece: the first two and the last say it for all.
    for end in (0..=events.len()).filter(|end| !(2..zeros - 1).contains(end)) {
        let mut image = Vec::new();
        replay(&mut image, file, &events[..end]);
        if let Some(Event::Write { offset, bytes, .. }) = events.get(end) {
            let prefixes: Vec<usize> = if bytes.len() > 64 {
                vec![1, 64, 4096, bytes.len() - 1]
            } else {
                (1..bytes.len()).collect()
            };
            for prefix in prefixes {
                let mut torn = image.clone();
                write_into(&mut torn, *offset, &bytes[..prefix]);
                check(torn, &[], &HashMap::new(), &format!("event {end}, {prefix} bytes"));
            }
        }
        check(image, &[], &HashMap::new(), &format!("before event {end}"));
    }
}

#[test]
fn a_loss_of_power_while_the_header_is_written_leaves_a_file_or_an_unfinished_one() {
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let whole = disk.content(path()).unwrap();
    let mut random = Random(7);
    for round in 0..200 {
        let mut torn = whole.clone();
        for byte in &mut torn[..64] {
            // Some bytes old, which is zero, some new; few, half or most of them.
            if random.below(100) < [5, 50, 95][round % 3] {
                *byte = 0;
            }
        }
        check(torn, &[], &HashMap::new(), &format!("round {round}"));
    }
}

/// A scenario: what was on the disk before, what happened, and after how many events which record was reported
/// as written or as synced.
struct Scenario {
    before: Vec<u8>,
    events: Vec<Event>,
    file: usize,
    written: Vec<(usize, Record)>,
    synced: Vec<(usize, usize)>,
    crash_from: usize,
    all: HashMap<u64, Record>,
}

/// Appends `count` records to a file that already had `earlier`, with a sync now and then. If `quiet` appends
/// come before them, in which no crash is tried, there is no sync but those that appending makes itself.
fn scenario(
    earlier: impl Fn(&mut LearnFile, &RwLock<Ring>) -> Vec<Record>,
    quiet: u64,
    count: u64,
) -> Scenario {
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let (mut file, ring) = open(&disk).unwrap();
    let older = earlier(&mut file, &ring);
    file.sync(&ring).unwrap();
    scenario_after(disk, &older, quiet, count)
}

/// The same on a disk with a file that holds records of `older`, and nothing else.
fn scenario_after(disk: SimDisk, older: &[Record], quiet: u64, count: u64) -> Scenario {
    let (mut file, ring) = open(&disk).unwrap();
    let before = disk.content(path()).unwrap();
    let begin = disk.event_count();
    let mut scenario = Scenario {
        before,
        events: Vec::new(),
        file: disk.number(path()),
        written: Vec::new(),
        synced: vec![(0, 0)],
        crash_from: 0,
        all: older.iter().map(|record| (record.key.0, record.clone())).collect(),
    };
    for number in 0..quiet + count {
        if number == quiet {
            scenario.crash_from = disk.event_count() - begin;
        }
        let record = bare(7_000_000 + number);
        append(&mut file, &ring, &record).unwrap();
        scenario.all.insert(record.key.0, record.clone());
        scenario.written.push((disk.event_count() - begin, record));
        if quiet == 0 && number % 4 == 2 {
            file.sync(&ring).unwrap();
            scenario.synced.push((disk.event_count() - begin, scenario.written.len()));
        }
    }
    scenario.events = disk.events().split_off(begin);
    scenario
}

impl Scenario {
    /// Every prefix of every write, with everything before it: what a kill leaves.
    fn kill_everywhere(&self, kept: &[Record]) {
        let mut image = self.before.clone();
        replay(&mut image, self.file, &self.events[..self.crash_from]);
        for end in self.crash_from..=self.events.len() {
            let mut safe = kept.to_vec();
            safe.extend(self.written.iter().filter(|(at, _)| *at <= end).map(|(_, record)| record.clone()));
            check(image.clone(), &safe, &self.all, &format!("before event {end}"));
            let Some(Event::Write { offset, bytes, .. }) = self.events.get(end) else { continue };
            // Lap and checksum are at the end: their bytes are the interesting ones.
            let prefixes = if is_full() { (1..64).collect() } else { vec![1, 8, 55, 57, 59, 60, 61, 63] };
            for prefix in prefixes {
                let mut torn = image.clone();
                write_into(&mut torn, *offset, &bytes[..prefix]);
                check(torn, &safe, &self.all, &format!("event {end}, {prefix} bytes"));
            }
            write_into(&mut image, *offset, bytes);
        }
    }

    /// At every moment any of the writes since the last sync is lost, whole, or a mixture of old and new bytes.
    fn lose_power_everywhere(&self, kept: &[Record], rounds: usize) {
        let rounds = if is_full() { 20 * rounds } else { rounds };
        let mut random = Random(99);
        let mut durable = self.before.clone();
        let mut since_sync: Vec<(usize, Vec<u8>)> = Vec::new();
        for end in 0..=self.events.len() {
            let &(_, count) = self.synced.iter().rev().find(|(at, _)| *at <= end).unwrap();
            let mut safe = kept.to_vec();
            safe.extend(self.written[..count].iter().map(|(_, record)| record.clone()));
            for round in (0..rounds).filter(|_| end >= self.crash_from) {
                let mut image = durable.clone();
                for (offset, bytes) in &since_sync {
                    match (round + random.below(2)) % 4 {
                        0 => {}
                        1 => write_into(&mut image, *offset, bytes),
                        _ => {
                            for (at, byte) in bytes.iter().enumerate() {
                                if random.below(2) == 0 {
                                    image[offset + at] = *byte;
                                }
                            }
                        }
                    }
                }
                check(image, &safe, &self.all, &format!("power lost before event {end}, round {round}"));
            }
            match self.events.get(end) {
                Some(Event::Write { file, offset, bytes }) => {
                    assert_eq!(*file, self.file);
                    since_sync.push((*offset, bytes.clone()));
                }
                Some(Event::Sync { .. }) => {
                    for (offset, bytes) in since_sync.drain(..) {
                        write_into(&mut durable, offset, &bytes);
                    }
                }
                Some(Event::FailedSync { .. }) | None => {}
            }
        }
    }
}

/// Fills the ring with `count` records, of which those that `advice` names are advice.
fn fill(
    count: usize,
    advice: impl Fn(usize) -> bool,
) -> impl Fn(&mut LearnFile, &RwLock<Ring>) -> Vec<Record> {
    move |file, ring| {
        let mut records = Vec::new();
        let mut locked = file.lock(ring, AppendTime::Any).unwrap();
        for number in 0..count {
            let record = bare(number as u64);
            let record = if advice(number) { learn::as_advice(record) } else { record };
            locked.append(&record).unwrap();
            records.push(record);
        }
        records
    }
}

#[test]
fn a_kill_at_any_byte_of_an_append_loses_nothing_written() {
    scenario(fill(0, |_| false), 0, 12).kill_everywhere(&[]);
    // The same where the ring goes round: the oldest records give way.
    scenario(fill(CAPACITY + 20, |_| false), 0, 3).kill_everywhere(&[]);
}

#[test]
fn a_loss_of_power_loses_nothing_synced() {
    scenario(fill(0, |_| false), 0, 16).lose_power_everywhere(&[], 12);
    scenario(fill(CAPACITY - 4, |_| false), 0, 7).lose_power_everywhere(&[], 4);
}

#[test]
fn advice_is_whole_at_every_moment_of_being_moved() {
    let block = BLOCK as usize;
    // Advice at the beginning of the second block, from the first lap.
    let is_advice = move |number: usize| (block..block + 10).contains(&number) && number % 2 == 1;
    let kept: Vec<Record> = (0..CAPACITY)
        .filter(|&number| is_advice(number))
        .map(|number| learn::as_advice(bare(number as u64)))
        .collect();
    assert_eq!(kept.len(), 5);
    // The ring goes round and enters the first block: the advice of the second is copied.
    let copying = scenario(fill(CAPACITY - 1, is_advice), 0, 3);
    assert_eq!(copying.events.len(), 3 + kept.len() + 1, "five copies, one sync");
    copying.kill_everywhere(&kept);
    copying.lose_power_everywhere(&kept, 4);
    // It enters the second block and overwrites the originals; nothing has been synced since long before the
    // copies were made, but for what appending itself does.
    let overwriting = scenario(fill(CAPACITY - 1, is_advice), BLOCK - 6, 20);
    let first = overwriting.crash_from;
    let syncs = overwriting.events[first..].iter().filter(|event| matches!(event, Event::Sync { .. }));
    assert_eq!(syncs.count(), 1, "one before the originals are overwritten");
    overwriting.lose_power_everywhere(&kept, 3);
}

#[test]
fn advice_whose_copies_were_lost_is_copied_and_synced_in_time() {
    // A loss of power has kept the last record but two of a block, and lost the copies of the advice after it.
    let block = BLOCK as usize;
    let is_advice = |number: usize| (block..block + 8).contains(&number);
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let (mut file, ring) = open(&disk).unwrap();
    let mut older = fill(CAPACITY, is_advice)(&mut file, &ring);
    let kept: Vec<Record> = older[block..block + 8].to_vec();
    let last = bare(u64::MAX - 1);
    while ring.read().unwrap().sequence() % BLOCK != BLOCK - 3 {
        append(&mut file, &ring, &last).unwrap();
    }
    older.push(last);
    let mut image = disk.content(path()).unwrap();
    // All of the first block but that record.
    image[4096..4096 + (block - 3) * 64].fill(0);
    let disk = SimDisk::with(path(), image);
    let overwriting = scenario_after(disk, &older, 0, 3);
    overwriting.lose_power_everywhere(&kept, 12);
}

#[test]
fn advice_outlives_a_failed_sync_of_its_copies() {
    let block = BLOCK as usize;
    let is_advice = move |number: usize| (block..block + 10).contains(&number) && number % 2 == 1;
    for lost in [LostPages::AsWritten, LostPages::AsOnDisk] {
        let disk = SimDisk::default();
        create(&disk, path()).unwrap();
        let (mut file, ring) = open(&disk).unwrap();
        let older = fill(CAPACITY - 1, is_advice)(&mut file, &ring);
        file.sync(&ring).unwrap();
        disk.lose_pages(lost);
        disk.fail_syncs(true);
        let mut written = Vec::new();
        let mut refused = 0;
        while written.len() < block + 10 {
            let record = bare(7_000_000 + written.len() as u64);
            match append(&mut file, &ring, &record) {
                Ok(_) => written.push(record),
                Err(_) => {
                    refused += 1;
                    disk.fail_syncs(false);
                }
            }
        }
        assert_eq!(refused, 1, "the originals are overwritten only after a sync");
        file.sync(&ring).unwrap();
        let kept: Vec<Record> =
            older.iter().filter(|record| record.is_advice()).chain(&written).cloned().collect();
        assert_eq!(kept.len(), 5 + block + 10);
        let all = older.into_iter().chain(written).map(|record| (record.key.0, record)).collect();
        check(disk.durable(path()), &kept, &all, &format!("{lost:?}"));
    }
}

#[test]
fn a_record_whose_place_another_process_took_after_a_failed_sync_is_appended_again() {
    // Also if any operation of the next sync fails.
    for count in 0.. {
        let disk = SimDisk::default();
        create(&disk, path()).unwrap();
        let (mut file, ring) = open(&disk).unwrap();
        let (mut other, other_ring) = open(&disk).unwrap();
        disk.lose_pages(LostPages::AsOnDisk);
        disk.fail_syncs(true);
        append(&mut file, &ring, &bare(1)).unwrap();
        append(&mut file, &ring, &bare(2)).unwrap();
        assert!(file.sync(&ring).is_err());
        disk.fail_syncs(false);
        append(&mut other, &other_ring, &bare(3)).unwrap();
        other.sync(&other_ring).unwrap();
        disk.fail_after(count);
        while file.sync(&ring).is_err() {}
        let records = [1, 2, 3].map(bare);
        for record in &records {
            assert_eq!(ring.read().unwrap().get(record.key).as_ref(), Some(record), "known here");
        }
        let all = records.iter().map(|record| (record.key.0, record.clone())).collect();
        check(disk.durable(path()), &records, &all, &format!("operation {count} failed"));
        if !disk.has_failed() {
            break;
        }
    }
}

#[test]
fn what_is_written_again_after_a_failed_sync_replaces_nothing_later() {
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let (mut file, ring) = open(&disk).unwrap();
    let (mut other, other_ring) = open(&disk).unwrap();
    append(&mut file, &ring, &bare(2)).unwrap();
    file.sync(&ring).unwrap();
    let later = |record: Record| Record { time: record.time + 1, ..record };
    disk.lose_pages(LostPages::AsOnDisk);
    disk.fail_syncs(true);
    for record in [bare(1), later(bare(1)), later(bare(2))] {
        append(&mut file, &ring, &record).unwrap();
    }
    assert!(file.sync(&ring).is_err());
    disk.fail_syncs(false);
    let tombstone = later(bare(2)).tombstone(0);
    append(&mut other, &other_ring, &bare(3)).unwrap();
    append(&mut other, &other_ring, &tombstone).unwrap();
    file.sync(&ring).unwrap();
    let (_, durable) = open(&SimDisk::with(path(), disk.durable(path()))).unwrap();
    for ring in [ring, durable] {
        let ring = ring.into_inner().unwrap();
        let found = [1, 2, 3].map(|number| ring.get(bare(number).key));
        assert_eq!(found, [Some(later(bare(1))), None, Some(bare(3))]);
    }
}

#[test]
fn a_merge_syncs_what_is_known_already() {
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let (mut file, ring) = open(&disk).unwrap();
    // An import that is killed before its sync.
    append(&mut file, &ring, &bare(1)).unwrap();
    drop(file);
    let (mut file, ring) = open(&disk).unwrap();
    assert_eq!(file.merge(&ring, &[bare(1)]).unwrap().known, 1);
    let all = HashMap::from([(bare(1).key.0, bare(1))]);
    check(disk.durable(path()), &[bare(1)], &all, "after the merge");
}

#[test]
fn advice_that_fills_whole_blocks_is_kept() {
    let block = BLOCK as usize;
    let advice = |number: usize| (2 * block..5 * block).contains(&number);
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let (mut file, ring) = open(&disk).unwrap();
    fill(3 * CAPACITY, advice)(&mut file, &ring);
    let (_, reopened) = open(&disk).unwrap();
    let reopened = reopened.into_inner().unwrap();
    assert_eq!(reopened.advice_len(), 3 * block);
    for number in (0..CAPACITY).filter(|&number| advice(number)) {
        assert!(reopened.get(bare(number as u64).key).is_some(), "{number}");
    }
}

#[test]
fn any_operation_may_fail_and_nothing_written_is_lost() {
    let mut faults = 0;
    for count in 0.. {
        let disk = SimDisk::default();
        disk.fail_after(count);
        // An engine that meets the fault says so and goes on; what it could not write it tries again.
        let mut written = Vec::new();
        let engine = |written: &mut Vec<Record>| -> Result<(), FileError> {
            let (mut file, ring) = made(&disk)?;
            while written.len() < 6 {
                let record = bare(written.len() as u64);
                append(&mut file, &ring, &record)?;
                written.push(record);
                file.sync(&ring)?;
            }
            Ok(())
        };
        while engine(&mut written).is_err() {}
        let all = written.iter().map(|record| (record.key.0, record.clone())).collect();
        check(disk.content(path()).unwrap(), &written, &all, &format!("operation {count} failed"));
        if !disk.has_failed() {
            break;
        }
        faults += 1;
    }
    assert!(faults > 100, "only {faults} operations");
}

#[test]
fn what_is_synced_after_any_failed_operation_outlives_a_loss_of_power() {
    for lost in [LostPages::AsWritten, LostPages::AsOnDisk] {
        for count in 0.. {
            let disk = SimDisk::default();
            disk.lose_pages(lost);
            disk.fail_after(count);
            let (mut opened, mut written) = (None, Vec::new());
            let mut engine = || -> Result<(), FileError> {
                // One whose lock file could not be opened stays read-only.
                if opened.as_ref().is_none_or(|(file, _): &(LearnFile, _)| file.read_only().is_some()) {
                    opened = Some(made(&disk)?);
                }
                let (file, ring) = opened.as_mut().unwrap();
                while written.len() < 4 {
                    let record = bare(written.len() as u64);
                    append(file, ring, &record)?;
                    written.push(record);
                    file.sync(ring)?;
                }
                file.sync(ring)
            };
            while engine().is_err() {}
            let all = written.iter().map(|record| (record.key.0, record.clone())).collect();
            check(disk.durable(path()), &written, &all, &format!("operation {count} failed, {lost:?}"));
            if !disk.has_failed() {
                break;
            }
        }
    }
}

#[test]
fn a_store_lives_through_any_failing_operation() {
    let mut faults = 0;
    for count in 0.. {
        let disk = SimDisk::default();
        create(&disk, path()).unwrap();
        disk.fail_after(count);
        let Ok(store) = Store::open_on(Arc::new(disk.clone()), path(), Mode::Write) else {
            assert!(disk.has_failed());
            continue;
        };
        let was_opened = !disk.has_failed();
        let records: Vec<_> = (0..8).map(bare).collect();
        for record in &records {
            store.append(record.clone());
        }
        if store.is_read_only() {
            // The lock file could not be used: said, and nothing else happens.
            assert_eq!(store.take_messages().len(), 1);
            continue;
        }
        let begin = std::time::Instant::now();
        while !store.flush(TIMEOUT) {
            assert!(begin.elapsed() < TIMEOUT, "operation {count}");
        }
        drop(store);
        let all = records.iter().map(|record| (record.key.0, record.clone())).collect();
        check(disk.durable(path()), &records, &all, &format!("operation {count} failed"));
        if !disk.has_failed() {
            break;
        }
        faults += usize::from(was_opened);
    }
    assert!(faults > 20, "only {faults} operations of an open store");
}

#[test]
fn a_full_disk_is_told_once_and_the_file_made_when_there_is_room() {
    let disk = SimDisk::default();
    disk.limit_space(Some(1 << 20));
    let store = Store::open_on(Arc::new(disk.clone()), path(), Mode::Write).unwrap();
    for number in 0..5 {
        store.append(bare(number));
    }
    // The third attempt begins after what the second had to say.
    until("writes are refused", || disk.refused_writes() >= 3);
    let messages = store.take_messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].contains("cannot be created") && messages[0].contains(PATH), "{messages:?}");
    disk.limit_space(None);
    assert!(store.flush(TIMEOUT));
    assert_eq!(store.live().len(), 5);
}

#[test]
fn what_a_failed_sync_may_have_lost_is_written_again() {
    for lost in [LostPages::AsWritten, LostPages::AsOnDisk] {
        let disk = SimDisk::default();
        create(&disk, path()).unwrap();
        let store = Store::open_on(Arc::new(disk.clone()), path(), Mode::Write).unwrap();
        disk.lose_pages(lost);
        disk.fail_syncs(true);
        let records: Vec<_> = (0..3).map(bare).collect();
        for record in &records {
            store.append(record.clone());
        }
        assert!(!store.flush(TIMEOUT));
        assert_eq!(store.take_messages().len(), 1);
        let begin = disk.event_count();
        disk.fail_syncs(false);
        assert!(store.flush(TIMEOUT));
        let events = disk.events().split_off(begin);
        let again = events.iter().filter(|event| matches!(event, Event::Write { .. })).count();
        assert_eq!(again, 3, "the records are written again before the sync that counts");
        assert!(matches!(events.last(), Some(Event::Sync { .. })));
        let all = records.iter().map(|record| (record.key.0, record.clone())).collect();
        check(disk.durable(path()), &records, &all, &format!("{lost:?}"));
    }
}

#[test]
fn a_slow_sync_delays_no_append() {
    let disk = SimDisk::default();
    create(&disk, path()).unwrap();
    let store = Store::open_on(Arc::new(disk.clone()), path(), Mode::Write).unwrap();
    let synced = disk.syncs_begun();
    disk.hold_syncs(true);
    store.append(bare(0));
    until("a sync begins", || disk.syncs_begun() > synced);
    for number in 1..=100 {
        assert_eq!(store.append(bare(number)), engram::learn::Written::Now);
    }
    disk.hold_syncs(false);
    assert!(store.flush(TIMEOUT));
}
