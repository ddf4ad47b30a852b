//! Which records searches and games leave.

use shakmaty::uci::UciMove;

use super::*;
use crate::{
    learn::policy::Rules,
    types::{Bound, Iterations},
};

fn root(position: &Position, line: &Line, mode: LearningMode) -> Root {
    let rules = Rules { mode, drop: 33, min_depth: Depth(4) };
    let conditions = Conditions { rules, analysis: false, not_learned: None };
    Root { position: position.clone(), line: line.clone(), conditions, in_tree: false }
}

/// The roots of a game from the start, each with the move played there, and the position at its end.
fn game(moves: &str, mode: LearningMode) -> (Vec<(Root, Move)>, Root) {
    let start = Position::default();
    let mut at = root(&start, &Line { start: start.fen(), ..Line::default() }, mode);
    let mut roots = Vec::new();
    for uci in moves.split(' ') {
        let uci = uci.parse::<UciMove>().expect("a move");
        let played = uci.to_move(at.position.chess()).expect("legal");
        roots.push((at.clone(), played));
        at.position = at.position.play(played);
        at.line.moves.push(uci);
    }
    (roots, at)
}

fn found(line: &[Move], centipawns: i32) -> SearchResult {
    let (score, line) = (Score::from_centipawns(centipawns), line.to_vec());
    let mut iterations = Iterations::default();
    (4..=6).for_each(|depth| iterations.finished(Depth(depth), score));
    SearchResult {
        iterations,
        line,
        score,
        bound: Bound::Exact,
        slack: 0,
        depth: Depth(6),
        nodes: 1000,
        pondering: false,
        learned_cutoffs: 0,
        is_cursed: false,
    }
}

/// One process searches for both sides: a GUI that analyses, or plays the engine against itself.
#[test]
fn the_outcome_is_that_of_the_side_that_searched() {
    let (recorder, mut played_game) = (Recorder { live: &|_| None, evaluation_id: 1 }, PlayedGame::default());
    let (roots, end) = game("e2e4 e7e5 f1c4 b8c6 d1h5 a7a6 a2a3 g8f6 h5f7", LearningMode::Drop);
    for ((root, played), score) in roots.iter().zip([20, -20, 60, -60, 100, -550, 550, -700, 700]) {
        recorder.search_ended(&mut played_game, root, &found(&[*played], score));
    }
    played_game.follow(&end.line);
    let records = recorder.game_ended(&played_game, played_game.winner().expect("a winner"));
    let outcomes = records.iter().filter(|record| record.origin == Origin::Outcome);
    let (white, black): (Vec<&Record>, Vec<_>) = outcomes.partition(|record| record.game_ply % 2 == 1);
    let all = |records: Vec<&Record>, holds: fn(Known) -> bool| {
        !records.is_empty() && records.into_iter().filter_map(Known::of).all(holds)
    };
    assert!(all(white, |known| known.upper < Score::ZERO));
    assert!(all(black, |known| known.lower > Score::ZERO));
}

/// The opponent found something better the second time.
#[test]
fn a_loss_takes_back_what_a_win_gave() {
    let moves = "e2e4 e7e5 d1h5 b8c6 h5e5 c6e5";
    let ended = |scores: [i32; 3], live: &Live<'_>| {
        let (recorder, mut played_game) = (Recorder { live, evaluation_id: 1 }, PlayedGame::default());
        let (roots, end) = game(moves, LearningMode::Drop);
        for ((root, played), score) in roots.iter().step_by(2).zip(scores) {
            recorder.search_ended(&mut played_game, root, &found(&[*played], score));
        }
        played_game.follow(&end.line);
        recorder.game_ended(&played_game, if scores[2] > 0 { Color::White } else { Color::Black })
    };
    let won = ended([-359, -359, 600], &|_| None);
    assert!(won.iter().filter(|record| record.is_of_won_game()).count() == 2, "{won:?}");
    let live = |key| won.iter().find(|record| record.key == key).cloned();
    let lost = ended([-359, -359, -600], &live);
    for won in won.iter().filter(|record| record.is_of_won_game()) {
        let now = lost.iter().find(|record| record.key == won.key).expect("it is taken back");
        assert!(now.upper.is_none(), "{now:?}");
    }
}

#[test]
fn advice_and_what_holds_for_every_clock_stay() {
    let position = Position::default();
    let line = Line { start: position.fen(), ..Line::default() };
    let teach = |origin, halfmoves, depth| {
        let blank = Record::new(&position, origin).expect("the position fits");
        let live = Record { halfmoves, depth, ..blank };
        let root = root(&position, &line, LearningMode::All);
        let live: &Live<'_> = &|_| Some(live.clone());
        let recorder = Recorder { live, evaluation_id: 1 };
        recorder.search_ended(&mut PlayedGame::default(), &root, &found(&[], 20)).records.len()
    };
    assert_eq!(teach(Origin::EveryRoot, 0, 3), 1);
    assert_eq!(teach(Origin::Advice, 0, 3), 0);
    assert_eq!(teach(Origin::EveryRoot, 90, 30), 1, "that held for a clock of 90 only");
}

