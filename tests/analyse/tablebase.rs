//! What is known for certain is said so: draws by rule, tablebase results in every output, `engram tablebase`.
//!
//! Uses the tables in `../shared/data/syzygy` and says so where they are not there.

use engram::protocol::ScoreValue;
use shakmaty::uci::UciMove;

use crate::common::{self, Engine, files, home, json_of, last_report, run, shared, succeed};

fn tables() -> Option<String> {
    Some(shared("syzygy")?.to_str()?.to_owned())
}

/// The chances in the last line before the `bestmove`.
fn wdl(engine: &mut Engine, fen: &str) -> [u16; 3] {
    last_report(&engine.search(&format!("fen {fen}"), "go depth 6").1).wdl.expect("chances")
}

const STALEMATE: &str = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const BARE_KINGS: &str = "7k/8/6K1/8/8/8/8/8 b - - 0 1";
const ONE_KNIGHT: &str = "7k/8/6K1/8/8/8/8/6N1 w - - 0 1";
/// The only move takes the last piece.
const ONLY_CAPTURE: &str = "8/8/8/8/8/8/1r6/K1k5 w - - 0 1";
const ROOK_AGAINST_KNIGHT: &str = "8/8/8/3kn3/8/8/3K4/7R w - - 0 1";
const QUEEN_AGAINST_ROOK: &str = "8/8/8/3kr3/8/8/3K4/6Q1 w - - 0 1";

#[test]
fn a_draw_by_rule_leaves_no_other_chances() {
    let mut engine = Engine::with(&["UCI_ShowWDL value true"]);
    for fen in [STALEMATE, BARE_KINGS, ONE_KNIGHT, ONLY_CAPTURE] {
        assert_eq!(wdl(&mut engine, fen), [0, 1000, 0], "{fen}");
        let found = json_of(&["analyse", fen, "--depth", "4", "--json", "-"]);
        assert_eq!(found["lines"][0]["wdl"], serde_json::json!([0, 1000, 0]), "{fen}");
    }
    assert_ne!(wdl(&mut engine, "7k/8/6K1/8/8/8/8/6R1 w - - 0 1"), [0, 1000, 0]);
    // The rook takes the queen and stalemates, which no search of its replies has to find out.
    let (_, lines) =
        engine.search("fen 7k/4qR2/7p/5N1P/K7/pB6/P7/8 w - - 39 83", "go depth 1 searchmoves f7e7");
    assert_eq!(common::last_score(&lines), ScoreValue::Centipawns(0), "{lines:?}");
    assert_eq!(wdl(&mut engine, "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"), [0, 0, 1000]);
    assert_ne!(
        wdl(&mut engine, ROOK_AGAINST_KNIGHT),
        [0, 1000, 0],
        "without tables it is likely, not certain"
    );
    engine.quit();
}

#[test]
fn what_tables_know_is_certain_and_its_line_goes_on() {
    let Some(folder) = tables() else { return };
    let mut engine = Engine::with(&["UCI_ShowWDL value true", &format!("SyzygyPath value {folder}")]);
    assert_eq!(wdl(&mut engine, ROOK_AGAINST_KNIGHT), [0, 1000, 0]);
    assert_eq!(wdl(&mut engine, QUEEN_AGAINST_ROOK), [1000, 0, 0]);
    // Two plies too late for the fifty-move rule.
    for (rule, chances) in [("true", [0, 1000, 0]), ("false", [1000, 0, 0]), ("true", [0, 1000, 0])] {
        engine.send(&format!("setoption name Syzygy50MoveRule value {rule}"));
        assert_eq!(wdl(&mut engine, "8/8/8/3kr3/8/8/3K4/6Q1 w - - 70 90"), chances, "{rule}");
    }

    // In an analysis even the shallowest line is more than a move, and what is printed as the reply is what is pondered on.
    engine.send("setoption name UCI_AnalyseMode value true");
    for fen in [ROOK_AGAINST_KNIGHT, QUEEN_AGAINST_ROOK, "8/8/8/8/8/2k5/1p6/1K6 w - - 0 1"] {
        engine.begin(&format!("fen {fen}"), "go depth 1");
        let lines = engine.expect("bestmove");
        let pv: Vec<&str> = lines[lines.len() - 2].split(" pv ").nth(1).unwrap().split(' ').collect();
        assert!(pv.len() > 4, "{lines:?}");
        assert_eq!(lines[lines.len() - 1], format!("bestmove {} ponder {}", pv[0], pv[1]), "{lines:?}");
    }
    engine.quit();

    let analyse = |fen: &str| run(&["analyse", fen, "--depth", "4", "--syzygy", &folder]).0;
    let won = analyse(QUEEN_AGAINST_ROOK);
    assert!(won.contains(" TB win in 2") && won.contains(" 20. "), "{won}");
    assert!(won.lines().all(|line| !line.trim_start().starts_with('+')), "no centipawns: {won}");
    assert!(analyse("8/8/8/3k4/8/3K4/4B3/5N2 b - - 0 1").contains("TB loss in "));
}

