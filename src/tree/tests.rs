use std::collections::{HashMap, HashSet};

use fastrand::Rng;
use shakmaty::{CastlingMode, Color, KnownOutcome, Move, Outcome};
use tempfile::TempDir;

use super::{
    graph::{self, Key},
    notation::{key_of, without_clocks},
    *,
};
use crate::{
    learn::LearnedScore,
    position::Position,
    types::{PackedMove, Ply, Score},
};

/// The moves to the position of a job.
fn moves(job: &Job) -> String {
    job.line.iter().map(|m| m.to_uci(CastlingMode::Standard).to_string()).collect::<Vec<_>>().join(" ")
}

fn tree() -> (TempDir, Tree) {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = Tree::open(&folder.path().join("t.db"), Access::Create).expect("a tree");
    (folder, tree)
}

fn both() -> ForSides {
    ForSides { white: true, black: true }
}

/// The position after moves from the start.
fn after(moves: &str) -> Position {
    let play = |at: Position, uci: &str| at.play(at.legal_move(uci).expect("legal"));
    moves.split_whitespace().fold(Position::default(), play)
}

/// A search with these lines of one move, in printed centipawns.
fn search(position: &Position, depth: i32, lines: &[(&str, i32)]) -> TreeSearch {
    let line = |&(uci, cp): &(&str, i32)| ScoredLine {
        score: Score::from_centipawns(cp),
        is_drawn: false,
        moves: vec![position.legal_move(uci).expect("legal")],
    };
    let lines = lines.iter().map(line).collect();
    TreeSearch { depth: Depth(depth), nodes: 1000, millis: 1, evaluation_id: 7, lines }
}

fn add(tree: &mut Tree, moves: &str, depth: i32, lines: &[(&str, i32)]) {
    let position = after(moves);
    tree.add_search(&position, &search(&position, depth, lines)).expect("written");
}

fn view(tree: &Tree, moves: &str) -> PositionView {
    tree.look(&after(moves)).expect("readable").expect("in the tree")
}

/// Score in centipawns and best move.
fn standing(tree: &Tree, moves: &str) -> (i32, String) {
    let view = view(tree, moves);
    let position = after(moves);
    (view.score.expect("searched").centipawns(), notation::uci(&position, view.moves[0].m))
}

#[test]
fn a_score_is_backed_up_by_every_way_that_leads_there() {
    let (_folder, mut tree) = tree();
    tree.add_root(&Position::default(), both()).expect("written");
    add(&mut tree, "", 10, &[("d2d4", 30), ("c2c4", 25)]);
    add(&mut tree, "d2d4", 10, &[("g8f6", -28), ("d7d5", -35)]);
    add(&mut tree, "c2c4", 10, &[("g8f6", -25)]);
    add(&mut tree, "d2d4 g8f6", 10, &[("c2c4", 27)]);
    add(&mut tree, "c2c4 g8f6", 10, &[("d2d4", 26)]);
    assert_eq!(standing(&tree, ""), (27, "d2d4".to_owned()));
    // The same position by either order of moves, found to be bad for White.
    add(&mut tree, "c2c4 g8f6 d2d4", 14, &[("e7e6", 50)]);
    assert_eq!(standing(&tree, "d2d4 g8f6"), (-50, "c2c4".to_owned()));
    assert_eq!(standing(&tree, "c2c4 g8f6"), (-50, "d2d4".to_owned()));
    // Black plays Nf6 in both lines now, so White is at -50 everywhere; depth counts the plies on the way.
    assert_eq!(standing(&tree, "").0, -50);
    assert_eq!(view(&tree, "").depth, Depth(17));
    let line = tree.expected(&Position::default(), &[]).expect("readable");
    assert_eq!(line.len(), 4);
}

