//! What the memory promises to its user, tried over a pipe: advice is obeyed, nothing is switched off in silence, a
//! printed score is a search's score, a lost game is a lesson however it ends, and is studied, announced means
//! written, and another move clock destroys nothing.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
    sync::RwLock,
    thread,
    time::{Duration, Instant},
};

use engram::{
    Position,
    learn::{
        AppendTime, Flags, LearnFile, LearnedScore, Mode, Origin, Record, disk::SystemDisk, now,
        record::CAPACITY,
    },
    protocol::ScoreValue,
    tree::{Access, Tree},
};
#[cfg(unix)]
use rustix::process::Signal;
use serde_json::Value;

use crate::common::{
    Engine, TIMEOUT, command, home, info_strings, last_report, last_score,
    learn::{self, LOST_GAME, engine, lost_game, records},
    learn_file, position,
    random::Random,
    run, until,
};

fn tool(arguments: &[&str], path: &Path) {
    let mut arguments = arguments.to_vec();
    let file = path.display().to_string();
    arguments.extend(["--file", &file]);
    let (out, error, code) = run(&arguments);
    assert_eq!(code, 0, "{out}{error}");
}

fn said(lines: &[String], text: &str) -> bool {
    info_strings(lines).into_iter().any(|infos| infos.contains(text))
}

/// The last score printed, in centipawns; nothing if it is a mate.
fn score(lines: &[String]) -> Option<i32> {
    match last_score(lines) {
        ScoreValue::Centipawns(score) => Some(score),
        ScoreValue::Mate(_) => None,
    }
}

// 1. Human advice is obeyed.

/// A position and a sound move that the engine does not choose by itself.
const ADVICE: [(&str, &str); 6] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "b2b3"),
    ("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", "g7g6"),
    ("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3", "a2a3"),
    ("rnbqkb1r/pppppppp/5n2/8/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 1 2", "c1g5"),
    ("rnbqkbnr/ppp1pppp/8/3p4/2PP4/8/PP2PPPP/RNBQKBNR b KQkq - 0 2", "b8c6"),
    ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", "h2h3"),
];

#[test]
fn advice_is_played_at_its_own_position() {
    let (_folder, path) = learn_file();
    for (fen, advised) in ADVICE {
        tool(&["learn", "advise", fen, advised], &path);
    }
    for (number, (fen, advised)) in ADVICE.iter().enumerate() {
        // A fresh process, its first search.
        let mut engine = engine(&path, &[]);
        let go = ["go depth 5", "go movetime 100", "go depth 11", "go wtime 3000 btime 3000"][number % 4];
        let (best, lines) = engine.search(&format!("fen {fen}"), go);
        assert_eq!(best, *advised, "{fen} {go}: {lines:#?}");
        assert!(said(&lines, &format!("advised here: {advised}")), "{lines:#?}");
        engine.quit();
    }
}

#[test]
fn advice_that_is_mated_gives_way_and_that_is_said() {
    let (_folder, path) = learn_file();
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2";
    tool(&["learn", "advise", fen, "g4", "300"], &path);
    let mut engine = engine(&path, &[]);
    let (best, lines) = engine.search(&format!("fen {fen}"), "go depth 6");
    assert_ne!(best, "g2g4");
    assert!(said(&lines, "not as advised (g2g4)"), "{lines:#?}");
    engine.quit();
}

#[test]
fn advice_that_loses_a_queen_gives_way_at_depth_twelve() {
    let (_folder, path) = learn_file();
    let fen = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
    tool(&["learn", "advise", fen, "Qg4"], &path);
    let lost = "rnbqkb1r/pppp1ppp/5n2/4p1Q1/4P3/8/PPPP1PPP/RNB1KBNR w KQkq - 3 3";
    tool(&["learn", "advise", lost, "Qxg7"], &path);
    let mut engine = engine(&path, &[]);
    assert_eq!(engine.search(&format!("fen {lost}"), "go depth 11").0, "g5g7");
    let (best, lines) = engine.search(&format!("fen {lost}"), "go depth 12");
    assert_ne!(best, "g5g7");
    assert!(said(&lines, "not as advised (g5g7)"), "{lines:#?}");
    assert_eq!(engine.search(&format!("fen {fen}"), "go depth 12").0, "d1g4", "it loses no queen");
    engine.quit();
}

