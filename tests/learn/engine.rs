//! The engine learns and uses what it learned: the real binary over pipes, with a learning file of its own in
//! each test.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    thread,
};

use engram::{
    learn::{Origin, Record},
    protocol::ScoreValue,
};
use shakmaty::{CastlingMode, Color, Position as _};
use tempfile::TempDir;

use crate::common::{
    self, Engine, home, info_strings, last_report, last_score,
    learn::{engine, records, ring},
    learn_file, position, reports, run, succeed, until,
};

/// An engine that learns in `path`.
fn learning(mode: &str, path: &Path) -> Engine {
    engine(path, &[&format!("Learning value {mode}")])
}

/// An engine that has opened a learning file of its own; the file, and its folder.
fn learner(mode: &str) -> (TempDir, PathBuf, Engine) {
    let (folder, path) = learn_file();
    let mut engine = learning(mode, &path);
    engine.search_until_told(&format!("learning {mode}"));
    (folder, path, engine)
}

/// Waits until the writer thread has written such a record.
fn written(path: &Path, wanted: impl Fn(&Record) -> bool) {
    until("such a record is written", || {
        ring(path).is_some_and(|ring| ring.iter().any(|(_, record)| wanted(&record)))
    });
}

/// `position` and `go`: the move, and what was said about learning.
fn search(engine: &mut Engine, position: &str, go: &str) -> (String, Vec<String>) {
    let (best, lines) = engine.search(position, go);
    (best, info_strings(&lines).into_iter().map(str::to_owned).collect())
}

#[test]
fn the_file_is_opened_by_the_first_search_and_only_changes_are_told_later() {
    let (_folder, path) = learn_file();
    let mut engine = learning("all", &path);
    engine.send("ucinewgame");
    engine.send("position startpos");
    engine.sync();
    assert!(!path.exists(), "nothing is opened before a search");
    let said = engine.search_until_told("learning");
    assert_eq!(said, format!("learning all: 0 records in {}", path.display()));
    search(&mut engine, "startpos", "go depth 6");
    assert_eq!(engine.search_until_told("learning"), "learning: 1 record now, 0 before");
    search(&mut engine, "startpos moves e2e4 e7e5", "go depth 3");
    let (_, said) = search(&mut engine, "startpos moves d2d4 d7d5", "go depth 3");
    assert!(said.is_empty(), "{said:?}");
    engine.quit();
    let known = records(&path);
    assert_eq!(known.len(), 1, "searches below the least depth teach nothing");
    assert_eq!((known[0].depth, known[0].game_ply, known[0].since_root), (6, 0, 0));
}

#[test]
fn off_touches_nothing_and_so_do_the_tools() {
    let (_folder, path) = learn_file();
    let mut engine = learning("off", &path);
    assert!(search(&mut engine, "startpos", "go depth 8").1.is_empty());
    engine.send("setoption name Learning value all");
    engine.send("eval");
    engine.send("perft 2");
    engine.send("bench 1");
    engine.sync();
    assert!(!path.exists());
    let home = engine.home().to_owned();
    assert_eq!(fs::read_dir(home).expect("a folder").count(), 0, "the default file is not touched either");
    engine.quit();
    for arguments in [&["bench", "1"][..], &["perft", "2"], &["eval"]] {
        let folder = home_of(arguments);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "{arguments:?}");
    }
}

/// The home folder of a subcommand that was run.
fn home_of(arguments: &[&str]) -> TempDir {
    let folder = home();
    let status = common::command(&folder).args(arguments).output().expect("the binary runs").status;
    assert!(status.success());
    folder
}

#[test]
fn by_default_the_file_lies_in_the_data_directory() {
    let mut engine = Engine::ready();
    let said = engine.search_until_told("learning");
    assert!(said.starts_with("learning drop: 0 records in "), "{said}");
    let place = engine.home().join("engram").join(engram::learn::FILE_NAME);
    if cfg!(target_os = "linux") {
        assert!(said.ends_with(&place.display().to_string()), "{said}");
    }
    // Made in the background: quitting waits for that, so that the folder can go.
    let home = engine.home().to_owned();
    engine.send("quit");
    engine.leaves_cleanly();
    assert!(!home.exists());
}

