//! How the engine can be told to play, and what a packager needs.

use std::{collections::BTreeSet, fs};

use engram::{position::Position, protocol::ScoreValue, types::Bound, uci::translate::parse_fen};
use shakmaty::CastlingMode;

use crate::common::{Engine, home, last_report, refused, reports, run};

/// Black may repeat the first position a third time, or play on a tempo behind.
const MAY_REPEAT: &str = "position fen rnbqkb1r/pppppppp/5n2/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 2 2 \
    moves f3g1 f6g8 g1f3 g8f6 f3g1 f6g8 g1f3";
const REPEATS: &str = "g8f6";

#[test]
fn a_repetition_is_avoided_or_sought_by_the_sign_of_contempt() {
    let mut engine = Engine::ready();
    engine.send(MAY_REPEAT);
    engine.send("setoption name Contempt value 100");
    assert_ne!(engine.best("go depth 8").0, REPEATS, "a draw is worse than a small disadvantage");
    engine.send("setoption name Contempt value -100");
    let (m, lines) = engine.best("go depth 8");
    assert_eq!(m, REPEATS, "a draw is better than any even game");
    assert!(lines.iter().any(|line| line.contains("score cp 100 ")), "{lines:?}");
    // In analysis scores are what they are.
    engine.send("setoption name UCI_AnalyseMode value true");
    let (_, lines) = engine.best("go depth 8");
    assert!(!lines.iter().any(|line| line.contains("score cp 100 ")), "{lines:?}");
    let said = engine.answer("setoption name Contempt value 101");
    assert!(said.len() == 1 && said[0].contains("-100 to 100"), "{said:?}");
    engine.quit();
}

#[test]
fn contempt_belongs_to_the_side_to_move_in_every_search() {
    let start = || Engine::with(&["Learning value off", "Contempt value 50"]);
    // Nobody can make progress: the tables are full of draws.
    let found = |engine: &mut Engine, side: &str| {
        engine.send(&format!("position fen 8/5k2/4p1p1/3pPp1p/2pP1P1P/2P1K1P1/8/8 {side} - - 0 1"));
        let (_, lines) = engine.best("go depth 14");
        let last = last_report(&lines);
        (last.score, last.nodes)
    };
    let mut engine = start();
    for side in ["b", "w", "b", "w"] {
        // The draws of the other side's search would change score and nodes.
        let mut new = start();
        assert_eq!(found(&mut engine, side), found(&mut new, side), "{side}");
        new.quit();
    }
    engine.quit();
}

/// Can the side to move mate within `moves` of its moves? By trying everything.
fn mates(position: &Position, moves: u32) -> bool {
    position.legal_moves().into_iter().any(|m| is_mated(&position.play(m), moves - 1))
}

/// Is the side to move mated, or within `moves` moves of the other?
fn is_mated(position: &Position, moves: u32) -> bool {
    let replies = position.legal_moves();
    if replies.is_empty() {
        return position.in_check();
    }
    moves > 0 && replies.into_iter().all(|m| mates(&position.play(m), moves))
}

#[test]
fn every_line_of_many_is_as_right_as_a_single_one() {
    // Queen against king: some moves mate at once, some in two, some later, some give the queen away.
    const FEN: &str = "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1";
    let position = parse_fen(FEN, false).unwrap();
    let legal = position.legal_moves();
    let mut engine = Engine::with(&["Learning value off", &format!("MultiPV value {}", legal.len())]);
    let (best, lines) = engine.search(&format!("fen {FEN}"), "go depth 9");
    let mut last = reports(&lines);
    last.retain(|line| line.depth == Some(9));
    let mut seen = BTreeSet::new();
    let mut ranks = Vec::new();
    for line in &last {
        let first = line.pv[0].to_string();
        let m = *legal.iter().find(|m| m.to_uci(CastlingMode::Standard) == line.pv[0]).expect("legal");
        assert!(seen.insert(first.clone()), "{first} stands in two lines: {last:#?}");
        assert!(line.multipv > Some(1) || first == best, "{last:#?}");
        let child = position.play(m);
        let exact = (0..=1).find(|&moves| is_mated(&child, moves)).map(|moves| moves as i32 + 1);
        let score = line.score.expect("a score");
        assert_eq!(score.bound, Bound::Exact, "{line}");
        let (mate, value) = match score.value {
            ScoreValue::Mate(mate) => (Some(mate), 100_000 - mate),
            ScoreValue::Centipawns(value) => (None, value),
        };
        assert!(mate == exact || (exact.is_none() && mate.is_none_or(|mate| mate > 2)), "{exact:?}: {line}");
        ranks.push((line.multipv, value));
    }
    assert_eq!(last.len(), legal.len(), "one line for each move: {last:#?}");
    assert!(ranks.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 >= pair[1].1), "{ranks:?}");
    assert!(ranks[0].1 == 99_999 && ranks.iter().any(|&(_, value)| value == 99_998), "{ranks:?}");
    engine.quit();
}

