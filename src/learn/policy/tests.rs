//! A row for every rule: the difference from a search that is clearly learned from, and the result.

use shakmaty::{Move, Role, Square};

use super::*;
use crate::{learn::Flags, types::Iterations};

const E4: Move =
    Move::Normal { role: Role::Pawn, from: Square::E2, capture: None, to: Square::E4, promotion: None };
const OTHER: PackedMove = PackedMove::from_bits(0x0456);

fn best() -> PackedMove {
    PackedMove::pack(E4)
}

/// A case of `drop`: 40 centipawns lost since the search before, at depth 10; inside the search all is calm.
#[derive(Clone)]
struct Case {
    conditions: Conditions,
    result: SearchResult,
    earlier: Option<Earlier>,
    live: Option<Known>,
}

impl Case {
    fn drop() -> Case {
        let rules = Rules { mode: LearningMode::Drop, drop: 33, min_depth: Depth(6) };
        let result = SearchResult {
            iterations: finished(&[(9, -10), (10, -10)]),
            line: vec![E4],
            score: cp(-10),
            bound: Bound::Exact,
            slack: 0,
            depth: Depth(10),
            nodes: 1000,
            pondering: false,
            learned_cutoffs: 0,
            is_cursed: false,
        };
        let conditions = Conditions { rules, analysis: false, not_learned: None };
        Case { conditions, result, earlier: earlier(10, 30, 2), live: None }
    }

    fn all() -> Case {
        with(Case::drop(), |case| {
            case.conditions.rules.mode = LearningMode::All;
            case.earlier = None;
        })
    }

    fn decide(&self) -> Result<RootFinding, NotLearned> {
        decide(&self.conditions, &self.result, self.earlier, self.live.as_ref())
    }
}

fn finished(scores: &[(i32, i32)]) -> Iterations {
    let mut iterations = Iterations::default();
    scores.iter().for_each(|&(depth, score)| iterations.finished(Depth(depth), cp(score)));
    iterations
}

fn earlier(depth: i32, score: i32, plies: usize) -> Option<Earlier> {
    Some(Earlier { depth: Depth(depth), score: cp(score), plies })
}

fn with(mut case: Case, change: impl FnOnce(&mut Case)) -> Case {
    change(&mut case);
    case
}

fn known(lower: Score, upper: Score, depth: i32, best: PackedMove) -> Known {
    Known { lower, upper, depth: Depth(depth), best }
}

fn cp(centipawns: i32) -> Score {
    Score::from_centipawns(centipawns)
}

