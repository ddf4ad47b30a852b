//! `engram tree`, and what the engine plays from a tree.

#[path = "../common/mod.rs"]
mod common;

mod growth;
mod output;

use engram::{
    eval::fingerprint,
    position::Position,
    tree::{Tree, TreeSearch},
    types::{Depth, Score, ScoredLine},
};
use shakmaty::Move;

/// The moves of a line in UCI notation.
fn moves(position: &Position, line: &str) -> Vec<Move> {
    let mut at = position.clone();
    let read = |uci: &str| {
        let m = at.legal_move(uci).expect("a legal move");
        at = at.play(m);
        m
    };
    line.split_whitespace().map(read).collect()
}

fn after(line: &str) -> Position {
    let start = Position::default();
    start.along(&moves(&start, line)).pop().expect("a position")
}

/// Takes in a search of the position after `path`: the depth, and of each line the centipawns and the moves.
fn search(tree: &mut Tree, path: &str, depth: i32, lines: &[(i32, &str)]) {
    search_by(fingerprint(), tree, path, depth, lines);
}

/// The same by the evaluation of this fingerprint.
fn search_by(evaluation_id: u16, tree: &mut Tree, path: &str, depth: i32, lines: &[(i32, &str)]) {
    let position = after(path);
    let line = |&(score, line): &(i32, &str)| ScoredLine {
        score: Score::from_centipawns(score),
        is_drawn: false,
        moves: moves(&position, line),
    };
    let search = TreeSearch {
        depth: Depth(depth),
        evaluation_id,
        nodes: 1000,
        lines: lines.iter().map(line).collect(),
        ..TreeSearch::default()
    };
    tree.add_search(&position, &search).expect("written");
}