#[test]
fn several_advised_moves_choose_among_themselves() {
    let (folder, path) = learn_file();
    let epd = folder.path().join("advice.epd");
    // One of them takes the queen.
    let fen = "rnb1kbnr/pppp1ppp/8/4p3/4P2q/5N2/PPPP1PPP/RNBQKB1R w KQkq -";
    fs::write(&epd, format!("{fen} bm h3 Nxh4 a3;\n")).expect("written");
    tool(&["learn", "import", &epd.display().to_string()], &path);
    let mut engine = engine(&path, &[]);
    let (best, lines) = engine.search(&format!("fen {fen} 0 1"), "go depth 8");
    assert_eq!(best, "f3h4", "{lines:#?}");
    assert!(said(&lines, "advised here: h2h3 f3h4 a2a3"), "{lines:#?}");
    engine.quit();
}

// 2. No setting switches the memory off in silence.

#[test]
fn contempt_is_no_part_of_what_is_stored() {
    let (_folder, path) = learn_file();
    let mut engine = engine(&path, &["Learning value all", "Contempt value 40"]);
    // Whatever Black plays, it is a draw.
    let (_, lines) = engine.search("fen 8/8/8/8/8/1k6/p7/K7 b - - 0 1", "go depth 8");
    assert_eq!(score(&lines), Some(-40), "{lines:#?}");
    engine.quit();
    let known = records(&path);
    assert_eq!(known.len(), 1);
    assert_eq!((known[0].lower.centipawns(), known[0].upper.centipawns()), (Some(0), Some(0)));
}

#[test]
fn a_limited_engine_has_no_memory_and_says_that_once() {
    let (_folder, path) = learn_file();
    let mut engine = engine(&path, &["Learning value all", "UCI_LimitStrength value true"]);
    let (_, lines) = engine.search("startpos", "go depth 8");
    assert!(said(&lines, "off while the strength is limited"), "{lines:#?}");
    let (_, lines) = engine.search("startpos moves e2e4 e7e5", "go depth 8");
    assert!(!said(&lines, "learning"), "{lines:#?}");
    engine.quit();
    assert!(!path.exists());
}

// 3. A printed score is a search's score.

#[test]
fn games_that_were_won_change_no_printed_score() {
    let (_folder, path) = learn_file();
    let mut random = Random(7);
    let mut early = BTreeSet::new();
    for _ in 0..30 {
        let mut winner = engine(&path, &[]);
        let mut moves: Vec<String> = Vec::new();
        for _ in 0..60 {
            let mut position = engram::position::Position::default();
            for m in &moves {
                position = position.play(position.legal_move(m).expect("legal"));
            }
            let legal = position.legal_moves();
            if legal.is_empty() {
                break;
            }
            if moves.len().is_multiple_of(2) {
                let line = format!("startpos moves {}", moves.join(" "));
                moves.push(winner.search(&line, "go nodes 1000").0);
            } else {
                let m = legal[random.below(legal.len())];
                moves.push(m.to_uci(shakmaty::CastlingMode::Standard).to_string());
            }
        }
        winner.quit();
        early.extend((0..4).map(|turn| moves[..(2 * turn).min(moves.len() & !1)].join(" ")));
    }
    let outcomes = records(&path).into_iter().filter(|record| record.origin == Origin::Outcome);
    let results = outcomes.filter_map(|record| record.upper.centipawns().map(|upper| -upper));
    let least = results.min().expect("a game that was won");
    let printed = |mode: &str, line: &str| {
        let mode = format!("Learning value {mode}");
        let mut engine = engine(&path, &[&mode, "LearnReadOnly value true"]);
        let (_, lines) = engine.search(&format!("startpos moves {line}"), "go depth 8");
        engine.quit();
        score(&lines)
    };
    let mut asked = 0;
    for line in &early {
        // What is nearly won on the board is none of the memory's doing.
        let Some(without) = printed("off", line).filter(|without| 2 * without < least) else { continue };
        let with = printed("drop", line).expect("no mate");
        assert!(with < least, "{line}: {with}, {without} without the memory, the least result is {least}");
        asked += 1;
    }
    assert!(asked > 0, "the start is not won");
}

