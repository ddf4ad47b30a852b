//! The binary is killed at random moments during games that it learns from. Whatever it had learned when it
//! announced a move is in the file, and nothing in the file is wrong.
//!
//! `ENGRAM_FULL=1` plays 200 games.

mod common;
#[path = "common/learn.rs"]
mod learn;

use std::{collections::HashSet, path::Path, thread, time::Duration};

use common::{Engine, home};
use engram::{
    learn::{LearnFile, Mode, Report, Ring},
    position::Position,
    types::PositionKey,
};
use learn::Random;
use shakmaty::CastlingMode;

fn start(path: &Path) -> Engine {
    let mut engine = Engine::ready();
    engine.send(&format!("setoption name LearnFile value {}", path.display()));
    engine.send("setoption name Learning value all");
    engine.send("setoption name LearnMinDepth value 2");
    engine.send("setoption name Hash value 1");
    // What is learned before the file is open has to wait for it.
    engine.search_until_told("learning all");
    engine
}

fn read(path: &Path) -> (Ring, Report) {
    let (_, ring, report) = LearnFile::open(path, Mode::Read).expect("it opens").recover().expect("readable");
    (ring, report)
}

/// Plays random moves, has the engine search before each, and kills it at some moment. Gives back the roots
/// whose moves were announced.
fn game(path: &Path, random: &mut Random) -> Vec<PositionKey> {
    let mut engine = start(path);
    let mut announced = Vec::new();
    let mut seen = HashSet::new();
    let (mut position, mut moves) = (Position::default(), String::new());
    let searches = 1 + random.below(12);
    for number in 1..=searches {
        let legal = position.legal_moves();
        // A position that repeats one of the game teaches nothing.
        if legal.is_empty() || !seen.insert(position.repetition_key()) {
            break;
        }
        engine.send(&format!("position startpos moves{moves}"));
        if number == searches {
            engine.send(&format!("go depth {}", 2 + random.below(12)));
            thread::sleep(Duration::from_micros(random.below(20_000) as u64));
            if engine.kill().iter().any(|line| line.starts_with("bestmove ")) {
                announced.push(position.key());
            }
            return announced;
        }
        engine.best(&format!("go depth {}", 2 + random.below(3)));
        announced.push(position.key());
        let m = legal[random.below(legal.len())];
        moves += &format!(" {}", m.to_uci(CastlingMode::Standard));
        position = position.play(m);
    }
    // Right behind a move, before anything was synced.
    engine.kill();
    announced
}

#[test]
fn what_was_learned_before_a_move_was_announced_survives_the_kill() {
    let games = if std::env::var_os("ENGRAM_FULL").is_some() { 200 } else { 24 };
    let folder = home();
    let path = folder.path().join("learn.bin");
    // The first search makes the file.
    start(&path).quit();
    let mut random = Random(0x6b11);
    let mut learned: HashSet<PositionKey> = HashSet::new();
    for number in 1..=games {
        learned.extend(game(&path, &mut random));
        let (ring, report) = read(&path);
        for key in &learned {
            assert!(ring.get(*key).is_some(), "game {number}: {key:?} is missing; {report:?}");
        }
        for (_, record) in ring.iter() {
            record.position().unwrap_or_else(|error| panic!("game {number}: {error}"));
        }
    }
    println!("{} positions of {games} games", learned.len());
    assert!(learned.len() > games);
}
