//! What the tests of the learning file share: positions, and records of them.

use std::{
    path::Path,
    sync::{Arc, RwLock},
};

use engram::{
    learn::{
        AppendTime, FileError, LearnFile, LearnedScore, Mode, Origin, Record, Ring, create,
        disk::{Disk, SystemDisk},
    },
    position::Position,
    types::PackedMove,
};

use super::{Engine, random::Random};

/// White goes astray with the queen, and loses it with the third move.
pub const LOST_GAME: [&str; 10] =
    ["e2e4", "e7e5", "d1h5", "b8c6", "h5e5", "c6e5", "a2a3", "d7d5", "b2b3", "d5e4"];

/// The position after the first `plies` of that game, as `position` takes it.
pub fn lost_game(plies: usize) -> String {
    format!("startpos moves {}", LOST_GAME[..plies].join(" "))
}

/// An engine that learns in `path`, with these options.
pub fn engine(path: &Path, options: &[&str]) -> Engine {
    let file = format!("LearnFile value {}", path.display());
    let mut engine = Engine::with(&[&[file.as_str()], options].concat());
    let said = engine.sync();
    assert!(said.is_empty(), "{said:?}");
    engine
}

/// Plays that game: White loses, and the last two searches say so. With the classical evaluation, whose weights are
/// final: what is learned from the game does not change with the network.
pub fn lose(engine: &mut Engine) {
    engine.send("setoption name Evaluation value classical");
    for plies in (0..=LOST_GAME.len()).step_by(2) {
        engine.search(&lost_game(plies), "go depth 6");
    }
}

/// What a learning file holds; nothing while an engine still has to make it.
pub fn ring(path: &Path) -> Option<Ring> {
    match LearnFile::open(path, Mode::Read) {
        Err(FileError::Missing(_) | FileError::Unfinished(_)) => None,
        opened => Some(opened.expect("a learning file").1),
    }
}

/// Opens a learning file that is there, to write.
pub fn open_on(disk: impl Disk + 'static, path: &Path) -> (LearnFile, RwLock<Ring>) {
    let opened = LearnFile::open_on(Arc::new(disk), path, Mode::Write);
    let (file, ring, _) = opened.expect("a learning file");
    (file, RwLock::new(ring))
}

/// Makes a learning file with these records.
pub fn file_of(path: &Path, records: impl IntoIterator<Item = Record>) -> (LearnFile, RwLock<Ring>) {
    create(&SystemDisk, path).expect("a learning file");
    let (mut file, ring) = open_on(SystemDisk, path);
    let mut locked = file.lock(&ring, AppendTime::Any).expect("a free lock");
    for record in records {
        locked.append(&record).expect("written");
    }
    drop(locked);
    (file, ring)
}

/// The records of a learning file, oldest first; none while an engine still has to make it.
pub fn records(path: &Path) -> Vec<Record> {
    ring(path).iter().flat_map(Ring::iter).map(|(_, record)| record).collect()
}

/// `count` different positions from random games.
pub fn positions(count: usize, seed: u64) -> Vec<Position> {
    let mut random = Random(seed);
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::with_capacity(count);
    while found.len() < count {
        let mut position = Position::default();
        for _ in 0..200 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position = position.play(moves[random.below(moves.len())]);
            if found.len() < count && seen.insert(position.key()) {
                found.push(position.clone());
            }
        }
    }
    found
}

/// A record of `position` whose fields follow from `number`.
pub fn record(position: &Position, number: u32) -> Record {
    let mut record = Record::new(position, Origin::Drop).expect("the position fits");
    let moves = position.legal_moves();
    if !moves.is_empty() {
        record.best = PackedMove::pack(moves[number as usize % moves.len()]);
    }
    record.lower = LearnedScore::from_centipawns(number as i32 % 900 - 400);
    record.upper = LearnedScore::from_centipawns(number as i32 % 900 - 380);
    record.depth = 4 + (number % 20) as u8;
    record.since_root = (number % 3) as u8;
    record.log2_nodes = 15;
    record.evaluation_id = 1;
    record.session = 0xE46A_0000;
    record.time = 1_766_000_000 + number;
    record
}

/// A record of a made-up key, for tests in which no position is looked at. Its bytes follow from `number`.
pub fn bare(number: u64) -> Record {
    let mut record = record(&Position::default(), (number % 1_000_000) as u32);
    record.key = engram::types::PositionKey(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5555);
    record.setup[..8].copy_from_slice(&number.to_le_bytes());
    record
}

/// The record as advice, which has no search.
pub fn as_advice(record: Record) -> Record {
    Record { origin: Origin::Advice, since_root: 0, log2_nodes: 0, evaluation_id: 0, ..record }
}
