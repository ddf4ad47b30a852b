//! Many processes at one learning file. The processes are this test program itself, started again with a role
//! in its environment.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
    process::{Child, Command},
    sync::RwLock,
    thread,
    time::{Duration, Instant},
};

use engram::learn::{
    AppendTime, FileError, LearnFile, Mode, Record, Ring, Store, disk::SystemDisk, record::CAPACITY,
};

use crate::common::{
    TIMEOUT, is_full,
    learn::{self, bare},
    random::Random,
    seed, until,
};

const ROLE: &str = "ENGRAM_TEST_ROLE";
const FILE: &str = "ENGRAM_TEST_FILE";
const FIRST: &str = "ENGRAM_TEST_FIRST";
const COUNT: &str = "ENGRAM_TEST_COUNT";

/// Starts a process that runs [`a_process_of_the_other_tests`].
fn start(role: &str, path: &Path, first: u64, count: u64) -> Child {
    Command::new(std::env::current_exe().expect("this program has a path"))
        .args(["--exact", "processes::a_process_of_the_other_tests", "--nocapture"])
        .env(ROLE, role)
        .env(FILE, path)
        .env(FIRST, first.to_string())
        .env(COUNT, count.to_string())
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("this program can be started again")
}

fn ends_well(mut child: Child) {
    let status = child.wait().expect("a child");
    assert!(status.success(), "{status}");
}

/// Not a test by itself: what a process does that another test started.
#[test]
fn a_process_of_the_other_tests() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let number = |name| std::env::var(name).expect("given").parse::<u64>().expect("a number");
    let path = std::env::var_os(FILE).expect("given");
    let (path, first, count) = (Path::new(&path), number(FIRST), number(COUNT));
    match role.as_str() {
        "engine" => engine(path, first, count),
        "tool" => tool(path, first, count),
        "holder" => hold(path),
        other => panic!("{other}?"),
    }
}

/// Appends as an engine does, and notes each record that is written, in a file beside it.
fn engine(path: &Path, first: u64, count: u64) {
    use std::io::Write;
    let mut store = Store::open(path, Mode::Write).unwrap();
    let mut notes = fs::File::create(path.with_extension(first.to_string())).unwrap();
    for number in first..first + count {
        store.append(bare(number));
        let begin = Instant::now();
        while store.live().get(bare(number).key).is_none() {
            assert!(begin.elapsed() < TIMEOUT, "{:?}", store.take_messages());
            thread::sleep(Duration::from_micros(100));
        }
        // From here on it must never be missing.
        writeln!(notes, "{number}").unwrap();
        if number % 7 == 0 {
            store.read_forward();
        }
    }
    store.flush(TIMEOUT);
}

