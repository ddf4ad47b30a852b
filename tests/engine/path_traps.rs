//! Path traps: positions whose stored scores are true on one path and false on another.
//!
//! Each trap of `data/path_traps.txt` searches a *warm-up* (the same pieces by another path or at another
//! clock), then asks the *question* with the table kept. The answers are Syzygy's with the fifty-move
//! counter taken into account; where the game's repetitions decide, the table says which moves win, and
//! every one of them runs into a third occurrence. The format is in the head of the file.
//!
//! A trap counts where the search alone is right: the same warm-up and question with the table cleared in
//! between, at the depth asked and two plies below it; where it is not, the question is asked up to six plies
//! deeper. A mode falls into it if it is wrong at the depth asked and two plies deeper: a false entry is
//! still there, a horizon is not. The default mode must fall into none, `off` into enough to show that the traps
//! are traps; `ENGRAM_FULL=1` asks the other modes too. One thread and fixed
//! depths: what happens here is the same everywhere. The modes are counted with the classical evaluation, whose
//! weights are final, so that a new network changes no count; all else is asked with the network.

use std::sync::LazyLock;

use engram::{
    engine::{EvaluationKind, blocking::BlockingEngine},
    position::PathHash,
    search::Limits,
    types::{Depth, Score},
};
use shakmaty::uci::UciMove;

use crate::common::{is_full, position};

/// A position with its history and the depth it is searched to.
#[derive(Clone, Debug)]
struct Search {
    fen: String,
    moves: Vec<UciMove>,
    depth: i32,
}

/// What is true of the side to move.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Truth {
    Win,
    Loss,
    Draw,
    /// No mate in as many plies or fewer.
    NoMate(i32),
}

#[derive(Clone, Debug)]
struct Trap {
    name: String,
    warm: Search,
    ask: Search,
    truth: Truth,
}

/// A long shuffle, looked at step by step, and the truth after each ply where it is certain.
struct Walk {
    name: String,
    line: Search,
    truths: Vec<Option<Truth>>,
}

fn search(field: &str) -> Search {
    let mut parts = field.split(';').map(str::trim);
    let mut next = || parts.next().unwrap_or_else(|| panic!("short: {field}"));
    let fen = next().to_owned();
    let moves = next().split_whitespace().map(|uci| uci.parse().expect("uci")).collect();
    Search { fen, moves, depth: next().parse().expect("a depth") }
}

fn truth(field: &str) -> Option<Truth> {
    match field.split_whitespace().collect::<Vec<_>>()[..] {
        ["win" | "w"] => Some(Truth::Win),
        ["loss" | "l"] => Some(Truth::Loss),
        ["draw" | "d"] => Some(Truth::Draw),
        ["-"] => None,
        ["nomate", plies] => Some(Truth::NoMate(plies.parse().expect("plies"))),
        _ => panic!("no truth: {field}"),
    }
}

fn suite() -> (Vec<Trap>, Vec<Walk>) {
    let (mut traps, mut walks) = (Vec::new(), Vec::new());
    let lines = include_str!("../data/path_traps.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        match fields[..] {
            ["trap", name, warm, ask, verdict, _note] => traps.push(Trap {
                name: name.to_owned(),
                warm: search(warm),
                ask: search(ask),
                truth: truth(verdict).expect("a trap has an answer"),
            }),
            ["walk", name, line, verdicts] => walks.push(Walk {
                name: name.to_owned(),
                line: search(line),
                truths: verdicts.chars().map(|c| truth(&c.to_string())).collect(),
            }),
            _ => panic!("not a line of the suite: {line}"),
        }
    }
    (traps, walks)
}

struct Searcher(BlockingEngine);

impl Searcher {
    fn new(mode: PathHash, evaluation: EvaluationKind) -> Searcher {
        let mut searcher = BlockingEngine::new(0);
        searcher.engine.set_evaluation(evaluation);
        searcher.engine.set_path_hash(mode);
        Searcher(searcher)
    }

    fn score(&mut self, search: &Search) -> Score {
        let limits = Limits { depth: Some(Depth(search.depth)), ..Limits::default() };
        let start = position(&search.fen);
        let answer =
            self.0.search_with(&start, &search.moves, limits, &|| true, |_| {}).expect("legal moves");
        answer.lines[0].score
    }

    /// The answer after the warm-up, with the table kept or cleared.
    fn answer(&mut self, trap: &Trap, keep: bool, depth: i32) -> Score {
        self.0.engine.new_game();
        self.score(&trap.warm);
        if !keep {
            self.0.engine.clear_hash();
        }
        self.score(&Search { depth, ..trap.ask.clone() })
    }
}

/// Is `score` no lie? Evaluations of drawn endgames are not exact, so a draw has some room.
fn is_right(score: Score, truth: Truth) -> bool {
    let centipawns = score.centipawns();
    match truth {
        Truth::Win => centipawns >= 50,
        Truth::Loss => centipawns <= -50,
        Truth::Draw => !score.is_decisive() && centipawns.abs() < 200,
        Truth::NoMate(plies) => score.mate_plies().is_none_or(|mate| mate > plies || mate < 0),
    }
}

/// Is the search right of itself, not by luck at one depth?
fn is_fair(alone: &mut Searcher, trap: &Trap) -> bool {
    [trap.ask.depth - 2, trap.ask.depth]
        .into_iter()
        .all(|depth| is_right(alone.answer(trap, false, depth), trap.truth))
}