/// Each of the levels of an option, lowest first, makes a search of the present position larger; the first is small.
fn searches_more_with_each(engine: &mut Engine, option: &str, levels: [u32; 3]) {
    let mut nodes = Vec::new();
    for level in levels {
        engine.send(&format!("setoption name {option} value {level}"));
        engine.send("ucinewgame");
        nodes.push(last_report(&engine.best("go movetime 60000").1).nodes.expect("a count"));
    }
    assert!(nodes[0] < 2_000 && nodes[0] < nodes[1] && nodes[1] < nodes[2], "{nodes:?}");
}

#[test]
fn limited_strength_narrows_the_search_and_blurs_the_scores() {
    let mut engine = Engine::with(&["Learning value off"]);
    engine.send("position fen r2q1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N1P/PP1P1PP1/RNBQR1K1 w - - 0 11");
    engine.send("setoption name UCI_LimitStrength value true");
    searches_more_with_each(&mut engine, "UCI_Elo", [1350, 2100, 2850]);
    // Each game has errors of its own.
    engine.send("setoption name UCI_Elo value 1350");
    let mut scores = BTreeSet::new();
    for _ in 0..6 {
        engine.send("ucinewgame");
        scores.insert(last_report(&engine.best("go depth 1").1).score.expect("a score").to_string());
    }
    assert!(scores.len() > 1, "{scores:?}");
    // Without the limit, and in analysis, it is its own self again.
    for option in ["UCI_AnalyseMode value true", "UCI_LimitStrength value false"] {
        engine.send(&format!("setoption name {option}"));
        let mut scores = BTreeSet::new();
        for _ in 0..3 {
            engine.send("ucinewgame");
            scores.insert(last_report(&engine.best("go depth 6").1).score.expect("a score").to_string());
        }
        assert_eq!(scores.len(), 1, "{option}: {scores:?}");
    }
    engine.quit();
}

#[test]
fn a_level_of_skill_is_a_limit_of_strength_that_uses_no_memory() {
    let mut engine = Engine::ready();
    engine.send("position fen r2q1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N1P/PP1P1PP1/RNBQR1K1 w - - 0 11");
    searches_more_with_each(&mut engine, "Skill Level", [0, 10, 19]);
    assert!(engine.seen.iter().any(|line| line.contains("off while the strength is limited")), "it says so");
    // A limit in Elo goes before, and the highest level is none.
    engine.send("setoption name UCI_LimitStrength value true");
    assert!(last_report(&engine.best("go movetime 60000").1).nodes < Some(2_000));
    engine.send("setoption name UCI_LimitStrength value false");
    engine.send("setoption name Skill Level value 20");
    assert!(last_report(&engine.best("go nodes 100000").1).nodes > Some(90_000));
    let said = engine.answer("setoption name Skill Level value 21");
    assert!(said.len() == 1 && said[0].contains("0 to 20"), "{said:?}");
    engine.quit();
}

#[test]
fn who_plays_and_who_wrote_it_is_understood() {
    let mut engine = Engine::start();
    engine.send("uci");
    let lines = engine.expect("uciok");
    let about =
        lines.iter().find(|line| line.starts_with("option name UCI_EngineAbout type string default Engram "));
    assert!(about.is_some_and(|line| line.contains("the Engram developers")), "{lines:?}");
    for option in [
        "UCI_Opponent value GM 2800 human Gary Kasparov",
        "UCI_Opponent value none none computer Shredder",
        "UCI_EngineAbout value x",
    ] {
        assert!(engine.answer(&format!("setoption name {option}")).is_empty(), "{option}");
    }
    engine.quit();
}

#[test]
fn completions_and_manual_are_made_from_the_command_line() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (out, err, code) = run(&["completions", shell]);
        assert!(code == 0 && err.is_empty(), "{shell}: {err}");
        assert!(out.contains("analyse") && out.contains("multipv"), "{shell}");
    }
    assert_eq!(run(&["completions", "cmd.exe"]).2, 2);
    let folder = home();
    let man = folder.path().join("man1");
    assert_eq!(run(&["man", man.to_str().unwrap()]).2, 0);
    let page = fs::read_to_string(man.join("engram.1")).unwrap();
    assert!(page.starts_with(".ie") || page.contains(".TH engram"), "{page}");
    assert!(fs::read_to_string(man.join("engram-analyse.1")).unwrap().contains("multipv"));
    let page = fs::read_to_string(man.join("engram-tree-grow.1")).unwrap();
    assert!(page.contains("engram tree <TREE> grow"), "{page}");
    let source = format!("\"engram {}\"", env!("CARGO_PKG_VERSION"));
    for page in fs::read_dir(&man).unwrap() {
        let page = fs::read_to_string(page.unwrap().path()).unwrap();
        assert!(page.lines().any(|line| line.starts_with(".TH ") && line.contains(&source)), "{page}");
    }
    refused(&["man", man.join("engram.1").join("man1").to_str().unwrap()], "cannot be written");
}
