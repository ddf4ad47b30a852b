//! Repetitions as the search must see them: a second occurrence inside the search is a draw, a position of
//! the game needs its third, and nothing repeats across a capture, a pawn move or a null move. What the search
//! says of repetitions to come and of results that rest on one is true.
//!
//! Random shuffling walks are compared with a naive recount that keeps whole positions.

use std::fs;

use engram::{
    position::{PathHash, Position, PositionPath},
    types::Ply,
};
use shakmaty::{Chess, Move, Role};

use crate::common::{position, random::Random, shared};

/// A game played from `fen`: the last position and the path to it.
fn game(fen: &str, moves: &str) -> (Position, PositionPath) {
    let mut here = position(fen);
    let mut path = PositionPath::new(&here);
    for uci in moves.split_whitespace() {
        here = here.play(here.legal_move(uci).expect("legal"));
        path.push(&here);
    }
    (here, path)
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const SHUFFLE: &str = "g1f3 g8f6 f3g1 f6g8";

#[test]
fn a_second_occurrence_inside_the_search_is_a_draw() {
    let (_, path) = game(START, &format!("e2e4 e7e5 {SHUFFLE}"));
    // The search began one ply before the position that has come again.
    assert_eq!(path.repetition(Ply(5)), Some(4));
}

#[test]
fn a_second_occurrence_of_a_game_position_is_none() {
    let (_, path) = game(START, SHUFFLE);
    for ply in 0..=4 {
        assert_eq!(path.repetition(Ply(ply)), None, "at ply {ply}: the root itself belongs to the game");
    }
}

#[test]
fn a_third_occurrence_is_a_draw_wherever_it_began() {
    let (_, path) = game(START, &format!("{SHUFFLE} {SHUFFLE}"));
    for ply in [0, 4, 5] {
        assert_eq!(path.repetition(Ply(ply)), Some(4), "{ply}");
    }
    assert_eq!(path.occurrences(), 3);
}

#[test]
fn taking_back_restores_the_path() {
    let (here, mut path) = game(START, &format!("{SHUFFLE} {SHUFFLE}"));
    path.push(&here.play(here.legal_move("e2e4").unwrap()));
    assert_eq!((path.repetition(Ply(9)), path.occurrences()), (None, 1));
    path.pop();
    assert_eq!(path.occurrences(), 3);
}

#[test]
fn the_games_that_others_counted_are_counted_the_same() {
    let Some(file) = shared("epd/draws/position-scenarios.tsv") else { return };
    for line in fs::read_to_string(file).expect("text").lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, command, fen, clock, occurrences, ..] = fields[..] else { panic!("short line: {line}") };
        let command = command.strip_prefix("position ").expect("a position command");
        let (start, moves) = command.split_once(" moves ").expect("all of them have moves");
        let start = if start == "startpos" { START } else { start.strip_prefix("fen ").expect("fen") };
        let (here, mut path) = game(start, moves);
        assert_eq!(here.fen(), fen, "{name}");
        assert_eq!(here.halfmoves().to_string(), clock, "{name}");
        assert_eq!(path.occurrences().to_string(), occurrences, "{name}");
        let drawn = occurrences.parse::<usize>().expect("a number") >= 3;
        assert_eq!(path.repetition(Ply::ROOT).is_some(), drawn, "{name}");
        path.trim();
        assert_eq!(path.occurrences().to_string(), occurrences, "{name}, trimmed");
    }
}

/// How a position of the naive record was reached.
#[derive(Copy, Clone, PartialEq)]
enum Step {
    Reversible,
    Irreversible,
    Null,
}

/// Looks back over whole positions.
fn naive(record: &[(Chess, Step)], ply: usize) -> (Option<usize>, usize) {
    let last = record.len() - 1;
    let mut found = Vec::new();
    for index in (0..last).rev() {
        if record[index + 1].1 != Step::Reversible {
            break;
        }
        if record[index].0 == record[last].0 {
            found.push(index);
        }
    }
    // Strictly below the root it is in the search.
    let draws = |back: &usize| *back < ply || found.len() > 1;
    (found.first().map(|&index| last - index).filter(draws), found.len() + 1)
}