#[test]
fn each_kind_of_record_replaces_what_counts_less() {
    use Origin::*;
    const OWN: u16 = 1;
    let record = |origin, depth, evaluation_id| {
        let blank = Record::new(&Position::default(), origin).expect("it fits");
        Record { depth, evaluation_id, ..blank }
    };
    let own = |origin, depth| record(origin, depth, OWN);
    let lost = |depth| {
        let drop = own(Drop, depth);
        Record { flags: Flags { confirmed: true, ..drop.flags }, ..drop }
    };
    let rows = [
        // A drop that no result has confirmed replaces only its like.
        (own(Drop, 12), own(Drop, 20), true),
        (own(Drop, 12), lost(4), false),
        (own(Drop, 12), own(EveryRoot, 4), false),
        (own(Drop, 12), own(Import, 4), false),
        (own(Drop, 12), own(Outcome, 4), false),
        (own(Drop, 12), own(Study, 4), false),
        (own(Drop, 12), own(Opening, 0), false),
        // An analysed root leaves what games have left, and deeper searches.
        (own(EveryRoot, 30), own(Outcome, 4), false),
        (own(EveryRoot, 30), lost(4), false),
        (own(EveryRoot, 30), own(Import, 4), false),
        (own(EveryRoot, 30), own(Opening, 0), false),
        (own(EveryRoot, 30), own(Advice, 0), false),
        (own(EveryRoot, 4), own(Drop, 20), true),
        (own(EveryRoot, 10), own(EveryRoot, 10), true),
        (own(EveryRoot, 10), own(EveryRoot, 11), false),
        (own(EveryRoot, 10), own(Study, 11), false),
        // The mark of an outcome that was studied has the depth of the outcome.
        (own(EveryRoot, 10), Record { flags: lost(4).flags, ..own(Study, 30) }, true),
        (own(EveryRoot, 10), own(Opening, 11), false),
        (own(EveryRoot, 10), record(EveryRoot, 12, 2), true),
        (own(EveryRoot, 10), record(EveryRoot, 13, 2), false),
        // The end of a game.
        (lost(10), own(Study, 11), false),
        (lost(10), own(Outcome, 11), true),
        (lost(10), own(Opening, 0), true),
        (own(Outcome, 4), own(Study, 20), true),
        (own(Outcome, 4), lost(20), true),
        (own(Outcome, 4), own(EveryRoot, 20), false),
        (own(Outcome, 4), own(Opening, 0), false),
        // A study.
        (own(Study, 4), lost(20), true),
        (own(Study, 4), own(Outcome, 20), true),
        (own(Study, 4), own(Advice, 0), false),
    ];
    for (new, live, expected) in rows {
        assert_eq!(may_replace(&new, &live, OWN), expected, "{new:?}\n{live:?}");
    }
    let mate = LearnedScore::from_score(Score::mate_in(crate::types::Ply(3)));
    let proven = Record { lower: mate, upper: mate, ..own(EveryRoot, 4) };
    assert!(may_replace(&proven, &own(EveryRoot, 20), OWN));
}

#[test]
fn every_trigger_fires_at_its_threshold_and_not_before() {
    use NotLearned::NoDrop;
    use Trigger::*;
    let inside = |iterations: &[(i32, i32)]| {
        with(Case::drop(), |case| {
            case.earlier = None;
            case.result.iterations = finished(iterations);
        })
    };
    // Bad before and worse now; inside the search nothing happens.
    let bad = |before| {
        with(Case::drop(), |case| {
            case.earlier = earlier(10, before, 2);
            case.result.iterations = finished(&[(9, -300), (10, -300)]);
            case.result.score = cp(-300);
        })
    };
    let after = |depth, score, plies| with(Case::drop(), |case| case.earlier = earlier(depth, score, plies));
    #[rustfmt::skip]
    let rows: Vec<(&str, Case, Result<Trigger, NotLearned>)> = vec![
        ("40 lost between moves", Case::drop(), Ok(BetweenMoves)),
        ("33 is enough", after(10, 23, 2), Ok(BetweenMoves)),
        ("32 is not", after(10, 22, 2), Err(NoDrop)),
        ("a rise", after(10, -100, 2), Err(NoDrop)),
        ("LearnDrop decides", with(Case::drop(), |case| case.conditions.rules.drop = 41), Err(NoDrop)),
        ("the first search of a game", inside(&[(9, -10), (10, -10)]), Err(NoDrop)),
        ("the same root again", after(10, 30, 0), Err(NoDrop)),
        ("one ply on: the other side's score", after(10, 30, 1), Err(NoDrop)),
        ("four plies on: a move was not searched", after(10, 30, 4), Err(NoDrop)),
        ("two plies shallower than the search before", after(12, 30, 2), Ok(BetweenMoves)),
        ("three plies shallower", after(13, 30, 2), Err(NoDrop)),
        ("the search before was shallower than the least depth", after(5, 30, 2), Err(NoDrop)),
        ("from -199", bad(-199), Ok(BetweenMoves)),
        ("from -200: lost already", bad(-200), Err(NoDrop)),
        ("into a mate", with(Case::drop(), |case| case.result.score = Score::mated_in(crate::types::Ply(7))),
            Ok(BetweenMoves)),
        ("33 lost inside the search", inside(&[(8, 23), (9, 0), (10, -10)]), Ok(InsideSearch)),
        ("32 lost inside the search", inside(&[(8, 22), (9, 0), (10, -10)]), Err(NoDrop)),
        ("inside, from an iteration too shallow to count", inside(&[(5, 90), (9, 0), (10, -10)]), Err(NoDrop)),
        ("inside, lost already", with(inside(&[(8, -200), (10, -300)]), |case| case.result.score = cp(-300)),
            Err(NoDrop)),
        ("both: the game comes first", with(Case::drop(), |case| case.result.iterations = finished(&[(8, 90), (10, -10)])),
            Ok(BetweenMoves)),
        ("only a lower bound", with(Case::drop(), |case| case.result.bound = Bound::Lower), Err(NoDrop)),
        ("an upper bound that is low enough", with(Case::drop(), |case| case.result.bound = Bound::Upper),
            Ok(BetweenMoves)),
        ("every root", Case::all(), Ok(EveryRoot)),
        ("every root, also without a drop", with(Case::all(), |case| case.result.score = cp(500)), Ok(EveryRoot)),
        ("every root, a lower bound", with(Case::all(), |case| case.result.bound = Bound::Lower), Ok(EveryRoot)),
    ];
    for (name, case, expected) in rows {
        assert_eq!(case.decide().map(|finding| finding.trigger), expected, "{name}");
    }
}