#[test]
fn the_first_root_of_a_game_is_its_opening_and_so_is_the_first_that_the_tree_does_not_have() {
    let learned = |mode, live: &Live<'_>, plies_in_tree: usize| {
        let (recorder, mut played_game) = (Recorder { live, evaluation_id: 1 }, PlayedGame::default());
        let mut plies = Vec::new();
        for (root, played) in game("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", mode).0.iter().step_by(2) {
            let root = Root { in_tree: root.line.plies() < plies_in_tree, ..root.clone() };
            let learned = recorder.search_ended(&mut played_game, &root, &found(&[*played], 20)).records;
            plies.extend(learned.iter().filter(|new| new.is_unsearched()).map(|new| new.game_ply));
        }
        plies
    };
    // What is known of the first position.
    let known = |origin, depth| {
        move |key| {
            let record = Record::new(&Position::default(), origin).expect("the position fits");
            (record.key == key).then_some(Record { depth, ..record })
        }
    };
    let drop = LearningMode::Drop;
    assert_eq!(learned(drop, &|_| None, 0), [0]);
    assert!(learned(drop, &known(Origin::Outcome, 12), 0).is_empty());
    assert!(learned(drop, &known(Origin::Study, 12), 0).is_empty());
    assert!(learned(drop, &known(Origin::Opening, 0), 0).is_empty());
    assert_eq!(learned(drop, &known(Origin::Opening, 0), 2), [2]);
    assert_eq!(learned(drop, &|_| None, 1), [2]);
    assert!(learned(drop, &|_| None, 9).is_empty());
    assert!(learned(LearningMode::All, &|_| None, 0).is_empty(), "every root is remembered anyway");
}

#[test]
fn a_game_that_another_process_began_has_no_opening() {
    let moves = ["g1f3 g8f6 f3g1 f6g8"; 9].join(" ");
    let (roots, _) = game(&moves, LearningMode::Drop);
    let cases = [(28, true), (30, true), (31, false)];
    for ((first, is_opening), by_fen) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
        let (recorder, mut played_game) =
            (Recorder { live: &|_| None, evaluation_id: 1 }, PlayedGame::default());
        let mut records = Vec::new();
        for (root, played) in roots[first..].iter().step_by(2) {
            let mut root = root.clone();
            if by_fen {
                root.line.start = roots[first].0.position.fen();
                root.line.moves.drain(..first);
            }
            records.extend(recorder.search_ended(&mut played_game, &root, &found(&[*played], 20)).records);
        }
        assert_eq!(records.iter().any(Record::is_unsearched), is_opening, "{first}, by its FEN: {by_fen}");
    }
}

#[test]
fn an_opening_gives_way_to_its_study_and_to_a_drop_in_a_lost_game() {
    let position = Position::default();
    let record = |origin, depth| {
        let blank = Record::new(&position, origin).expect("the position fits");
        Record { depth, flags: Flags { confirmed: true, ..blank.flags }, ..blank }
    };
    let live = record(Origin::Opening, 0);
    let recorder = Recorder { live: &|_| Some(live.clone()), evaluation_id: 1 };
    let rows =
        [(Origin::EveryRoot, false), (Origin::Study, true), (Origin::Drop, true), (Origin::Outcome, false)];
    for (origin, allowed) in rows {
        assert_eq!(recorder.may_replace(&record(origin, 30)), allowed, "{origin:?}");
    }
}

fn lost_with(live: impl Fn(&Record) -> Option<Record>) -> (Vec<Record>, Vec<Record>) {
    ended_with(Color::Black, live)
}

/// A game whose second search, by White, drops, and that `winner` wins: the records of the position there, at once and at
/// the end, with `live` of it known.
fn ended_with(winner: Color, live: impl Fn(&Record) -> Option<Record>) -> (Vec<Record>, Vec<Record>) {
    let (roots, end) = game("e2e4 e7e5 d1h5 b8c6 h5e5 c6e5", LearningMode::Drop);
    let dropped = Record::new(&roots[2].0.position, Origin::Drop).expect("the position fits");
    let live = |key| live(&dropped).filter(|record| record.key == key);
    let (recorder, mut played_game) = (Recorder { live: &live, evaluation_id: 1 }, PlayedGame::default());
    let mut at_once = Vec::new();
    for ((root, played), score) in roots.iter().step_by(2).zip([20, -100, -600]) {
        at_once.extend(recorder.search_ended(&mut played_game, root, &found(&[*played], score)).records);
    }
    played_game.follow(&end.line);
    let mut ended = recorder.game_ended(&played_game, winner);
    for records in [&mut at_once, &mut ended] {
        records.retain(|record| record.key == dropped.key);
    }
    (at_once, ended)
}

