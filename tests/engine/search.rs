//! The search, asked through the engine's facade: it finds what it must, keeps its limits, and reports
//! values that are consistent with each other.

use std::{
    fs,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};

use engram::{
    cli::bench::POSITIONS,
    engine::{Engine, EvaluationKind},
    search::{ClockTime, Event, Limits, PvInfo},
    types::{Bound, Depth},
};
use shakmaty::{CastlingMode, Move, uci::UciMove};

use crate::common::{position, shared};

struct Searcher {
    engine: Engine,
    events: mpsc::Receiver<Event>,
}

struct Found {
    lines: Vec<PvInfo>,
    best: Option<Move>,
}

impl Found {
    fn last(&self) -> &PvInfo {
        self.lines.last().expect("a line")
    }

    fn best_uci(&self) -> String {
        self.best.map_or("none".to_owned(), |m| m.to_uci(CastlingMode::Standard).to_string())
    }

    /// The search was stopped inside an iteration: what is said after that, the last `count` lines, are the lines of the
    /// last finished iteration, or those of another move. A bound is said only in a game, of another move that fails
    /// high.
    fn assert_says_no_less_at_the_end(&self, count: usize, in_game: bool, what: &str) {
        let (before, last) = self.lines.split_at(self.lines.len() - count);
        assert_eq!(self.best, last[0].pv.first().copied(), "{what}");
        let finished = |multi_pv| {
            let is_same = |line: &&PvInfo| line.multi_pv == multi_pv && line.bound == Bound::Exact;
            before.iter().rfind(is_same).expect("a finished iteration")
        };
        let is_same = last[0].depth == finished(1).depth && last[0].pv[0] == finished(1).pv[0];
        if last[0].bound == Bound::Lower {
            assert!(in_game && !is_same && count == 1 && last[0].score > finished(1).score, "{what}");
            return;
        }
        for line in last {
            let known = finished(line.multi_pv);
            assert_eq!(line.bound, Bound::Exact, "{what}");
            assert!(line.depth >= known.depth, "{what}: {:?} after {:?}", line.depth, known.depth);
            if is_same {
                assert_eq!((line.score, &line.pv), (known.score, &known.pv), "{what}");
            } else {
                assert!(line.pv.len() > 1, "{what}: {:?}", line.pv);
            }
        }
    }
}

impl Searcher {
    fn new() -> Searcher {
        let (sender, events) = mpsc::channel();
        let sink = move |event| {
            let _ = sender.send(event);
        };
        Searcher { engine: Engine::new(Arc::new(sink)), events }
    }

    fn set(&mut self, fen: &str, moves: &[&str]) {
        let moves: Vec<UciMove> = moves.iter().map(|uci| uci.parse().expect("uci")).collect();
        self.engine.set_position(position(fen), &moves).expect("legal moves");
    }

    fn go(&mut self, limits: Limits) -> Found {
        self.engine.go(limits, Instant::now());
        self.result()
    }

    /// The lines of the search under way, as far as one that is wanted.
    fn wait_for_line(&mut self, wanted: impl Fn(&PvInfo) -> bool) -> Vec<PvInfo> {
        let mut lines = Vec::new();
        loop {
            match self.events.recv_timeout(Duration::from_secs(120)).expect("a line") {
                Event::Pv(line) => {
                    lines.push(line);
                    if lines.last().is_some_and(&wanted) {
                        return lines;
                    }
                }
                Event::Finished { .. } => panic!("the search has ended"),
                _ => {}
            }
        }
    }

    fn result(&mut self) -> Found {
        let mut lines = Vec::new();
        loop {
            match self.events.recv_timeout(Duration::from_secs(120)).expect("the search ends") {
                Event::Pv(line) => lines.push(line),
                Event::Finished { best, .. } => {
                    self.engine.wait();
                    return Found { lines, best };
                }
                Event::CurrentMove { .. } | Event::Notice(_) => {}
            }
        }
    }
}

fn depth(plies: i32) -> Limits {
    Limits { depth: Some(Depth(plies)), ..Limits::default() }
}

fn nodes(nodes: u64) -> Limits {
    Limits { nodes: Some(nodes), ..Limits::default() }
}

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const ENDGAME: &str = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
const MIDDLEGAME: &str = "r1bq1rk1/pp2bppp/2n1pn2/3p4/2PP4/2N2N2/PP2BPPP/R1BQ1RK1 w - - 0 9";

