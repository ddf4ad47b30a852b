//! What `engram analyse` takes, and what it says where that is nothing.

use std::fs;

use serde_json::Value;

use crate::common::{Engine, files, home, info_strings, json_of, refused, run, succeed};
#[cfg(unix)]
use crate::common::{command, finish};

fn json(arguments: &[&str]) -> Value {
    json_of(&[&["analyse"], arguments, &["--json", "-"]].concat())
}

#[test]
fn moves_may_follow_a_position() {
    let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2";
    for words in [
        &["startpos", "e4", "e5", "Nf3", "--depth", "3"][..],
        &["startpos moves e2e4 e7e5 g1f3", "--depth", "3"],
        &["e4", "e5", "Nf3", "--depth", "3"],
        &["1. e4 e5 2. Nf3", "--depth", "3"],
        &[
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
            "w",
            "KQkq",
            "1.",
            "e4",
            "e5",
            "2.Nf3",
            "--depth",
            "3",
        ],
    ] {
        assert_eq!(json(words)["fen"], after, "{words:?}");
    }
    assert_eq!(json(&["4k3/8/8/8/8/8/4P3/4K3 b", "--depth", "2"])["fen"], "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1");
    refused(
        &["analyse", "startpos", "e4", "e4", "--depth", "2"],
        "e4 is not a legal move in rnbqkbnr/pppppppp/8/8/4P3/",
    );
}

#[test]
fn moves_before_the_position_count_for_repetitions() {
    // White has one move that brings back, for the third time, what was there.
    let fen = "7k/8/8/8/8/6q1/8/1K6 b - - 0 1";
    let found = json(&[&format!("{fen} Qg2 Ka1 Qg3 Kb1 Qg2 Ka1 Qg3"), "--depth", "1", "--multipv", "9"]);
    let lines = found["lines"].as_array().unwrap();
    let line = lines.iter().find(|line| line["pv"][0] == "a1b1").unwrap_or_else(|| panic!("{found}"));
    assert_eq!(line["wdl"], serde_json::json!([0, 1000, 0]), "the third time: {found}");
    let alone = json(&[found["fen"].as_str().unwrap(), "--depth", "1", "--multipv", "9"]);
    let lines = alone["lines"].as_array().unwrap();
    assert!(lines.iter().all(|line| line["wdl"] != serde_json::json!([0, 1000, 0])), "{alone}");
}

#[test]
fn empty_input_and_folders_get_a_sentence() {
    let (_folder, path) = files();
    for (name, text) in [("empty.pgn", ""), ("blank.epd", "\n# nothing\n\n"), ("void", " \n")] {
        fs::write(path(name), text).unwrap();
        let (_, err, code) = run(&["analyse", &path(name)]);
        assert_eq!((code, err.lines().count()), (3, 1), "{err}");
        assert!(err.contains("there is neither a game nor a position in") && err.contains(name), "{err}");
    }
    let (_, err, code) = run(&["analyse", "-"]);
    assert!(code == 3 && err.contains("neither a game nor a position in -"), "{err}");
    fs::write(path("game.pgn"), "1. e4 e5 *\n").unwrap();
    let out = succeed(&["analyse", &path(""), "--depth", "2"]);
    assert!(out.contains("game 1"), "{out}");
    fs::create_dir(path("none")).unwrap();
    refused(&["analyse", &path("game.pgn"), &path("none"), "--depth", "2"], "none is a folder without .pgn");
}

#[test]
fn positions_are_read_as_old_programs_write_them() {
    let folder = home();
    let position = "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - -";
    let text = format!("# old\r{position} id \"M\u{fc}ller\";\r\r{position} bm Qa8;\r{position} id \"b\";\r");
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(c).unwrap()).collect();
    for name in ["old.epd", "without-ending"] {
        let path = folder.path().join(name);
        fs::write(&path, &latin).unwrap();
        let (out, err, code) = run(&["analyse", path.to_str().unwrap(), "--depth", "2"]);
        assert!(code == 3 && err.contains("line 4 is skipped") && err.lines().count() == 1, "{err}");
        assert!(out.contains("\nMüller ") && out.contains("\nb "), "{out}");
    }
}

