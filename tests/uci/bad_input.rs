//! Bad input of every kind, over pipes into the real binary: no panic, no hang, one `info string` that says
//! what to do, and the state as it was.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use crate::common::{self, Engine, command, home, until};

/// Sends `line` and expects exactly one `info string` that contains `part`, and the position untouched.
fn refused(engine: &mut Engine, line: &str, part: &str) {
    let before = engine.fen();
    let lines = engine.answer(line);
    assert_eq!(lines.len(), 1, "{line}: {lines:?}");
    assert!(lines[0].starts_with("info string ") && lines[0].contains(part), "{line}: {lines:?}");
    assert_eq!(engine.fen(), before, "{line}");
    let is_position = line.starts_with("position") && line.len() < 1 << 20;
    assert_eq!(lines[0].ends_with("; the previous position stays"), is_position, "{lines:?}");
}

#[test]
fn mistakes_are_answered_by_one_line_and_change_nothing() {
    let mut engine = Engine::ready();
    engine.send("position startpos moves e2e4");
    for (line, part) in [
        ("hello", "unknown command `hello`; `help`"),
        ("setoption", "setoption name NAME value VALUE"),
        ("setoption name", "not complete"),
        ("setoption name Brilliance value 9", "no option `Brilliance`"),
        ("setoption name Hash", "needs a value: setoption name Hash value 16"),
        ("setoption name Hash value", "1 to 262144"),
        ("setoption name Hash value 0", "1 to 262144"),
        ("setoption name Hash value 262145", "1 to 262144"),
        ("setoption name Hash value -1", "1 to 262144"),
        ("setoption name Hash value 999999999999999999999999", "1 to 262144"),
        ("setoption name Threads value 0", "1 to 1024"),
        ("setoption name Threads value two", "1 to 1024"),
        ("setoption name Learning value always", "off"),
        ("setoption name LearnDrop value 0", "1 to"),
        ("setoption name PathHash value fifty 80", "fifty"),
        ("setoption name Threads value 1025", "1 to 1024"),
        ("setoption name MultiPV value 257", "1 to 256"),
        ("setoption name Move Overhead value 5001", "0 to 5000"),
        ("setoption name PawnHash value 0", "1 to 1024"),
        ("setoption name Ponder value perhaps", "true or false"),
        ("setoption name UCI_Chess960", "needs a value"),
        ("position", "position startpos|fen"),
        ("position fen", "position startpos|fen"),
        ("position here", "position startpos|fen"),
        ("position startpos e2e4", "position startpos|fen"),
        ("position startpos moves e2e5", "move 1 of the list, e2e5, is not legal"),
        ("position startpos moves e2e4 e7e5 e1e3", "move 3"),
        ("position startpos moves e2e4 0000", "move 2 of the list, 0000"),
        ("position startpos moves e2e4 (none)", "`(none)` is not a move"),
        ("position startpos moves e2e9", "`e2e9` is not a move"),
        ("position startpos moves O-O", "is not a move"),
        ("position fen hello world", "is not a FEN"),
        ("position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQkq - 0 1", "FEN"),
        ("position fen rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "FEN"),
        ("position fen 8/8/8/8/8/8/8/8 w - - 0 1", "empty"),
        ("position fen 4k3/8/8/8/8/8/8/8 w - - 0 1", "a king is missing"),
        ("position fen 4k3/8/8/8/8/8/8/2K1K3 w - - 0 1", "too many kings"),
        ("position fen 4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "could capture the king"),
        ("position fen P3k3/8/8/8/8/8/8/4K3 w - - 0 1", "pawns stand on"),
        ("go deep 3", "`deep` is not understood: write `go [searchmoves"),
        ("debug", "debug on|off"),
        ("debug joho on", "debug on|off"),
        ("register", "register later"),
        ("perft", "`perft` is not complete: write `perft DEPTH`"),
        ("perft x", "`perft` needs a whole number"),
        ("perft 99", "0 to 30"),
        ("bench fast", "`bench` needs a whole number"),
    ] {
        refused(&mut engine, line, part);
    }
    let (best, _) = engine.best("go depth 2");
    assert_ne!(best, "(none)");
    engine.quit();
}

#[test]
fn a_go_that_names_a_limit_is_answered() {
    let mut engine = Engine::with(&["Learning value off"]);
    for (line, passed_over) in [
        // Sent where a flag has fallen.
        ("go wtime -5 btime -5 movestogo -5", ""),
        ("go movetime 0", ""),
        ("go movetime -1", ""),
        ("go depth -3", ""),
        ("go nodes -3", ""),
        ("go mate 0 depth 3", ""),
        ("go wtime 300.5 btime 300.5", ""),
        ("go winc 5 binc 5", ""),
        ("go movestogo 40", ""),
        ("go depth 3 joho", "joho"),
        ("go dpeth 4 depth 3", "dpeth 4"),
        ("go depth", "depth"),
        ("go depth deep", "depth deep"),
        ("go wtime soon btime later", "wtime soon btime later"),
        ("go depth movetime 20", "depth"),
        ("go searchmoves e2e4 depth 2", "e2e4"),
        ("go searchmoves king d7d5 depth 2", "king"),
        ("go searchmoves king depth 2", "king"),
    ] {
        let (best, lines) = engine.search("startpos moves e2e4", line);
        assert_ne!(best, "(none)", "{line}");
        let expected: Vec<String> = Some(passed_over)
            .filter(|words| !words.is_empty())
            .map(|words| format!("ignored (not understood, or not legal here): {words}"))
            .into_iter()
            .collect();
        assert_eq!(common::info_strings(&lines), expected, "{line}");
    }
    assert_eq!(engine.best("go searchmoves e2e4 d7d5 depth 2").0, "d7d5");
    // As many moves as a position can have.
    let queens = "fen R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";
    let (best, lines) = engine.search(queens, "go depth 3");
    assert!(best != "(none)" && common::info_strings(&lines).is_empty(), "{lines:?}");
    // The plies of the larger ones do not fit in 32 bits.
    for moves in [1, 2, 1 << 30, u32::MAX] {
        let (best, lines) = engine.search("fen 7k/8/6K1/8/8/8/8/R7 w - - 0 1", &format!("go mate {moves}"));
        // The first mate that is short enough ends the search.
        assert!(best == "a1a8" && common::last_report(&lines).depth < Some(10), "{moves}: {lines:?}");
    }
    // Also behind a search that it ends.
    engine.send("go infinite");
    engine.send("go depth 2 joho");
    engine.best_move();
    engine.best_move();
    engine.quit();
}

#[test]
fn a_byte_order_mark_before_the_first_command_is_passed_over() {
    let mut engine = Engine::start();
    engine.send_bytes(b"\xef\xbb\xbfuci\n");
    let lines = engine.expect("uciok");
    assert!(lines[0].starts_with("id name "), "{lines:?}");
    engine.quit();
}

#[test]
fn what_protocol_and_people_tolerate_is_tolerated() {
    let mut engine = Engine::ready();
    for line in [
        "",
        "   \t  ",
        "\r",
        "stop",
        "ponderhit",
        "joho debug on",
        "debug off",
        "ucinewgame now",
        "SETOPTION setoption name hASH value 4",
        "setoption name clear hash",
        "setoption name Clear Hash value whatever",
        "setoption   name   Move   Overhead   value   20",
        "setoption name Ponder value TRUE",
        "position   startpos   moves   E2E4   e7e5",
        "position fen 4k3/P7/8/8/8/8/8/4K3 w - - moves a7a8Q",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
        "position fen QQQQkQQQ/8/8/8/8/8/8/4K3 b - - 0 1",
    ] {
        let lines: Vec<String> =
            engine.answer(line).into_iter().filter(|line| !line.contains("received:")).collect();
        assert!(lines.is_empty(), "{line:?}: {lines:?}");
    }
    engine.send_bytes(b"isready\r\nisready\r\n");
    engine.expect("readyok");
    engine.expect("readyok");
    engine.quit();
}

#[test]
fn a_line_of_a_megabyte_is_survived() {
    let mut engine = Engine::ready();
    engine.send("position startpos moves e2e4");
    for size in [1_000_000, 1 << 20, (1 << 20) + 1, 5 << 20] {
        refused(
            &mut engine,
            &"x".repeat(size),
            if size > 1 << 20 { "was skipped" } else { "unknown command" },
        );
    }
    refused(
        &mut engine,
        &format!("position startpos moves{}", " e2e4".repeat(200_000)),
        "move 2 of the list",
    );
    refused(
        &mut engine,
        &format!("position startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(100_000)),
        "was skipped",
    );
    engine.send(&format!("position startpos moves{}", " g1f3 g8f6 f3g1 f6g8".repeat(2_900)));
    assert!(engine.sync().is_empty());
    assert!(engine.fen().starts_with("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq"));
    assert_ne!(engine.best("go depth 2").0, "(none)");
    engine.quit();
}

#[test]
fn bytes_that_are_no_text_are_survived() {
    let mut engine = Engine::ready();
    engine.send("position startpos moves e2e4");
    let before = engine.fen();
    for bytes in
        [&b"\xff\xfe\xfd\n"[..], b"position startpos moves \xc3\x28\n", b"setoption name Hash value \x80\n"]
    {
        engine.send_bytes(bytes);
        let lines = engine.sync();
        assert!(lines.len() == 1 && !lines[0].starts_with("bestmove"), "{lines:?}");
    }
    engine.send_bytes(b"\0\0\0\n");
    assert_eq!(engine.sync().len(), 1);
    let noise: Vec<u8> = (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    engine.send_bytes(&noise);
    engine.send_bytes(b"\n");
    engine.sync();
    assert_eq!(engine.fen(), before);
    engine.quit();
}

#[test]
fn the_end_of_the_input_ends_the_session() {
    for script in [
        "",
        "uci\n",
        "position startpos\ngo infinite\n",
        "go ponder wtime 1000\n",
        "go depth 200\nsetoption name Hash value 32\n",
        "quit",
        "go infinite\nquit\n",
        "position startpos\nperft 3",
    ] {
        let mut engine = Engine::start();
        engine.send_bytes(script.as_bytes());
        if script.contains("go ") && !script.contains("quit") {
            engine.expect("info depth 1 seldepth ");
        }
        engine.close_input();
        engine.leaves_cleanly();
    }
}

#[test]
fn a_search_that_the_end_of_input_stops_still_answers() {
    let mut engine = Engine::ready();
    engine.send("go infinite");
    engine.searches_on("1", 20);
    engine.close_input();
    engine.best_move();
    engine.leaves_cleanly();
}

#[test]
fn a_closed_output_ends_the_session_quietly() {
    for script in ["uci\nisready\n", "bench 12\n", "perft 6\n", "go movetime 1000000\n"] {
        let home = home();
        let mut child = command(&home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        stdin.write_all(b"isready\n").expect("the engine reads");
        stdout.read_line(&mut String::new()).expect("readyok");
        drop(stdout);
        stdin.write_all(script.as_bytes()).expect("the engine reads");
        // The input stays open: the engine has to notice by itself, in a search without being asked, otherwise at the
        // latest when asked again.
        until(&format!("{script:?}: the engine ends without a listener"), || {
            if !script.starts_with("go") {
                // Fails once the engine is gone.
                let _ = stdin.write_all(b"isready\n");
            }
            child.try_wait().expect("a child").is_some()
        });
        let output = child.wait_with_output().expect("a child");
        assert!(output.status.success() && output.stderr.is_empty(), "{script:?}: {output:?}");
    }
}