#[test]
fn a_file_that_cannot_be_used_is_told_of_once_and_the_game_goes_on() {
    let folder = home();
    let foreign = folder.path().join("foreign.bin");
    fs::write(&foreign, vec![7; 10_000]).expect("a file");
    let (within_a_file, proc) = (foreign.join("learn.bin"), Path::new("/proc/x.bin"));
    for (path, why) in [
        (folder.path(), "directory"),
        (&foreign, "not a learning file"),
        (&within_a_file, &within_a_file.display().to_string()),
        (proc, "/proc/x.bin"),
    ] {
        if path == proc && !cfg!(target_os = "linux") {
            continue;
        }
        let mut engine = Engine::ready();
        let said = engine.answer(&format!("setoption name LearnFile value {}", path.display()));
        let said = info_strings(&said);
        assert!(
            said.len() == 1 && said[0].starts_with("nothing is learned: ") && said[0].contains(why),
            "{said:?}"
        );
        let (best, said) = search(&mut engine, "startpos moves e2e4", "go depth 6");
        assert!(said.is_empty() && best.len() == 4, "{best} {said:?}");
        engine.quit();
    }
    assert_eq!(fs::read(&foreign).expect("still there"), vec![7; 10_000]);
}

#[test]
fn a_read_only_file_is_used_and_not_written() {
    let (_folder, path) = learn_file();
    let mut engine = learning("all", &path);
    search(&mut engine, "startpos", "go depth 8");
    engine.quit();
    let before = fs::read(&path).expect("written");
    let mut engine = learning("all", &path);
    engine.send("setoption name LearnReadOnly value true");
    engine.search_until_told("learning all: 1 record in");
    search(&mut engine, "startpos moves e2e4 e7e5", "go depth 8");
    engine.quit();
    assert_eq!(fs::read(&path).expect("still there"), before);
}

#[test]
fn engines_learn_from_each_other_while_they_run() {
    let (_folder, path) = learn_file();
    let (mut one, mut other) = (learning("all", &path), learning("all", &path));
    search(&mut one, "startpos", "go depth 6");
    search(&mut one, "startpos moves e2e4 e7e5", "go depth 6");
    other.search_until_told("2 records");
    search(&mut one, "startpos moves d2d4 d7d5", "go depth 6");
    assert_eq!(other.search_until_told("learning: 3"), "learning: 3 records now, 2 before");
    one.quit();
    other.quit();
}

#[test]
fn what_was_learned_is_used_until_learning_is_off() {
    let (_folder, path) = learn_file();
    let mut engine = learning("all", &path);
    let lines = ["startpos moves e2e4", "startpos moves e2e4 e7e5", "startpos moves e2e4 e7e5 g1f3"];
    // Its weights are final: a new network changes no number of nodes.
    engine.send("setoption name Evaluation value classical");
    for line in lines {
        search(&mut engine, line, "go depth 11");
    }
    engine.quit();
    let mut engine = learning("all", &path);
    engine.send("setoption name Evaluation value classical");
    engine.search_until_told("learning all: 3 records");
    let cutoffs = |said: &[String]| said.iter().any(|text| text.contains("by learned scores"));
    assert!(cutoffs(&search(&mut engine, "startpos", "go depth 9").1));
    // Nothing more is learned, so that only the width of the windows decides.
    engine.send("setoption name LearnReadOnly value true");
    let [narrow, wide] = [0, 100].map(|fuzz| {
        engine.send(&format!("setoption name LearnFuzz value {fuzz}\nucinewgame"));
        last_report(&engine.search("startpos", "go depth 9").1).nodes
    });
    assert_ne!(narrow, wide);
    engine.send("setoption name Learning value off");
    assert!(!cutoffs(&search(&mut engine, "startpos", "go depth 9").1));
    engine.quit();
}