/// A won game that went through a position is no reason to return to it: the third time it is a draw.
#[test]
fn no_move_is_preferred_that_repeats_a_position_of_the_game() {
    const START: &str = "4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1";
    let after = |moves: &str| {
        moves
            .split_whitespace()
            .fold(position(START), |position, uci| position.play(position.legal_move(uci).expect("legal")))
    };
    let (_folder, path) = learn_file();
    let (mut file, ring, _) = LearnFile::open_or_create(&path).expect("a learning file");
    let won = Record {
        upper: LearnedScore::from_centipawns(-590),
        flags: Flags { confirmed: true, ..Flags::default() },
        time: 1,
        ..Record::new(&after("a1a3"), Origin::Outcome).expect("the position fits")
    };
    file.merge(&RwLock::new(ring), &[won]).expect("written");
    drop(file);
    let move_after = |moves: &str| {
        let mut engine = engine(&path, &["Learning value drop"]);
        let best = engine.search(&format!("fen {START}{moves}"), "go depth 4").0;
        engine.quit();
        best
    };
    assert_eq!(move_after(""), "a1a3");
    assert_eq!(move_after(" moves a1a2 e8d8 a2a1 d8e8"), "a1a3", "the position after it is new");
    assert_ne!(move_after(" moves a1a3 e8d8 a3a1 d8e8"), "a1a3");
}

// 4. A lost game is a lesson however it ends.

/// An engine that has lost the game.
fn loser(path: &Path) -> Engine {
    let mut loser = engine(path, &[]);
    learn::lose(&mut loser);
    loser
}

/// What the file says, but for times and sessions.
fn knowledge(path: &Path) -> Vec<Record> {
    let mut known: Vec<Record> =
        records(path).into_iter().map(|record| Record { time: 0, session: 0, ..record }).collect();
    known.sort_by_key(|record| record.key.0);
    known
}

#[test]
fn a_lost_game_is_a_lesson_however_it_ends() {
    let (_folder, path) = learn_file();
    loser(&path).quit();
    let expected = knowledge(&path);
    assert!(expected.iter().any(|record| record.origin == Origin::Outcome), "{expected:?}");
    assert!(
        expected.iter().any(|record| record.origin == Origin::Drop && record.flags.confirmed),
        "{expected:?}"
    );

    for end in ["KILL", "TERM", "pipe"] {
        let (folder, path) = learn_file();
        let mut loser = loser(&path);
        match end {
            "KILL" => {
                // A new file is made in the background, and is not there before the disk has it.
                until("the drop is in the file", || {
                    let opened = LearnFile::open(&path, Mode::Read);
                    opened.is_ok() && records(&path).iter().any(|record| record.origin == Origin::Drop)
                });
                drop(loser.kill());
            }
            "pipe" => {
                loser.close_input();
                loser.leaves_cleanly();
            }
            #[cfg(unix)]
            _ => {
                crate::common::signal(loser.id(), Signal::TERM);
                loser.leaves_cleanly();
            }
            #[cfg(not(unix))]
            _ => continue,
        }
        if end == "KILL" {
            assert!(knowledge(&path).iter().all(|record| !record.flags.confirmed));
            let mut next = engine(&path, &["Evaluation value classical"]);
            let (_, lines) = next.search("startpos", "go depth 1");
            assert!(said(&next.seen, "whose engine was killed") || said(&lines, "whose engine was killed"));
            next.quit();
        }
        assert_eq!(knowledge(&path), expected, "{end}");
        let left: Vec<_> =
            fs::read_dir(folder.path()).expect("a folder").flatten().map(|f| f.file_name()).collect();
        assert_eq!(left.len(), 4, "nothing but the file, the games and their locks: {left:?}");
    }
}

// A lost game is studied.

/// What was studied in `path`, if something was.
fn studied(path: &Path) -> Vec<Record> {
    records(path).into_iter().filter(|record| record.origin == Origin::Study).collect()
}

#[test]
fn a_studied_game_is_played_again_up_to_the_move_that_holds() {
    let (_folder, path) = learn_file();
    loser(&path).quit();
    let file = path.display().to_string();
    let study = ["learn", "study", "--openings", "0", "--nodes", "50000", "--file", &file];
    let (out, error, code) = run(&study);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("1 of 1 lost games studied") && out.ends_with("found in 1 of the games\n"), "{out}");
    // The last position in which another move holds. The way to it is played as in the game.
    let studied = studied(&path);
    let held =
        studied.iter().find(|record| record.position().is_ok_and(|position| out.contains(&position.fen())));
    let held = held.expect("a record of it");
    let best = held.position_and_move().expect("whole").1.expect("a move");
    let best = best.to_uci(shakmaty::CastlingMode::Standard).to_string();
    let before = &LOST_GAME[..usize::from(held.game_ply)];
    assert!(before.len() <= 4 && best != LOST_GAME[before.len()], "{out}");

    let mut engine = engine(&path, &[]);
    for ply in (0..=before.len()).step_by(2) {
        let expected = before.get(ply).copied().unwrap_or(&best);
        assert_eq!(engine.search(&lost_game(ply), "go nodes 400").0, expected, "{ply}");
    }
    engine.quit();

    // Nothing is left to study, and nothing is blamed before the move.
    assert!(run(&study).0.contains("nothing to study"));
    let is_kept = |record: &Record| matches!(record.origin, Origin::Study | Origin::Opening);
    let blamed = records(&path).into_iter().filter(|record| !is_kept(record));
    assert!(blamed.into_iter().all(|record| record.game_ply > held.game_ply), "{:?}", records(&path));
}

