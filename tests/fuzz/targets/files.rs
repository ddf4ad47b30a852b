//! Files with damage, and files made by somebody who knows the format and means harm: all checksums are right
//! there, and everything else may be wrong.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
    time::Instant,
};

use engram::{
    book::{self, Book, BookEntry, ENTRY_BYTES, EntryResult, LearnedBook},
    engine::Engine,
    eval,
    learn::{
        AppendTime, LearnFile, LearnedScore, Mode, Origin, Record, Ring,
        disk::Disk,
        exchange,
        header::Header,
        policy,
        reachability::Signature,
        record::{self, Bytes},
    },
    position::{PathHash, Position},
    search::Limits,
    tt::{self, PathCheck, ScoreWindow, Table, file::HashFile, file::HashOrigin as Writer, file::Map},
    types::{Depth, MAX_PLY, PackedMove, Ply, PositionKey, Score},
};
use tempfile::TempDir;

use crate::sim_disk::SimDisk;

thread_local! {
    static FOLDER: TempDir =
        tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    static ENGINE: RefCell<Engine> = RefCell::new({
        let mut engine = Engine::new(Arc::new(|_| {}));
        engine.set_hash(1).expect("a megabyte");
        engine
    });
}

/// `content` in a file of its own.
fn file(name: &str, content: &[u8]) -> PathBuf {
    let path = FOLDER.with(|folder| folder.path().join(name));
    fs::write(&path, content).expect("room for a file");
    path
}

/// A short search of the start position and of another one.
fn search(engine: &mut Engine, other: Option<&Position>) {
    for position in [Some(&Position::default()), other].into_iter().flatten() {
        engine.set_position(position.clone(), &[]).expect("no moves");
        engine.go(Limits { nodes: Some(100), infinite: false, ..Limits::default() }, Instant::now());
        engine.wait();
    }
}

// ---- Learning files: a byte that says how, then the file itself, or records of 2 + 56 bytes.

/// The bytes are the file.
const RAW: u8 = 1;
/// The file gets another record.
const APPEND: u8 = 2;
/// An engine plays with it.
const PLAY: u8 = 4;
const FILE_ID: u64 = 5;
const PAYLOAD: usize = 56;
/// Slots of a made-up file. Behind its end everything is empty.
const SLOTS: usize = 64;
const SLOTS_AT: usize = 4096;

/// An input: how the bytes are to be taken, and the bytes.
fn input(how: u8, bytes: &[u8]) -> Vec<u8> {
    [&[how], bytes].concat()
}

/// The start position and those a move after it.
fn positions() -> Vec<Position> {
    let start = Position::default();
    let children = start.legal_moves();
    std::iter::once(start.clone()).chain(children.iter().map(|&m| start.play(m))).collect()
}

fn a_record(position: &Position, number: i32) -> Record {
    let mut record =
        Record::new(position, Origin::ALL[number as usize % Origin::ALL.len()].0).expect("it fits");
    record.best = PackedMove::pack(position.legal_moves()[0]);
    record.lower = LearnedScore::from_centipawns(number * 10 - 50);
    record.upper = LearnedScore::from_centipawns(number * 10);
    record.depth = 8 + number as u8;
    record.time = 1_766_000_000;
    record
}

pub fn learn_seeds() -> Vec<Vec<u8>> {
    let mut sealed = Vec::new();
    let mut raw = Header { file_id: FILE_ID, created: 6 }.encode().to_vec();
    raw.resize(SLOTS_AT, 0);
    for (number, position) in positions().iter().take(8).enumerate() {
        let record = a_record(position, number as i32);
        sealed.extend_from_slice(&[number as u8, 0]);
        sealed.extend_from_slice(&record.payload()[..PAYLOAD]);
        raw.extend_from_slice(&record::encode(&record, FILE_ID, 65_536 + number as u64));
    }
    vec![
        input(0, &sealed),
        input(APPEND, &sealed),
        input(PLAY, &sealed),
        input(RAW, &raw),
        input(RAW | APPEND, &raw[..SLOTS_AT + 64]),
        input(RAW, &[0; 300]),
        input(PLAY, &sealed[..2 * (2 + PAYLOAD)]),
    ]
}