#[test]
fn mates_are_found_with_their_distance() {
    let cases = [
        ("6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - 0 1", "d1d8", 1),
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7", 1),
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", "f6a6", 5),
    ];
    let mut searcher = Searcher::new();
    for (fen, best, plies) in cases {
        searcher.set(fen, &[]);
        let found = searcher.go(depth(14));
        assert_eq!(
            (found.best_uci().as_str(), found.last().score.mate_plies()),
            (best, Some(plies)),
            "{fen}"
        );
    }
}

/// The distances of `../shared/data/epd/mates` are the shortest known. No claim on the way may be better.
#[test]
fn no_mate_is_claimed_that_is_not_there() {
    let Some(path) = shared("epd/mates/mates2000.epd") else { return };
    let text = fs::read_to_string(path).expect("text");
    let mut searcher = Searcher::new();
    searcher.engine.set_threads(2);
    let (mut claims, mut mates) = (0, 0);
    for line in text.lines().step_by(20) {
        let (fen, known) = line.trim_end_matches(';').split_once(" bm #").expect("a mate");
        let known: i32 = known.parse().expect("a number of moves");
        // A winner's mate ends with its own move.
        let known = if known > 0 { 2 * known - 1 } else { 2 * known };
        searcher.set(fen, &[]);
        let found = searcher.go(nodes(50_000));
        for line in &found.lines {
            let Some(claimed) = line.score.mate_plies() else { continue };
            // A bound on the other side says that it is no better than this, and claims nothing.
            let open = if claimed > 0 { Bound::Upper } else { Bound::Lower };
            if line.bound == open {
                continue;
            }
            claims += 1;
            assert!(claimed.signum() == known.signum(), "{fen}: {claimed} plies, known {known}");
            assert!(claimed.abs() >= known.abs(), "{fen}: {claimed} plies, known {known}");
        }
        mates += usize::from(found.last().score.mate_plies() == Some(known));
    }
    assert!(claims > 100 && mates > 10, "{claims} claims, {mates} shortest mates");
}

#[test]
fn a_search_stopped_early_claims_no_earlier_mate() {
    // Mated in three moves, by the first move of an iteration alone in two.
    let fen = "1N3b2/p1kN2Pp/K4P1P/P1p1P3/2R2P2/1P1P4/3pppBB/3Q1R2 b - - 0 1";
    let start = || {
        let mut searcher = Searcher::new();
        // It sees the mate early.
        searcher.engine.set_evaluation(EvaluationKind::Classical);
        searcher.set(fen, &[]);
        searcher
    };
    let mut searcher = start();
    searcher.engine.go(nodes(u64::MAX), Instant::now());
    let lines = searcher.wait_for_line(|line| line.score.mate_plies().is_some());
    let seen = lines.last().expect("a line").nodes;
    searcher.engine.stop();
    searcher.result();
    for stopped in (seen / 4..4 * seen).step_by(seen as usize / 50) {
        let mut lines = start().go(nodes(stopped)).lines;
        lines.retain(|line| line.score.mate_plies().is_some());
        for line in &lines {
            let is_late = line.score.mate_plies() <= Some(-6);
            assert!(is_late && line.bound == Bound::Exact, "{stopped} nodes: {line:?}");
        }
        assert!(stopped <= seen || !lines.is_empty(), "{stopped} nodes");
    }
}

/// Some of these searches end inside a fail high or a fail low.
#[test]
fn wherever_a_search_is_stopped_its_last_line_says_no_less_than_the_one_before() {
    let mut searcher = Searcher::new();
    let cases = [
        (true, 1, 1, 500),
        (false, 1, 1, 2_500),
        (true, 3, 1, 2_500),
        (true, 1, 3, 2_500),
        (false, 1, 3, 5_000),
        (true, 2, 2, 5_000),
    ];
    let mut deeper = 0;
    for (in_game, multi_pv, threads, step) in cases {
        searcher.engine.set_strength(|limits| limits.analysis = !in_game);
        searcher.engine.settings.multi_pv = multi_pv;
        searcher.engine.set_threads(threads);
        for fen in [MIDDLEGAME, ENDGAME] {
            for stopped in (2_000..30_000).step_by(step) {
                searcher.engine.new_game();
                searcher.set(fen, &[]);
                let found = searcher.go(nodes(stopped));
                let what = format!(
                    "{fen}: {stopped} nodes, {multi_pv} lines, {threads} threads, in a game: {in_game}"
                );
                found.assert_says_no_less_at_the_end(multi_pv, in_game, &what);
                let last = &found.lines[found.lines.len() - multi_pv..];
                deeper += usize::from(last[0].depth > last[multi_pv - 1].depth);
            }
        }
    }
    assert!(deeper > 0, "the best line of an unfinished iteration counts");
}