#[test]
fn one_more_iteration_of_a_resumed_analysis_is_news() {
    let decide = |iterations: &Iterations, bound| {
        let case = with(Case::all(), |case| {
            case.conditions.analysis = true;
            case.result = SearchResult {
                iterations: iterations.clone(),
                depth: Depth(11),
                bound,
                ..case.result.clone()
            };
            case.result.score = cp(20);
            case.live = Some(known(cp(30), cp(30), 10, OTHER));
        });
        case.decide().map(|finding| finding.known.depth)
    };
    let from_the_beginning = decide(&finished(&[(11, 20)]), Bound::Exact);
    assert_eq!(from_the_beginning, Err(NotLearned::TooFewIterations));
    let mut resumed = Iterations::default();
    resumed.resumed(Depth(10), cp(30));
    assert!(decide(&resumed, Bound::Lower).is_ok(), "a better move in an iteration that was not finished");
    resumed.finished(Depth(11), cp(20));
    assert_eq!(decide(&resumed, Bound::Exact), Ok(Depth(11)));
}

#[test]
fn the_list_of_never_is_complete_in_both_modes() {
    type Change = fn(&mut Case);
    #[rustfmt::skip]
    let rows: [(Change, NotLearned); 10] = [
        (|case| case.conditions.rules.mode = LearningMode::Off, NotLearned::Off),
        (|case| case.conditions.not_learned = Some(NotLearned::SearchMoves), NotLearned::SearchMoves),
        (|case| case.conditions.not_learned = Some(NotLearned::Mate), NotLearned::Mate),
        (|case| case.result.pondering = true, NotLearned::PonderedInVain),
        (|case| case.result.is_cursed = true, NotLearned::Cursed),
        (|case| case.conditions.not_learned = Some(NotLearned::Repetition), NotLearned::Repetition),
        (|case| case.result.iterations = finished(&[(10, -10)]), NotLearned::TooFewIterations),
        (|case| case.result.iterations = Iterations::default(), NotLearned::TooFewIterations),
        (|case| case.result.depth = Depth(5), NotLearned::TooShallow),
        (|case| case.result.score = -Score::INFINITE, NotLearned::NoScore),
    ];
    for case in [Case::drop(), Case::all()] {
        assert!(case.decide().is_ok());
        for (change, expected) in rows {
            assert_eq!(with(case.clone(), change).decide(), Err(expected));
        }
        let least = with(case, |case| {
            case.result.depth = Depth(6);
            case.earlier = case.earlier.and_then(|_| earlier(6, 30, 2));
        });
        assert!(least.decide().is_ok(), "the least depth itself is deep enough");
    }
}