fn learning_file(bytes: &[u8]) -> Vec<u8> {
    let mut content = Header { file_id: FILE_ID, created: 6 }.encode().to_vec();
    content.resize(SLOTS_AT + 64 * SLOTS, 0);
    for part in bytes.chunks_exact(2 + PAYLOAD) {
        let mut payload: Bytes = [0; 64];
        payload[..PAYLOAD].copy_from_slice(&part[2..]);
        let slot = usize::from(part[0]) % SLOTS;
        // The last laps as well, which end the file's life.
        let lap = if part[1] == 0xFF { u32::MAX } else { 1 + u32::from(part[1]) % 4 };
        let sealed = record::seal(payload, FILE_ID, u64::from(lap) << 16 | slot as u64);
        content[SLOTS_AT + 64 * slot..][..64].copy_from_slice(&sealed);
    }
    content
}

fn everything(ring: &Ring) -> Vec<(u64, Record)> {
    ring.iter().collect()
}

pub fn run_learn(bytes: &[u8]) {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let content = if how & RAW != 0 { bytes.to_vec() } else { learning_file(bytes) };
    let path = Path::new("/disk/x");
    let disk = SimDisk::with(path, content.clone());
    let shared: Arc<dyn Disk> = Arc::new(disk.clone());
    let open = || LearnFile::open_on(Arc::clone(&shared), path, Mode::Write);
    let Ok((mut file, ring, _)) = open() else {
        assert!(disk.content(path).as_ref() == Some(&content), "a refused file was changed");
        return;
    };
    let mut other = None;
    for (_, record) in ring.iter() {
        let _ = Signature::of_packed(&record.setup);
        if let Ok(line) = exchange::line(&record) {
            let read = exchange::parse_line(&line, 1, 2).expect("what was written can be read");
            assert_eq!(read.as_ref(), Some(&record).filter(|record| record.is_live()), "{line}");
        }
        other = other.or(record.position().ok());
    }
    if how & APPEND != 0 {
        let ring = RwLock::new(ring);
        let new = a_record(&positions()[10], 3);
        let appended = match file.lock(&ring, AppendTime::Any) {
            Ok(mut locked) => locked.append(&new).is_ok(),
            Err(_) => false,
        };
        drop(file);
        let (_, again, _) = open().expect("still a file");
        let ring = ring.into_inner().expect("no panic");
        assert_eq!(everything(&again), everything(&ring));
        assert!(!appended || again.get(new.key).as_ref() == Some(&new));
    }
    if how & PLAY != 0 {
        play_with(&self::file("learn.bin", &content), other.as_ref());
    }
}

fn play_with(path: &Path, other: Option<&Position>) {
    ENGINE.with_borrow_mut(|engine| {
        engine.set_learning(|learning| {
            learning.rules.mode = policy::LearningMode::All;
            learning.rules.min_depth = Depth(1);
            learning.file = Some(path.to_owned());
        });
        engine.prepare_learning();
        search(engine, other);
        engine.set_learning(|learning| {
            learning.rules.mode = policy::LearningMode::Off;
            learning.file = None;
        });
    });
    let _ = fs::remove_file(path.with_extension("bin.lock"));
}

// ---- Hash files: a byte that says how, then the file, or entries of 1 + 24 bytes.

const CELL: usize = 32;
const CLUSTERS: u64 = 8;