#[test]
fn shuffling_walks_agree_with_a_naive_recount() {
    let mut random = Random(7);
    let (mut in_search, mut in_game, mut nulls) = (0, 0, 0);
    for start in [
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "k7/8/8/8/8/8/8/K7 w - - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "k3r3/3p4/8/4P3/8/8/8/4K3 b - - 0 1",
        "4k3/p7/1p6/8/8/1P6/P7/4K3 w - - 30 40",
    ] {
        for _ in 0..60 {
            let mut here = position(start);
            let mut path = PositionPath::new(&here);
            let mut record = vec![(here.chess().clone(), Step::Irreversible)];
            for _ in 0..60 {
                let null = if random.below(25) == 0 { here.null_move() } else { None };
                let step = if let Some(next) = null {
                    nulls += 1;
                    here = next;
                    path.push_null(&here);
                    Step::Null
                } else {
                    let Some(m) = choose(&here, &mut random) else { break };
                    here = here.play(m);
                    path.push(&here);
                    if m.is_zeroing() { Step::Irreversible } else { Step::Reversible }
                };
                record.push((here.chess().clone(), step));
                for ply in 0..record.len() {
                    let expected = naive(&record, ply);
                    let found = (path.repetition(Ply(ply as u16)), path.occurrences());
                    assert_eq!(found, expected, "ply {ply}, {} positions, {}", record.len(), here.fen());
                    in_search += usize::from(found.0.is_some_and(|back| back < ply));
                    in_game += usize::from(found.0.is_some_and(|back| back >= ply));
                }
                if random.below(10) == 0 {
                    let before = path.occurrences();
                    path.trim();
                    assert_eq!(path.occurrences(), before);
                }
            }
        }
    }
    println!("{in_search} repetitions in the search, {in_game} in the game, {nulls} null moves");
    assert!(in_search > 1000 && in_game > 1000 && nulls > 100, "the walks are too tame");
}

/// Can the side to move bring about a drawing repetition? Asks the move generator.
fn upcoming_by_moves(here: &Position, path: &PositionPath, ply: u16) -> bool {
    let mut path = path.clone();
    here.legal_moves().iter().any(|&m| {
        path.push(&here.play(m));
        let draws = path.repetition(Ply(ply + 1)).is_some();
        path.pop();
        draws
    })
}

#[test]
fn upcoming_repetitions_agree_with_the_move_generator() {
    let mut random = Random(11);
    let (mut compared, mut found) = (0, 0);
    for start in [
        "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
        "k3r3/3p4/8/4P3/8/8/8/4K3 b - - 0 1",
        "1k1r1b2/8/2n5/8/5N2/8/2B1R3/1K2Q3 w - - 5 9",
        START,
    ] {
        for _ in 0..80 {
            let mut here = position(start);
            let mut path = PositionPath::new(&here);
            for length in 0..50u16 {
                for ply in 1..=length {
                    let by_keys = path.upcoming_repetition(&here, Ply(ply)).is_some();
                    assert_eq!(by_keys, upcoming_by_moves(&here, &path, ply), "ply {ply}, {}", here.fen());
                    compared += 1;
                    found += usize::from(by_keys);
                }
                let null = if random.below(30) == 0 { here.null_move() } else { None };
                if let Some(next) = null {
                    here = next;
                    path.push_null(&here);
                } else {
                    let Some(m) = choose(&here, &mut random) else { break };
                    here = here.play(m);
                    path.push(&here);
                }
            }
        }
    }
    println!("{found} of {compared} can repeat");
    assert!(found > 10_000 && compared - found > 10_000, "the walks are too tame");
}

#[test]
fn a_repetition_closed_below_a_node_does_not_taint_it() {
    let (mut here, mut path) = game(START, "");
    path.begin_search(PathHash::Draws);
    let mut line = Vec::new();
    for uci in "e2e4 e7e5 g1f3 g8f6 f3g1 f6g8".split(' ') {
        line.push(here.clone());
        here = here.play(here.legal_move(uci).unwrap());
        path.push(&here);
    }
    assert_eq!(path.repetition(Ply(6)), Some(4));
    path.taint_by_repetition(4);
    for expected in [Some(4), Some(3), Some(2), Some(1), None, None, None] {
        assert_eq!(path.repetition_taint(), expected);
        path.pop();
    }
}

#[test]
fn only_what_lies_below_the_refutation_counts() {
    let (mut here, mut path) = game(START, "");
    path.begin_search(PathHash::Draws);
    for uci in "g1f3 g8f6 f3g1 f6g8 g1f3".split(' ') {
        here = here.play(here.legal_move(uci).unwrap());
        path.push(&here);
    }
    path.taint_by_repetition(path.repetition(Ply(5)).expect("a repetition"));
    path.pop();
    assert!(path.repetition_taint().is_some());
    path.push(&here.play(here.legal_move("e7e5").unwrap()));
    path.pop();
    path.keep_last_child_taint();
    assert!(path.repetition_taint().is_none());
}

/// A random move, seldom of a pawn, and of the king only near its place, so that positions come again.
fn choose(here: &Position, random: &mut Random) -> Option<Move> {
    let moves = here.legal_moves();
    let quiet: Vec<Move> =
        moves.iter().filter(|m| m.role() != Role::Pawn && !m.is_capture()).copied().collect();
    let from = if quiet.is_empty() || random.below(20) == 0 { &*moves } else { &*quiet };
    // The first few moves of the list come more often than the rest.
    (!from.is_empty()).then(|| from[random.below(from.len().min(3))])
}