#[test]
fn a_study_goes_on_where_it_was_killed() {
    let (folder, path) = learn_file();
    loser(&path).quit();
    let file = path.display().to_string();
    let study = |nodes: &str| {
        let mut study = command(&folder);
        study.args(["learn", "study", "--json", "--openings", "0", "--nodes", nodes, "--file", &file]);
        study.stdin(Stdio::null()).stdout(Stdio::piped());
        study
    };
    let mut killed = study("400000").spawn().expect("the binary runs");
    while studied(&path).is_empty() {
        assert_eq!(killed.try_wait().expect("a child"), None, "nothing was studied");
        thread::sleep(Duration::from_millis(2));
    }
    killed.kill().and_then(|()| killed.wait()).expect("killed");
    let said = study("50000").output().expect("the binary runs").stdout;
    let said: Value = serde_json::from_slice(&said).expect("JSON");
    // Three positions in all; the last one that holds may have been found before it was killed.
    assert!(said["positions"].as_u64().is_some_and(|positions| positions < 3), "{said}");
    assert!(run(&["learn", "study", "--openings", "0", "--file", &file]).0.contains("nothing to study"));
}

/// The tree of the study beside a learning file.
fn tree_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}.tree", path.display()))
}

/// The searches in the tree of the study; none if there is no tree.
fn searches(path: &Path) -> u64 {
    let tree = Tree::open(&tree_of(path), Access::Read);
    tree.ok().and_then(|tree| tree.searches().ok()).unwrap_or(0)
}

