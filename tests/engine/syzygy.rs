//! Endgame tablebases: the answers are right, wins are won before the counter ends them, and no table that is
//! missing or damaged does harm.
//!
//! Needs the tables of 3 and 4 pieces in `../shared/data/syzygy` and says so where they are not there.

use std::{fs, path::Path};

use engram::{
    engine::blocking::BlockingEngine,
    position::{Position, PositionPath},
    search::Limits,
    syzygy::{Tablebase, Wdl},
    types::{Depth, Score},
};
use shakmaty::{CastlingMode, Move, Position as _, uci::UciMove};

use crate::common::{self, is_full, position, random::Random, shared};

fn tables() -> Option<Tablebase> {
    let (tables, complaints) = Tablebase::open(shared("syzygy")?.to_str()?);
    assert!(complaints.is_empty(), "{complaints:?}");
    Some(tables)
}

/// A position of the oracle with what it must be.
struct Known {
    table: String,
    fen: String,
    wdl: i32,
    dtz: Option<i32>,
}

fn oracle() -> Option<Vec<Known>> {
    let text = fs::read_to_string(shared("epd/endgame/syzygy-oracle.epd")?).ok()?;
    let number = |line: &str, name: &str| -> Option<i32> {
        let (_, rest) = line.split_once(&format!("\"{name} "))?;
        rest.split('"').next()?.parse().ok()
    };
    let known: Vec<Known> = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let id = line.split("id \"").nth(1).unwrap_or_default();
            Known {
                table: id.split('.').next().unwrap_or_default().to_owned(),
                fen: format!("{} 0 1", fields[..4].join(" ")),
                wdl: number(line, "wdl").unwrap_or_else(|| panic!("no wdl in {line}")),
                dtz: number(line, "dtz"),
            }
        })
        .collect();
    assert!(known.len() >= 1000, "the oracle is short");
    Some(known)
}

fn ranked(tables: &Tablebase, position: &Position) -> (Move, Score) {
    let ranking = tables.rank(position, &PositionPath::new(position), true, false).expect("a ranking");
    assert!(ranking.by_distance);
    let best = ranking.ranked_moves.iter().max_by_key(|ranked| ranked.rank).expect("a move");
    (best.root_move, best.score)
}

#[test]
fn every_answer_is_the_oracle_s() {
    let (Some(tables), Some(oracle)) = (tables(), oracle()) else { return };
    for known in &oracle {
        let position = position(&known.fen);
        let wdl = tables.probe(&position).map(|wdl| wdl as i32);
        assert_eq!(wdl, Some(known.wdl), "{} {}", known.table, known.fen);
        if known.table != "KBNvKN" && position.has_legal_move() {
            let (_, score) = ranked(&tables, &position);
            let sign = if known.wdl.abs() == 2 { known.wdl.signum() } else { 0 };
            let found = if score.is_win() { 1 } else { -i32::from(score.is_loss()) };
            assert_eq!(found, sign, "{} {}", known.table, known.fen);
        }
    }
}

/// An engine in this process with tables.
fn player(folder: &Path) -> BlockingEngine {
    let mut player = BlockingEngine::new(0);
    player.engine.set_syzygy_path(folder.to_str().unwrap());
    player
}

fn choose(player: &mut BlockingEngine, start: &Position, moves: &[UciMove]) -> Move {
    let limits = Limits { depth: Some(Depth(3)), ..Limits::default() };
    player.search_with(start, moves, limits, &|| true, |_| {}).unwrap().best.expect("a move")
}

/// The most stubborn reply: what is farthest from the next capture, pawn move or mate.
fn defence(tables: &Tablebase, position: &Position) -> Move {
    let ranking = tables.rank(position, &PositionPath::new(position), true, false).expect("a ranking");
    let best = ranking.ranked_moves.iter().min_by_key(|ranked| (ranked.score.is_loss(), ranked.distance));
    best.expect("a legal move").root_move
}

