//! `engram analyse --puzzles`: blunders with one winning answer, and no others.

use std::{fs, process::Stdio};

use serde_json::Value;

use crate::common::{command, files, home, run, succeed, until};

/// Three games: a mate that only one move gives, a queen given away that many moves would not have needed, and a knight
/// that takes a rook with check.
const GAMES: &str = "[White \"A. \\\"B\\\"\"]\n[Black \"C\"]\n[Date \"2026.01.02\"]\n\n\
    1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n\n\
    [FEN \"6k1/5ppp/8/8/8/8/q4PPP/3QQ1K1 b - - 0 1\"]\n\n1... h6 2. g3 Kh7 *\n\n\
    [FEN \"4k3/p4r2/1p6/8/2P1N3/1P6/P6P/4K3 b - - 0 1\"]\n\n1... Rd7 2. Nf6+ Kd8 3. Nxd7 *\n";

#[test]
fn a_blunder_with_one_answer_becomes_a_puzzle() {
    let (_folder, path) = files();
    let games = path("games.pgn");
    fs::write(&games, GAMES).unwrap();
    let (epd, pgn) = (path("puzzles.epd"), path("puzzles.pgn"));
    let out = succeed(&["analyse", &games, "--depth", "8", "--puzzles", &epd]);
    let text = fs::read_to_string(&epd).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "the second game has none: {text}");
    assert!(out.contains("2 puzzles"), "{out}");
    for expected in [
        "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - bm Qxf7#; dm 1; ",
        "id \"A. 'B' - C, 3... Nf6\"; c0 \"mate in 1\"; c1 \"4. Qxf7#\"; hmvc 4; fmvn 4;",
    ] {
        assert!(lines[0].contains(expected), "{text}");
    }
    assert!(lines[1].contains(" bm Nf6+; id ") && lines[1].contains("c0 \"fork\""), "{text}");
    assert!(lines[1].contains("c1 \"2. Nf6+\""), "only the first move has no equal: {text}");

    // What was written is a suite that the engine reads and solves.
    let out = succeed(&["analyse", &epd, "--depth", "10"]);
    assert!(out.contains("solved 2 of 2"), "{out}");

    succeed(&["analyse", &games, "--depth", "8", "--puzzles", &pgn]);
    let text = fs::read_to_string(&pgn).unwrap();
    assert!(
        text.contains("[Event \"Puzzle: mate in 1\"]") && text.contains("[Date \"2026.01.02\"]"),
        "{text}"
    );
    assert!(text.contains("{after Nf6} 4. Qxf7# *") && text.contains("{after Rd7} 2. Nf6+"), "{text}");
    let out = succeed(&["analyse", &pgn, "--depth", "2"]);
    assert!(out.contains("game 2: "), "{out}");
}

/// Readers expect the seven tags of the standard first (section 8.1.1), whatever their order in the game was.
#[test]
fn the_seven_tags_come_first_then_the_variant() {
    let (_folder, path) = files();
    let (games, pgn) = (path("games.pgn"), path("puzzles.pgn"));
    let game = "[Variant \"Chess960\"]\n[Black \"C\"]\n[SetUp \"1\"]\n\
                [FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1\"]\n[White \"A\"]\n\n\
                1. e4 e5 2. Qh5 Nc6 3. Bc4 Nf6 4. Qxf7# 1-0\n";
    fs::write(&games, game).unwrap();
    succeed(&["analyse", &games, "--depth", "8", "--puzzles", &pgn]);
    let text = fs::read_to_string(&pgn).unwrap();
    let names: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('[')?.split(' ').next()).collect();
    assert_eq!(
        names,
        ["Event", "Site", "Date", "Round", "White", "Black", "Result", "Variant", "SetUp", "FEN"],
        "{text}"
    );
    assert!(text.contains("[Date \"????.??.??\"]") && text.contains("[Variant \"Chess960\"]"), "{text}");
}

#[test]
fn puzzles_do_not_depend_on_threads() {
    let folder = home();
    let games = folder.path().join("games.pgn");
    fs::write(&games, GAMES.repeat(2)).unwrap();
    let puzzles = ["1", "3"].map(|threads| {
        run(&["analyse", games.to_str().unwrap(), "--depth", "7", "--threads", threads, "--puzzles", "-"]).0
    });
    assert_eq!(puzzles[0].lines().count(), 2, "each position is a puzzle once");
    assert_eq!(puzzles[0], puzzles[1]);
}

#[test]
fn a_resumed_run_takes_the_checks_of_the_interrupted_one() {
    let (folder, path) = files();
    // What is printed of the games behind does not fit into the pipe: nobody reads it, so the first run cannot end.
    let name = "x".repeat(2000);
    let more = format!("[White \"{name}\"]\n[Black \"{name}\"]\n\n1. e4 e5 *\n\n").repeat(40);
    let (games, puzzles) = (path("games.pgn"), path("puzzles.epd"));
    fs::write(&games, GAMES.to_owned() + &more).unwrap();
    let arguments = ["analyse", &games, "--depth", "7", "--threads", "1", "--puzzles", &puzzles];
    let searched = |out: &str| -> usize {
        let summary = out.lines().find(|line| line.contains(" nodes a second")).expect("a summary");
        summary.split(' ').next().and_then(|count| count.parse().ok()).expect("positions")
    };
    let out = succeed(&arguments);
    let all = searched(&out);
    let whole = fs::read_to_string(&puzzles).unwrap();
    fs::remove_file(&puzzles).unwrap();

    let journal = path("puzzles.epd.unfinished");
    let is_check = |line: &&str| line.contains("\"kind\":\"SecondConfirmation\"");
    let mut child = command(&folder).args(arguments).stdout(Stdio::piped()).spawn().unwrap();
    // Those of the last puzzle come last.
    let is_last = |line: &&str| is_check(line) && line.contains("\"item\":2,");
    let checks = || fs::read_to_string(&journal).map_or(0, |text| text.lines().filter(is_last).count());
    until("the last puzzle is checked", || checks() >= 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let known = fs::read_to_string(&journal).unwrap();
    let resume = || {
        let (out, err, code) = run(&arguments);
        assert_eq!(code, 0, "{err}");
        assert!(err.contains("resuming unfinished work"), "{err}");
        assert!(searched(&out) < all, "those of this run are counted");
        fs::read_to_string(&puzzles).unwrap()
    };
    assert_eq!(resume(), whole);

    // With checks that say that the second best answer wins as well: they are believed, not made again.
    let doctored = |line: &str| {
        let Ok(mut entry) = serde_json::from_str::<Value>(line) else { return line.to_owned() };
        if is_check(&line) && entry["lines"].as_array().is_some_and(|lines| lines.len() > 1) {
            entry["lines"][1][0] = entry["lines"][0][0].clone();
        }
        entry.to_string() + "\n"
    };
    fs::write(&journal, known.split_inclusive('\n').map(doctored).collect::<String>()).unwrap();
    assert_eq!((resume(), whole.lines().count()), (String::new(), 2));
}