#[test]
fn a_file_that_has_only_broken_games_is_not_said_to_have_positions() {
    let (_folder, path) = files();
    fs::write(path("null.pgn"), "1. e4 Z0 *\n").unwrap();
    let (_, err, code) = run(&["analyse", &path("null.pgn"), "--pgn", &path("out.pgn")]);
    assert!(code == 3 && err.contains("1... Z0 is a null move") && err.lines().count() == 1, "{err}");
}

#[cfg(unix)]
#[test]
fn pipes_and_names_of_any_bytes_are_read() {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};
    let folder = home();
    let file = folder.path().join(OsStr::from_bytes(b"M\xfcller.pgn"));
    let arguments = ["--depth", "1", "--threads", "1"];
    if let Err(error) = fs::write(&file, "1. e4 e5 *\n") {
        eprintln!("skipped: a name that is not UTF-8 ({error})");
    } else {
        let (out, err, code) = finish(command(&folder).arg("analyse").arg(&file).args(arguments));
        assert!(code == 0 && err.is_empty() && out.contains("game 1: ? - ? *"), "{out}{err}");
    }
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let writer = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::write(pipe, "1. e4 e5 *\n").unwrap()
    });
    let (out, err, code) = finish(command(&folder).arg("analyse").arg(&pipe).args(arguments));
    writer.join().unwrap();
    assert!(code == 0 && err.is_empty() && out.contains("game 1: ? - ? *"), "{out}{err}");
}

/// Clears the screen and rings, in the old way and in that of one byte; moves the cursor; names the window;
/// writes from right to left.
const HOSTILE: &str = "\u{1b}[2J\u{7}\u{9b}31m\u{7f}\u{1b}]0;x\u{1b}\\\u{8}\u{202e}\u{2067}";

#[test]
fn escape_sequences_never_reach_a_terminal() {
    let (_folder, path) = files();
    let game = format!(
        "[White \"A{HOSTILE}\"]\n[Opening \"{HOSTILE}\"]\n\n{{c{HOSTILE}}} 1. e4 {{x{HOSTILE}}} e5 ({HOSTILE} 1... c5) 2. Nf3 *\n"
    );
    let more = format!(
        "[Variant \"{HOSTILE}\"]\n\n1. e4 *\n\n[FEN \"{HOSTILE}\"]\n\n1. e4 *\n\n1. e4 {HOSTILE} *\n"
    );
    fs::write(path("games.pgn"), format!("{game}\n{more}")).unwrap();
    let task = format!("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - bm Ra8; id \"a{HOSTILE}\";\n8/8 w{HOSTILE}\n");
    fs::write(path("tasks.epd"), task).unwrap();
    let odd = path(&format!("odd{HOSTILE}.pgn").replace('/', ""));
    fs::write(&odd, "1. e4 xyz *\n").unwrap();
    let hostile_fen = format!("8/8/8/8/8/8/8/{HOSTILE} w - - 0 1");
    let (games, tasks) = (path("games.pgn"), path("tasks.epd"));
    let runs: Vec<Vec<&str>> = vec![
        vec!["analyse", &games, "--depth", "1"],
        vec!["analyse", &games, "--depth", "1", "--pgn", "-"],
        vec!["analyse", &games, "--depth", "1", "--json", "-"],
        vec!["analyse", &games, "--depth", "1", "--csv", "-"],
        vec!["analyse", &games, "--depth", "1", "--html", "-"],
        vec!["analyse", &tasks, "--depth", "1"],
        vec!["analyse", &tasks, "--depth", "1", "--json", "-"],
        vec!["analyse", &odd, "--depth", "1"],
        vec!["analyse", &hostile_fen],
        vec!["analyse", "startpos", HOSTILE],
        vec!["tablebase", &hostile_fen, "--syzygy", HOSTILE],
        vec!["eval", &hostile_fen],
        vec!["book", "show", &hostile_fen],
    ];
    for arguments in runs {
        let (out, err, _) = run(&arguments);
        let commands = |c: char| (c.is_control() || "\u{202e}\u{2067}".contains(c)) && c != '\n' && c != '\t';
        assert!(!out.contains(commands), "{arguments:?}: {out:?}");
        assert!(!err.contains(commands), "{arguments:?}: {err:?}");
        assert!(!out.is_empty() || !err.is_empty());
    }
}

