//! The real binary over pipes: how a session begins and ends, every form of `go`, the options, Chess960.
//! What happens to bad input is told in `bad_input.rs`.

use std::{io::Write, process::Stdio};

use engram::types::Depth;

use crate::common::{Engine, chess960, command, home, last_report, run};

fn is_legal(uci: &str, fen: &str) -> bool {
    chess960(fen).legal_move(uci).is_some()
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

#[test]
fn the_handshake_names_the_engine_and_its_options() {
    let mut engine = Engine::start();
    engine.send("uci");
    let lines = engine.expect("uciok");
    assert!(lines[0].starts_with("id name Engram "), "{lines:?}");
    assert!(lines[1].starts_with("id author "), "{lines:?}");
    // One of each kind; `repository/readme.rs` compares them all with the README.
    for option in [
        "option name Hash type spin default 16 min 1 max 262144",
        "option name Clear Hash type button",
        "option name Ponder type check default false",
        "option name Debug Log File type string default <empty>",
    ] {
        assert!(lines.iter().any(|line| line == option), "{option} is missing in {lines:#?}");
    }
    assert!(engine.sync().is_empty());
    // A second handshake is answered like the first.
    engine.send("uci");
    assert_eq!(engine.expect("uciok"), lines);
    engine.quit();
}

#[test]
fn nothing_is_said_before_the_gui_speaks() {
    let mut engine = Engine::start();
    assert!(engine.sync().is_empty());
    engine.quit();
}

#[test]
fn every_subset_of_the_go_parameters_is_answered() {
    let mut engine = Engine::ready();
    for go in [
        "go depth 1",
        "go depth 5",
        "go nodes 1",
        "go nodes 5000",
        "go movetime 30",
        "go wtime 100",
        "go btime 100",
        "go wtime 300 btime 300 winc 10 binc 10",
        "go binc 10 winc 10 btime 300 wtime 300",
        "go wtime 300 btime 300 movestogo 1",
        "go wtime 300 btime 300 movestogo 0",
        "go wtime 0 btime 0",
        "go wtime -1000 btime -1000 winc 0 binc 0",
        "go wtime 1 btime 1 winc 0 binc 0 movestogo 40",
        "go wtime 100000 btime 100000 depth 3",
        "go depth 0",
        "go depth 3 depth 4",
        "go nodes 99999999999999999999 depth 3",
        "go depth 4 movetime 10000 nodes 100000",
        "go mate 1 depth 4",
    ] {
        for moves in ["", " moves e2e4"] {
            let (best, lines) = engine.search(&format!("startpos{moves}"), go);
            let fen = if moves.is_empty() {
                START
            } else {
                "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
            };
            assert!(is_legal(&best, fen), "{go}: {best}");
            assert_eq!(last_report(&lines).pv[0].to_string(), best, "{go}: {lines:#?}");
        }
    }
    assert!(engine.sync().is_empty());
    engine.quit();
}

#[test]
fn an_infinite_search_answers_only_to_stop() {
    let mut engine = Engine::ready();
    // Also where nothing is left to search: a mate in one, one legal move, a game that is over.
    let deepest = Depth::MAX.get().to_string();
    for (position, last_depth) in [
        ("startpos", "1"),
        ("fen 7k/8/6QK/8/8/8/8/8 w - - 0 1", &deepest),
        ("fen k7/8/1R6/8/8/8/8/1R5K b - - 0 1", &deepest),
        ("fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "0"),
    ] {
        engine.begin(position, "go infinite");
        engine.searches_on(last_depth, 20);
        engine.stop();
    }
    // Nor where another limit is met. The last line counts 100 nodes if that limit ended the search and not the stop,
    // for which a slow machine needs more turns.
    for go in ["go infinite nodes 100", "go ponder nodes 100"] {
        let is_met_before_stop = (0..12).any(|doublings| {
            engine.send(&format!("ucinewgame\nposition startpos\n{go}"));
            engine.searches_on("1", 20 << doublings);
            engine.stop();
            last_report(&engine.seen).nodes == Some(100)
        });
        assert!(is_met_before_stop, "{go}");
    }
    assert!(engine.answer("stop").is_empty(), "a stop without a search is ignored");
    engine.quit();
}

#[test]
fn stop_that_follows_go_at_once_is_not_lost() {
    let mut engine = Engine::ready();
    for _ in 0..20 {
        engine.send_bytes(b"position startpos\ngo infinite\nstop\n");
        let (best, infos) = engine.best_move();
        assert!(is_legal(&best, START));
        let infinite = |info: &String| info.contains("cp 3200") || info.contains("cp -3200");
        assert!(!infos.iter().any(infinite), "however early the stop: {infos:?}");
    }
    engine.quit();
}

#[test]
fn pondering_waits_for_ponderhit_or_stop() {
    let mut engine = Engine::with(&["Ponder value true", "OwnBook value true"]);
    for end in ["ponderhit", "stop"] {
        engine.begin("startpos moves e2e4 e7e5", "go ponder wtime 1 btime 1");
        // Far beyond a millisecond.
        let lines = engine.expect("info depth 10 seldepth ");
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
        let (best, _) = engine.best(end);
        assert!(is_legal(&best, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"), "{best}");
    }
    assert!(engine.answer("ponderhit").is_empty(), "a ponderhit without a search is ignored");
    engine.quit();
}

/// Under a node rate the clock is read every 512 nodes, so that the numbers are exact.
#[test]
fn the_overhead_is_taken_off_and_of_a_movetime_at_most_half() {
    let mut engine = Engine::with(&["Learning value off", "nodestime value 100"]);
    for (overhead, nodes) in [(0, 20_480), (10, 19_456), (500, 10_240)] {
        engine.send(&format!("setoption name Move Overhead value {overhead}"));
        engine.send("ucinewgame");
        let fen = "fen r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9";
        let (_, lines) = engine.search(fen, "go movetime 200");
        assert_eq!(last_report(&lines).nodes, Some(nodes), "{overhead}");
    }
    engine.quit();
}

/// The first clock of a game is that of the whole game, whatever the GUI's says later.
#[test]
fn under_a_node_rate_a_game_has_the_nodes_of_its_first_clock() {
    let mut engine = Engine::with(&["Learning value off", "nodestime value 100"]);
    let line = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7";
    let moves: Vec<&str> = line.split(' ').collect();
    let nodes = |engine: &mut Engine, plies: usize| {
        let position = format!("startpos moves {}", moves[..plies].join(" "));
        let (_, lines) = engine.search(&position, "go wtime 1000 btime 1000 movestogo 1");
        last_report(&lines).nodes.expect("a count")
    };
    let game = [0, 2, 4, 6, 8, 10].map(|plies| nodes(&mut engine, plies));
    assert!(game[0] > 10_000 && game.iter().sum::<u64>() < 100_000, "{game:?}");
    engine.send("ucinewgame");
    assert_eq!(nodes(&mut engine, 0), game[0], "another game has a clock of its own");
    engine.quit();
}

#[test]
fn a_ponder_move_is_legal_after_the_best_move() {
    let mut engine = Engine::ready();
    engine.begin("startpos", "go depth 6");
    let line = engine.expect("bestmove ").pop().unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["bestmove", best, "ponder", ponder] = words[..] else { panic!("{line}") };
    engine.send(&format!("position startpos moves {best} {ponder}"));
    assert!(engine.sync().is_empty(), "{line}");
    engine.quit();
}

#[test]
fn no_ponder_move_follows_a_move_that_repeats_the_position_a_third_time() {
    let mut engine = Engine::ready();
    engine.send(
        "position fen 8/8/8/8/8/2k5/1r6/K5Q1 w - - 0 1 moves g1e3 c3c4 e3g1 c4c3 g1e3 c3c4 e3e6 c4c3 e6e3",
    );
    engine.send("go depth 6 searchmoves c3c4");
    assert_eq!(engine.expect("bestmove ").pop().as_deref(), Some("bestmove c3c4"));
    engine.quit();
}

#[test]
fn after_clear_hash_a_search_is_as_the_first_one() {
    let mut engine = Engine::ready();
    let mut nodes = || {
        let (_, lines) = engine.search("startpos moves e2e4 c7c5", "go depth 9");
        let nodes = lines.iter().rev().find_map(|line| line.split(" nodes ").nth(1)).expect("an info line");
        let nodes = nodes.split(' ').next().map(str::to_owned);
        engine.send("setoption name Clear Hash");
        nodes
    };
    assert_eq!(nodes(), nodes());
    engine.quit();
}

#[test]
fn a_finished_game_has_a_score_and_no_move() {
    let mut engine = Engine::ready();
    for (fen, score) in
        [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"), ("7k/8/6Q1/8/8/8/8/K7 b - - 0 1", "cp 0")]
    {
        for go in ["go depth 3", "go movetime 20", "go wtime 100 btime 100"] {
            let (best, lines) = engine.search(&format!("fen {fen}"), go);
            assert_eq!(best, "(none)", "{fen}");
            let info = lines.last().expect("an info line");
            assert!(info.contains(&format!("score {score}")) && !info.contains("string"), "{info}");
        }
    }
    engine.quit();
}

#[test]
fn isready_is_answered_during_a_search_and_options_wait_for_its_end() {
    let mut engine = Engine::ready();
    engine.begin("startpos", "go infinite");
    engine.send("setoption name Hash value 8");
    engine.send("setoption name Threads value 2");
    engine.send("ucinewgame");
    engine.send("position startpos moves e2e4");
    let lines = engine.sync();
    assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
    // A mistake is told at once, although the rest waits.
    let lines = engine.answer("setoption name Hash value 0");
    assert_eq!(lines.iter().filter(|line| line.starts_with("info string")).count(), 1, "{lines:?}");
    engine.send("stop");
    assert!(is_legal(&engine.best_move().0, START));
    assert_eq!(engine.fen(), "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    engine.quit();
}

#[test]
fn go_during_a_search_ends_it_and_each_go_has_its_bestmove() {
    let mut engine = Engine::ready();
    engine.begin("startpos", "go infinite");
    engine.begin("startpos moves e2e4", "go infinite");
    assert!(is_legal(&engine.best_move().0, START), "the first answer belongs to the first position");
    engine.searches_on("1", 20);
    engine.send("stop");
    assert!(is_legal(&engine.best_move().0, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"));
    engine.quit();
}

#[test]
fn what_waits_at_the_end_of_the_input_or_at_quit_is_done() {
    let home = home();
    let scripts = [
        ("go infinite\ngo depth 3\n", 2, "bestmove "),
        ("go perft 3\n", 0, "8902 nodes "),
        ("go depth 6\nposition startpos moves e2e4\nperft 2\n", 1, "600 nodes "),
        ("go infinite\ngo infinite\nperft 1\ngo depth 1\n", 3, "bestmove "),
    ];
    for ((script, answers, last), end) in
        scripts.into_iter().flat_map(|script| [(script, ""), (script, "quit\n")])
    {
        let input = format!("{script}{end}");
        let mut child =
            command(&home).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let text = String::from_utf8(output.stdout).expect("text");
        assert_eq!(text.lines().filter(|line| line.starts_with("bestmove ")).count(), answers, "{text}");
        assert!(text.trim_end().lines().last().is_some_and(|line| line.starts_with(last)), "{text}");
    }
}

#[test]
fn chess960_castling_is_king_takes_rook() {
    let mut engine = Engine::ready();
    // Without the option castling is written as the king's own move, and read in both notations.
    let fen = "4k3/8/8/8/8/8/8/R3K3 w Q - 0 1";
    engine.send(&format!("position fen {fen}"));
    assert_eq!(engine.best("go depth 2 searchmoves e1c1").0, "e1c1");
    assert_eq!(engine.best("go depth 2 searchmoves e1a1").0, "e1c1");
    engine.send("setoption name UCI_Chess960 value true");
    engine.send(&format!("position fen {fen}"));
    assert_eq!(engine.best("go depth 2 searchmoves e1a1").0, "e1a1");
    // In Shredder-FEN, with king and rook anywhere.
    let (best, lines) = engine
        .search("fen 1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w BGbg - 0 1", "go depth 2 searchmoves e1g1");
    assert_eq!(best, "e1g1", "{lines:?}");
    engine.send("position fen 1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w BGbg - 0 1 moves e1b1 e8g8");
    assert!(engine.sync().is_empty());
    assert_eq!(engine.fen(), "1r3rk1/pppppppp/8/8/8/8/PPPPPPPP/2KR2R1 w - - 2 2");
    // From the start position too.
    engine.send("position startpos moves e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1h1");
    assert!(engine.sync().is_empty());
    assert!(engine.fen().contains("RNBQ1RK1"));
    engine.quit();
}

#[test]
fn chances_are_printed_on_demand() {
    let mut engine = Engine::ready();
    for (value, shown) in [("true", true), ("false", false)] {
        engine.send(&format!("setoption name UCI_ShowWDL value {value}"));
        let (_, lines) = engine.best("go depth 2");
        let scores: Vec<_> = lines.iter().filter(|line| line.contains(" score ")).collect();
        assert!(
            !scores.is_empty() && scores.iter().all(|line| line.contains(" wdl ") == shown),
            "{lines:#?}"
        );
    }
    engine.quit();
}

#[test]
fn a_position_with_chess960_rights_is_understood_without_the_option() {
    let mut engine = Engine::ready();
    engine.send("position fen 1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 0 1 moves e1g1");
    assert!(engine.sync().is_empty());
    assert!(engine.fen().starts_with("1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R3RK1 b "));
    engine.quit();
}

#[test]
fn the_conveniences_leave_the_session_as_it_was() {
    let mut engine = Engine::ready();
    engine.send("position startpos moves e2e4");
    let fen = engine.fen();
    let lines = engine.answer("perft 3");
    assert!(lines.iter().any(|line| line == "a7a6: 566"), "{lines:?}");
    assert!(lines.last().expect("a line").starts_with("13160 nodes "), "{lines:?}");
    assert_eq!(engine.answer("go perft 1").last().map(|line| line.starts_with("20 nodes ")), Some(true));
    let bench = engine.answer("bench 2");
    assert!(bench.last().is_some_and(|line| line.contains(" nodes ") && line.ends_with(" nps")), "{bench:?}");
    assert!(engine.answer("help").iter().any(|line| line.contains("ponderhit")));
    assert!(!engine.answer("eval").is_empty());
    assert_eq!(engine.fen(), fen);
    engine.quit();
}

#[test]
fn stop_is_heard_during_bench_and_perft() {
    let mut engine = Engine::ready();
    engine.send("perft 12");
    let lines = engine.answer("stop");
    assert!(lines.iter().any(|line| line == "info string perft was interrupted"), "{lines:?}");
    engine.send("bench 100\nstop");
    engine.quit();
}

#[test]
fn debug_echoes_commands_and_register_is_answered() {
    let mut engine = Engine::ready();
    assert!(engine.answer("register later").is_empty());
    assert_eq!(
        engine.answer("register name Stefan MK code 4359874324"),
        ["registration checking", "registration ok"]
    );
    engine.send("debug on");
    assert_eq!(
        engine.answer("setoption name  hash  value 2"),
        ["info string received: setoption name hash value 2", "info string received: isready"]
    );
    engine.send("debug off");
    engine.sync();
    assert!(engine.answer("setoption name Hash value 3").is_empty());
    engine.quit();
}

#[test]
fn the_debug_log_holds_every_line_of_both_sides() {
    let mut engine = Engine::ready();
    let path = engine.home().join("a log.txt");
    // In one piece: what follows the option is read before the option is carried out.
    engine.send(&format!("setoption name Debug Log File value {}\nmoin", path.display()));
    engine.sync();
    engine.send("setoption name Debug Log File value <empty>");
    engine.sync();
    engine.send("joho debug off");
    engine.sync();
    let log = std::fs::read_to_string(&path).expect("the log");
    let at = |line| log.find(line).unwrap_or_else(|| panic!("no {line} in\n{log}"));
    assert!(at("< moin") < at("< isready") && at("< isready") < at("> readyok"), "{log}");
    assert!(!log.contains("joho"), "{log}");
    let lines = engine.answer("setoption name Debug Log File value /nowhere/at all/log.txt");
    assert!(lines.len() == 1 && lines[0].starts_with("info string the debug log"), "{lines:?}");
    // A log goes on, and a file that is none stays as it is.
    let other = engine.home().join("games.pgn");
    std::fs::write(&other, "[Event \"A\"]\n\n1. e4 *\n").expect("a file");
    let lines = engine.answer(&format!("setoption name Debug Log File value {}", other.display()));
    assert!(lines.len() == 1 && lines[0].contains("is not a log of Engram; name another file"), "{lines:?}");
    if cfg!(target_os = "linux") {
        let lines = engine.answer("setoption name Debug Log File value /proc/self/mem");
        assert!(
            lines.len() == 1 && lines[0].contains("is not a log of Engram; name another file"),
            "{lines:?}"
        );
    }
    assert!(engine.answer(&format!("setoption name Debug Log File value {}", path.display())).is_empty());
    assert_eq!(std::fs::read_to_string(&other).expect("a file"), "[Event \"A\"]\n\n1. e4 *\n");
    engine.quit();
}

#[test]
fn the_subcommands_do_what_their_help_says() {
    let (out, _, code) = run(&["perft", "3"]);
    assert!(code == 0 && out.starts_with("8902 nodes "), "{out}");
    let kiwipete = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
    let (out, _, _) = run(&["perft", "2", "--fen", kiwipete, "--divide"]);
    assert!(out.contains("e1g1: 43\n") && out.contains("2039 nodes "), "{out}");
    let (out, _, _) = run(&["perft", "1", "--fen", kiwipete, "--divide", "--chess960"]);
    assert!(out.contains("e1h1: 1\n"), "{out}");
    let (out, _, code) = run(&["bench", "2"]);
    // The two lines that a report of a fault asks for.
    let mut lines = out.lines().rev();
    let [last, before] = [lines.next(), lines.next()].map(Option::unwrap_or_default);
    assert!(code == 0 && last.contains(" nodes ") && last.ends_with(" nps"), "{out}");
    assert!(before.starts_with("network computed with "), "{out}");
    for arguments in [vec!["eval", kiwipete], ["eval"].into_iter().chain(kiwipete.split(' ')).collect()] {
        let (out, _, code) = run(&arguments);
        assert!(code == 0 && !out.is_empty(), "{out}");
    }
}

#[test]
fn exit_codes_tell_bad_arguments_from_failures() {
    for arguments in [&["perft"][..], &["perft", "x"], &["perft", "31"], &["bench", "0"], &["dance"]] {
        let (_, err, code) = run(arguments);
        assert!(code == 2 && !err.is_empty(), "{arguments:?}: {code} {err}");
    }
    let (out, err, code) = run(&["eval", "nonsense"]);
    assert!(code == 1 && out.is_empty() && err.lines().count() == 1, "{code} {out} {err}");
    assert_eq!(run(&["--help"]).2, 0);
    let home = home();
    assert!(command(&home).arg("--version").output().is_ok_and(|output| output.status.success()));
}

#[test]
fn what_is_shown_is_the_position_that_was_set_before() {
    let mut engine = Engine::ready();
    engine.begin("startpos moves e2e4", "go depth 8");
    engine.send("position fen 8/8/8/4k3/8/8/4K3/4R3 w - - 0 1");
    engine.send("d");
    let shown = engine.expect("Fen: ").pop().expect("a line");
    assert_eq!(shown, "Fen: 8/8/8/4k3/8/8/4K3/4R3 w - - 0 1");
    engine.quit();
}
