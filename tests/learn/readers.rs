//! Readers of the learning file beside a writer: they take no lock, so a read meets any moment of any write. A
//! model of that: what a writer wrote is played again, word by word in any order, while a reader's reads are
//! under way. What a reader believes must have been written, and once the writer rests it must know all.

use std::{
    collections::{HashSet, VecDeque},
    io,
    path::Path,
    sync::{Arc, Mutex, RwLock},
};

use engram::learn::{
    AppendTime, Flags, LearnFile, Record, Ring, create,
    disk::{Disk, DiskFile},
    record::CAPACITY,
};

use crate::common::{
    is_full,
    learn::{self, bare},
    random::Random,
    sim_disk::{Event, SimDisk, SimFile},
};

const PATH: &str = "/disk/engram.learn";
/// What memory hands over at once.
const WORD: usize = 8;
/// Within this many bytes of where the writer is, a reader meets its writes in the middle.
const NEAR: u64 = 1024;

/// Words of one write, and where they go.
type Words = Vec<(u64, Vec<u8>)>;

/// A writer that goes on while others read: the words of a write arrive in any order, but all of them before the
/// next write's.
struct Script {
    writes: VecDeque<Words>,
    random: Random,
}

impl Script {
    /// Where the writer is.
    fn place(&self) -> Option<u64> {
        self.writes.front().map(|words| words[0].0)
    }

    fn go_on(&mut self, file: &dyn DiskFile) {
        for _ in 0..self.random.below(13) {
            let Some(words) = self.writes.front_mut() else { return };
            let (offset, bytes) = words.swap_remove(self.random.below(words.len()));
            if words.is_empty() {
                self.writes.pop_front();
            }
            file.write_at(&bytes, offset).unwrap();
        }
    }
}

/// Reads as the script goes on.
fn read_beside(script: &mut Script, file: &SimFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut done = 0;
    while done < buffer.len() {
        // Word by word where the writer is, at once where it is not.
        let here = offset + done as u64;
        let left = buffer.len() - done;
        let piece = match script.place() {
            Some(place) if place > here + NEAR => left.min((place - NEAR - here) as usize),
            Some(place) if place + NEAR > here => left.min(WORD * (1 + script.random.below(12))),
            _ => left,
        };
        let read = file.read_now(&mut buffer[done..done + piece], here)?;
        done += read;
        script.go_on(file);
        if read < piece {
            break;
        }
    }
    Ok(done)
}

fn open(disk: impl Disk + 'static) -> (LearnFile, RwLock<Ring>) {
    learn::open_on(disk, Path::new(PATH))
}

fn known(ring: &RwLock<Ring>) -> Vec<(u64, Record)> {
    ring.read().unwrap().iter().collect()
}

/// Records of few keys, so that they replace each other; some are forgotten again.
fn any_record(random: &mut Random) -> Record {
    let record = bare(random.below(400) as u64);
    let flags = Flags { tombstone: random.below(8) == 0, ..record.flags };
    Record { flags, depth: 1 + random.below(40) as u8, ..record }
}

/// A file with `before` records, the writes of some hundred more, and what all of them say.
fn scene(before: usize, random: &mut Random) -> (Vec<u8>, VecDeque<Words>, HashSet<String>) {
    let disk = SimDisk::default();
    create(&disk, Path::new(PATH)).unwrap();
    let (mut file, ring) = open(disk.clone());
    let mut written = HashSet::new();
    let mut append = |count: usize, random: &mut Random| {
        let mut locked = file.lock(&ring, AppendTime::Any).unwrap();
        for _ in 0..count {
            let record = any_record(random);
            locked.append(&record).unwrap();
            written.insert(format!("{record:?}"));
        }
    };
    append(before, random);
    let (image, events) = (disk.content(Path::new(PATH)).unwrap(), disk.event_count());
    append(300, random);
    let writes = disk.events().split_off(events).into_iter().filter_map(|event| {
        let Event::Write { offset, bytes, .. } = event else { return None };
        let words = bytes.chunks(WORD).zip((offset as u64..).step_by(WORD));
        Some(words.map(|(word, offset)| (offset, word.to_vec())).collect())
    });
    (image, writes.collect(), written)
}

#[test]
fn a_reader_beside_a_writer_believes_nothing_unwritten_and_misses_nothing() {
    let mut random = Random(7);
    let rounds = if is_full() { 2_000 } else { 40 };
    for before in [0, 40, CAPACITY - 100, CAPACITY + 1_000] {
        let (image, writes, written) = scene(before, &mut random);
        for round in 0..rounds {
            let disk = SimDisk::with(Path::new(PATH), image.clone());
            let script = Script { writes: writes.clone(), random: Random(random.below(1 << 40) as u64) };
            let script = Arc::new(Mutex::new(script));
            let hook = Arc::clone(&script);
            disk.on_read(move |file, buffer, offset| {
                read_beside(&mut hook.lock().unwrap(), file, buffer, offset)
            });
            let (file, ring) = open(disk.clone());
            loop {
                for (sequence, record) in known(&ring) {
                    let it = format!("{record:?}");
                    assert!(written.contains(&it), "{before}, round {round}: {sequence} was never written");
                }
                let at_rest = script.lock().unwrap().writes.is_empty();
                file.read_forward(&ring).unwrap();
                if at_rest {
                    break;
                }
            }
            let (_, fresh) = open(disk);
            assert!(known(&ring) == known(&fresh), "{before}, round {round}: the reader missed something");
        }
    }
}