#[test]
fn a_cycle_of_positions_supports_no_score() {
    let (_folder, mut tree) = tree();
    tree.add_root(&Position::default(), both()).expect("written");
    add(&mut tree, "", 10, &[("e2e4", 60), ("g1f3", 50)]);
    add(&mut tree, "g1f3", 10, &[("g8f6", -50)]);
    add(&mut tree, "g1f3 g8f6", 10, &[("f3g1", 50)]);
    add(&mut tree, "g1f3 g8f6 f3g1", 10, &[("f6g8", -50)]);
    let back = view(&tree, "g1f3 g8f6 f3g1");
    assert!(back.moves[0].closes_cycle, "the start position again");
    // The good move turns out bad: without the rule the cycle would hold the start position at +60 for ever.
    add(&mut tree, "e2e4", 12, &[("e7e5", 20)]);
    assert_eq!(standing(&tree, ""), (50, "g1f3".to_owned()));
    add(&mut tree, "g1f3 g8f6 f3g1", 12, &[("f6g8", 5)]);
    assert_eq!(standing(&tree, ""), (-5, "g1f3".to_owned()));
    let line = tree.expected(&Position::default(), &[]).expect("readable");
    assert_eq!(line.len(), 4, "it ends where a position comes again");
}

#[test]
fn the_scores_of_a_position_come_from_one_evaluation() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    let mut add_by = |evaluation_id, depth, lines: &[_]| {
        let search = TreeSearch { evaluation_id, ..search(&start, depth, lines) };
        let is_new = tree.add_search(&start, &search).expect("written");
        let view = view(&tree, "");
        let scores = view.moves.iter().map(|known| known.score.map(Score::centipawns));
        (is_new, tree.evaluation_id(&start).expect("readable"), scores.collect::<Vec<_>>())
    };
    let ours = (true, 7, vec![Some(30), Some(20)]);
    assert_eq!(add_by(7, 10, &[("e2e4", 30), ("d2d4", 20)]), ours);
    // A search that is no deeper changes nothing, one that is deeper leaves no score of the other evaluation.
    assert_eq!(add_by(8, 10, &[("d2d4", 90)]), (false, ours.1, ours.2));
    assert_eq!(add_by(8, 12, &[("e2e4", 10)]), (true, 8, vec![Some(10), None]));
}

#[test]
fn mates_come_a_ply_nearer_with_each_move_and_end_the_growth() {
    let (_folder, mut tree) = tree();
    let fools = "f2f3 e7e5 g2g4";
    let position = after(fools);
    tree.add_root(&position, both()).expect("written");
    let mated = after("f2f3 e7e5 g2g4 d8h4");
    tree.add_search(&mated, &TreeSearch::default()).expect("written");
    assert_eq!(tree.look(&mated).expect("readable").expect("there").score, Some(Score::mated_in(Ply(0))));
    add(&mut tree, fools, 5, &[("d8h4", 500), ("b8c6", 10)]);
    assert_eq!(tree.look(&position).expect("readable").expect("there").score, Some(Score::mate_in(Ply(1))));
    assert!(tree.next_job().expect("readable").is_none(), "nothing is left to search");
}

#[test]
fn a_shallower_search_changes_nothing_and_one_without_result_is_not_repeated() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    tree.add_root(&start, both()).expect("written");
    let job = tree.next_job().expect("readable").expect("a job");
    tree.record(&job, &TreeSearch::default()).expect("written");
    assert!(tree.next_job().expect("readable").is_none(), "not in this process");
    assert!(tree.add_search(&start, &search(&start, 12, &[("e2e4", 30), ("d2d4", 20)])).expect("written"));
    for (depth, lines) in [(11, &[("e2e4", 90)][..]), (12, &[("e2e4", 30), ("d2d4", 20)])] {
        assert!(!tree.add_search(&start, &search(&start, depth, lines)).expect("written"), "{depth}");
    }
    assert!(
        tree.add_search(&start, &search(&start, 14, &[("c2c4", 40)])).expect("written"),
        "a deeper one counts"
    );
    assert_eq!(standing(&tree, ""), (40, "c2c4".to_owned()));
    assert_eq!(view(&tree, "").moves.len(), 3);
}

#[test]
fn a_deeper_search_refutes_a_better_score_of_a_shallower_one() {
    let start = Position::default();
    let shallow = search(&start, 2, &[("d2d4", 79), ("c2c4", 5), ("g1f3", 4)]);
    let deep = search(&start, 12, &[("e2e4", 29), ("a2a3", 12), ("b2b3", 8)]);
    let one_line = search(&start, 12, &[("e2e4", 29)]);
    for searches in [[&shallow, &deep], [&deep, &shallow], [&shallow, &one_line]] {
        let (_folder, mut tree) = tree();
        tree.add_root(&start, both()).expect("written");
        for search in searches.into_iter().chain([&shallow]) {
            tree.add_search(&start, search).expect("written");
        }
        let known = |uci| {
            let m = start.legal_move(uci).expect("legal");
            let view = view(&tree, "").moves.into_iter().find(|view| view.m == m).expect("a move");
            view.score.map(Score::centipawns)
        };
        assert_eq!(standing(&tree, ""), (29, "e2e4".to_owned()));
        assert_eq!((known("d2d4"), known("c2c4")), (None, Some(5)), "{searches:?}");
    }
}