/// The root comes back in its own tree: its result so far must not be taken for the score of the repetition.
#[test]
fn in_an_analysis_of_a_fortress_lines_end_with_the_third_occurrence() {
    let mut searcher = Searcher::new();
    searcher.engine.set_strength(|limits| limits.analysis = true);
    let fen = "k1b5/1p1p1p1p/pPpPpPpP/P1P1P1P1/8/8/8/K1B5 w - - 0 1";
    searcher.set(fen, &[]);
    for line in searcher.go(depth(24)).lines {
        let mut current = position(fen);
        let mut seen = vec![current.key()];
        for &m in &line.pv {
            assert!(seen.iter().filter(|&&key| key == current.key()).count() < 3, "{line:?}");
            current = current.play(m);
            seen.push(current.key());
        }
    }
}

/// An iteration that changes the best move is stopped one node before its end. Only if the new move is the last one
/// searched it is not known by then.
#[test]
fn a_better_move_of_an_unfinished_iteration_is_answered() {
    let mut searcher = Searcher::new();
    let (mut changes, mut answered) = (0, 0);
    for fen in POSITIONS {
        searcher.engine.new_game();
        searcher.set(fen, &[]);
        let finished = searcher.go(depth(8)).lines;
        for pair in finished.windows(2).filter(|pair| pair[0].pv[0] != pair[1].pv[0]) {
            searcher.engine.new_game();
            searcher.set(fen, &[]);
            let found = searcher.go(nodes(pair[1].nodes - 1));
            found.assert_says_no_less_at_the_end(1, true, fen);
            changes += 1;
            answered += usize::from(found.best == pair[1].pv.first().copied());
        }
    }
    assert!(changes > 0 && answered > changes / 2, "{answered} of {changes} better moves are answered");
}

#[test]
fn an_analysis_stopped_after_a_bound_ends_with_a_whole_line_and_resumes_there() {
    let mut searcher = Searcher::new();
    // Here many iterations have bounds, in the quieter positions of other tests hardly any. They are reported after three
    // seconds.
    searcher.set("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", &[]);
    searcher.engine.go(Limits { infinite: true, ..Limits::default() }, Instant::now());
    let before = searcher.wait_for_line(|line| line.bound != Bound::Exact);
    searcher.engine.stop();
    let mut found = searcher.result();
    found.lines.splice(..0, before);
    found.assert_says_no_less_at_the_end(1, false, "stopped after a bound");
    let last = found.last();
    searcher.engine.go(Limits { infinite: true, ..Limits::default() }, Instant::now());
    let resumed = searcher.wait_for_line(|_| true).remove(0);
    assert_eq!(
        (resumed.depth, resumed.score, resumed.bound, &resumed.pv),
        (last.depth, last.score, Bound::Exact, &last.pv)
    );
    searcher.engine.stop();
    searcher.result();
}

#[test]
fn what_an_analysis_stopped_anywhere_has_stored_is_its_last_line() {
    let mut searcher = Searcher::new();
    searcher.engine.set_strength(|limits| limits.analysis = true);
    for fen in [MIDDLEGAME, ENDGAME] {
        for stopped in (4_000..30_000).step_by(1_000) {
            searcher.engine.new_game();
            searcher.set(fen, &[]);
            let last = searcher.go(nodes(stopped)).lines.pop().expect("a line");
            let resumed = &searcher.go(nodes(1)).lines[0];
            assert_eq!(
                (resumed.depth, resumed.score, resumed.bound, &resumed.pv),
                (last.depth, last.score, Bound::Exact, &last.pv),
                "{fen}: {stopped} nodes"
            );
        }
    }
}