#[test]
fn a_month_of_lichess_is_read_and_an_archive_names_its_command() {
    let (_folder, path) = files();
    // As pzstd writes it: a skippable frame with a length before each frame.
    let frame = |text: &str| {
        let packed =
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        [&[0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4], &packed[..]].concat()
    };
    let frames = [frame("[Event \"a\"]\n\n1. e4 *\n\n[Eve"), frame("nt \"b\"]\n\n1. d4 *\n")];
    fs::write(path("lichess_2026-10.pgn.zst"), frames.concat()).unwrap();
    let out = succeed(&["analyze", &path("lichess_2026-10.pgn.zst"), "--nodes", "1"]);
    assert!(out.contains("game 1: ") && out.contains("game 2: "), "{out}");
    fs::write(path("a.zip"), b"PK\x03\x04 and more").unwrap();
    for command in [&["analyse", "--nodes", "1"][..], &["book", "make", "-o", "book.bin"]] {
        let (_, err, code) = run(&[command, &[&path("a.zip")]].concat());
        assert_eq!((code, err.lines().count()), (1, 1), "{err}");
        assert!(err.contains("unzip ") && err.contains("a.zip`"), "{err}");
    }
}

#[test]
fn startpos_is_a_fen_and_a_fen_of_the_pieces_alone_says_what_it_assumes() {
    let board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    for command in [&["eval"][..], &["book", "show"]] {
        let shown = |words: &[&str]| run(&[command, words].concat());
        for words in [&["startpos", "e4"][..], &["e4"], &["1. e4"], &["startpos moves e2e4"]] {
            assert_eq!(shown(words).2, 0, "{words:?}");
            assert_eq!(shown(words), shown(&["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"]));
        }
        assert!(shown(&["e4", "e4"]).1.contains("e4 is not a legal move"));
        assert!(shown(&["8/8"]).1.contains("`8/8` is not a FEN"));
        let (_, error, code) = shown(&["e5"]);
        assert_eq!(code, 1);
        assert!(
            error.contains("e5 is not a legal move in rnbqkbnr/") && error.contains("or a FEN"),
            "{error}"
        );
    }
    for command in [&["eval"][..], &["analyse", "--depth", "1"], &["book", "show"]] {
        let out = succeed(&[command, &["startpos"]].concat());
        assert!(out.contains(&format!("{board} w KQkq - 0 1")), "{out}");
        let (out, err, code) = run(&[command, &[board]].concat());
        assert_eq!((code, err.lines().count()), (0, 1), "{err}");
        assert!(err.contains("nobody may castle"), "{err}");
        assert!(out.contains(&format!("{board} w - - 0 1")), "{out}");
    }
    let mut engine = Engine::ready();
    let lines = engine.answer(&format!("position fen {board}"));
    assert!(info_strings(&lines)[0].contains("nobody may castle"), "{lines:?}");
    assert_eq!(engine.answer("position fen startpos moves e2e4"), [""; 0]);
    assert_eq!(engine.fen(), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    engine.quit();

    let folder = home();
    let path = folder.path().join("positions");
    fs::write(&path, "startpos; bm e4; id \"x\";\n").unwrap();
    let found = json(&[path.to_str().unwrap(), "--depth", "1"]);
    assert_eq!(found["fen"], format!("{board} w KQkq - 0 1"));
}
