//! Positions in pairs that differ in one thing that the evaluation must know. White prefers the first; with
//! colours changed Black prefers it just as much.

use engram::{
    eval::classical::{self as eval, Caches},
    position::Position,
};
use shakmaty::Color;

use super::eval::mirrored;
use crate::common::position;

/// In centipawns from White's point of view, the same for Black with colours changed.
fn white(position: &Position) -> i32 {
    let [score, other] =
        [position, &mirrored(position)].map(|position| eval::evaluate(position, &mut Caches::new(1)).0);
    assert_eq!(score, other, "{}", position.fen());
    if position.turn() == Color::White { score } else { -score }
}

/// What decides, the position that is better for White, the one that is worse.
#[rustfmt::skip]
const PAIRS: &[(&str, &str, &str)] = &[
    // Pawns.
    ("an outside passed pawn ties the king", "8/5k2/5p2/6p1/P5P1/5P2/5K2/8 w - - 0 1", "8/5k2/5p2/6p1/4P1P1/5P2/5K2/8 w - - 0 1"),
    ("a passed pawn is worth more the further it is", "6k1/5ppp/P7/8/8/8/5PPP/6K1 w - - 0 1", "6k1/5ppp/8/8/P7/8/5PPP/6K1 w - - 0 1"),
    ("connected passed pawns support each other", "6k1/5p1p/8/1PP5/8/8/5P1P/6K1 w - - 0 1", "6k1/5p1p/8/P1P5/8/8/5P1P/6K1 w - - 0 1"),
    ("a pawn that the king cannot catch", "8/8/8/P6p/8/7k/8/K7 w - - 0 1", "8/8/2k5/P6p/8/8/8/K7 w - - 0 1"),
    ("a blockaded passed pawn", "1n4k1/5ppp/8/1P6/8/8/5PPP/1N4K1 w - - 0 1", "6k1/5ppp/1n6/1P6/8/8/5PPP/1N4K1 w - - 0 1"),
    ("the king beside his passed pawn", "6k1/5p2/8/1PK5/8/8/5P2/8 w - - 0 1", "6k1/5p2/8/1P6/8/8/5PK1/8 w - - 0 1"),
    ("the enemy king before the passed pawn", "6k1/5p2/8/1PK5/8/8/5P2/8 w - - 0 1", "8/1k3p2/8/1PK5/8/8/5P2/8 w - - 0 1"),
    ("an isolated pawn", "r3k3/pp3ppp/8/8/8/8/PP3PPP/R3K3 w - - 0 1", "r3k3/pp3ppp/8/8/8/8/P1P2PPP/R3K3 w - - 0 1"),
    ("doubled pawns", "4k3/ppp2ppp/8/8/8/8/PPP2PPP/4K3 w - - 0 1", "4k3/ppp2ppp/8/8/8/2P5/P1P2PPP/4K3 w - - 0 1"),
    ("doubled pawns at the rim", "4k3/pp3ppp/8/8/8/8/PP3PPP/4K3 w - - 0 1", "4k3/pp3ppp/8/8/8/P7/P4PPP/4K3 w - - 0 1"),
    ("pawns in many islands", "r5k1/ppp3pp/8/8/8/8/PPP3PP/R5K1 w - - 0 1", "r5k1/ppp3pp/8/8/8/8/P1P1P1PP/R5K1 w - - 0 1"),
    // Pieces.
    ("a knight at the rim", "r4rk1/ppp2ppp/2n5/3p4/3P4/2N5/PPP2PPP/R4RK1 w - - 0 1", "r4rk1/ppp2ppp/2n5/3p4/3P4/N7/PPP2PPP/R4RK1 w - - 0 1"),
    ("a knight on an outpost", "r2q1rk1/pp3ppp/3p4/3Np3/4P3/8/PPP2PPP/R2Q1RK1 w - - 0 1", "r2q1rk1/pp3ppp/3p4/4p3/4P3/3N4/PPP2PPP/R2Q1RK1 w - - 0 1"),
    ("a bishop behind its own pawns", "4k3/pp1n1ppp/4p3/3pP3/3P4/2P5/PP2BPPP/4K3 w - - 0 1", "4k3/pp1n1ppp/4p3/3pP3/3P4/2P5/PP1B1PPP/4K3 w - - 0 1"),
    ("a bishop shut in behind a pawn chain", "2b1k3/2p2ppp/1p6/8/8/4B3/PPP2PPP/4K3 w - - 0 1", "2b1k3/B1p2ppp/1p6/8/8/8/PPP2PPP/4K3 w - - 0 1"),
    ("two bishops against bishop and knight", "r1n1k3/pp2bppp/8/8/8/8/PPB1BPPP/R3K3 w - - 0 1", "r1n1k3/pp2bppp/8/8/8/8/PPN1BPPP/R3K3 w - - 0 1"),
    ("a rook on the open file", "r5k1/ppp2ppp/8/8/8/8/PPP2PPP/3R2K1 w - - 0 1", "r5k1/ppp2ppp/8/8/8/8/PPP2PPP/1R4K1 w - - 0 1"),
    ("a rook on the seventh rank", "6k1/pR3ppp/8/8/8/8/P4PPP/r5K1 w - - 0 1", "6k1/p4ppp/8/8/8/1R6/P4PPP/r5K1 w - - 0 1"),
    ("a rook shut in by its king", "r4rk1/ppp2ppp/2n5/3p4/3P4/2N5/PPP2PPP/R4RK1 w - - 0 1", "r4rk1/ppp2ppp/2n5/3p4/3P4/2N5/PPP2PPP/R4K1R w - - 0 1"),
    ("a rook behind its passed pawn", "4r1k1/5pp1/8/P7/8/8/5PP1/R5K1 w - - 0 1", "4r1k1/5pp1/R7/P7/8/8/5PP1/6K1 w - - 0 1"),
    ("a rook behind the enemy's passed pawn", "r5k1/5ppp/8/8/P7/8/5PPP/3R2K1 w - - 0 1", "6k1/5ppp/8/8/P7/8/r4PPP/3R2K1 w - - 0 1"),
    ("a queen in line with a rook", "2r3k1/pp3ppp/8/8/8/2N5/PP1Q1PPP/6K1 w - - 0 1", "2r3k1/pp3ppp/8/8/8/2N5/PPQ2PPP/6K1 w - - 0 1"),
    ("a piece that cannot move", "r1b1k2r/ppp2ppp/8/8/8/5B2/PPP2PPP/R3K2R w KQkq - 0 1", "r1b1k2r/ppp2ppp/8/8/8/8/PPP2PPP/RB2K2R w KQkq - 0 1"),
    // Threats.
    ("a piece that is attacked and not defended", "r4rk1/ppp2ppp/8/3n4/8/3R4/PPP2PPP/5RK1 w - - 0 1", "r4rk1/ppp2ppp/4p3/3n4/8/3R4/PPP1P1PP/5RK1 w - - 0 1"),
    ("a fork by a pawn", "r4rk1/ppp2ppp/8/2n1n3/3P4/8/PPP2PP1/R1B1K2R w KQ - 0 1", "r4rk1/ppp2ppp/8/2n1n3/8/3P4/PPP2PP1/R1B1K2R w KQ - 0 1"),
    ("a pawn that will attack a piece", "6k1/ppp2ppp/8/2n5/8/1P6/P1P2PPP/2B3K1 w - - 0 1", "6k1/ppp2ppp/8/2n5/8/P7/1PP2PPP/2B3K1 b - - 0 1"),
    // Kings.
    ("pawns before the king", "r2q1rk1/ppp2ppp/2n2n2/8/8/2N2N2/PPP2PPP/R2Q1RK1 w - - 0 1", "r2q1rk1/ppp2ppp/2n2n2/8/8/PPN2N2/2PP4/R2Q1RK1 w - - 0 1"),
    ("a castled king", "r2q1rk1/ppp2ppp/2n2n2/8/8/2N2N2/PPP2PPP/R2Q1RK1 w - - 0 1", "r2q1rk1/ppp2ppp/2n2n2/8/8/2N2N2/PPPK1PPP/R2Q3R w - - 0 1"),
    ("pieces around the enemy king", "r4rk1/ppp2p1p/8/6NQ/8/8/PPP2PPP/R3R1K1 w - - 0 1", "r4rk1/ppp2p1p/8/8/8/1Q6/PPP2PPP/RN2R1K1 w - - 0 1"),
    ("a king in the centre of an endgame", "8/ppp2kpp/8/8/3K4/8/PPP3PP/8 w - - 0 1", "8/ppp2kpp/8/8/8/8/PPP3PP/7K w - - 0 1"),
    // Endgames and their scale.
    ("the bishop of the wrong colour for a rook's pawn", "7k/8/6K1/7P/8/4B3/8/8 w - - 0 1", "7k/8/6K1/7P/8/8/4B3/8 w - - 0 1"),
    ("bishops of opposite colours hold a pawn", "4k3/4b3/8/8/3P4/3K4/8/4B3 w - - 0 1", "4k3/4b3/8/8/3P4/3K4/4B3/8 w - - 0 1"),
    ("pawns on both wings", "8/p4k1p/8/8/8/8/PP3K1P/8 w - - 0 1", "8/5kpp/8/8/8/5P2/5KPP/8 w - - 0 1"),
    ("no pawn is left to win with", "4k3/4b3/8/8/8/8/4BP2/3NK3 w - - 0 1", "4k3/4b3/8/8/8/8/4B3/3NK3 w - - 0 1"),
    ("a king that holds the opposition", "4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", "8/4k3/8/4K3/4P3/8/8/8 w - - 0 1"),
    ("the mating corner of bishop and knight", "7k/8/6K1/8/8/8/8/3NB3 w - - 0 1", "k7/8/1K6/8/8/8/8/3NB3 w - - 0 1"),
    ("the mating corner of another bishop", "7k/8/6K1/8/8/8/8/3NB3 w - - 0 1", "7k/8/6K1/8/8/8/8/3BN3 w - - 0 1"),
    ("a bare king at the edge", "4k3/8/4K3/8/8/8/8/R7 w - - 0 1", "8/8/4k3/8/4K3/8/8/R7 w - - 0 1"),
    ("two knights do not mate", "4k3/8/8/8/8/8/8/1NB1K3 w - - 0 1", "4k3/8/8/8/8/8/8/1NN1K3 w - - 0 1"),
    ("a queen against a rook's pawn on the seventh", "4Q3/8/8/8/3K4/8/1pk5/8 w - - 0 1", "4Q2K/8/8/8/8/8/p1k5/8 w - - 0 1"),
    // The right to move.
    ("the right to move", "r4rk1/ppp2ppp/2n5/3p4/3P4/2N5/PPP2PPP/R4RK1 w - - 0 1", "r4rk1/ppp2ppp/2n5/3p4/3P4/2N5/PPP2PPP/R4RK1 b - - 0 1"),
];

#[test]
fn one_thing_decides() {
    let mut wrong = Vec::new();
    for &(what, better, worse) in PAIRS {
        let scores = [better, worse].map(|fen| white(&position(fen)));
        if scores[0] <= scores[1] {
            wrong.push(format!("{what}: {better} {} is not above {worse} {}", scores[0], scores[1]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