/// The wrong answer, if it is wrong at both depths.
fn falls_into(searcher: &mut Searcher, trap: &Trap) -> Option<Score> {
    let score = searcher.answer(trap, true, trap.ask.depth);
    let wrong = !is_right(score, trap.truth)
        && !is_right(searcher.answer(trap, true, trap.ask.depth + 2), trap.truth);
    wrong.then_some(score)
}

/// The traps in which the search alone is right, each at the least depth at which it is.
fn fair_traps(evaluation: EvaluationKind) -> Vec<Trap> {
    let (mut traps, _) = suite();
    let all = traps.len();
    assert!(all >= 60, "{all} traps");
    let mut alone = Searcher::new(PathHash::default(), evaluation);
    traps.retain_mut(|trap| {
        let depths = (trap.ask.depth..).step_by(2).take(4);
        depths.into_iter().any(|depth| {
            trap.ask.depth = depth;
            is_fair(&mut alone, trap)
        })
    });
    println!("{} of {all} traps are fair", traps.len());
    assert!(traps.len() >= 50, "the search alone sees too few");
    traps
}

static NETWORK_TRAPS: LazyLock<Vec<Trap>> = LazyLock::new(|| fair_traps(EvaluationKind::Network));

/// Into how many traps the mode falls.
fn failures(mode: PathHash, evaluation: EvaluationKind, traps: &[Trap]) -> usize {
    let mut searcher = Searcher::new(mode, evaluation);
    let mut failures = 0;
    for trap in traps {
        if let Some(score) = falls_into(&mut searcher, trap) {
            failures += 1;
            println!("{:>8} {}: {score:?}, but {:?}", mode.name(), trap.name, trap.truth);
        }
    }
    println!("{:>12} {failures}", mode.name());
    failures
}

#[test]
fn the_default_falls_into_no_trap_and_plain_hashing_into_many() {
    let traps = fair_traps(EvaluationKind::Classical);
    let fair = traps.len();
    let asked = [PathHash::default(), PathHash::Off, PathHash::Fifty80];
    let failures = |mode| failures(mode, EvaluationKind::Classical, &traps);
    let [default, off, fifty80] = asked.map(failures);
    if is_full() {
        for (_, mode) in PathHash::NAMED.iter().filter(|(_, mode)| !asked.contains(mode)) {
            failures(*mode);
        }
    }
    assert!(off * 3 >= fair, "plain hashing falls into {off} of {fair} only");
    assert!(fifty80 > 0 && fifty80 < off, "fifty80 stops {} of {off}", off - fifty80);
    assert_eq!(default, 0, "the default falls into traps");
}

#[test]
fn the_default_falls_into_no_trap_with_the_network() {
    assert_eq!(failures(PathHash::default(), EvaluationKind::Network, &NETWORK_TRAPS), 0);
}

/// The answer of an engine that knows the warm-up from a hash file alone, as another one left it.
fn answer_from_file(mode: PathHash, trap: &Trap, depth: i32) -> Score {
    let home = tempfile::tempdir().expect("a folder");
    let with_file = || {
        let mut searcher = Searcher::new(mode, EvaluationKind::Network);
        searcher.0.engine.set_hash_file_size(1);
        searcher.0.engine.set_hash_file(Some(home.path().join("traps.hash")));
        searcher.0.engine.open_hash_file();
        searcher
    };
    with_file().score(&trap.warm);
    with_file().score(&Search { depth, ..trap.ask.clone() })
}

#[test]
fn a_hash_file_sets_no_traps_either() {
    let mut failures = [0, 0];
    for trap in NETWORK_TRAPS.iter() {
        for (failed, mode) in failures.iter_mut().zip([PathHash::default(), PathHash::Off]) {
            let wrong = |deeper| !is_right(answer_from_file(mode, trap, trap.ask.depth + deeper), trap.truth);
            // Up to two plies deeper: a false entry would still be there, a horizon is not.
            if (0..=2).all(wrong) {
                *failed += 1;
                println!("{:>8} {}: not {:?}", mode.name(), trap.name, trap.truth);
            }
        }
    }
    let [default, off] = failures;
    println!("from a hash file failed: off {off}, default {default}");
    assert!(off >= 5, "plain hashing falls into {off} only: is the file read at all?");
    assert_eq!(default, 0, "the default falls into traps");
}

#[test]
fn stepping_through_a_shuffle_and_back_keeps_the_truth() {
    let (_, walks) = suite();
    assert!(walks.len() >= 4);
    let mut looked = 0;
    for walk in &walks {
        let plies = walk.line.moves.len();
        assert_eq!(walk.truths.len(), plies + 1, "{}", walk.name);
        let fresh = || Searcher::new(PathHash::default(), EvaluationKind::Network);
        let mut stepping = fresh();
        for ply in (0..=plies).step_by(2).chain((0..plies).step_by(2).rev()) {
            let here = Search { moves: walk.line.moves[..ply].to_vec(), ..walk.line.clone() };
            let score = stepping.score(&here);
            let Some(truth) = walk.truths[ply] else { continue };
            looked += 1;
            // Wrong is what the search alone would have got right, two plies below as well, by a pawn at least.
            let is_clear = |depth| {
                let alone = fresh().score(&Search { depth, ..here.clone() });
                is_right(alone, truth) && (alone.centipawns() - score.centipawns()).abs() >= 100
            };
            let right = is_right(score, truth) || !is_clear(here.depth) || !is_clear(here.depth - 2);
            assert!(right, "{} after {ply} plies: {score:?}, but {truth:?}", walk.name);
        }
    }
    assert!(looked > 50, "{looked} positions");
}