#[test]
fn a_node_limit_is_exact_with_one_thread() {
    let mut searcher = Searcher::new();
    searcher.set(MIDDLEGAME, &[]);
    for limit in [200, 1_000, 4_999, 20_000] {
        assert_eq!(searcher.go(nodes(limit)).last().nodes, limit);
    }
}

#[test]
fn the_answer_is_the_first_move_of_the_last_line_and_lines_are_legal() {
    let mut searcher = Searcher::new();
    for threads in [1, 2] {
        searcher.engine.set_threads(threads);
        for fen in [START, MIDDLEGAME, ENDGAME] {
            searcher.set(fen, &[]);
            let found = searcher.go(nodes(30_000));
            assert_eq!(found.last().pv.first().copied(), found.best, "{fen}");
            for line in &found.lines {
                let mut position = searcher.engine.position().clone();
                for &m in &line.pv {
                    assert!(position.legal_moves().contains(&m), "{m:?} in {fen}");
                    position = position.play(m);
                }
            }
        }
    }
}

#[test]
fn a_repetition_is_sought_by_the_side_that_is_lost() {
    // Black is two rooks' worth down, but the queen checks for ever on e1 and h4.
    let mut searcher = Searcher::new();
    searcher.set("7k/Q7/8/R7/7q/5P2/6P1/6K1 b - - 0 1", &[]);
    let found = searcher.go(depth(10));
    assert_eq!((found.best_uci().as_str(), found.last().score.centipawns()), ("h4e1", 0));
}

#[test]
fn the_fifty_move_counter_ends_a_won_game() {
    let mut searcher = Searcher::new();
    searcher.set("7k/8/8/8/8/8/8/KQ6 w - - 99 80", &[]);
    assert_eq!(searcher.go(depth(8)).last().score.centipawns(), 0);
    searcher.set("7k/8/6K1/8/8/8/8/1Q6 w - - 99 80", &[]);
    assert_eq!(searcher.go(depth(8)).last().score.mate_plies(), Some(1), "mate on the last move counts");
}

#[test]
fn search_moves_and_multi_pv_choose_the_root() {
    let mut searcher = Searcher::new();
    searcher.set(START, &[]);
    let only = ["a2a3", "h2h4"].map(|uci| searcher.engine.position().legal_move(uci).expect("legal"));
    let found = searcher.go(Limits { search_moves: only.to_vec(), ..depth(6) });
    assert!(found.best.is_some_and(|best| only.contains(&best)));

    searcher.engine.settings.multi_pv = 4;
    let found = searcher.go(depth(7));
    let last: Vec<&PvInfo> = found.lines[found.lines.len() - 4..].iter().collect();
    for (index, line) in last.iter().enumerate() {
        assert_eq!((line.multi_pv, line.bound), (index + 1, Bound::Exact));
        assert!(index == 0 || last[index - 1].score >= line.score);
        assert!(last[..index].iter().all(|other| other.pv[0] != line.pv[0]));
    }
}

#[test]
fn every_clock_gets_an_answer() {
    let mut searcher = Searcher::new();
    searcher.set(MIDDLEGAME, &[]);
    for remaining in [0, 1, 30] {
        let clock = ClockTime {
            remaining: Duration::from_millis(remaining),
            increment: Duration::ZERO,
            moves_to_go: Some(1),
        };
        assert!(searcher.go(Limits { clock: Some(clock), ..Limits::default() }).best.is_some());
    }
    assert!(searcher.go(Limits { movetime: Some(Duration::ZERO), ..Limits::default() }).best.is_some());
}

#[test]
fn hash_and_threads_may_change_between_searches() {
    let mut searcher = Searcher::new();
    searcher.set(START, &[]);
    for (mib, threads) in [(1, 1), (8, 3), (2, 2), (4, 1)] {
        searcher.engine.set_hash(mib).expect("memory");
        searcher.engine.set_threads(threads);
        searcher.engine.set_pawn_hash(1).expect("a MiB");
        searcher.engine.new_game();
        assert!(searcher.go(depth(6)).best.is_some());
    }
    assert!(searcher.engine.set_hash(262_144 * 1024).is_err(), "no machine has this much");
    assert!(searcher.go(depth(6)).best.is_some());
}