#[test]
fn a_line_of_one_move_goes_on_from_its_own_position() {
    let Some(folder) = tables() else { return };
    for fen in ["4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "8/8/8/4kp2/8/8/1P6/K7 w - - 0 1"] {
        let found = json_of(&["analyse", fen, "--depth", "1", "--syzygy", &folder, "--json", "-"]);
        let line = found["lines"][0]["pv"].as_array().expect("moves");
        assert!(line.len() > 5, "{found}");
        line.iter().fold(common::position(fen), |position, uci| {
            let uci: UciMove = uci.as_str().unwrap().parse().unwrap();
            position.play(uci.to_move(position.chess()).unwrap_or_else(|_| panic!("{uci} in {found}")))
        });
    }
}

#[test]
fn an_annotated_game_says_what_the_tables_know() {
    let Some(folder) = tables() else { return };
    let (_home, path) = files();
    // White gives the win away: 1. Kd3 wins, 1. e4+ does not.
    std::fs::write(path("game.pgn"), "[FEN \"8/8/8/3k4/8/8/3KP3/8 w - - 0 1\"]\n\n1. e4+ Kxe4 1/2-1/2\n")
        .unwrap();
    let (first, second) = (path("first.pgn"), path("second.pgn"));
    let annotate = |from: &str, to: &str| {
        succeed(&["analyse", from, "--depth", "4", "--syzygy", &folder, "--pgn", to]);
        std::fs::read_to_string(to).unwrap()
    };
    let text = annotate(&path("game.pgn"), &first);
    let flat = common::flat(&text);
    assert!(
        flat.contains("1. e4+ $4 {[%eval 0.00]} (1. Kd3 ") && flat.contains("{Engram TB win in 6})"),
        "{text}"
    );
    assert_eq!(annotate(&first, &second), text, "our own line is known again and replaced");
}

#[test]
fn every_move_is_listed_best_first() {
    let Some(folder) = tables() else { return };
    let list = |fen: &str| json_of(&["tablebase", fen, "--syzygy", &folder, "--json"]);
    let pawn = list("8/8/8/3k4/8/8/3KP3/8 w");
    assert_eq!((&pawn["wdl"], &pawn["dtz"], &pawn["result"]), (&2.into(), &11.into(), &"win".into()));
    assert_eq!(pawn["moves"][0]["san"], "Kd3", "the only move that wins");
    let queen = list(QUEEN_AGAINST_ROOK);
    let moves = queen["moves"].as_array().unwrap();
    let order: Vec<(i64, i64)> =
        moves.iter().map(|m| (m["wdl"].as_i64().unwrap(), -m["dtz"].as_i64().unwrap())).collect();
    assert_eq!(moves.len(), 26, "all that are legal");
    assert!(order.windows(2).all(|pair| pair[0] >= pair[1]), "{order:?}");
    assert!(order[0].0 == 2 && order[order.len() - 1].0 == -2, "{order:?}");

    let out = succeed(&["tablebase", QUEEN_AGAINST_ROOK, "--syzygy", &folder]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[1], "win, DTZ 45");
    assert_eq!(lines[3].split_whitespace().collect::<Vec<_>>(), ["Kd3", "d2d3", "win", "45"], "{out}");
    let late = run(&["tablebase", "8/8/8/3kr3/8/8/3K4/6Q1 w - - 90 90", "--syzygy", &folder]).0;
    assert!(late.contains("cursed win"), "{late}");
    assert!(run(&["tablebase", STALEMATE, "--syzygy", &folder]).0.contains("stalemate"));
}