#[test]
fn where_no_move_that_counts_has_a_score_the_position_s_own_search_counts() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    tree.add_root(&start, both()).expect("written");
    let line = ScoredLine {
        score: Score::from_centipawns(30),
        is_drawn: false,
        moves: notation::moves_of(&start, "e2e4 e7e5 g1f3"),
    };
    let found = TreeSearch { depth: Depth(10), lines: vec![line], ..TreeSearch::default() };
    tree.add_search(&start, &found).expect("written");
    add(&mut tree, "e2e4", 12, &[("e7e5", -25)]);
    let replies = after("e2e4");
    let preferred = replies.legal_move("c7c6").expect("legal");
    assert!(tree.advise(&replies, preferred, Some(Advice::Prefer)).expect("written"));
    assert_eq!((view(&tree, "e2e4").depth, view(&tree, "").depth), (Depth(12), Depth(13)));
    let line = tree.expected(&start, &[]).expect("readable");
    assert_eq!(line, notation::moves_of(&start, "e2e4"), "e7e5 does not count");
}

#[test]
fn moves_that_disappoint_send_their_position_back() {
    let (_folder, mut tree) = tree();
    tree.add_root(&Position::default(), both()).expect("written");
    add(&mut tree, "", 10, &[("d2d4", 30), ("e2e4", 29)]);
    add(&mut tree, "d2d4", 10, &[("g8f6", 80), ("d7d5", 75)]);
    add(&mut tree, "e2e4", 10, &[("e7e5", 90), ("c7c5", 85)]);
    let job = tree.next_job().expect("readable").expect("a job");
    assert_eq!((key_of(&job.position), job.lines), (key_of(&Position::default()), 4));
}

#[test]
fn advice_and_focus_guide_what_is_searched_and_played() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    let white = ForSides { white: true, black: false };
    tree.add_root(&start, white).expect("written");
    add(&mut tree, "", 10, &[("d2d4", 30), ("e2e4", 20), ("c2c4", 10)]);
    let m = |uci| start.legal_move(uci).expect("legal");
    let next = |tree: &mut Tree| {
        let job = tree.next_job().expect("readable").expect("a job");
        tree.release(&job).expect("written");
        moves(&job)
    };
    assert_eq!(next(&mut tree), "d2d4");
    assert!(tree.advise(&start, m("d2d4"), Some(Advice::Exclude)).expect("written"));
    assert_eq!((standing(&tree, ""), next(&mut tree)), ((20, "e2e4".to_owned()), "e2e4".to_owned()));
    assert!(tree.advise(&start, m("c2c4"), Some(Advice::Prefer)).expect("written"));
    assert_eq!((standing(&tree, ""), next(&mut tree)), ((10, "c2c4".to_owned()), "c2c4".to_owned()));
    for uci in ["d2d4", "c2c4"] {
        assert!(tree.advise(&start, m(uci), None).expect("written"));
    }
    assert_eq!(standing(&tree, ""), (30, "d2d4".to_owned()));
    add(&mut tree, "c2c4", 10, &[("e7e5", 0)]);
    assert!(tree.focus(Some(&after("c2c4"))).expect("written"));
    assert_eq!(next(&mut tree), "e7e5");
    assert!(!tree.focus(Some(&after("h2h4"))).expect("written"), "not in the tree");
    assert_eq!(next(&mut tree), "e7e5", "nothing has changed");
    assert!(tree.advise(&start, m("a2a3"), None).expect("written"));
    assert_eq!(view(&tree, "").moves.len(), 3, "no move is added by withdrawing advice");
    assert!(tree.focus(None).expect("written"));
    assert_eq!(next(&mut tree), "d2d4");
}