#[test]
fn the_finding_is_what_the_search_found() {
    let finding = Case::drop().decide().expect("a finding");
    assert_eq!(finding.known, known(cp(-10), cp(-10), 10, best()));
    let lower = with(Case::all(), |case| case.result.bound = Bound::Lower).decide().expect("a finding");
    assert_eq!(lower.known, known(cp(-10), Score::INFINITE, 10, best()));
}

#[test]
fn a_search_stopped_inside_a_fail_low_teaches_its_upper_bound_only() {
    let stopped = with(Case::drop(), |case| {
        case.result.score = cp(30);
        case.result.iterations.failed_low(Depth(11), cp(-45));
    });
    let finding = stopped.decide().expect("a finding");
    assert_eq!(finding.known, known(-Score::INFINITE, cp(-45), 11, PackedMove::NONE));
    let not_deep = with(stopped.clone(), |case| case.result.iterations.failed_low(Depth(11), cp(0)));
    assert_eq!(not_deep.decide(), Err(NotLearned::NoDrop), "a bound that is no drop");
    let elsewhere = with(stopped, |case| case.result.depth = Depth(11));
    assert_eq!(elsewhere.decide(), Err(NotLearned::NoDrop), "another thread finished that depth");

    // An analysis that remembers every root resumes from its last finished iteration.
    let analysed = with(Case::all(), |case| {
        case.result.iterations.failed_low(Depth(11), cp(-45));
        case.conditions.analysis = true;
    });
    assert_eq!(analysed.decide().expect("a finding").known, known(cp(-10), cp(-10), 10, best()));

    let mut iterations = Iterations::default();
    iterations.failed_low(Depth(8), cp(-90));
    iterations.recovered();
    assert!(iterations.fail_low().is_none());
    iterations.failed_low(Depth(8), cp(-90));
    iterations.finished(Depth(8), cp(-95));
    assert!(iterations.fail_low().is_none());
}

#[test]
fn what_a_live_record_says_is_not_said_again() {
    let open = Score::INFINITE;
    let rows = [
        ("the same", known(cp(-10), cp(-10), 10, best()), true),
        ("deeper", known(cp(-10), cp(-10), 20, best()), true),
        ("shallower", known(cp(-10), cp(-10), 9, best()), false),
        ("another move", known(cp(-10), cp(-10), 10, OTHER), false),
        ("a window that overlaps", known(-open, cp(-10), 10, best()), true),
        ("a window above", known(cp(-9), open, 10, best()), false),
        ("a window below", known(-open, cp(-11), 10, best()), false),
    ];
    for (name, live, silent) in rows {
        for case in [Case::drop(), Case::all()] {
            let decided = with(case, |case| case.live = Some(live)).decide();
            assert_eq!(decided == Err(NotLearned::Known), silent, "{name}");
        }
    }
}

#[test]
fn a_drop_is_used_once_its_game_is_lost_and_everything_by_an_analyst() {
    for (mode, confirmed, used) in [
        (LearningMode::Drop, false, false),
        (LearningMode::Drop, true, true),
        (LearningMode::All, false, true),
        (LearningMode::All, true, true),
        (LearningMode::Off, true, false),
    ] {
        let mut record = Record::new(&Position::default(), Origin::Drop).expect("the position fits");
        record.flags.confirmed = confirmed;
        assert_eq!(is_used(mode, &record), used, "{mode:?} {confirmed}");
    }
    for (depth, used) in [(0, false), (20, true)] {
        let record = Record::new(&Position::default(), Origin::Opening).expect("the position fits");
        let record = Record { depth, ..record };
        assert_eq!(is_used(LearningMode::Drop, &record), used, "searched to {depth}");
    }
}