#[test]
fn files_that_a_system_keeps_beside_tables_are_no_tables() {
    let folder = home();
    for name in ["._KQvK.rtbw", "KQvK.RTBW"] {
        std::fs::write(folder.path().join(name), "not a table").unwrap();
    }
    let (_, err, code) = run(&["tablebase", STALEMATE, "--syzygy", folder.path().to_str().unwrap()]);
    assert!(code == 1 && err.contains("they hold no .rtbw file (in lower case)"), "{err}");
}

#[test]
fn what_tables_do_not_know_is_said_in_a_sentence() {
    let Some(folder) = tables() else { return };
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    for (fen, folder, expected) in [
        (start, folder.as_str(), "has 32 pieces, the tables in"),
        (STALEMATE, "/no/such/folder", "the tablebase folder /no/such/folder cannot be read"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1", &folder, "do not know castling"),
        ("4k3/8/p7/p7/8/8/8/R3K3 w - - 0 1", &folder, "a table that it needs is missing"),
        ("8/8", &folder, "is not a FEN"),
    ] {
        let (out, err, code) = run(&["tablebase", fen, "--syzygy", folder]);
        assert_eq!((code, out.as_str(), err.lines().count()), (1, "", 1), "{err}");
        assert!(err.contains(expected), "{err}");
    }
}

/// Bishop and knight need 60 plies to win.
const BISHOP_AND_KNIGHT: &str = "8/8/8/8/3k4/8/8/K2BN3 w - -";

#[test]
fn what_the_fifty_move_counter_makes_a_draw_is_known_for_that_counter_alone() {
    let Some(folder) = tables() else { return };
    let (_home, path) = files();
    let found = |counters: &str, more: &[&str]| {
        let fen = format!("{BISHOP_AND_KNIGHT} {counters}");
        run(&[&["analyse", &fen, "--depth", "8"], more].concat()).0
    };
    let (won, late) = (path("won.learn"), path("late.learn"));
    let write = |file| ["--syzygy", &folder, "--learn", file, "--write"];
    assert!(found("0 1", &write(&won)).contains("TB win in 30"));
    assert!(found("0 1", &["--learn", &won]).contains("TB win in 30"), "it is remembered");
    assert!(!found("60 100", &["--learn", &won]).contains("TB win"));
    found("60 100", &write(&late));
    let stats = json_of(&["learn", "--file", &late, "stats", "--json"]);
    assert_eq!(stats["records"], 0, "{stats}");
}

#[test]
fn an_analysis_looks_for_the_mate_after_a_repetition_too() {
    let Some(folder) = tables() else { return };
    let mut engine = Engine::with(&[&format!("SyzygyPath value {folder}")]);
    let repeated = "fen 8/8/8/8/K4P2/8/5Q2/k7 w - - 0 1 moves f2a7 a1b2 a7f2 b2a1";
    let (_, lines) = engine.search(repeated, "go mate 2");
    assert!(lines.iter().any(|line| line.contains(" score mate 2 ")), "{lines:?}");
    engine.quit();
}

#[test]
fn a_damaged_table_is_named_once() {
    let Some(folder) = tables() else { return };
    let (_home, path) = files();
    std::fs::create_dir(path("tables")).unwrap();
    for kind in ["rtbw", "rtbz"] {
        let rook = std::path::Path::new(&folder).join(format!("KRvK.{kind}"));
        std::fs::copy(rook, path(&format!("tables/KQvK.{kind}"))).unwrap();
    }
    std::fs::write(path("two.epd"), "8/8/8/3k4/8/8/1K5Q/8 w - -\n8/8/8/3k4/8/8/1K4Q1/8 w - -\n").unwrap();
    let (_, said, _) = run(&["analyse", &path("two.epd"), "--depth", "3", "--syzygy", &path("tables")]);
    assert_eq!(said.matches("is damaged").count(), 1, "{said}");
}