/// Appends as fast as it can.
fn tool(path: &Path, first: u64, count: u64) {
    let (mut file, ring) = open(path);
    let mut number = first;
    while number < first + count {
        let mut locked = match file.lock(&ring, AppendTime::Any) {
            Ok(locked) => locked,
            Err(FileError::Busy(_)) => {
                thread::yield_now();
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        for _ in 0..50.min(first + count - number) {
            locked.append(&bare(number)).unwrap();
            number += 1;
        }
    }
}

/// Takes the lock and holds it until it is killed.
fn hold(path: &Path) {
    let (mut file, ring) = open(path);
    let _locked = loop {
        match file.lock(&ring, AppendTime::Any) {
            Ok(locked) => break locked,
            Err(FileError::Busy(_)) => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    };
    fs::write(path.with_extension("held"), "").unwrap();
    thread::sleep(Duration::from_secs(600));
}

fn open(path: &Path) -> (LearnFile, RwLock<Ring>) {
    learn::open_on(SystemDisk, path)
}

/// The number that [`bare`] made a record from.
fn number(record: &Record) -> u64 {
    u64::from_le_bytes(record.setup[..8].try_into().unwrap())
}

/// Everything in the file, newest of each key, oldest first; each checked to be one that was written.
fn records(path: &Path) -> Vec<Record> {
    let (_, ring, report) = LearnFile::open(path, Mode::Read).unwrap();
    assert!(report.torn <= 1 && report.stale == 0, "{report:?}");
    ring.iter().map(|(_, record)| record).collect()
}

#[test]
fn sixteen_at_once_make_one_file() {
    for _ in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engram.learn");
        let engines: Vec<_> = (0..16).map(|number| start("engine", &path, number * 1000, 5)).collect();
        engines.into_iter().for_each(ends_well);
        let keys: HashSet<_> = records(&path).into_iter().map(|record| record.key).collect();
        let wanted: HashSet<_> =
            (0..16).flat_map(|first| (0..5).map(move |number| bare(first * 1000 + number).key)).collect();
        assert_eq!(keys, wanted);
    }
}

#[test]
fn eight_engines_and_kills_lose_nothing_written() {
    // 1,000 appends each, as often as the variable says in the heavier form.
    let rounds = if is_full() { 10 } else { 1 };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engram.learn");
    let mut random = Random(seed(11));
    let mut noted = HashMap::new();
    for round in 0..rounds {
        let mut engines: Vec<_> = (0..8)
            .map(|number| (number, start("engine", &path, (round * 8 + number) * 10_000, 1000)))
            .collect();
        // Half of them are killed at random moments.
        for (_, child) in engines.iter_mut().take(4) {
            thread::sleep(Duration::from_millis(random.below(150) as u64));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        for (number, child) in engines {
            if number >= 4 {
                ends_well(child);
            }
            let notes = path.with_extension(((round * 8 + number) * 10_000).to_string());
            // One that was killed early may not have come to its first note.
            let notes = fs::read_to_string(notes).unwrap_or_default();
            let lines: Vec<u64> = notes
                .split_inclusive('\n')
                .filter_map(|line| line.strip_suffix('\n')?.parse().ok())
                .collect();
            assert!(number < 4 || lines.len() == 1000);
            noted.extend(lines.into_iter().map(|number| (bare(number).key, number)));
        }
    }
    let records = records(&path);
    let mut last = HashMap::new();
    let keys: HashSet<_> = records.iter().map(|record| record.key).collect();
    assert_eq!(keys.len(), records.len(), "once each");
    for (key, number) in &noted {
        assert!(keys.contains(key), "record {number} is missing");
    }
    // Each engine's records lie in the order in which it wrote them.
    for record in &records {
        let number = number(record);
        assert_eq!(bare(number), *record, "a record that nobody wrote");
        if let Some(before) = last.insert(number / 10_000, number) {
            assert!(before < number, "{number} lies before {before}");
        }
    }
    println!("{} records, {} of them noted", records.len(), noted.len());
}

#[test]
fn a_reader_that_is_overtaken_never_sees_a_wrong_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engram.learn");
    assert!(Store::open(&path, Mode::Write).unwrap().flush(TIMEOUT));
    let count = 150_000;
    let mut reader = Store::open(&path, Mode::Read).unwrap();
    let mut writer = start("tool", &path, 0, count);
    let (mut overtaken, mut forward, mut next) = (0, 0, 0);
    loop {
        let ended = writer.try_wait().unwrap();
        let before = reader.live().sequence();
        reader.read_forward();
        let ring = reader.live();
        overtaken += usize::from(ring.sequence() - before > CAPACITY as u64);
        forward += usize::from(ring.sequence() > before);
        for (sequence, record) in ring.since(before) {
            // The only writer numbers its records as the ring does.
            let number = sequence - CAPACITY as u64;
            assert_eq!(record, bare(number));
            next = number + 1;
        }
        drop(ring);
        if let Some(status) = ended {
            assert!(status.success());
            if next == count {
                break;
            }
        }
        // Long enough for the writer to go round, now and then.
        if forward % 40 == 20 {
            forward += 1;
            thread::sleep(Duration::from_millis(300));
        }
    }
    assert_eq!(reader.live().len(), CAPACITY);
    println!("overtaken {overtaken} times, {forward} steps forward");
    // For certain, whatever the machine did: 70,000 at once.
    ends_well(start("tool", &path, count, 70_000));
    reader.read_forward();
    assert_eq!(reader.live().sequence(), CAPACITY as u64 + count + 70_000 - 1);
    for (sequence, record) in reader.live().iter() {
        assert_eq!(record, bare(sequence - CAPACITY as u64));
    }
}

#[test]
fn a_process_that_dies_with_the_lock_gives_it_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engram.learn");
    let store = Store::open(&path, Mode::Write).unwrap();
    assert!(store.flush(TIMEOUT));
    let mut holder = start("holder", &path, 0, 0);
    until("the lock is held", || path.with_extension("held").exists());
    store.append(bare(1));
    until("the holder is named", || {
        store.take_messages().iter().any(|message| message.contains("another process holds the lock"))
    });
    // Reading needs no lock.
    let mut reader = Store::open(&path, Mode::Read).unwrap();
    reader.read_forward();
    assert_eq!(reader.live().len(), 0);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert!(store.flush(TIMEOUT));
    reader.read_forward();
    assert_eq!(reader.live().len(), 1);
}

#[test]
fn advice_survives_engines_that_fight_over_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("engram.learn");
    assert!(Store::open(&path, Mode::Write).unwrap().flush(TIMEOUT));
    let advice = |number: u64| learn::as_advice(bare(5_000_000 + number));
    {
        let (mut file, ring) = open(&path);
        for number in 0..100 {
            file.advise(&ring, &advice(number)).unwrap();
        }
    }
    // Three of them go once around and a bit; the fourth has more to append than it lives for.
    let tools: Vec<_> = (1..4).map(|number| start("tool", &path, number * 1_000_000, 25_000)).collect();
    let mut killed = start("tool", &path, 0, 1_000_000);
    let mut reader = Store::open(&path, Mode::Read).unwrap();
    until("the tool has written", || {
        reader.read_forward();
        reader.live().iter().any(|(_, record)| (1_000..1_000_000).contains(&number(&record)))
    });
    killed.kill().unwrap();
    assert!(!killed.wait().unwrap().success(), "it was killed at work");
    tools.into_iter().for_each(ends_well);
    let (_, ring, _) = LearnFile::open(&path, Mode::Read).unwrap();
    for number in 0..100 {
        assert_eq!(ring.get(advice(number).key), Some(advice(number)));
    }
    assert_eq!(ring.advice_len(), 100);
}