/// A header with its checksum, as `tt/file/header.rs` draws it.
fn hash_header(evaluation: u16, mode: &str, clusters: u64) -> Vec<u8> {
    let mut bytes = vec![0; SLOTS_AT];
    bytes[..8].copy_from_slice(b"\x89EGHASH\n");
    for (at, value) in [(8, 1), (10, CELL as u16), (12, 4), (14, evaluation), (16, 1)] {
        bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }
    bytes[40..48].copy_from_slice(&clusters.to_le_bytes());
    bytes[48..48 + mode.len()].copy_from_slice(mode.as_bytes());
    let checksum = crc32fast::hash(&bytes[..60]);
    bytes[60..64].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// As `tt/file/cell.rs` has it.
fn cell_checksum(words: [u64; 3]) -> u64 {
    words.into_iter().fold(0x0452_821E_638D_0137, |sum: u64, word| {
        let product = (sum ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        product ^ product >> 32
    })
}

fn hash_file(bytes: &[u8]) -> Vec<u8> {
    let mut content = hash_header(eval::fingerprint(), PathHash::default().name(), CLUSTERS);
    content.resize(SLOTS_AT + CLUSTERS as usize * 4 * CELL, 0);
    for part in bytes.chunks_exact(1 + 24) {
        let words = [1, 9, 17].map(|at| {
            let mut word = [0; 8];
            word.copy_from_slice(&part[at..at + 8]);
            u64::from_le_bytes(word)
        });
        let cluster = ((u128::from(words[0]) * u128::from(CLUSTERS)) >> 64) as usize;
        let at = SLOTS_AT + (cluster * 4 + usize::from(part[0]) % 4) * CELL;
        for (number, word) in words.into_iter().chain([cell_checksum(words)]).enumerate() {
            content[at + 8 * number..][..8].copy_from_slice(&word.to_le_bytes());
        }
    }
    content
}

/// What an engine would write about `position`.
fn known(position: &Position) -> tt::NodeResult {
    let mut path = engram::position::PositionPath::new(position);
    path.begin_search(PathHash::default());
    tt::NodeResult {
        best: PackedMove::pack(position.legal_moves()[3]),
        raw_eval: Some(Score(12)),
        window: ScoreWindow::exactly(Score(20)),
        depth: Depth(9),
        was_pv: true,
        path: PathCheck::new(&path, Depth(9)),
        ply: Ply(0),
    }
}

fn writer() -> Writer {
    Writer { evaluation: eval::fingerprint(), path_mode: PathHash::default(), fifty_rule: true }
}

pub fn hash_seeds() -> Vec<Vec<u8>> {
    let path = file("seed.hash", &hash_file(&[]));
    let (hash_file, _) = HashFile::open_or_create(&path, 1, writer()).expect("a hash file");
    for position in &positions() {
        let known = known(position);
        hash_file.keep_root(position.key(), &known, &[known.best; 3]);
        hash_file.keep(position.key(), &known);
    }
    hash_file.flush_queue();
    drop(hash_file);
    let raw = fs::read(&path).expect("the file");
    let mut sealed = vec![0];
    for (number, cell) in
        raw[SLOTS_AT..].chunks_exact(CELL).enumerate().filter(|(_, cell)| cell[..8] != [0; 8])
    {
        sealed.push(number as u8);
        sealed.extend_from_slice(&cell[..24]);
    }
    assert!(
        self::hash_file(&sealed[1..])[SLOTS_AT..] == raw[SLOTS_AT..],
        "the checksums are not those of the engine"
    );
    let play = input(PLAY, &sealed[1..]);
    vec![sealed, play, input(RAW, &raw), input(RAW, &raw[..SLOTS_AT + CELL]), input(RAW, b"\x89EGHASH\n")]
}

pub fn run_hash(bytes: &[u8]) {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let content = if how & RAW != 0 { bytes.to_vec() } else { hash_file(bytes) };
    let path = file("x.hash", &content);
    if let Ok(map) = Map::look(&path) {
        let survey = map.survey();
        assert_eq!(survey.places, survey.empty + survey.entries + survey.damaged);
        let copy = path.with_extension("copy");
        let _ = fs::remove_file(&copy);
        if let Ok(copied) = map.copy(&copy, Some(1)) {
            // Two of one position and kind become one.
            assert!(copied <= survey.entries);
            let again = Map::look(&copy).expect("a copy").survey();
            assert_eq!((again.entries, again.damaged), (copied, 0));
        }
    }
    assert!(fs::read(&path).expect("the file") == content, "looking at a file changed it");
    if content.is_empty() {
        // An empty file is a place for a new one.
        return;
    }
    let Ok((open, _)) = HashFile::open_or_create(&path, 1, writer()) else {
        assert!(fs::read(&path).expect("the file") == content, "a refused file was changed");
        return;
    };
    let table = Table::new(1).expect("a megabyte");
    let mut game = engram::position::PositionPath::new(&Position::default());
    game.begin_search(PathHash::default());
    let keys = content[SLOTS_AT.min(content.len())..].chunks_exact(8).step_by(4).map(|word| {
        let mut key = [0; 8];
        key.copy_from_slice(word);
        PositionKey(u64::from_le_bytes(key))
    });
    for key in keys.take(64) {
        let root = open.find_root(key, &game, Ply(3)).map(|found| found.hit);
        for hit in [root, open.probe_into(&table, key, None)].into_iter().flatten() {
            assert!(hit.raw_eval.is_none_or(|score| score == score.clamp_evaluation()));
            let _ = hit.window(&game, Ply(3));
            let _ = Position::default().unpack(hit.best);
        }
        let record = known(&Position::default());
        open.keep(key, &record);
        open.keep_root(key, &record, &[record.best; 3]);
        let kept = open.find_root(key, &game, Ply(0)).expect("what was kept");
        assert!(kept.hit.depth >= record.depth && kept.line.len() <= MAX_PLY + 1, "{key:?}");
    }
    open.flush_queue();
    drop(open);
    if how & PLAY != 0 {
        ENGINE.with_borrow_mut(|engine| {
            engine.set_hash_file(Some(path.clone()));
            engine.open_hash_file();
            search(engine, Some(&positions()[3]));
            engine.set_hash_file(None);
            engine.open_hash_file();
        });
    }
    let _ = tt::file::resize(&path, 1);
}

// ---- Books: a byte that says how, then the file; sorted by key if it is not raw.

pub fn book_seeds() -> Vec<Vec<u8>> {
    let entries: Vec<BookEntry> = Book::own().entries().collect();
    let of =
        |entries: &[BookEntry]| -> Vec<u8> { entries.iter().flat_map(|entry| entry.to_bytes()).collect() };
    let (first, of_start) = Book::own().find(Position::default().key());
    vec![
        input(0, &of(&entries[..entries.len().min(40)])),
        input(RAW, &of(&entries[first..first + of_start.len()])),
        input(0, &of(&of_start)),
        input(RAW, &of(&entries[..entries.len().min(600)])),
    ]
}

pub fn run_book(bytes: &[u8]) {
    let Some((&how, bytes)) = bytes.split_first() else { return };
    let mut content = bytes.to_vec();
    if how & RAW == 0 {
        let start = Position::default().key().0.to_be_bytes();
        let (entries, _) = content.as_chunks_mut::<ENTRY_BYTES>();
        // Odd numbers of entries all belong to the start position.
        let stacked = entries.len() % 2 == 1;
        entries.iter_mut().filter(|_| stacked).for_each(|entry| entry[..8].copy_from_slice(&start));
        entries.sort_unstable_by_key(|entry| u64::from_be_bytes(entry[..8].try_into().expect("eight bytes")));
    }
    let path = file("x.bin", &content);
    let Ok(book) = Book::open(&path) else { return };
    let sound = book.check(&path).is_ok();
    let copy = path.with_extension("learned");
    fs::write(&copy, &content[..content.len() / 2]).expect("room for a file");
    for position in &positions() {
        let moves = book.moves(position);
        let legal = position.legal_moves();
        assert!(moves.iter().all(|found| legal.contains(&found.book_move)));
        let learned = LearnedBook::at(&copy);
        if let Some(last) = moves.last() {
            let before = learned.experience(&book, &moves);
            let entry = book.get(last.index).expect("the entry of a move");
            let result = EntryResult { key: entry.key, raw: entry.raw, half_points: 2 };
            learned.record(&book, &[result]).expect("room for a copy");
            let after = learned.experience(&book, &moves);
            assert!(after.len() == moves.len() && (before.len() == moves.len() || before.is_empty()));
        }
        let experience = learned.experience(&book, &moves);
        for (best_move, random) in [(true, 0), (false, 0), (false, u64::MAX)] {
            let chosen = book::choose(&moves, &experience, best_move, random);
            assert!(chosen.is_some() || moves.iter().all(|m| m.weight == 0));
            assert!(chosen.is_none_or(|chosen| chosen.weight > 0));
        }
    }
    let merged = book::merge(&[book]);
    assert!(!sound || merged.is_sorted_by_key(|entry| entry.key));
    assert_eq!(book::to_bytes(&merged).len(), merged.len() * ENTRY_BYTES);
    assert!(fs::read(&path).expect("the book") == content, "a book was changed");
}