#[test]
fn a_tree_of_the_first_positions_of_games_grows_and_is_played_from() {
    let (_folder, path) = learn_file();
    loser(&path).quit();
    let openings = || {
        let mut openings = records(&path);
        openings.retain(|record| record.origin == Origin::Opening);
        openings.iter().map(|record| record.game_ply).collect::<Vec<_>>()
    };
    assert_eq!(openings(), [0]);
    let file = path.display().to_string();
    let study = ["learn", "study", "--games", "0", "--nodes", "150000", "--file", &file];
    let (out, error, code) = run(&study);
    assert_eq!((code, error.as_str()), (0, ""), "{out}");
    assert!(out.contains("\n1 of 1 openings and 0 of 0 lost games studied ("), "{out}");
    assert!(openings() == [0] && searches(&path) >= 20, "{}", searches(&path));
    assert!(run(&study).0.starts_with("nothing to study"));

    // Its move is played, and soon: the clock is counted in nodes here, too few for a search as deep as the tree.
    let mut engine = engine(&path, &[]);
    engine.send("setoption name nodestime value 10");
    let timed = |engine: &mut Engine| {
        let (best, lines) = engine.search("startpos", "go wtime 1000 btime 1000");
        (best, said(&lines, "tree: "), last_report(&lines).nodes.expect("a number"))
    };
    let (known, is_said, soon) = timed(&mut engine);
    assert!(is_said);
    engine.send("setoption name Learning value off");
    let (_, is_said, later) = timed(&mut engine);
    assert!(!is_said && 2 * soon < later, "{known} after {soon} nodes, without the memory after {later}");
    engine.send("setoption name Learning value drop");
    engine.send("setoption name nodestime value 0");
    let position = Position::default();
    let line = Tree::open(&tree_of(&path), Access::Read)
        .and_then(|tree| tree.expected(&position, &[]))
        .expect("a line");
    assert_eq!(known, line[0].to_uci(shakmaty::CastlingMode::Standard).to_string());
    // A game that leaves the tree leaves the position in which it does, if it goes on.
    for line in ["startpos", "startpos moves a2a4 h7h5", "startpos moves a2a4 h7h5 a1a3 h8h6"] {
        engine.search(line, "go nodes 3000");
    }
    engine.quit();
    assert_eq!(openings(), [0, 2]);
    let before = (fs::read(&path).expect("a file"), searches(&path));

    // Without the right to write nothing is studied, but the tree is played from.
    let mut engine = read_only_engine(&path);
    engine.send("ucinewgame");
    let (best, lines) = engine.search("startpos", "go nodes 400");
    assert!(said(&lines, "tree: ") && best == known, "{lines:?}");
    engine.quit();
    assert_eq!((fs::read(&path).expect("a file"), searches(&path)), before);

    // A game that was lost by its move since then counts more.
    let after = position.play(line[0]);
    let blank = Record::new(&after, Origin::Outcome).expect("it fits");
    let lost = Record {
        lower: LearnedScore::from_centipawns(600),
        depth: 12,
        flags: Flags { confirmed: true, ..blank.flags },
        time: now() + 60,
        ..blank
    };
    let (mut file, ring) = learn::open_on(SystemDisk, &path);
    file.merge(&ring, &[lost]).expect("written");
    drop(file);
    let mut engine = read_only_engine(&path);
    let (best, lines) = engine.search("startpos", "go nodes 400");
    assert!(said(&lines, "tree: ") && best != known, "{lines:?}");
    engine.quit();

    // A game that begins while another program keeps it locked goes on without it.
    let database = rusqlite::Connection::open(tree_of(&path)).expect("a database");
    database.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE").expect("locked");
    let mut engine = read_only_engine(&path);
    let told = |lines: &[String]| said(lines, "nothing is played from the tree: ");
    let look = |engine: &mut Engine| {
        let (_, lines) = engine.search("startpos", "go nodes 400");
        (told(&lines), lines.iter().any(|line| line.starts_with("info string tree: ")))
    };
    assert_eq!(look(&mut engine), (true, false));
    assert_eq!(look(&mut engine), (false, false), "it is told once");
    drop(database);
    engine.send("ucinewgame");
    assert_eq!(look(&mut engine), (false, true));
    engine.quit();

    // A tree that cannot be read is told once in a game.
    let bytes = fs::read(tree_of(&path)).expect("a file");
    fs::write(tree_of(&path), "no tree").expect("written");
    let mut engine = read_only_engine(&path);
    assert_eq!(look(&mut engine), (true, false));
    assert_eq!(look(&mut engine), (false, false));
    fs::write(tree_of(&path), bytes).expect("written");
    assert_eq!(look(&mut engine), (false, false));
    engine.send("ucinewgame");
    assert_eq!(look(&mut engine), (false, true));
    engine.quit();
}

/// An engine that may not write, and would study.
fn read_only_engine(path: &Path) -> Engine {
    engine(path, &["LearnReadOnly value true", "LearnStudy value true"])
}

#[test]
fn games_are_studied_between_games_if_that_is_wanted() {
    for wanted in [true, false] {
        let (_folder, path) = learn_file();
        let mut engine = loser(&path);
        engine.send(&format!("setoption name LearnStudy value {wanted}"));
        engine.send("ucinewgame");
        // Openings come first.
        until("something is studied", || {
            engine.sync();
            !wanted || searches(&path) > 0
        });
        // It ends with the search.
        let (_, lines) = engine.search("startpos", "go depth 3");
        if wanted && !said(&lines, "learning: studied") {
            engine.expect("info string learning: studied");
        }
        let known = searches(&path);
        let (_, lines) = engine.search("startpos", "go depth 3");
        assert_eq!((searches(&path), said(&lines, "tree: ")), (known, wanted), "{lines:?}");
        engine.quit();
        assert_eq!(tree_of(&path).exists(), wanted);
    }
}

#[test]
fn the_end_of_the_engine_leaves_the_whole_tree_in_its_file() {
    let deadline = Instant::now() + 5 * TIMEOUT;
    loop {
        let (folder, path) = learn_file();
        let mut engine = loser(&path);
        engine.send("setoption name LearnStudy value true");
        engine.send("ucinewgame");
        while searches(&path) == 0 {
            assert!(Instant::now() < deadline, "nothing was studied");
            engine.sync();
            thread::sleep(Duration::from_millis(20));
        }
        engine.quit();
        let copy = folder.path().join("copy");
        fs::copy(tree_of(&path), tree_of(&copy)).expect("a copy");
        if searches(&copy) > 0 && searches(&copy) == searches(&path) {
            break;
        }
        // The engine waits half a second for the disk.
        assert!(Instant::now() < deadline, "{} of {} searches", searches(&copy), searches(&path));
    }
}

