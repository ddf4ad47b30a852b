//! The evaluation, seen from outside: it is symmetric, independent of its caches, finite on any board, and
//! knows which side of well-known positions is better.

use engram::{
    eval::{
        Evaluation, Evaluator,
        classical::{self as eval, Caches},
    },
    position::Position,
    types::{Ply, Score},
};
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Position as _, Setup};

use super::keys::walk;
use crate::common::position;

/// From the mover's point of view, with fresh caches.
fn fresh(position: &Position) -> Score {
    eval::evaluate(position, &mut Caches::new(1))
}

/// From White's point of view.
fn white(fen: &str) -> i32 {
    let position = position(fen);
    let score = fresh(&position).0;
    if position.turn() == Color::White { score } else { -score }
}

pub fn mirrored(position: &Position) -> Position {
    let chess: &Chess = position.chess();
    let setup: Setup = chess.to_setup(EnPassantMode::Legal).into_mirrored();
    Position::from_setup(setup, CastlingMode::Chess960).expect("a mirrored position is legal")
}

#[test]
fn colours_do_not_matter() {
    for evaluation in [Evaluation::default(), Evaluation::Classical] {
        let mut evaluator = Evaluator::new(&evaluation, 1);
        walk(0x5eed, 6_000, |position, _| {
            let [value, mirrored] =
                [position, &mirrored(position)].map(|position| evaluator.evaluate(position, Ply::ROOT));
            assert_eq!(value, mirrored, "{}", position.fen());
        });
    }
}

#[test]
fn caches_change_nothing() {
    for evaluation in [Evaluation::default(), Evaluation::Classical] {
        let [mut warm, mut cold] = [(); 2].map(|()| Evaluator::new(&evaluation, 1));
        walk(0xcace, 6_000, |position, _| {
            cold.clear();
            let first = warm.evaluate(position, Ply::ROOT);
            assert_eq!(first, cold.evaluate(position, Ply::ROOT), "{}", position.fen());
            assert_eq!(first, warm.evaluate(position, Ply::ROOT), "{}", position.fen());
        });
        let (hits, probes) = warm.pawn_hits();
        assert!(hits > probes / 2 && probes > 0);
        warm.reset_counters();
        assert_eq!(warm.pawn_hits(), (0, 0));
    }
}

#[test]
fn the_trace_tells_the_truth() {
    walk(0x7ace, 1_200, |position, _| {
        let score = fresh(position);
        let white = if position.turn() == Color::White { score } else { -score };
        assert_eq!(eval::trace(position).result.score, white, "{}", position.fen());
    });
    let table = eval::trace(&Position::default()).to_string();
    assert!(table.contains("mobility") && table.contains("Final evaluation"), "{table}");
}

#[test]
fn any_board_has_an_evaluation() {
    let odd = [
        "4k3/8/8/8/8/8/8/4K3 w - - 0 1",
        "QQQQQQQQ/Q6k/8/8/8/8/8/K7 b - - 0 1",
        "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQk/QQQQQQQQ/KQQQQQQQ b - - 0 1",
        "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/QQQQQQpk/QQQQQQQp/KQQQQQQQ b - - 0 1",
        "qqqqqqqq/qqqqqqqq/qqqqqqqq/qqqqqqqq/qqqqqqqq/qqqqqqqK/qqqqqqqq/kqqqqqqq w - - 0 1",
        "RRRRRRRR/RRRRRRRR/RRRRRRRR/NNNNNNNN/BBBBBBBB/BBBBBBBk/NNNNNNNN/KRRRRRRn b - - 0 1",
        "nnnnnnnn/nnnnnnnn/nnnnnnnn/7k/8/NNNNNNNN/NNNNNNNN/KNNNNNNN b - - 0 1",
        "qqqqqqqk/qqqqqqqq/pppppppp/8/8/PPPPPPPP/QQQQQQQQ/KQQQQQQQ w - - 0 1",
        "k7/pppppppp/pppppppp/pppppppp/PPPPPPPP/PPPPPPPP/PPPPPPPP/7K b - - 0 1",
        "rrrrrrr1/k7/pppppppp/8/8/PPPPPPPP/7K/RRRRRRR1 w - - 0 1",
        "bbbbbbbb/k7/pppppppp/8/8/8/8/K7 w - - 99 90",
    ];
    for fen in odd {
        let score = fresh(&position(fen));
        assert!(!score.is_decisive() && score.0.abs() <= Score::MAX_EVALUATION.0, "{fen}: {score:?}");
    }
}

#[test]
fn nothing_but_the_move_is_worth_something_at_the_start() {
    let score = fresh(&Position::default()).0;
    assert!((0..60).contains(&score), "{score}");
}

#[test]
fn the_better_side_is_better() {
    // A position, and the least that it is worth to White.
    let cases = [
        // Material.
        ("rnbqkbnr/ppppp1pp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 60),
        ("rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", 700),
        ("r1bqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 200),
        // A distant passed pawn, an extra passed pawn, a protected one.
        ("8/5k2/5p2/6p1/P5P1/5P2/5K2/8 w - - 0 1", 80),
        ("6k1/5ppp/8/8/P7/8/5PPP/6K1 w - - 0 1", 80),
        ("6k1/5p1p/8/2PpP1p1/3P4/8/5P1P/6K1 w - - 0 1", 20),
        // An unstoppable pawn.
        ("8/7p/8/P7/8/8/7k/K7 w - - 0 1", 200),
        // The rook on the open file; the king driven out makes up for most of a knight.
        ("6k1/ppp2ppp/1n6/8/8/1N6/PPP2PPP/3R2K1 w - - 0 1", 300),
        ("r1bq1b1r/ppp3pp/2n1k3/3np3/2B5/5Q2/PPPP1PPP/RNB1K2R w KQ - 0 1", -100),
        // Known endgames.
        ("8/8/8/4k3/8/8/3Q4/3K4 w - - 0 1", 2500),
        ("8/8/8/4k3/8/8/3R4/3K4 b - - 0 1", 2500),
        ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", 500),
        ("8/8/8/8/8/2k5/1p6/1K3Q2 w - - 0 1", 400),
    ];
    for (fen, least) in cases {
        assert!(white(fen) >= least, "{fen}: {}, not {least}\n{}", white(fen), eval::trace(&position(fen)));
    }
}

#[test]
fn drawn_endgames_are_near_zero() {
    let cases = [
        // Wrong rook pawn, blocked king and pawn, bare minor pieces, two knights.
        "k7/8/8/P7/8/8/3B4/3K4 w - - 0 1",
        "1k6/8/P7/P7/8/8/3B4/3K4 w - - 0 1",
        "8/4k3/8/4K3/4P3/8/8/8 w - - 0 1",
        "4k3/4P3/4K3/8/8/8/8/8 b - - 0 1",
        "4k3/8/8/8/8/8/8/2B1K3 w - - 0 1",
        "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1",
        "4k1n1/8/8/8/8/8/8/2B1K3 w - - 0 1",
        "4k1n1/8/8/8/8/8/8/R3K3 w - - 0 1",
        "4k1r1/8/8/8/8/8/8/1N2KR2 w - - 0 1",
    ];
    for fen in cases {
        assert!(white(fen).abs() <= 90, "{fen}: {}", white(fen));
    }
    assert_eq!(
        white("k7/8/8/P7/8/8/3B4/3K4 w - - 0 1").abs(),
        white("k7/8/8/P7/8/8/3B4/3K4 b - - 0 1").abs()
    );
}