#[test]
fn a_preferred_move_that_was_never_searched_is_searched_next() {
    let (_folder, mut tree) = tree();
    tree.add_root(&Position::default(), ForSides { white: false, black: true }).expect("written");
    add(&mut tree, "", 10, &[("e2e4", 30), ("d2d4", 0), ("c2c4", 0), ("g1f3", 0)]);
    let m = after("e2e4").legal_move("c7c6").expect("legal");
    add(&mut tree, "e2e4", 10, &[("c7c5", -30), ("e7e5", -30)]);
    assert!(tree.advise(&after("e2e4"), m, Some(Advice::Prefer)).expect("written"));
    let searched: Vec<String> = std::iter::from_fn(|| {
        let job = tree.next_job().expect("readable")?;
        let moves = moves(&job);
        add(&mut tree, &moves, 10, &[]);
        Some(moves)
    })
    .take(4)
    .collect();
    assert!(searched.contains(&"e2e4 c7c6".to_owned()), "{searched:?}");
}

#[test]
fn claims_last_as_long_as_their_process() {
    let (folder, mut tree) = tree();
    tree.add_root(&Position::default(), both()).expect("written");
    let job = tree.next_job().expect("readable").expect("a job");
    // Its search takes longer than a claim lasts.
    tree.connection.execute("UPDATE claims SET until = 1", []).expect("written");
    assert!(tree.next_job().expect("readable").is_none(), "it is searched still");
    #[cfg(unix)]
    {
        let query = "SELECT until - unixepoch() > 3600 FROM claims";
        let until = tree.connection.query_row(query, [], |row| row.get(0));
        assert_eq!(until, Ok(true), "another process does not take it from a living one");
    }
    // A killed process had the number of this one.
    let mut next = Tree::open(&folder.path().join("t.db"), Access::Write).expect("a tree");
    assert_eq!(next.next_job().expect("readable").expect("a job").position.key(), job.position.key());
}

#[test]
fn a_game_counts_once_and_its_replies_come_first() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    let line = PlayedLine {
        start: &start,
        moves: &notation::moves_of(&start, "e2e4 a7a6"),
        outcome: Outcome::Known(KnownOutcome::Decisive { winner: Color::Black }),
    };
    let white = ForSides { white: true, black: false };
    let positions = |tree: &Tree| tree.size().expect("readable").positions;
    assert!(!tree.add_line(&line, white, Some(1)).expect("written"));
    assert!(tree.add_line(&line, white, Some(1)).expect("written"));
    assert_eq!(positions(&tree), 3);
    assert_eq!(view(&tree, "").moves[0].games, [1, 0, 1]);
    let longer = notation::moves_of(&start, "e2e4 a7a6 d2d4");
    let longer = PlayedLine { moves: &longer, ..line.clone() };
    assert!(!tree.add_line(&longer, white, Some(2)).expect("written"), "another game");
    for played in [&longer, &line, &longer] {
        assert!(tree.add_line(played, white, Some(1)).expect("written"));
    }
    assert_eq!(positions(&tree), 4, "taken further");
    assert_eq!(view(&tree, "e2e4 a7a6").moves[0].games, [2, 0, 2], "where it goes on it counts");
    assert_eq!(view(&tree, "").moves[0].games, [2, 0, 2], "once");
    for uci in ["e2e4", "e2e4", "c2c4", "c2c4"] {
        tree.add_moves(&start, &[start.legal_move(uci).expect("legal")]).expect("written");
    }
    assert_eq!(positions(&tree), 5);
    assert_eq!(view(&tree, "").moves.iter().map(|m| m.games).collect::<Vec<_>>(), [[2, 0, 2], [1, 0, 0]]);
    add(&mut tree, "", 10, &[("e2e4", 30), ("d2d4", -20)]);
    add(&mut tree, "e2e4", 10, &[("e7e5", -30), ("c7c5", -30), ("e7e6", -32), ("a7a6", -100)]);
    let job = tree.next_job().expect("readable").expect("a job");
    assert_eq!(moves(&job), "e2e4 a7a6", "the reply that won");
}

#[test]
fn a_move_that_comes_again_in_a_game_counts_once() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    let moves = notation::moves_of(&start, "g1f3 g8f6 f3g1 f6g8 g1f3");
    let line = PlayedLine { start: &start, moves: &moves, outcome: Outcome::Unknown };
    tree.add_line(&line, both(), Some(1)).expect("written");
    assert_eq!(view(&tree, "").moves[0].games, [1, 0, 0]);
}

