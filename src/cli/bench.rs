//! `engram bench`: the bench number and a rough speed.
//!
//! A fixed set of positions is searched to a fixed depth by a new engine with one thread and 16 MiB of hash, each as
//! if it were from a new game. The sum of nodes depends only on search and evaluation: a commit that changes it must
//! say so.

use std::time::{Duration, Instant};

use crate::{
    engine::blocking::BlockingEngine,
    position::PathHash,
    processor::Instructions,
    search::Limits,
    types::Depth,
    uci::{Interrupt, Output, translate},
};

/// Depth of each search if none is given, in plies.
pub const DEFAULT_DEPTH: u64 = 12;

/// Positions of our own choosing: openings, quiet and sharp middlegames, endgames of every kind, and some in which the
/// game is over or nearly so.
#[rustfmt::skip]
pub const POSITIONS: [&str; 42] = [
    // Openings.
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkbnr/1ppp1ppp/p1n5/4p3/B3P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 1 4",
    "rnbqkb1r/pp2pppp/3p1n2/8/3NP3/8/PPP2PPP/RNBQKB1R w KQkq - 1 5",
    "rnbqkb1r/ppp1pp1p/6p1/3n4/3P4/2N5/PP2PPPP/R1BQKBNR w KQkq - 0 5",
    "rnbqk2r/ppp1ppbp/3p1np1/8/2PPP3/2N5/PP3PPP/R1BQKBNR w KQkq - 0 5",
    "rnbqkb1r/pp3ppp/4pn2/2pp4/2PP4/2N2N2/PP2PPPP/R1BQKB1R w KQkq c6 0 5",
    "r1bqk1nr/pppp1ppp/2n5/2b1p3/1PB1P3/5N2/P1PP1PPP/RNBQK2R b KQkq b3 0 4",
    "rnbqk1nr/pp3ppp/4p3/2ppP3/1b1P4/2N5/PPP2PPP/R1BQKBNR w KQkq c6 0 5",
    // Middlegames.
    "r2q1rk1/pp2bppp/2n1bn2/3p4/3N4/2N1B1P1/PP2PPBP/R2Q1RK1 w - - 5 12",
    "r1bq1rk1/pp1nbppp/2p1pn2/3p4/2PP4/2NBPN2/PPQ2PPP/R1B2RK1 b - - 6 8",
    "r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N1P/PP1P1PP1/RNBQR1K1 b - - 0 9",
    "2rq1rk1/pb1nbppp/1p2pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2Q1RK1 w - - 4 11",
    "r1b2rk1/1pq1bppp/p1nppn2/8/3NPP2/2N1B3/PPP1B1PP/R3QRK1 w - - 4 11",
    "r2qr1k1/1b1nbppp/p2p1n2/1pp1p3/4P3/2PP1NNP/PPBB1PP1/R2QR1K1 w - - 0 15",
    "3r1rk1/p1q2ppp/1pn1pn2/2p5/2PP4/P1PBPN2/4QPPP/R1B2RK1 w - - 0 14",
    "r3r1k1/pp1q1ppp/2pb1n2/3p4/3P2b1/2PB1N2/PPQ2PPP/R1B1R1K1 w - - 6 14",
    // Attacks and tactics.
    "r1bq1rk1/pppn1ppp/4p3/3pP3/1b1P4/2NB1N2/PPP2PPP/R1BQK2R w KQ - 3 8",
    "2kr3r/ppp1qppp/2n5/3p1b2/3P1Bn1/2N2N2/PPP1QPPP/2KR3R w - - 8 11",
    "r4rk1/1bqnbppp/p2pp3/1p4P1/3NPP2/1BN1B3/PPPQ4/2KR3R b - - 0 15",
    "r2q1rk1/p2bppbp/2np1np1/1p6/3NP1P1/1BN1BP2/PPPQ3P/2KR3R b - g3 0 12",
    "6k1/5p1p/4bQp1/3p4/3P1P2/q1P3P1/2r4P/3R2K1 b - - 3 31",
    "1k1r4/pp3R2/6pp/4p3/2B3b1/4Q3/PPP2B2/2K5 b - - 0 30",
    "r3k2r/pb1q1p1p/1pn1p1p1/3pP2P/2pP1P2/P1P1BQ2/2P3P1/R3K2R w KQkq - 0 17",
    "3rr1k1/pp3ppp/1qn5/3p4/3P2Q1/P2BP3/1P3PPP/2R2RK1 b - - 2 20",
    // Endgames.
    "8/5pk1/4p1p1/3pP2p/1p1P1K1P/1P3PP1/8/8 w - - 0 40",
    "8/pp3kp1/2p2p1p/8/3PK3/5PP1/PP5P/8 b - - 1 33",
    "8/8/1p1k4/p1pP1p2/P1P2P2/1P1K4/8/8 w - - 0 1",
    "2r3k1/5ppp/p3p3/1p6/3R4/1P2P1P1/P4P1P/6K1 w - - 0 27",
    "8/1R4pk/p6p/2p5/2r5/6P1/P4P1P/6K1 b - - 2 34",
    "8/8/4kp2/R5p1/6P1/r7/5PK1/8 b - - 5 50",
    "8/3nk1p1/p1p1p2p/1p1pP2P/3P1P2/1PB1K1P1/P7/8 w - - 3 36",
    "8/2b2kp1/p3p2p/1p2P3/3P3P/1P2BKP1/P7/8 w - - 2 38",
    "5k2/2n2p2/1p2p1p1/p1p1P2p/P1P2P1P/1P1N1KP1/8/8 w - - 0 41",
    "8/6pk/2Q4p/3p4/3P1q2/5P2/6PK/8 w - - 1 44",
    "3q2k1/5pp1/4p2p/P7/1p6/1Q5P/5PP1/6K1 b - - 0 35",
    "8/5P2/2k5/8/8/1K6/4p3/8 w - - 0 60",
    "4k3/8/8/8/4N3/3BK3/8/8 w - - 0 1",
    "8/8/8/3k4/8/3K4/3P4/8 w - - 0 1",
    // Nearly or quite over: the counter, a mate, stalemate traps, a wrong bishop.
    "8/3k4/3r4/8/3QK3/8/8/8 b - - 96 110",
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 70",
    "7k/8/5KQ1/8/8/8/p7/8 b - - 1 70",
    "7k/8/6KP/8/8/8/8/5B2 b - - 0 70",
];

