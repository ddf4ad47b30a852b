//! The positions that all benches use, so that their numbers belong together.

// Each bench is a program of its own and uses only some of these.
#![allow(dead_code)]

use engram::position::Position;
use shakmaty::Move;

/// A spread of openings, middlegames and endings.
const FENS: [&str; 12] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bq1rk1/pp2bppp/2n1pn2/2pp4/2PP4/1PN1PN2/P3BPPP/R1BQ1RK1 b - - 0 9",
    "r2q1rk1/1b1nbppp/p2ppn2/1p6/3NP3/P1N1BP2/1PPQB1PP/2KR3R w - - 2 13",
    "r3k2r/pb1nqpb1/1pn1p1p1/2pPP3/1p2N3/P2B1N1p/1PPBQPPP/R3K2R w KQkq - 0 1",
    "2rq1rk1/pb1n1ppN/4p3/1pb5/3P1Pn1/P1N5/1PQ1B1PP/R1B2RK1 b - - 0 16",
    "4rrk1/1pp1n1pp/p2q1p2/3p4/3P1P2/1QP1P1P1/PP2N2P/4RRK1 w - - 0 20",
    "2r3k1/pp1b1pp1/4p2p/3pP3/q2P1P2/2PB2Q1/P5PP/1R4K1 w - - 3 24",
    "8/2p2pk1/1p1p2p1/p2Pr2p/P1P1R2P/1P3KP1/5P2/8 w - - 4 38",
    "6k1/5pp1/3p3p/1p1Pn3/4P3/1B3P1P/1P4P1/6K1 b - - 2 33",
    "8/5pk1/4p1p1/7p/3Q3P/4PqP1/5P1K/8 b - - 0 45",
    "8/8/1p1k4/p1p2p2/P1P1pP2/1P2P3/4K3/8 w - - 0 50",
    "3r2k1/2P1P3/8/8/8/8/4p1p1/2R3K1 w - - 0 1",
];

/// The set, parsed.
pub fn positions() -> Vec<Position> {
    FENS.map(|fen| Position::from_fen(fen).expect("the set is legal")).to_vec()
}

/// Every legal move of every position.
pub fn children(positions: &[Position]) -> Vec<(Position, Move)> {
    let of = |position: &Position| {
        position.legal_moves().into_iter().map(|m| (position.clone(), m)).collect::<Vec<_>>()
    };
    positions.iter().flat_map(of).collect()
}