#[test]
fn a_record_says_which_evaluation_searched() {
    let (_folder, path) = learn_file();
    let mut engine = learning("all", &path);
    for (kind, position) in [("classical", "startpos"), ("network", "startpos moves e2e4 e7e5")] {
        engine.send(&format!("setoption name Evaluation value {kind}"));
        search(&mut engine, position, "go depth 6");
    }
    engine.quit();
    let ids: Vec<u16> = records(&path).iter().map(|record| record.evaluation_id).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn an_analysis_goes_on_from_what_was_learned_of_its_root() {
    let (_folder, path) = learn_file();
    let position = "position fen r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";
    let analyse = |engine: &mut Engine| {
        engine.send("setoption name UCI_AnalyseMode value true");
        engine.send(position);
        engine.best("go nodes 20000")
    };
    let mut engine = learning("all", &path);
    let (_, first) = analyse(&mut engine);
    assert!(first.iter().all(|line| !line.contains("resumed")), "{first:?}");
    engine.quit();
    let root = records(&path).into_iter().find(|record| record.depth > 5 && record.since_root == 0);
    let root = root.expect("the root is learned");

    let mut engine = learning("all", &path);
    engine.search_until_told("learning all: ");
    let (_, second) = analyse(&mut engine);
    engine.quit();
    let resumed = format!("info string analysis resumed after iteration {}", root.depth);
    let said = second.iter().position(|line| *line == resumed).unwrap_or_else(|| panic!("{second:?}"));
    let line = &second[said + 1];
    assert!(line.starts_with(&format!("info depth {} ", root.depth)) && line.contains(" nodes 1 "), "{line}");
    assert!(line.contains(&format!(" pv {}", first_move(&first, root.depth))), "{line}");

    // A single iteration more is learned as well, and a shallower analysis takes nothing back.
    let deeper = |depth: u8| {
        let mut engine = learning("all", &path);
        engine.search_until_told("learning all: ");
        engine.send(position);
        engine.send("setoption name UCI_AnalyseMode value true");
        engine.best(&format!("go depth {depth}"));
        engine.quit();
        let root = |record: &&Record| record.key == root.key && record.since_root == 0;
        records(&path).iter().filter(root).map(|record| record.depth).max()
    };
    let reached = deeper(1).expect("it is there");
    assert!(reached >= root.depth);
    assert_eq!(deeper(reached + 1), Some(reached + 1));
    assert_eq!(deeper(6), Some(reached + 1));
}

/// The move of the last line of this depth.
fn first_move(lines: &[String], depth: u8) -> String {
    let line = reports(lines).into_iter().rfind(|line| line.depth == Some(depth.into()));
    line.expect("a line of that depth").pv[0].to_string()
}

#[test]
fn a_forgotten_position_leaves_the_table_of_a_running_engine() {
    let (_folder, path) = learn_file();
    let mut engine = learning("all", &path);
    search(&mut engine, "startpos moves e2e4", "go depth 6");
    engine.search_until_told("1 record");
    let place = path.to_str().expect("a name");
    let (out, error, code) = run(&["learn", "forget", "--origin", "root", "--yes", "--file", place]);
    assert_eq!(code, 0, "{out}{error}");
    engine.search_until_told("learning: 0 records now, 1 before");
    let (_, said) = search(&mut engine, "startpos", "go depth 2");
    assert!(said.is_empty(), "{said:?}");
    engine.quit();
}

#[test]
fn nothing_is_learned_from_searches_that_were_not_free() {
    let (_folder, path, mut engine) = learner("all");
    for go in ["go depth 6 searchmoves a2a3 h2h3", "go depth 6 mate 3", "go depth 1"] {
        search(&mut engine, "startpos", go);
    }
    engine.begin("startpos moves e2e4", "go ponder");
    engine.expect("info depth 7 seldepth ");
    engine.stop();
    // Each side has been here twice already: the third time is a draw.
    let shuffle = "g1f3 g8f6 f3g1 f6g8";
    search(&mut engine, &format!("startpos moves {shuffle} g1f3"), "go depth 6");
    engine.quit();
    assert!(records(&path).is_empty(), "{:?}", records(&path));

    let mut engine = learning("all", &path);
    engine.begin("startpos moves e2e4", "go ponder");
    engine.send("ponderhit");
    engine.expect("info depth 7 seldepth ");
    engine.stop();
    engine.search_until_told("1 record");
    engine.quit();
    assert_eq!(records(&path).len(), 1, "after ponderhit it is a search like any other");
}

/// Where a search is stopped the last iteration may have failed low: its bound is learned, without the move that failed,
/// and the answer stays the last finished line.
#[test]
fn a_search_stopped_in_a_fail_low_teaches_its_bound_and_answers_with_a_whole_line() {
    let home = home();
    let root = "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let mut bounds = 0;
    for nodes in (6_000..26_000).step_by(500) {
        let path = home.path().join(format!("{nodes}.bin"));
        let mut engine = learning("all", &path);
        let (best, lines) = engine.search(root, &format!("go nodes {nodes}"));
        engine.quit();
        let last = lines.iter().rfind(|line| line.contains(" seldepth ")).expect("a line");
        assert!(last.contains(&format!(" pv {best} ")) && !last.contains("bound"), "{last}");
        let [record] = &records(&path)[..] else { panic!("{nodes}: a root is one record") };
        let depth = record.depth - u8::from(record.best.is_none());
        assert!(last.starts_with(&format!("info depth {depth} ")), "{last}: {record:?}");
        if record.best.is_none() {
            assert!(record.lower.is_none() && !record.upper.is_none(), "{record:?}");
            bounds += 1;
        } else {
            assert_eq!(record.lower, record.upper, "{record:?}");
        }
    }
    assert!(bounds > 0, "no search was stopped in a fail low");
}

#[test]
fn only_a_drop_as_large_as_learn_drop_is_remembered() {
    for (least, remembered) in [(33, true), (1000, false)] {
        let (_folder, path) = learn_file();
        let mut engine = learning("drop", &path);
        engine.send(&format!("setoption name LearnDrop value {least}"));
        engine.search_until_told("learning drop");
        search(&mut engine, "startpos moves g1f3 e7e6", "go depth 8");
        // A knight less.
        let (_, said) = search(&mut engine, "startpos moves g1f3 e7e6 f3g5 d8g5", "go depth 8");
        let fell = said.iter().any(|text| text.contains("evaluation dropped since the last move"));
        assert_eq!(fell, remembered, "{least}: {said:?}");
        engine.quit();
    }
}

#[test]
fn a_lost_game_confirms_its_drops() {
    for (end, confirmed) in [(" g2g4 d8h4", true), (" g2g4", false)] {
        let (_folder, path, mut engine) = learner("drop");
        search(&mut engine, "startpos", "go depth 8");
        let (_, said) = search(&mut engine, "startpos moves f2f3 e7e5", "go depth 8");
        assert!(said.iter().any(|text| text.contains("evaluation dropped since the last move")), "{said:?}");
        blunder(&mut engine);
        engine.send(&format!("position startpos moves f2f3 e7e5{end}"));
        // Match runners say all options again before each game.
        engine.send(&format!("setoption name LearnFile value {}", path.display()));
        engine.send("setoption name Learning value drop");
        engine.send("setoption name LearnReadOnly value false");
        engine.send("ucinewgame");
        engine.sync();
        written(&path, |record| record.game_ply == 2 && record.flags.confirmed == confirmed);
        engine.quit();
        written(&path, |record| record.game_ply == 2 && record.flags.confirmed == confirmed);
    }
}

/// Announces the move of the fool's mate that allows it.
fn blunder(engine: &mut Engine) {
    let (best, _) = search(engine, "startpos moves f2f3 e7e5", "go depth 1 searchmoves g2g4");
    assert_eq!(best, "g2g4");
}

/// White's loss by the fool's mate, White searching so deep at each move.
fn lose(engine: &mut Engine, depth: u32) {
    search(engine, "startpos", &format!("go depth {depth}"));
    search(engine, "startpos moves f2f3 e7e5", &format!("go depth {depth}"));
    blunder(engine);
    engine.send("position startpos moves f2f3 e7e5 g2g4 d8h4");
}

#[test]
fn a_lost_game_is_over_when_another_begins_without_a_word() {
    let (_folder, path, mut engine) = learner("drop");
    lose(&mut engine, 8);
    search(&mut engine, "startpos moves d2d4 d7d5", "go depth 1");
    written(&path, |record| record.game_ply == 2 && record.flags.confirmed);
    engine.quit();
}

#[test]
fn looking_at_a_lost_game_does_not_take_its_lesson_away() {
    let (_folder, path, mut engine) = learner("drop");
    lose(&mut engine, 8);
    engine.begin("startpos moves f2f3 e7e5 g2g4", "go infinite");
    engine.expect("info depth 3 seldepth ");
    engine.stop();
    engine.quit();
    assert!(records(&path).iter().any(|record| record.game_ply == 2 && record.flags.confirmed));
}

#[test]
fn a_mate_that_was_only_expected_ends_no_game() {
    let (_folder, path, mut engine) = learner("drop");
    lose(&mut engine, 8);
    engine.send("go ponder wtime 1000 btime 1000");
    engine.stop();
    engine.send("position startpos moves f2f3 e7e5 g2g4 a7a6");
    engine.sync();
    engine.quit();
    let known = records(&path);
    assert!(known.iter().any(|record| record.game_ply == 2), "the drop is there");
    assert!(known.iter().all(|record| !record.flags.confirmed), "{known:?}");
}

#[test]
fn advice_stays_whatever_is_learned_after_it() {
    let advised = "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2";
    for mode in ["drop", "all"] {
        let (_folder, path, mut engine) = learner(mode);
        let file = path.display().to_string();
        let (_, error, code) = run(&["learn", "advise", "--file", &file, advised, "e4", "-300"]);
        assert_eq!(code, 0, "{error}");
        lose(&mut engine, 8);
        engine.send("ucinewgame");
        engine.sync();
        engine.quit();
        let known: Vec<_> = records(&path).into_iter().filter(|record| record.game_ply == 2).collect();
        assert!(known.iter().all(|record| record.origin == Origin::Advice) && known.len() == 1, "{known:?}");
    }
}

#[test]
fn a_game_is_learned_from_in_the_file_in_which_it_began() {
    for leave in ["LearnFile value other.bin", "LearnReadOnly value true", "Learning value off"] {
        let (_folder, path, mut engine) = learner("drop");
        search(&mut engine, "startpos", "go depth 8");
        search(&mut engine, "startpos moves f2f3 e7e5", "go depth 8");
        blunder(&mut engine);
        engine.send("position startpos moves f2f3 e7e5 g2g4 d8h4");
        engine.send(&format!("setoption name {leave}"));
        engine.send("ucinewgame");
        engine.sync();
        written(&path, |record| record.game_ply == 2 && record.flags.confirmed);
        let other = engine.home().join("other.bin");
        assert!(ring(&other).is_none_or(|ring| ring.is_empty()), "{leave}");
        engine.quit();
    }
}

#[test]
fn a_shallow_search_does_not_replace_a_deep_one() {
    let (_folder, path) = learn_file();
    for depth in [9, 5] {
        let mut engine = learning("all", &path);
        engine.search_until_told("learning all");
        search(&mut engine, "startpos moves e2e4 e7e5", &format!("go depth {depth}"));
        engine.quit();
    }
    let depths: Vec<u8> =
        records(&path).iter().filter(|record| record.game_ply == 2).map(|record| record.depth).collect();
    assert_eq!(depths, [9]);
}

#[test]
fn a_search_that_began_earlier_does_not_replace_what_another_process_found_deeper() {
    let (_folder, path) = learn_file();
    let mut early = learning("all", &path);
    early.search_until_told("learning all");
    let root = "position startpos moves e2e4 c7c5 g1f3";
    early.send(root);
    early.send("go infinite depth 5");
    early.expect("info depth 5 seldepth ");
    let mut deep = learning("all", &path);
    deep.search_until_told("learning all");
    deep.send(root);
    deep.send("go infinite depth 9");
    deep.expect("info depth 9 seldepth ");
    deep.stop();
    written(&path, |record| record.game_ply == 3 && record.depth == 9);
    early.stop();
    early.quit();
    deep.quit();
    let roots = records(&path).into_iter().filter(|record| record.game_ply == 3);
    assert_eq!(roots.map(|record| record.depth).collect::<Vec<_>>(), [9]);
}

#[test]
fn no_move_waits_for_a_lock_that_others_hold() {
    let (_folder, path, mut engine) = learner("all");
    // Opened like the engine's own: the file may still be in the making.
    let lock = path.with_file_name("learn.bin.lock");
    let held = loop {
        if let Ok(lock) = File::options().write(true).open(&lock)
            && path.metadata().is_ok_and(|data| data.len() > 4096)
        {
            break lock;
        }
        thread::yield_now();
    };
    held.lock().expect("a lock");
    // All of these come while the lock is held.
    for line in ["startpos", "startpos moves e2e4 e7e5", "startpos moves d2d4 d7d5"] {
        search(&mut engine, line, "go depth 6");
    }
    let mut late = learning("all", &path);
    late.search_until_told("learning all");
    search(&mut late, "startpos moves c2c4", "go depth 6");
    assert!(records(&path).is_empty());
    held.unlock().expect("unlocked");
    engine.search_until_told("4 records");
    engine.quit();
    late.quit();
    assert_eq!(records(&path).len(), 4, "the writer threads have written them since");
}

/// A game of the binary against itself from `fen`: the learner has `NODES` a move, its opponent ten times as
/// many. It ends where a referee would end it: when the learner has twice seen itself six pawns down; the engine, which may know
/// a little more than it has printed, counts a game as lost from five on. Gives back the moves, and whether it ended like that.
fn game(learner: &mut Engine, opponent: &mut Engine, fen: &str, color: Color) -> (Vec<String>, bool) {
    const NODES: u64 = 1_500;
    const LONGEST: usize = 120;
    const RESIGNED: i32 = -600;
    let mut board = position(fen);
    let (mut moves, mut resigned): (Vec<String>, u32) = (Vec::new(), 0);
    for engine in [&mut *learner, &mut *opponent] {
        engine.send("ucinewgame");
        engine.sync();
    }
    while moves.len() < LONGEST && !board.chess().is_game_over() && resigned < 2 {
        let ours = board.turn() == color;
        let (engine, nodes) = if ours { (&mut *learner, NODES) } else { (&mut *opponent, 10 * NODES) };
        let (best, lines) =
            engine.search(&format!("fen {fen} moves {}", moves.join(" ")), &format!("go nodes {nodes}"));
        if ours {
            let is_lost = match last_score(&lines) {
                ScoreValue::Centipawns(score) => score <= RESIGNED,
                ScoreValue::Mate(moves) => moves < 0,
            };
            resigned = if is_lost { resigned + 1 } else { 0 };
        }
        board = board.play(board.legal_move(&best).expect("legal"));
        moves.push(best);
    }
    (moves, resigned >= 2)
}

/// How many plies two games have in common.
fn common_plies(one: &[String], other: &[String]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// Which openings a player so weak loses depends on every detail of the search; that it learns from what it
/// loses must not. So several are played.
#[test]
fn a_line_that_lost_is_left_and_without_learning_lost_for_ever() {
    let openings = [
        "rn1qk2r/ppp2pbp/2b1pnp1/8/2QP4/2N2NP1/PP2PPBP/R1B1K2R w KQkq - 0 9",
        "r1b1k1nr/ppp2ppp/2n5/3q4/1b1P4/2N2N2/PP3PPP/R1BQKB1R w KQkq - 3 9",
        "rnbq1k1r/p2p1ppp/5n2/1pbP4/2p2B2/2N2P2/PPP1Q1PP/R3KBNR w KQ - 4 9",
        "rnbq1rk1/ppp3pp/3bpn2/3p4/3P1P2/2NBBN2/PPP3PP/R2QK2R w KQ - 4 9",
        "r1bqk1nr/ppp2pp1/1bnp3p/8/2B1P3/2N1BN2/PP3PPP/R2Q1RK1 w kq - 2 9",
        "r1bq1rk1/p1pn1ppp/1p1ppn2/8/2PP1B2/P1N1P3/1P3PPP/R2QKB1R w KQ - 0 9",
    ];
    let mut opponent = learning("off", Path::new(""));
    let (mut lost, mut lessons) = (0, 0);
    let colors = |fen| [(fen, Color::White), (fen, Color::Black)];
    for (fen, color) in openings.into_iter().flat_map(colors) {
        if lost == 3 {
            break;
        }
        let (_folder, path) = learn_file();
        let mut off = learning("off", &path);
        let (first, is_lost) = game(&mut off, &mut opponent, fen, color);
        if !is_lost {
            continue;
        }
        lost += 1;
        assert_eq!(game(&mut off, &mut opponent, fen, color).0, first, "off: the same game for ever");
        // A new process for each game: only the file goes from one to the next. The first game is the one that
        // is lost without learning, but for what was learned within it.
        let mut played: Vec<Vec<String>> = Vec::new();
        for _ in 0..3 {
            let mut engine = learning("drop", &path);
            engine.send("setoption name LearnDrop value 60");
            engine.search_until_told("learning drop");
            let (moves, is_lost) = game(&mut engine, &mut opponent, fen, color);
            engine.quit();
            if played.is_empty() && is_lost {
                let report =
                    run(&["learn", "--file", path.to_str().unwrap(), "lessons", "--nodes", "1500"]).0;
                lessons +=
                    usize::from(report.contains("Lost as") && report.contains("learned from this game."));
            }
            played.push(moves);
            if !is_lost {
                break;
            }
        }
        let left: Vec<usize> = played.windows(2).map(|pair| common_plies(&pair[0], &pair[1])).collect();
        println!("{fen}: lost in {} plies, left after {left:?}", first.len());
        for (game, &plies) in left.iter().enumerate() {
            assert!(plies < played[game].len(), "{fen}: a game that was lost is played again");
        }
    }
    assert_eq!(lost, 3, "the test needs other openings");
    assert!(lessons > 0, "no lost game has a lesson");
}

/// Two rooks against a king: mate in two moves.
const TWO_ROOKS: &str = "7k/8/8/8/8/8/R7/1R5K w - - 0 1";

/// Plays White's moves of that game up to the mate.
fn mate_with_two_rooks(engine: &mut Engine) {
    let mut board = position(TWO_ROOKS);
    let mut line = format!("fen {TWO_ROOKS} moves");
    while board.has_legal_move() {
        let best = search(engine, &line, "go depth 6").0;
        line += &format!(" {best}");
        board = board.play(board.legal_move(&best).expect("legal"));
        if let Some(&reply) = board.legal_moves().first() {
            line += &format!(" {}", reply.to_uci(CastlingMode::Standard));
            board = board.play(reply);
        }
    }
}

#[test]
fn a_game_that_is_learned_from_is_kept_as_pgn() {
    let (_folder, path) = learn_file();
    let games = engram::learn::kept_games::path(&path);
    let mut engine = learning("drop", &path);
    engine.send("setoption name UCI_Opponent value none 3200 computer Stock \"Fish\" 15.1");
    mate_with_two_rooks(&mut engine);
    engine.send("setoption name UCI_Opponent value none none human Ann");
    engine.send("ucinewgame");
    // The opening has no further name, whatever the engine plays after that.
    for moves in ["", " moves e2e4 e7e5", " moves e2e4 e7e5 g1f3 d8g5"] {
        search(&mut engine, &format!("startpos{moves}"), "go depth 5");
    }
    engine.send("ucinewgame");
    // One search is no game.
    search(&mut engine, "startpos moves d2d4 d7d5", "go depth 5");
    engine.quit();
    let text = fs::read_to_string(&games).expect("games");
    let parts: Vec<&str> = text.split("[Event ").skip(1).collect();
    assert_eq!(parts.len(), 2, "{text}");
    for expected in [
        "[White \"Engram\"]\n[Black \"Stock \\\"Fish\\\" 15.1\"]\n[Result \"1-0\"]\n[SetUp \"1\"]\n",
        &format!("[FEN \"{TWO_ROOKS}\"]\n[Termination \"normal\"]\n[Session \""),
        "[UTCDate \"20",
        "{[%eval #2,6]}",
        "# {[%eval #1,",
        " 1-0\n",
    ] {
        assert!(parts[0].contains(expected), "{expected} is not in {text}");
    }
    for expected in [
        "[Black \"Ann\"]\n[Result \"*\"]\n[ECO \"C40\"]\n[Opening \"King's Knight Opening\"]\n[Termination \"unterminated\"]\n",
        "\n1. e4 {[%eval ",
    ] {
        assert!(parts[1].contains(expected), "{expected} is not in {text}");
    }
    let out = succeed(&["analyse", games.to_str().unwrap(), "--depth", "1"]);
    assert!(out.contains("game 2: Engram - Ann *"), "{out}");
}

#[test]
fn a_game_that_cannot_be_kept_is_told_of_and_left_to_the_next_engine() {
    let (folder, path) = learn_file();
    let games = engram::learn::kept_games::path(&path);
    fs::create_dir(&games).expect("a folder in its place");
    let logs = || {
        let names = fs::read_dir(folder.path()).expect("a folder").flatten().map(|file| file.file_name());
        names.filter(|name| name.to_string_lossy().contains(".game-")).count()
    };
    let mut engine = learning("all", &path);
    mate_with_two_rooks(&mut engine);
    engine.send("ucinewgame");
    engine.search_until_told(games.to_str().unwrap());
    engine.quit();
    assert!(!records(&path).is_empty());
    assert_eq!(logs(), 1);
    fs::remove_dir(&games).expect("an empty folder");
    let mut engine = learning("all", &path);
    engine.search_until_told("learning all");
    engine.quit();
    assert_eq!(logs(), 0);
    assert!(fs::read_to_string(&games).expect("games").contains("[Result \""));
}

#[test]
fn a_game_that_repeats_a_position_twice_is_kept_as_a_draw() {
    let (_folder, path) = learn_file();
    let mut engine = learning("drop", &path);
    let there_and_back = " g1f3 g8f6 f3g1 f6g8".repeat(2);
    for moves in ["", " g1f3 g8f6", &there_and_back] {
        search(&mut engine, &format!("startpos moves{moves}"), "go depth 5");
    }
    engine.quit();
    let text = fs::read_to_string(engram::learn::kept_games::path(&path)).expect("games");
    assert!(text.contains("[Result \"1/2-1/2\"]") && text.contains("[Termination \"normal\"]"), "{text}");
}

#[test]
fn a_game_of_a_killed_engine_is_kept_by_the_next_one() {
    let (_folder, path) = learn_file();
    let games = engram::learn::kept_games::path(&path);
    let mut engine = learning("drop", &path);
    engine.send("setoption name UCI_Opponent value none none computer Fish");
    mate_with_two_rooks(&mut engine);
    engine.kill();
    assert!(!games.exists(), "the game was not over");
    let mut engine = learning("drop", &path);
    search(&mut engine, "startpos", "go depth 3");
    engine.quit();
    let text = fs::read_to_string(&games).expect("games");
    assert_eq!(text.matches("[Event ").count(), 1, "{text}");
    assert!(text.contains("[Black \"Fish\"]\n[Result \"1-0\"]") && text.contains("\"abandoned\""), "{text}");
}

#[test]
fn nothing_is_kept_where_nothing_is_learned() {
    for option in ["Learning value off", "LearnReadOnly value true"] {
        let (_folder, path) = learn_file();
        let mut engine = learning("drop", &path);
        engine.send(&format!("setoption name {option}"));
        mate_with_two_rooks(&mut engine);
        engine.quit();
        assert!(!engram::learn::kept_games::path(&path).exists(), "{option}");
    }
}