// 5. Announced means written.

#[test]
fn what_is_not_written_is_not_announced() {
    for (read_only, announced) in [("false", true), ("true", false)] {
        let (_folder, path) = learn_file();
        tool(&["learn", "advise", ADVICE[0].0, "e4"], &path);
        let mut engine = engine(&path, &["Learning value drop", &format!("LearnReadOnly value {read_only}")]);
        engine.search("startpos moves e2e4 e7e5 g2g3 a7a6", "go depth 8");
        let (_, lines) = engine.search("startpos moves e2e4 e7e5 g2g3 a7a6 d1g4 d7d5", "go depth 8");
        assert_eq!(said(&lines, "evaluation dropped since the last move"), announced, "{lines:#?}");
        engine.quit();
    }
}

#[test]
fn what_waits_for_a_lock_is_said_and_so_is_what_was_lost() {
    let (_folder, path) = learn_file();
    tool(&["learn", "advise", ADVICE[0].0, "e4"], &path);
    let lock = File::options().write(true).open(path.with_file_name("learn.bin.lock")).expect("a lock file");
    let mut engine = engine(&path, &["Learning value drop"]);
    engine.search("startpos moves e2e4 e7e5 g2g3 a7a6", "go depth 8");
    let before = records(&path).len();
    lock.lock().expect("a lock");
    let (_, lines) = engine.search("startpos moves e2e4 e7e5 g2g3 a7a6 d1g4 d7d5", "go depth 8");
    assert!(said(&lines, "it is written when the file is free"), "{lines:#?}");
    engine.send("quit");
    // The drop, and the first root as an opening.
    engine.expect("info string learning: 2 records could not be written");
    engine.leaves_cleanly();
    lock.unlock().expect("unlocked");
    assert_eq!(records(&path).len(), before);
}

#[test]
fn there_are_never_more_records_than_the_file_holds() {
    let (_folder, path) = learn_file();
    tool(&["learn", "advise", ADVICE[1].0, "e5"], &path);
    let mut engine = engine(&path, &[]);
    engine.search("startpos", "go depth 1");
    let (mut file, ring) = learn::open_on(SystemDisk, &path);
    let mut locked = file.lock(&ring, AppendTime::Any).expect("locked");
    for number in 0..CAPACITY as u64 + 100 {
        locked.append(&learn::bare(number)).expect("written");
    }
    drop(locked);
    let (_, lines) = engine.search("startpos", "go depth 1");
    assert!(said(&lines, &format!("learning: {CAPACITY} records now")), "{lines:#?}");
    engine.quit();
}

// 6. The same position at another move clock destroys nothing.

#[test]
fn an_analysis_at_another_clock_destroys_nothing() {
    let (_folder, path) = learn_file();
    let board = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - -";
    let analyse = |clock: u32, depth: u32| {
        let options = ["Learning value all", "UCI_AnalyseMode value true"];
        let mut engine = engine(&path, &options);
        let lines = engine.search(&format!("fen {board} {clock} 60"), &format!("go depth {depth}")).1;
        engine.quit();
        lines
    };
    analyse(0, 9);
    analyse(90, 10);
    let lines = analyse(0, 10);
    assert!(said(&lines, "analysis resumed after iteration 9"), "{lines:#?}");
}

// With `debug on` a search says what the memory gave it.

#[test]
fn with_debug_a_search_says_what_is_in_reach() {
    let (_folder, path) = learn_file();
    tool(&["learn", "advise", ADVICE[1].0, "e5", "10"], &path);
    let mut engine = engine(&path, &[]);
    engine.send("debug on");
    let (_, lines) = engine.search("startpos", "go depth 1");
    assert!(said(&lines, "learning: 1 learned position can still be reached, 1 of them new"), "{lines:#?}");
    let after = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1";
    let (_, lines) = engine.search(&format!("fen {after}"), "go depth 1");
    assert!(said(&lines, "learning: 0 learned positions can still be reached"), "{lines:#?}");
    engine.quit();
}

#[test]
fn a_missing_folder_of_the_learning_file_is_made() {
    let folder = home();
    let path = folder.path().join("a/b/learn.bin");
    let mut engine = engine(&path, &["Learning value all"]);
    engine.search("startpos", "go depth 6");
    engine.quit();
    assert_eq!(records(&path).len(), 1);
    let output = command(&folder).args(["learn", "verify", "--file"]).arg(&path).output().expect("it runs");
    assert!(output.status.success());
}
