//! A row for every rule: what differs from a search that clearly teaches, and what follows.

use super::*;

const MOVE: PackedMove = PackedMove::from_bits(0x0123);
const OTHER: PackedMove = PackedMove::from_bits(0x0456);

/// A case of `drop`: 40 centipawns lost since the search before, at depth 10; inside the search all is calm.
#[derive(Clone)]
struct Case {
    rules: Rules,
    iterations: Vec<(i32, i32)>,
    fail_low: Option<(i32, i32)>,
    conditions: Conditions,
    line: usize,
    depth: i32,
    score: Score,
    bound: Bound,
    earlier: Option<(i32, i32, usize)>,
    live: Option<Known>,
}

impl Case {
    fn drop() -> Case {
        Case {
            rules: Rules { mode: Mode::Drop, drop: 33, min_depth: Depth(6) },
            iterations: vec![(9, -10), (10, -10)],
            fail_low: None,
            conditions: Conditions::default(),
            line: 1,
            depth: 10,
            score: cp(-10),
            bound: Bound::Exact,
            earlier: Some((10, 30, 2)),
            live: None,
        }
    }

    fn all() -> Case {
        let case = Case::drop();
        Case { rules: Rules { mode: Mode::All, ..case.rules }, earlier: None, ..case }
    }

    fn decide(&self) -> Result<Lesson, Silence> {
        let mut course = Course::default();
        for &(depth, score) in &self.iterations {
            course.finished(Depth(depth), cp(score));
        }
        if let Some((depth, score)) = self.fail_low {
            course.failed_low(Depth(depth), cp(score));
        }
        let search = Search {
            course: &course,
            conditions: self.conditions,
            line: self.line,
            depth: Depth(self.depth),
            score: self.score,
            bound: self.bound,
            slack: 0,
            best: MOVE,
        };
        let earlier = self.earlier.map(|(depth, score, plies)| Earlier {
            depth: Depth(depth),
            score: cp(score),
            plies,
        });
        decide(&self.rules, &search, earlier, self.live.as_ref())
    }
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
fn every_trigger_fires_at_its_threshold_and_not_before() {
    use Silence::NoDrop;
    use Trigger::*;
    let inside = |iterations: &[(i32, i32)]| {
        with(Case::drop(), |case| {
            case.earlier = None;
            case.iterations = iterations.to_vec();
        })
    };
    // Bad before and worse now; inside the search nothing happens.
    let bad = |before| {
        with(Case::drop(), |case| {
            case.earlier = Some((10, before, 2));
            case.iterations = vec![(9, -300), (10, -300)];
            case.score = cp(-300);
        })
    };
    let earlier = |depth, score, plies| with(Case::drop(), |case| case.earlier = Some((depth, score, plies)));
    #[rustfmt::skip]
    let rows: Vec<(&str, Case, Result<Trigger, Silence>)> = vec![
        ("40 lost between moves", Case::drop(), Ok(BetweenMoves)),
        ("33 is enough", earlier(10, 23, 2), Ok(BetweenMoves)),
        ("32 is not", earlier(10, 22, 2), Err(NoDrop)),
        ("a rise", earlier(10, -100, 2), Err(NoDrop)),
        ("LearnDrop decides", with(Case::drop(), |case| case.rules.drop = 41), Err(NoDrop)),
        ("the first search of a game", inside(&[(9, -10), (10, -10)]), Err(NoDrop)),
        ("the same root again", earlier(10, 30, 0), Err(NoDrop)),
        ("one ply on: the other side's score", earlier(10, 30, 1), Err(NoDrop)),
        ("four plies on: a move was not searched", earlier(10, 30, 4), Err(NoDrop)),
        ("two plies shallower than the search before", earlier(12, 30, 2), Ok(BetweenMoves)),
        ("three plies shallower", earlier(13, 30, 2), Err(NoDrop)),
        ("the search before was shallower than the least depth", earlier(5, 30, 2), Err(NoDrop)),
        ("from -199", bad(-199), Ok(BetweenMoves)),
        ("from -200: lost already", bad(-200), Err(NoDrop)),
        ("into a mate", with(Case::drop(), |case| case.score = Score::mated_in(crate::types::Ply(7))),
            Ok(BetweenMoves)),
        ("33 lost inside the search", inside(&[(8, 23), (9, 0), (10, -10)]), Ok(InsideSearch)),
        ("32 lost inside the search", inside(&[(8, 22), (9, 0), (10, -10)]), Err(NoDrop)),
        ("inside, from an iteration too shallow to count", inside(&[(5, 90), (9, 0), (10, -10)]), Err(NoDrop)),
        ("inside, lost already", with(inside(&[(8, -200), (10, -300)]), |case| case.score = cp(-300)),
            Err(NoDrop)),
        ("both: the game comes first", with(Case::drop(), |case| case.iterations = vec![(8, 90), (10, -10)]),
            Ok(BetweenMoves)),
        ("only a lower bound", with(Case::drop(), |case| case.bound = Bound::Lower), Err(NoDrop)),
        ("an upper bound that is low enough", with(Case::drop(), |case| case.bound = Bound::Upper),
            Ok(BetweenMoves)),
        ("every root", Case::all(), Ok(EveryRoot)),
        ("every root, also without a drop", with(Case::all(), |case| case.score = cp(500)), Ok(EveryRoot)),
        ("every root, a lower bound", with(Case::all(), |case| case.bound = Bound::Lower), Ok(EveryRoot)),
    ];
    for (name, case, expected) in rows {
        assert_eq!(case.decide().map(|lesson| lesson.trigger), expected, "{name}");
    }
}

#[test]
fn one_more_iteration_of_a_resumed_analysis_is_news() {
    let decide = |course: &Course, bound| {
        let rules = Rules { mode: Mode::All, drop: 33, min_depth: Depth(6) };
        let conditions = Conditions { analysis: true, ..Conditions::default() };
        let (depth, score) = (Depth(11), cp(20));
        let search = Search { course, conditions, line: 1, depth, score, bound, slack: 0, best: OTHER };
        decide(&rules, &search, None, Some(&known(cp(30), cp(30), 10, MOVE))).map(|lesson| lesson.known.depth)
    };
    let mut course = Course::default();
    course.finished(Depth(11), cp(20));
    assert_eq!(
        decide(&course, Bound::Exact),
        Err(Silence::TooFewIterations),
        "of a search from the beginning"
    );
    let mut course = Course::default();
    course.resumed(Depth(10), cp(30));
    assert!(decide(&course, Bound::Lower).is_ok(), "a better move in an iteration that was not finished");
    course.finished(Depth(11), cp(20));
    assert_eq!(decide(&course, Bound::Exact), Ok(Depth(11)));
}

#[test]
fn the_list_of_never_is_complete_in_both_modes() {
    type Change = fn(&mut Case);
    #[rustfmt::skip]
    let rows: [(&str, Change, Silence); 10] = [
        ("off; bench, perft and eval", |case| case.rules.mode = Mode::Off, Silence::Off),
        ("searchmoves", |case| case.conditions.search_moves = true, Silence::SearchMoves),
        ("go mate", |case| case.conditions.mate = true, Silence::Mate),
        ("ponder without ponderhit", |case| case.conditions.pondered_in_vain = true, Silence::PonderedInVain),
        ("a repetition of this game", |case| case.conditions.repetition = true, Silence::Repetition),
        ("the second line of MultiPV", |case| case.line = 2, Silence::OtherLine),
        ("one iteration", |case| case.iterations.truncate(1), Silence::TooFewIterations),
        ("no iteration", |case| case.iterations.clear(), Silence::TooFewIterations),
        ("too shallow", |case| case.depth = 5, Silence::TooShallow),
        ("no score", |case| case.score = -Score::INFINITE, Silence::NoScore),
    ];
    for case in [Case::drop(), Case::all()] {
        assert!(case.decide().is_ok());
        for (name, change, expected) in rows {
            assert_eq!(with(case.clone(), change).decide(), Err(expected), "{name}");
        }
        let least = with(case, |case| {
            case.depth = 6;
            case.earlier = case.earlier.map(|_| (6, 30, 2));
        });
        assert!(least.decide().is_ok(), "the least depth itself is deep enough");
    }
}

#[test]
fn the_lesson_is_what_the_search_found() {
    let lesson = Case::drop().decide().expect("a lesson");
    assert_eq!(lesson.known, known(cp(-10), cp(-10), 10, MOVE));
    let lower = with(Case::all(), |case| case.bound = Bound::Lower).decide().expect("a lesson");
    assert_eq!(lower.known, known(cp(-10), Score::INFINITE, 10, MOVE));
}

#[test]
fn a_search_stopped_inside_a_fail_low_teaches_its_upper_bound_only() {
    let stopped = with(Case::drop(), |case| {
        case.score = cp(30);
        case.fail_low = Some((11, -45));
    });
    let lesson = stopped.decide().expect("a lesson");
    assert_eq!(lesson.known, known(-Score::INFINITE, cp(-45), 11, PackedMove::NONE));
    let not_deep = with(stopped.clone(), |case| case.fail_low = Some((11, 0)));
    assert_eq!(not_deep.decide(), Err(Silence::NoDrop), "a bound that is no drop");
    let elsewhere = with(stopped, |case| case.depth = 11);
    assert_eq!(elsewhere.decide(), Err(Silence::NoDrop), "another thread finished that depth");

    // An analysis that remembers every root goes on from what was finished.
    let analysed = with(Case::all(), |case| {
        case.fail_low = Some((11, -45));
        case.conditions.analysis = true;
    });
    assert_eq!(analysed.decide().expect("a lesson").known, known(cp(-10), cp(-10), 10, MOVE));

    let mut course = Course::default();
    course.failed_low(Depth(8), cp(-90));
    course.recovered();
    assert!(course.fail_low.is_none());
    course.failed_low(Depth(8), cp(-90));
    course.finished(Depth(8), cp(-95));
    assert!(course.fail_low.is_none());
}

#[test]
fn what_a_live_record_says_is_not_said_again() {
    let open = Score::INFINITE;
    let rows = [
        ("the same", known(cp(-10), cp(-10), 10, MOVE), true),
        ("deeper", known(cp(-10), cp(-10), 20, MOVE), true),
        ("shallower", known(cp(-10), cp(-10), 9, MOVE), false),
        ("another move", known(cp(-10), cp(-10), 10, OTHER), false),
        ("a window that overlaps", known(-open, cp(-10), 10, MOVE), true),
        ("a window above", known(cp(-9), open, 10, MOVE), false),
        ("a window below", known(-open, cp(-11), 10, MOVE), false),
    ];
    for (name, live, silent) in rows {
        for case in [Case::drop(), Case::all()] {
            let decided = with(case, |case| case.live = Some(live)).decide();
            assert_eq!(decided == Err(Silence::Known), silent, "{name}");
        }
    }
}

#[test]
fn a_game_is_decided_where_players_resign() {
    let scores = |scores: &[i32]| scores.iter().map(|&score| cp(score)).collect::<Vec<_>>();
    let (mates, mated) = (Score::mate_in(crate::types::Ply(4)), Score::mated_in(crate::types::Ply(3)));
    let rows = [
        ("nothing known", vec![], None),
        ("mated in the last search", vec![cp(0), mated], Some(Outcome::Lost)),
        ("mating in the last search", vec![cp(0), mates], Some(Outcome::Won)),
        ("one bad score", scores(&[0, -600]), None),
        ("two bad scores", scores(&[0, -500, -500]), Some(Outcome::Lost)),
        ("the last one better", scores(&[-600, -499]), None),
        ("a draw by repetition", scores(&[-300, 0, 0]), None),
        ("one good score", scores(&[100, 900]), None),
        ("two good scores", scores(&[100, 500, 900]), Some(Outcome::Won)),
    ];
    for (name, scores, expected) in rows {
        assert_eq!(outcome(&scores), expected, "{name}");
    }
}

#[test]
fn a_drop_is_used_once_its_game_is_lost_and_everything_by_an_analyst() {
    for (mode, suspicion, used) in [
        (Mode::Drop, true, false),
        (Mode::Drop, false, true),
        (Mode::All, true, true),
        (Mode::All, false, true),
        (Mode::Off, false, false),
    ] {
        assert_eq!(is_used(mode, suspicion), used, "{mode:?} {suspicion}");
    }
}