/// Plays a won position out. The path of the game decides about repetitions, the counter about time.
fn is_won_in_time(player: &mut BlockingEngine, tables: &Tablebase, start: &Position) -> Result<(), String> {
    let mut position = start.clone();
    let mut path = PositionPath::new(start);
    let mut moves = Vec::new();
    let attacker = start.turn();
    for _ in 0..400 {
        let us = position.turn() == attacker;
        let m = if us { choose(player, start, &moves) } else { defence(tables, &position) };
        moves.push(m.to_uci(CastlingMode::Standard));
        position = position.play(m);
        path.push(&position);
        if position.chess().is_checkmate() {
            return if us { Ok(()) } else { Err("mated itself".to_owned()) };
        }
        if position.halfmoves() >= 100 || path.occurrences() >= 3 || !position.has_legal_move() {
            return Err(format!("a draw at counter {}", position.halfmoves()));
        }
    }
    Err("no end".to_owned())
}

#[test]
fn wins_of_every_table_are_won_in_time_from_the_highest_counter_that_allows_it() {
    let (Some(tables), Some(oracle)) = (tables(), oracle()) else { return };
    let mut player = player(&shared("syzygy").unwrap());
    let full = is_full();
    let each = if full { 40 } else { 8 };
    let mut played: Vec<&str> = Vec::new();
    let mut failures = Vec::new();
    for known in oracle.iter().filter(|known| known.wdl == 2 && known.table != "KBNvKN") {
        let Some(dtz) = known.dtz else { continue };
        if played.iter().filter(|&&table| table == known.table).count() >= each {
            continue;
        }
        played.push(&known.table);
        // Once from the start of the phase, once where no ply may be wasted.
        let fresh = position(&known.fen);
        let tight = (0..=100 - dtz).rev().find_map(|clock| {
            let fen = known.fen.replace(" 0 1", &format!(" {clock} 90"));
            let position = position(&fen);
            ranked(&tables, &position).1.is_win().then_some(position)
        });
        let tight = tight.expect("a counter at which the position is won");
        // Rounding, once in the table and once on the way to it, may cost a ply each.
        assert!(tight.halfmoves() as i32 >= 97 - dtz, "{} {}", known.fen, tight.halfmoves());
        for start in [tight, fresh] {
            if let Err(reason) = is_won_in_time(&mut player, &tables, &start) {
                failures.push(format!("{} {}: {reason}", known.table, start.fen()));
            }
        }
    }
    let mut kinds = played.clone();
    kinds.dedup();
    assert!(kinds.len() >= 25, "only {} tables with wins", kinds.len());
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_lost_position_is_saved_by_the_counter_where_that_is_possible() {
    let (Some(tables), Some(folder)) = (tables(), shared("syzygy")) else { return };
    // The longest losses of bishop and knight need 33 moves: from a high counter they are draws.
    let lost = position("8/8/8/3k4/8/3K4/4B3/5N2 b - - 0 1");
    assert_eq!(tables.probe(&lost), Some(Wdl::Loss));
    assert!(ranked(&tables, &lost).1.is_loss());
    let saved = position("8/8/8/3k4/8/3K4/4B3/5N2 b - - 80 100");
    let (_, score) = ranked(&tables, &saved);
    assert!(!score.is_loss());
    let mut player = player(&folder);
    let m = choose(&mut player, &saved, &[]);
    let ranking = tables.rank(&saved, &PositionPath::new(&saved), true, false).unwrap();
    let best = ranking.ranked_moves.iter().map(|ranked| ranked.rank).max();
    let chosen = ranking.ranked_moves.iter().find(|ranked| ranked.root_move == m).map(|ranked| ranked.rank);
    assert_eq!(chosen, best);
    // Without the rule it is as lost as ever.
    let ranking = tables.rank(&saved, &PositionPath::new(&saved), false, false).unwrap();
    assert!(ranking.ranked_moves.iter().all(|ranked| ranked.score.is_loss()));
}

#[test]
fn the_search_asks_tables_after_captures_and_counts_its_hits() {
    let Some(folder) = shared("syzygy") else { return };
    let mut engine = common::Engine::ready();
    engine.send(&format!("setoption name SyzygyPath value {}:/no/such/folder", folder.display()));
    let said = engine.sync().join("\n");
    assert!(said.contains("/no/such/folder cannot be read"), "{said}");
    assert!(said.contains("tablebase files, up to 5 pieces"), "{said}");
    // Five pieces, no table: the exchange on e5 leads to four.
    engine.send("position fen 8/8/4k3/4p3/4P3/4K3/4R3/8 w - - 0 1");
    let hits = |lines: &[String]| common::last_report(lines).tbhits.expect("a number");
    assert!(hits(&engine.best("go depth 12").1) > 0);
    // Positions of the most pieces are probed from a depth on, those of fewer at any.
    engine.send("setoption name SyzygyProbeLimit value 4");
    let [anywhere, deep] = ["1", "100"].map(|depth| {
        engine.send(&format!("setoption name SyzygyProbeDepth value {depth}\nucinewgame"));
        hits(&engine.best("go depth 12").1)
    });
    assert!(deep < anywhere, "{deep}, {anywhere}");
    engine.send("setoption name SyzygyProbeDepth value 1");
    let weak = ["Skill Level value 5", "Skill Level value 20\nsetoption name SyzygyProbeLimit value 0"];
    for option in weak.into_iter().chain(["SyzygyPath value"]) {
        engine.send(&format!("setoption name {option}"));
        engine.send("ucinewgame");
        assert_eq!(hits(&engine.best("go depth 8").1), 0, "{option}");
    }
    engine.quit();
}

#[test]
fn a_draw_of_the_tables_is_as_unwelcome_as_any_other() {
    let Some(folder) = shared("syzygy") else { return };
    let mut engine = common::Engine::with(&["Contempt value 50", "SyzygyProbeLimit value 4"]);
    engine.send(&format!("setoption name SyzygyPath value {}", folder.display()));
    // The only move takes into rook against bishop, a draw.
    let (_, lines) = engine.search("fen 3rK3/r7/8/7B/2k5/8/8/8 w - - 0 1", "go depth 4");
    let last = lines.iter().rfind(|line| line.contains(" score ")).unwrap();
    assert!(last.contains("score cp -50 "), "{last}");
    engine.quit();
}

#[test]
fn a_position_in_the_tables_says_so() {
    let Some(folder) = shared("syzygy") else { return };
    let mut engine = common::Engine::ready();
    engine.send(&format!("setoption name SyzygyPath value {}", folder.display()));
    // Rook against knight from a draw: whatever the evaluation thinks, the score is a draw's.
    let (_, lines) = engine.search("fen 8/8/8/3kn3/8/8/3K4/7R w - - 0 1", "go depth 8");
    let last = lines.iter().rfind(|line| line.contains(" score ")).unwrap();
    assert!(last.contains("score cp 0 "), "{last}");
    // Several lines: all winning moves come before those that only draw.
    engine.send("setoption name MultiPV value 30");
    let (_, lines) = engine.search("fen 8/8/4k3/8/4K3/8/3P4/8 w - - 0 1", "go depth 5");
    let scores: Vec<&str> = lines
        .iter()
        .filter(|line| line.starts_with("info depth 5 seldepth "))
        .map(|line| line.split(" score ").nth(1).unwrap().split(" nodes").next().unwrap())
        .collect();
    let wins = scores.iter().take_while(|score| **score != "cp 0").count();
    assert!(wins >= 1 && wins < scores.len(), "{scores:?}");
    assert!(scores[wins..].iter().all(|score| *score == "cp 0"), "{scores:?}");
    // A stalemate has no move.
    engine.send("position fen 8/8/8/8/8/1k6/1p6/1K6 w - - 0 1");
    assert_eq!(engine.best("go depth 5").0, "(none)");
    engine.quit();
}

#[test]
fn a_win_of_wdl_tables_alone_is_a_draw_where_the_counter_ends_it() {
    let Some(tables) = shared("syzygy") else { return };
    let folder = tempfile::tempdir().unwrap();
    fs::copy(tables.join("KRvK.rtbw"), folder.path().join("KRvK.rtbw")).unwrap();
    let mut engine = common::Engine::ready();
    engine.send(&format!("setoption name SyzygyPath value {}", folder.path().display()));
    let (_, lines) = engine.search("fen 8/8/8/4k3/8/8/1R6/K7 w - - 99 60", "go depth 4");
    let last = common::last_report(&lines);
    assert!(last.to_string().contains("score cp 0 ") && last.tbhits > Some(0), "{lines:?}");
    engine.send("setoption name Syzygy50MoveRule value false");
    let (_, lines) = engine.search("fen 8/8/8/4k3/8/8/1R6/K7 w - - 99 60", "go depth 4");
    assert!(common::last_report(&lines).to_string().contains("score cp 22"), "{lines:?}");
    engine.quit();
}

/// Copies the tables that a queen ending needs into a folder of the test.
fn some_tables(to: &Path) -> bool {
    let Some(folder) = shared("syzygy") else { return false };
    for name in ["KQvK", "KRvK", "KQvKR", "KPvK", "KBvK", "KNvK"] {
        for extension in ["rtbw", "rtbz"] {
            let file = format!("{name}.{extension}");
            let bytes = fs::read(folder.join(&file)).unwrap();
            fs::write(to.join(file), bytes).unwrap();
        }
    }
    true
}

#[test]
fn damaged_tables_are_named_and_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    if !some_tables(folder.path()) {
        return;
    }
    // Cut short: refused when the folder is read. Overwritten: found out when it is asked.
    let short = folder.path().join("KRvK.rtbw");
    let bytes = fs::read(&short).unwrap();
    fs::write(&short, &bytes[..bytes.len() / 2 + 1]).unwrap();
    let foreign = folder.path().join("KQvKR.rtbw");
    let mut bytes = fs::read(&foreign).unwrap();
    bytes[..64].fill(0xAA);
    fs::write(&foreign, bytes).unwrap();
    fs::write(folder.path().join("KXvK.rtbw"), b"not a table").unwrap();

    let mut engine = common::Engine::ready();
    engine.send(&format!("setoption name SyzygyPath value {}", folder.path().display()));
    let said = engine.sync().join("\n");
    assert!(said.contains("and 1 more there are not used (") && said.contains("fetch them again"), "{said}");
    let (m, lines) = engine.search("fen 8/8/8/3kr3/8/8/3K4/6Q1 w - - 0 1", "go depth 6");
    assert!(lines.iter().any(|line| line.contains("KQvKR is damaged")), "{lines:?}");
    assert_eq!(m.len(), 4, "{m}");
    let (_, lines) = engine.best("go depth 6");
    assert!(!lines.iter().any(|line| line.contains("damaged")), "said once: {lines:?}");
    // Other material, the same table.
    let (_, lines) = engine.search("fen 8/8/8/3KR3/8/8/3k4/6q1 b - - 0 1", "go depth 6");
    assert!(!lines.iter().any(|line| line.contains("damaged")), "said once: {lines:?}");
    engine.quit();
}

#[test]
fn no_byte_of_a_table_can_end_the_process() {
    let folder = tempfile::tempdir().unwrap();
    if !some_tables(folder.path()) {
        return;
    }
    let positions = ["8/8/8/3kr3/8/8/3K4/6Q1 w - - 0 1", "8/8/8/3kr3/8/8/3K4/6Q1 b - - 0 1"].map(position);
    let originals = ["rtbw", "rtbz"].map(|extension| {
        let file = folder.path().join(format!("KQvKR.{extension}"));
        (fs::read(&file).unwrap(), file)
    });
    let mut random = Random(20_240_601);
    for round in 0..60 {
        for (bytes, file) in &originals {
            let mut bytes = bytes.clone();
            for _ in 0..=round % 20 {
                // Half of the hits go to the header and the indices, where they hurt most.
                let within = if random.one_in(2) { bytes.len().min(600) } else { bytes.len() };
                bytes[random.below(within)] = random.next() as u8;
            }
            fs::write(file, bytes).unwrap();
        }
        let (tables, _) = Tablebase::open(folder.path().to_str().unwrap());
        for position in &positions {
            let _ = tables.probe(position);
            let _ = tables.rank(position, &PositionPath::new(position), true, false);
        }
    }
}
