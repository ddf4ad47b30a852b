//! A client library that was written for UCI, by others, plays a game against the engine. In its strict
//! mode the library refuses every line that is not part of the protocol.

use std::{borrow::Cow, process::Stdio};

use ruci::{Go, Info, Position, gui};
use shakmaty::{CastlingMode, Chess, Color, Position as _, uci::UciMove};

use crate::common;

/// Plays `plies` plies from the start position, the engine for both sides, and gives the moves back.
fn play(plies: usize, go: impl Fn(Color) -> Go<'static>) -> Vec<String> {
    let home = common::home();
    let mut process = common::command(&home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut engine = ruci::Engine::from_process(&mut process, true).expect("both pipes");
    let mut options = Vec::new();
    let id = engine.use_uci(|option| options.push(option.name.into_owned())).expect("a handshake");
    assert!(format!("{id:?}").contains("Engram"), "{id:?}");
    assert!(options.iter().any(|name| name == "Hash"), "{options:?}");
    engine.send(gui::UciNewGame).expect("the engine reads");

    let mut board = Chess::default();
    let mut moves: Vec<String> = Vec::new();
    while moves.len() < plies && !board.is_game_over() {
        engine.is_ready().expect("readyok");
        // The library has its own, older shakmaty: moves cross as text.
        let list: Vec<_> = moves.iter().map(|m| m.parse().expect("a move")).collect();
        engine.send(Position::StartPos { moves: Cow::Owned(list) }).expect("the engine reads");
        let mut last: Option<Info> = None;
        // What was learned is told behind the last line.
        let best = engine.go(&go(board.turn()), |info| {
            if info.score.is_some() {
                last = Some(info);
            }
        });
        let best = best.expect("a bestmove");
        let best = best.take_normal().expect("a move, as the game goes on").r#move.to_string();
        let info = last.expect("an info line before the bestmove");
        assert!(info.score.is_some(), "{info:?}");
        assert_eq!(info.pv.first().map(ToString::to_string).as_ref(), Some(&best), "{info:?}");

        let uci: UciMove = best.parse().expect("a move");
        let m = uci.to_move(&board).unwrap_or_else(|_| panic!("{best} is illegal after {moves:?}"));
        assert_eq!(m.to_uci(CastlingMode::Standard).to_string(), best, "castling in standard notation");
        board = board.play(m).expect("legal");
        moves.push(best);
    }
    engine.is_ready().expect("readyok");
    engine.send(gui::Quit).expect("the engine reads");
    assert!(process.wait().expect("a child").success());
    moves
}

#[test]
fn a_client_library_plays_a_game_at_fixed_depth() {
    let moves = play(60, |_| Go { depth: Some(4), ..Go::default() });
    assert!(moves.len() >= 10, "{moves:?}");
}

#[test]
fn a_client_library_plays_a_game_on_the_clock() {
    let moves = play(20, |turn| match turn {
        Color::White => Go { w_time: Some(1000), b_time: Some(1000), ..Go::default() },
        Color::Black => Go { b_time: Some(500), ..Go::default() },
    });
    assert!(moves.len() >= 10, "{moves:?}");
}