#[test]
fn a_tree_can_be_restricted_to_one_side() {
    let (_folder, mut tree) = tree();
    let start = Position::default();
    tree.add_root(&start, both()).expect("written");
    tree.restrict_root(&start, ForSides { white: false, black: true }).expect("written");
    assert_eq!(tree.roots().expect("readable")[0].1, [Color::Black]);
}

#[test]
fn advice_counts_also_where_the_score_is_decisive() {
    let (_folder, mut tree) = tree();
    let root = Position::from_fen("6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - 0 1").expect("legal");
    tree.add_root(&root, ForSides { white: true, black: false }).expect("written");
    let mate = |uci: &str| ScoredLine {
        score: Score::mate_in(Ply(1)),
        is_drawn: false,
        moves: vec![root.legal_move(uci).expect("legal")],
    };
    let searched = |moves: &[&str]| TreeSearch {
        depth: Depth(5),
        lines: moves.iter().map(|uci| mate(uci)).collect(),
        ..TreeSearch::default()
    };
    tree.add_search(&root, &searched(&["a1a8"])).expect("written");
    assert!(tree.next_job().expect("readable").is_none(), "a mate is enough");
    let advise = |tree: &mut Tree, uci, advice| {
        assert!(tree.advise(&root, root.legal_move(uci).expect("legal"), advice).expect("written"));
    };
    advise(&mut tree, "a1a8", Some(Advice::Exclude));
    let job = tree.next_job().expect("readable").expect("other moves");
    assert_eq!((job.line.len(), job.lines), (0, 2));
    tree.record(&job, &searched(&["a1a8", "e1e8"])).expect("written");
    assert!(tree.next_job().expect("readable").is_none(), "the other mate is found");
    advise(&mut tree, "h2h3", Some(Advice::Prefer));
    let job = tree.next_job().expect("readable").expect("the preferred move");
    assert_eq!(moves(&job), "h2h3");
}

#[test]
fn where_all_known_moves_lose_others_are_looked_for() {
    let (_folder, mut tree) = tree();
    let moves = "f2f3 e7e5";
    tree.add_root(&after(moves), ForSides { white: true, black: false }).expect("written");
    add(&mut tree, moves, 5, &[("g2g4", 10)]);
    add(&mut tree, "f2f3 e7e5 g2g4 d8h4", 5, &[]);
    add(&mut tree, "f2f3 e7e5 g2g4", 5, &[("d8h4", 500)]);
    assert!(view(&tree, moves).score.is_some_and(Score::is_loss));
    let job = tree.next_job().expect("readable").expect("a job");
    assert_eq!((job.line.len(), job.lines), (0, 2));
    add(&mut tree, moves, 6, &[("g2g4", -900), ("e2e4", 10)]);
    assert_eq!(standing(&tree, moves).1, "e2e4");
}

#[test]
fn nothing_grows_where_nobody_can_mate() {
    let (_folder, mut tree) = tree();
    let root = Position::from_fen("8/8/8/3k4/8/8/3KB3/8 w - - 0 1").expect("legal");
    tree.add_root(&root, both()).expect("written");
    tree.add_search(&root, &search(&root, 9, &[("e2d3", 0)])).expect("written");
    assert!(tree.next_job().expect("readable").is_none());
    assert_eq!(tree.look(&root).expect("readable").expect("there").score, Some(Score::ZERO));
}

