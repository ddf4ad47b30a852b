//! The binary is killed at random moments during games that it learns from. Whatever it had learned when it
//! announced a move is in the file, and nothing in the file is wrong.
//!
//! `ENGRAM_FULL=1` plays 200 games.

use std::{collections::HashSet, path::Path, thread, time::Duration};

use engram::{
    learn::{LearnFile, Mode, Report, Ring},
    position::Position,
    types::PositionKey,
};
use shakmaty::CastlingMode;

use crate::common::{Engine, home, is_full, learn::lose, learn_file, random::Random, until};

fn start(path: &Path) -> Engine {
    let mut engine = Engine::with(&[
        &format!("LearnFile value {}", path.display()),
        "Learning value all",
        "LearnMinDepth value 2",
        "Hash value 1",
    ]);
    // What is learned before the file is open has to wait for it.
    engine.search_until_told("learning all");
    engine
}

fn read(path: &Path) -> (Ring, Report) {
    let (_, ring, report) = LearnFile::open(path, Mode::Read).expect("it opens");
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
    let games = if is_full() { 200 } else { 24 };
    let (_folder, path) = learn_file();
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

/// Records of a game that was lost, and other files that are left.
fn lessons(path: &Path) -> usize {
    read(path).0.iter().filter(|(_, record)| record.flags.confirmed).count()
}

fn logs(path: &Path) -> usize {
    let folder = std::fs::read_dir(path.parent().expect("a folder")).expect("readable");
    folder.flatten().filter(|entry| entry.file_name().to_string_lossy().contains(".game-")).count()
}

/// An engine that learns in the file at `path` and has said `said`.
fn playing(path: &Path, said: &str) -> Engine {
    let mut engine = Engine::with(&[&format!("LearnFile value {}", path.display())]);
    engine.search_until_told(said);
    engine
}

#[test]
fn a_game_that_is_over_leaves_no_log() {
    let (_folder, path) = learn_file();
    let mut engine = playing(&path, "learning drop");
    lose(&mut engine);
    assert_eq!(logs(&path), 1);
    engine.send("ucinewgame");
    engine.sync();
    // No search follows, in which the game would be counted again if the process were killed.
    until("the log is gone", || logs(&path) == 0);
    assert!(lessons(&path) > 0);
    engine.quit();
}

#[test]
fn a_game_that_is_over_is_kept_once_whenever_its_engine_is_killed() {
    let (_folder, path) = learn_file();
    let mut engine = playing(&path, "learning drop");
    lose(&mut engine);
    engine.send("ucinewgame");
    until("the records of the game are written", || lessons(&path) > 0);
    engine.sync();
    engine.kill();
    let next = playing(&path, "learning drop");
    next.quit();
    let games = std::fs::read_to_string(engram::learn::kept_games::path(&path)).expect("games");
    assert_eq!((games.matches("[Event ").count(), logs(&path)), (1, 0), "{games}");
}

#[test]
fn an_orderly_end_loses_nothing_that_a_kill_keeps() {
    let mut kept = Vec::new();
    for end in ["SIGKILL", "ucinewgame", "quit"] {
        let (_folder, path) = learn_file();
        start(&path).quit();
        let mut engine = playing(&path, "learning drop");
        // Another process holds the lock from now on.
        let lock = std::fs::File::options()
            .write(true)
            .open(path.with_file_name("learn.bin.lock"))
            .expect("a lock file");
        lock.lock().expect("a lock");
        engine.send("ucinewgame");
        lose(&mut engine);
        match end {
            "quit" => engine.quit(),
            "ucinewgame" => {
                engine.send("ucinewgame");
                engine.sync();
                drop(engine.kill());
            }
            _ => drop(engine.kill()),
        }
        assert_eq!((lessons(&path), logs(&path)), (0, 1), "{end}");
        lock.unlock().expect("unlocked");
        let next = playing(&path, "from games whose engine was killed or could not write them");
        next.quit();
        assert_eq!(logs(&path), 0, "{end}: what is in the file needs no log");
        kept.push(lessons(&path));
    }
    assert!(kept[0] > 3 && kept.iter().all(|count| *count == kept[0]), "{kept:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_made_loses_no_game() {
    let (_folder, path) = learn_file();
    // Files may be too small for a learning file.
    let mut engine = Engine::start_after("trap '' XFSZ; ulimit -f 512");
    engine.send("uci");
    engine.expect("uciok");
    engine.send(&format!("setoption name LearnFile value {}", path.display()));
    lose(&mut engine);
    engine.quit();
    assert_eq!(logs(&path), 1);
    let next = playing(&path, "from games whose engine was killed or could not write them");
    next.quit();
    assert!(lessons(&path) > 3 && logs(&path) == 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_cannot_be_written_is_said_once() {
    let (_folder, path) = learn_file();
    start(&path).quit();
    let mut engine = Engine::start_after("trap '' XFSZ; ulimit -f 0");
    engine.send("uci");
    engine.expect("uciok");
    engine.send(&format!("setoption name LearnFile value {}", path.display()));
    lose(&mut engine);
    let said = engine.seen.iter().filter(|line| line.contains("the log of the game cannot be written"));
    assert_eq!(said.count(), 1, "{:#?}", engine.seen);
    engine.send("quit");
}

#[test]
fn the_result_of_a_book_survives_the_kill_after_mate() {
    let folder = home();
    let file = folder.path().join("two.bin");
    let key = Position::default().key().0;
    let book = engram::book::to_bytes(&[engram::book::BookEntry { key, raw: 0o1434, weight: 1, learn: 0 }]);
    std::fs::write(&file, book).expect("written");
    let engine = |folder: &tempfile::TempDir| {
        let mut engine = Engine::start_at(folder);
        for option in
            ["OwnBook value true", "Learning value off", &format!("BookFile value {}", file.display())]
        {
            engine.send(&format!("setoption name {option}"));
        }
        engine.send("ucinewgame");
        engine.send("position startpos");
        assert_eq!(engine.best("go depth 1").0, "e2e4");
        engine
    };
    // The engine mates; it has lost its queen for a pawn.
    let games = [
        &["e2e4 e7e5 d1h5 b8c6 f1c4 g8f6"][..],
        &["e2e4 e7e5 d1h5 b8c6 h5f7 e8f7", "e2e4 e7e5 d1h5 b8c6 h5f7 e8f7 g1f3 g8f6"],
    ];
    let home = home();
    for (number, lines) in games.into_iter().enumerate() {
        let mut playing = engine(&home);
        for moves in lines {
            playing.search(&format!("startpos moves {moves}"), "go depth 6");
        }
        drop(playing.kill());
        // The next engine with this book counts what is left.
        engine(&home).quit();
        let copy = std::fs::read_dir(home.path().join("engram/books")).expect("copies").flatten();
        let copy =
            copy.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "bin"));
        let learned = std::fs::read(copy.expect("a copy")).expect("readable");
        assert_eq!(learned[12..14], [0, number as u8 + 1], "games");
        assert_eq!(learned[14..16], [0, 2], "half points: a win, then a loss");
    }
}