#[test]
fn a_drop_of_a_game_not_known_to_be_lost_takes_nothing_away() {
    let (at_once, ended) = lost_with(|_| None);
    assert!(matches!(&at_once[..], [drop] if drop.is_suspicion()), "{at_once:?}");
    assert!(matches!(&ended[..], [drop] if drop.origin == Origin::Drop && drop.flags.confirmed), "{ended:?}");
    let confirmed = Flags { confirmed: true, ..Flags::default() };
    let (at_once, ended) = lost_with(|drop| Some(Record { flags: confirmed, depth: 4, ..drop.clone() }));
    assert!(at_once.is_empty(), "what is used stays while the game goes on: {at_once:?}");
    assert!(matches!(&ended[..], [drop] if drop.depth == 6), "and gives way when it is lost: {ended:?}");
    let (at_once, ended) = lost_with(|drop| Some(Record { origin: Origin::Outcome, ..drop.clone() }));
    assert!(at_once.is_empty() && ended.len() == 1, "{at_once:?} {ended:?}");
}

#[test]
fn a_drop_that_a_lost_game_confirmed_is_forgotten_when_it_comes_again_in_a_won_game() {
    let confirmed = |drop: &Record| Record { flags: Flags { confirmed: true, ..drop.flags }, ..drop.clone() };
    for depth in [4, 9] {
        let known = |drop: &Record| Some(Record { depth, ..confirmed(drop) });
        let (at_once, ended) = ended_with(Color::White, known);
        assert!(
            at_once.is_empty() && matches!(&ended[..], [gone] if !gone.is_live()),
            "{at_once:?} {ended:?}"
        );
    }
    for origin in [Origin::Import, Origin::Outcome, Origin::Study] {
        let (at_once, ended) = ended_with(Color::White, |drop| Some(Record { origin, ..confirmed(drop) }));
        assert!(at_once.is_empty() && ended.is_empty(), "{origin:?}: {at_once:?} {ended:?}");
    }
}

#[test]
fn a_drop_that_an_earlier_game_found_deeper_is_confirmed() {
    let best = PackedMove::pack(game("e2e4 e7e5 d1h5", LearningMode::Drop).0[2].1);
    let bound = LearnedScore::from_centipawns(-100);
    let (at_once, ended) =
        lost_with(|drop| Some(Record { best, lower: bound, upper: bound, depth: 9, ..drop.clone() }));
    assert!(at_once.is_empty(), "it is known: {at_once:?}");
    let [drop] = &ended[..] else { panic!("{ended:?}") };
    assert!(drop.flags.confirmed && drop.depth == 9 && drop.session == stamp::session(), "{drop:?}");
}

#[test]
fn the_score_of_a_line_is_that_of_its_positions() {
    let said_of = |moves: &str, score: Score, depth: i32| -> Vec<(u8, i32, i32)> {
        let line: Vec<Move> =
            game(moves, LearningMode::All).0.into_iter().map(|(_, played)| played).collect();
        let said = main_line(&Position::default(), &line, score, Depth(depth), Depth(4));
        let row = |PositionFinding { position, since_root, known }: &PositionFinding| {
            assert!(known.lower == known.upper && position.unpack(known.best).is_some());
            (*since_root, known.lower.0, known.depth.get())
        };
        said.iter().map(row).collect()
    };
    let said = |score, depth| said_of("e2e4 e7e5 g1f3 b8c6", score, depth);
    assert_eq!(said(Score(30), 12), [(1, -30, 11), (2, 30, 10), (3, -30, 9)]);
    assert_eq!(said(Score(30), 6), [(1, -30, 5), (2, 30, 4)], "not below the least depth");
    assert!(said(Score::ZERO, 12).is_empty(), "a draw may rest on the way");
    let mate = said(Score::mate_in(Ply(9)), 12);
    assert_eq!(mate[1], (2, Score::mate_in(Ply(7)).0, 10), "mates come nearer");
    assert_eq!(mate[0], (1, Score::mated_in(Ply(8)).0, 11));
    let back = said_of("g1f3 g8f6 f3g1 f6g8 e2e4 e7e5", Score(30), 12);
    assert_eq!(back, [(1, -30, 11), (2, 30, 10), (3, -30, 9)], "until it comes back");
}