#[test]
fn scores_that_rest_on_the_path_of_a_game_are_left_out() {
    let known = |fen: &str, uci: &str, depth, cp| {
        let position = Position::from_fen(fen).expect("legal");
        let found = search(&position, depth, &[(uci, cp)]);
        let mut record = Record::new(&position, Origin::EveryRoot).expect("packed");
        let score = LearnedScore::from_score(found.lines[0].score);
        (record.lower, record.upper, record.depth) = (score, score, depth as u8);
        record.best = PackedMove::pack(found.lines[0].moves[0]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("archive.db");
        let archive = rusqlite::Connection::open(&path).expect("a database");
        archive.execute_batch(ARCHIVE_SCHEMA).expect("written");
        let query = "INSERT INTO positions (fen, depth, nodes, ms, played_uci) VALUES (?, ?, 1, 1, ?)";
        archive.execute(query, rusqlite::params![fen, depth, uci]).expect("written");
        insert_lines(&archive, 1, &position, &found.lines).expect("written");
        drop(archive);
        let tree = Tree::open(&path, Access::Create).expect("a tree");
        let view = tree.look(&position).expect("readable").expect("there");
        assert_eq!(view.moves[0].m, found.lines[0].moves[0], "the move of the game is there in any case");
        (TreeSearch::of_record(&record).is_some(), view.score.is_some())
    };
    let rook = |clock: u32| format!("8/8/8/4k3/8/8/8/R3K3 w - - {clock} 100");
    for (clock, depth, cp, is_taken) in
        [(0, 12, 0, true), (20, 12, 0, false), (20, 12, 500, true), (85, 12, 500, false), (0, 98, 500, true)]
    {
        assert_eq!(known(&rook(clock), "a1a8", depth, cp), (is_taken, is_taken), "{clock} {depth} {cp}");
    }
}

/// Grows a tree by searches whose scores are random; they come back in their order.
fn grow_at_random(tree: &mut Tree, root: &Position, seed: u64) -> Vec<(Position, TreeSearch)> {
    let mut random = Rng::with_seed(seed);
    tree.add_root(root, both()).expect("written");
    let mut done = Vec::new();
    for _ in 0..120 {
        let Some(job) = tree.next_job().expect("readable") else { break };
        let mut moves: Vec<_> = job.position.legal_moves().into_iter().collect();
        random.shuffle(&mut moves);
        let mut scores: Vec<i32> = (0..job.lines).map(|_| random.i32(-100..100)).collect();
        scores.sort_unstable_by_key(|&score| -score);
        let line =
            |(m, cp)| ScoredLine { score: Score::from_centipawns(cp), is_drawn: false, moves: vec![m] };
        let lines = moves.into_iter().zip(scores).map(line).collect();
        // The depths differ, so that it is clear which of two searches of a position counts.
        let depth = Depth(5 + done.len() as i32);
        let search = TreeSearch { depth, nodes: 1, lines, ..TreeSearch::default() };
        tree.record(&job, &search).expect("written");
        done.push((job.position, search));
    }
    done
}

fn cycles(tree: &Tree) -> i64 {
    let query = "SELECT count(*) FROM edges WHERE circle";
    tree.connection.query_row(query, [], |row| row.get(0)).expect("readable")
}

#[test]
fn roots_are_found_without_reading_all_positions() {
    let (_folder, tree) = tree();
    let mut plan = tree.connection.prepare(&format!("EXPLAIN QUERY PLAN {}", view::ROOTS)).expect("readable");
    let steps = plan.query_map([], |row| row.get(3)).expect("readable");
    let steps: Vec<String> = steps.map(|step| step.expect("text")).collect();
    assert!(steps.iter().all(|step| step != "SCAN nodes"), "{steps:?}");
}

#[test]
fn what_is_stored_is_what_negamax_finds() {
    let mut cycles_closed = 0;
    for seed in 0..6 {
        let (_folder, mut tree) = tree();
        // Few moves, so that positions come again.
        let fen = ["8/8/8/3k4/8/8/3K4/R7 w - - 0 1", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"][seed as usize % 2];
        let root = Position::from_fen(fen).expect("legal");
        let mut known = HashMap::new();
        for (position, _) in grow_at_random(&mut tree, &root, seed) {
            let key = key_of(&position);
            let score = negamax(&tree, key, &mut known);
            let node = graph::node(&tree.connection, key).expect("readable").expect("there");
            assert_eq!(
                node.standing.score.map(Score::centipawns),
                score.map(Score::centipawns),
                "{}",
                node.fen
            );
        }
        cycles_closed += cycles(&tree);
        assert_eq!(tree.check().expect("readable"), Vec::<String>::new());
    }
    assert!(cycles_closed > 0, "positions come again");
}

#[test]
fn scores_do_not_depend_on_the_order_of_the_searches() {
    for seed in 0..4 {
        let (_folder, mut grown) = tree();
        let mut searches = grow_at_random(&mut grown, &Position::default(), seed);
        let (_other_folder, mut other) = tree();
        other.add_root(&Position::default(), both()).expect("written");
        Rng::with_seed(seed).shuffle(&mut searches);
        for (position, search) in &searches {
            other.add_search(position, search).expect("written");
        }
        // Which move of a cycle closes it depends on the order; here there is none.
        assert_eq!(cycles(&grown) + cycles(&other), 0, "seed {seed}");
        for (position, _) in &searches {
            let of = |tree: &Tree| tree.look(position).expect("readable").expect("there").score;
            assert_eq!(of(&grown), of(&other), "seed {seed}: {}", position.fen());
        }
    }
}

/// The score by the moves, without what is stored of positions; it would not end in a cycle.
fn negamax(tree: &Tree, key: Key, known: &mut HashMap<Key, Option<Score>>) -> Option<Score> {
    if let Some(score) = known.get(&key) {
        return *score;
    }
    let node = graph::node(&tree.connection, key).expect("readable")?;
    node.lines?;
    let edges = graph::edges(&tree.connection, key).expect("readable");
    let scores = edges.iter().filter_map(|edge| {
        let below = if edge.closes_cycle { None } else { negamax(tree, edge.child, known) };
        below.map(|score| -score).or(edge.score)
    });
    let score = scores.max().or(node.own);
    known.insert(key, score);
    score
}

#[test]
fn who_searches_takes_what_nobody_else_searches() {
    let (folder, mut tree) = tree();
    tree.add_root(&Position::default(), both()).expect("written");
    let mut other = Tree::open(&folder.path().join("t.db"), Access::Write).expect("a tree");
    let mine = tree.next_job().expect("readable").expect("the root");
    assert!(other.next_job().expect("readable").is_none(), "the root is being searched");
    tree.record(&mine, &search(&mine.position, 9, &[("e2e4", 30), ("d2d4", 30), ("c2c4", 30)]))
        .expect("written");
    let jobs = [tree.next_job(), other.next_job(), tree.next_job()];
    let keys: HashSet<_> =
        jobs.into_iter().map(|job| key_of(&job.expect("readable").expect("one").position)).collect();
    assert_eq!(keys.len(), 3);
}

#[test]
fn a_position_has_one_node_whatever_its_clocks() {
    let late = Position::from_fen("r3k3/8/8/8/8/8/8/4K3 w q - 37 80").expect("legal");
    let early = Position::from_fen("r3k3/8/8/8/8/8/8/4K3 w q - 0 1").expect("legal");
    assert_eq!(without_clocks(&late).fen(), early.fen());
}

#[test]
fn the_rights_of_chess960_outlast_the_file() {
    // Each side has a start of its own; Black's is the usual one.
    for (white, rights) in [("QNRBBNKR", "KQkq"), ("RBNKQBNR", "HAha")] {
        let fen = format!("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1");
        let setup = fen.parse::<shakmaty::fen::Fen>().expect("a FEN").into_setup();
        let position = Position::from_setup(setup, CastlingMode::Chess960).expect("legal");
        let read = Position::from_fen(&without_clocks(&position).fen()).expect("legal");
        assert_eq!(key_of(&read), key_of(&position));
        assert_eq!(read.fen().split(' ').nth(2), Some(rights));
    }
}

#[test]
fn other_files_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    for access in [Access::Read, Access::Write] {
        assert!(matches!(Tree::open(&path("none"), access), Err(TreeError::Missing(_))));
        assert!(!path("none").exists());
    }
    for (name, bytes) in [("text", &b"1. e4 e5 *\n"[..]), ("short", b"SQLite"), ("zeros", &[0; 5000])] {
        std::fs::write(path(name), bytes).expect("a file");
        for access in [Access::Read, Access::Write, Access::Create] {
            assert!(matches!(Tree::open(&path(name), access), Err(TreeError::Foreign(..))), "{name}");
        }
        assert_eq!(std::fs::read(path(name)).expect("readable"), bytes);
    }
    // Many programs number their databases from 1, as the tree does.
    let contacts = rusqlite::Connection::open(path("contacts.db")).expect("a database");
    contacts.execute_batch("CREATE TABLE nodes (name); PRAGMA user_version = 1").expect("written");
    drop(contacts);
    let before = std::fs::read(path("contacts.db")).expect("readable");
    for access in [Access::Read, Access::Write, Access::Create] {
        assert!(matches!(Tree::open(&path("contacts.db"), access), Err(TreeError::Foreign(..))));
    }
    assert_eq!(std::fs::read(path("contacts.db")).expect("readable"), before);
    drop(Tree::open(&path("t.db"), Access::Create).expect("a tree"));
    let database = rusqlite::Connection::open(path("t.db")).expect("a database");
    database.pragma_update(None, "user_version", 9).expect("written");
    for access in [Access::Read, Access::Create] {
        assert!(matches!(Tree::open(&path("t.db"), access), Err(TreeError::Version(_, 9, 1))));
    }
}

#[test]
fn what_was_written_is_in_the_file_itself_also_while_another_reads() {
    let (folder, mut tree) = tree();
    let read = |path: &std::path::Path| {
        Tree::open(path, Access::Read).map(|tree| (tree.searches().expect("readable"), tree)).expect("a tree")
    };
    let (searches, _reader) = read(tree.path());
    add(&mut tree, "", 10, &[("d2d4", 30)]);
    let copy = folder.path().join("copy.db");
    let path = tree.path().to_owned();
    drop(tree);
    std::fs::copy(path, &copy).expect("a copy");
    assert_eq!((searches, read(&copy).0), (0, 1));
}

#[test]
fn a_cycle_in_a_damaged_file_ends() {
    let (_folder, mut tree) = tree();
    let words = ["g1f3", "g8f6", "f3g1", "f6g8"];
    let before = |number: usize| words[..number].join(" ");
    let moves: Vec<Move> =
        (0..4).map(|number| after(&before(number)).legal_move(words[number]).expect("legal")).collect();
    let line = PlayedLine { start: &Position::default(), moves: &moves, outcome: Outcome::Unknown };
    tree.add_line(&line, both(), None).expect("written");
    for (number, uci) in words.into_iter().enumerate() {
        add(&mut tree, &before(number), 10, &[(uci, 10)]);
    }
    tree.connection.execute("UPDATE edges SET circle = 0", []).expect("damaged");
    for (number, &m) in moves.iter().enumerate() {
        assert!(tree.advise(&after(&before(number)), m, Some(Advice::Prefer)).expect("it ends"));
    }
    let finds = |tree: &Tree, what: &str| {
        let faults = tree.check().expect("readable");
        assert!(faults.iter().any(|fault| fault.contains(what)), "{what}: {faults:?}");
    };
    finds(&tree, "its moves lead in a cycle");
    // After a move that leads back to its own position the score changes its sign for ever.
    tree.connection.execute("UPDATE edges SET child = parent", []).expect("damaged");
    let told = tree.advise(&after(""), moves[0], None);
    assert!(matches!(told, Err(TreeError::Damaged(..))), "{told:?}");
    finds(&tree, "`g1f3` does not lead to node");
    tree.connection.execute("UPDATE edges SET score = 'high'", []).expect("damaged");
    finds(&tree, "score");
}

#[test]
fn numbers_that_nobody_wrote_are_bounded() {
    let (_folder, mut tree) = tree();
    tree.add_root(&Position::default(), both()).expect("written");
    add(&mut tree, "", 10, &[("e2e4", 30), ("d2d4", 29)]);
    for moves in ["e2e4", "d2d4"] {
        add(&mut tree, moves, 10, &[("e7e5", -30)]);
    }
    let huge = "UPDATE nodes SET lines = 1 << 62, cost_white = ~(1 << 63), cost_black = ~(1 << 63)";
    tree.connection.execute(huge, []).expect("damaged");
    let m = after("").legal_move("e2e4").expect("legal");
    assert!(tree.advise(&Position::default(), m, None).expect("written"));
    let job = tree.next_job().expect("readable").expect("a job");
    assert_eq!((job.line.len(), job.lines), (0, 512));
}

#[test]
fn triggers_of_a_file_do_not_run() {
    let (_folder, mut tree) = tree();
    let foreign = rusqlite::Connection::open(tree.path()).expect("a database");
    let trigger = "CREATE TRIGGER own BEFORE INSERT ON nodes BEGIN SELECT raise(ABORT, 'it runs'); END";
    foreign.execute_batch(trigger).expect("written");
    assert!(foreign.execute("INSERT INTO nodes (key, fen) VALUES (1, '')", []).is_err());
    tree.add_root(&Position::default(), both()).expect("written");
}