/// The result of a bench.
#[derive(Copy, Clone, Debug, Default)]
pub struct BenchReport {
    /// Nodes searched, over all positions.
    pub nodes: u64,
    /// Time of the searches.
    pub time: Duration,
    /// Pawn hash probes that found their structure.
    pub pawn_hits: u64,
    /// Pawn hash probes.
    pub pawn_probes: u64,
}

/// Searches [`POSITIONS`] to `depth` in a mode of the option `PathHash`. `each` is called after each with its number
/// from 1, its FEN and its nodes. `None` if `given_up` returns true meanwhile.
pub fn measure(
    depth: u64,
    path_hash: PathHash,
    mut each: impl FnMut(usize, &str, u64),
    given_up: impl Fn() -> bool,
) -> Option<BenchReport> {
    let mut searcher = BlockingEngine::new(0);
    searcher.engine.set_path_hash(path_hash);
    let depth = Some(Depth(depth.clamp(1, Depth::MAX.get() as u64) as i32));
    let goes_on = || !given_up();
    let mut report = BenchReport::default();
    for (index, fen) in POSITIONS.into_iter().enumerate() {
        // Every position is legal, as the unit test below checks.
        let Ok(position) = translate::parse_fen(fen, false) else { continue };
        searcher.engine.new_game();
        let start = Instant::now();
        let limits = Limits { depth, ..Limits::default() };
        let answer = searcher.search_with(&position, &[], limits, &goes_on, |_| {});
        if given_up() {
            return None;
        }
        report.time += start.elapsed();
        let nodes = answer.ok().and_then(|answer| answer.result).map_or(0, |result| result.nodes);
        report.nodes += nodes;
        let (hits, probes) = searcher.engine.pawn_hash_hits();
        report.pawn_hits += hits;
        report.pawn_probes += probes;
        each(index + 1, fen, nodes);
    }
    Some(report)
}

/// Prints a line for each position, the hit rate of the pawn hash, the instructions that compute the network, and `N nodes
/// M nps`.
pub fn print(depth: u64, path_hash: PathHash, output: &Output, interrupt: &Interrupt) {
    let report = measure(
        depth,
        path_hash,
        |number, fen, nodes| output.line(format_args!("{number:>2} {nodes:>10}  {fen}")),
        || interrupt.is_requested() || output.is_closed(),
    );
    let Some(report) = report else {
        output.say("bench was interrupted");
        return;
    };
    let rate = 100.0 * report.pawn_hits as f64 / report.pawn_probes.max(1) as f64;
    output.line(format_args!("pawn hash {rate:.2} % of {} probes hit", report.pawn_probes));
    output.line(format_args!("network computed with {} instructions", Instructions::best()));
    output.line(speed(report.nodes, report.time));
}

/// `N nodes M nps`.
pub(super) fn speed(nodes: u64, time: Duration) -> String {
    let nps = u128::from(nodes) * 1_000_000_000 / time.as_nanos().max(1);
    format!("{nodes} nodes {nps} nps")
}

#[cfg(test)]
mod tests {
    use super::*;
    use shakmaty::{Chess, Position as _, fen::Fen};

    #[test]
    fn every_position_is_legal_and_there_once() {
        for (index, fen) in POSITIONS.into_iter().enumerate() {
            let setup: Fen = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
            // Strict, unlike what the engine would tolerate.
            let chess: Chess = setup
                .into_position(shakmaty::CastlingMode::Standard)
                .unwrap_or_else(|error| panic!("{fen}: {error}"));
            assert!(chess.board().occupied().count() >= 3);
            assert!(!POSITIONS[..index].contains(&fen), "twice: {fen}");
        }
    }

    #[test]
    fn a_bench_searches_every_position_and_can_be_given_up() {
        let mut seen = 0;
        let report = measure(1, PathHash::default(), |_, _, _| seen += 1, || false);
        assert!(report.is_some());
        assert_eq!(seen, POSITIONS.len());
        assert!(measure(1, PathHash::default(), |_, _, _| {}, || true).is_none());
    }
}
