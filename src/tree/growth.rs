//! What is searched next: costs, and the leaf with the least of them.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
};

use shakmaty::{Color, Move};

use super::{
    Tree,
    graph::{self, Edge, Key, Node, Standing},
    notation,
};
use crate::{position::Position, types::Score};

/// Costs are in hundredths of a bit: a position that is reached half as often costs a bit more.
const BIT: f64 = 100.0;
/// What every move costs besides, so that no line is followed for ever.
const STEP: i64 = 30;
/// Centipawns given away that cost a bit: by the side that the tree is for, and by its opponent.
const OWN_BIT: f64 = 5.0;
const OPPONENT_BIT: f64 = 15.0;
/// A move that gives away more, in centipawns, is as unlikely as this one.
const MOST_LOST: i32 = 500;
/// A search with twice the lines costs as much as a move and this.
const MORE_LINES: i64 = 100;
/// Lines of the first search where the side that the tree is for is to move, and where its opponent is.
const OWN_LINES: usize = 1;
const OPPONENT_LINES: usize = 3;
/// By how many centipawns the moves that no line began with are thought to be worse than the last line.
const REST_MARGIN: i32 = 10;
/// The scores weigh as much as so many games, and a game that was lost as much as so many for the side that lost it.
const SCORES_WEIGH: f64 = 4.0;
const LOST_GAMES: u64 = 3;
/// Positions looked at in the search for a leaf that nobody is searching.
const MOST_LOOKED_AT: usize = 10_000;

/// What a person said of a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Advice {
    /// It is left out.
    Exclude = -1,
    /// It and other such moves are played rather than all others.
    Prefer = 1,
}

impl Advice {
    pub(super) fn of(stored: i64) -> Option<Advice> {
        [Advice::Exclude, Advice::Prefer].into_iter().find(|&advice| advice as i64 == stored)
    }
}

/// A position to search.
#[derive(Clone, Debug)]
pub struct Job {
    /// The position, with its clocks at zero.
    pub position: Position,
    /// Lines to search it with.
    pub lines: usize,
    /// How many times the nodes of a usual search it gets: more where it has more lines than a first search.
    pub effort: u64,
    /// The cost that it was chosen by, in bits.
    pub cost: f64,
    /// The position where the line to it begins.
    pub root: Position,
    /// The moves that lead to it.
    pub line: Vec<Move>,
    /// The same as edges: where each move is played, and the move.
    pub(super) path: Vec<(Key, String)>,
}

/// The moves that count: those preferred if there are any, else those not excluded.
pub(super) fn considered(edges: &[Edge]) -> impl Iterator<Item = &Edge> {
    let has_preferred = edges.iter().any(|edge| edge.advice == Some(Advice::Prefer));
    edges.iter().filter(move |edge| match has_preferred {
        true => edge.advice == Some(Advice::Prefer),
        false => !edge.is_excluded(),
    })
}

/// The score, best move and costs of a position by its moves.
pub(super) fn standing(node: &Node, edges: &[Edge]) -> Standing {
    if node.lines.is_none() {
        return Standing { cost: [Some(0); 2], ..Standing::default() };
    }
    let values = considered(edges).filter_map(|edge| edge.value().map(|value| (value, edge)));
    // Of equal moves the one searched deepest, then the first by name, whatever order they were found in.
    let best = values.max_by_key(|&((score, depth), edge)| (score, depth, Reverse(&edge.uci)));
    let cost_below =
        |score| Color::ALL.map(|side| steps(node, edges, score, side).filter_map(|step| step.cost).min());
    let Some(((score, depth), edge)) = best else {
        // The game is over, all moves are excluded, or those preferred were not searched: then these are next.
        let cost = node.own.filter(|own| !own.is_decisive()).map_or([None; 2], cost_below);
        return Standing { score: node.own, cost, ..Standing::default() };
    };
    let best = Some(edge.uci.clone());
    if score.is_decisive() {
        return Standing { score: Some(score), depth, best, cost: [None; 2] };
    }
    let cost = cost_below(score);
    Standing { score: Some(score), depth, best, cost }
}

/// A way on from a position.
struct Step<'a> {
    /// The move; none: the same position with more lines.
    edge: Option<&'a Edge>,
    /// What the step itself costs.
    own: i64,
    /// With what comes after it; none if nothing is left there.
    cost: Option<i64>,
}

/// The ways on from a position that was searched, in the tree for `side`.
fn steps<'a>(
    node: &'a Node,
    edges: &'a [Edge],
    best: Score,
    side: Color,
) -> impl Iterator<Item = Step<'a>> + use<'a> {
    let lost = move |score: Option<Score>| match score {
        Some(score) if score.is_loss() => MOST_LOST,
        Some(score) => (best.centipawns() - score.centipawns()).min(MOST_LOST),
        None => 0,
    };
    let rest = node.rest.map(|rest| rest - Score::from_centipawns(REST_MARGIN).0);
    let value = move |edge: &Edge| edge.value().map(|(score, _)| score).or(rest);
    // How likely each move of the opponent is: by its score, and by the games in which it was played.
    let likely = move |score| (-f64::from(lost(score)) / OPPONENT_BIT).exp2();
    let likely_of_rest = rest.map_or(0.0, |rest| likely(Some(rest)));
    let sum = considered(edges).map(|edge| likely(value(edge))).sum::<f64>() + likely_of_rest;
    let games = considered(edges).map(|edge| weight(edge, side)).sum::<f64>();
    let step = move |score: Option<Score>, weight: f64| {
        let bits = match node.turn == side {
            true => f64::from(lost(score)) / OWN_BIT,
            false => -((SCORES_WEIGH * likely(score) / sum + weight) / (SCORES_WEIGH + games)).log2(),
        };
        // Below 0 where all known moves are worse than the others were said to be at most: that is looked at first.
        STEP + (BIT * bits) as i64
    };
    let moves = considered(edges).filter(|edge| !edge.is_circle).map(move |edge| {
        let own = step(value(edge), weight(edge, side)).max(0);
        let after = if edge.has_child { edge.after.cost[side.fold_wb(0, 1)] } else { Some(0) };
        Step { edge: Some(edge), own, cost: after.map(|after| own + after) }
    });
    let has_preferred = edges.iter().any(|edge| edge.advice == Some(Advice::Prefer));
    let more = rest.filter(|_| !has_preferred).map(|rest| {
        let own = (step(Some(rest), 0.0) + MORE_LINES).max(0);
        Step { edge: None, own, cost: Some(own) }
    });
    moves.chain(more)
}

/// The games in which a move was played, those that `side` lost several times.
fn weight(edge: &Edge, side: Color) -> f64 {
    let lost = side.fold_wb(edge.black_wins, edge.white_wins);
    (edge.games + (LOST_GAMES - 1) * lost) as f64
}

/// A place on the way from the roots to a leaf.
struct Place {
    key: Key,
    side: Color,
    /// Cost of the moves so far.
    cost: i64,
    /// The place before, and the move.
    before: Option<(usize, String)>,
}

/// What the places lead on to, with the least cost first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    /// The position of a place, which was searched or not.
    Position(usize),
    /// The position after a move, which is not in the tree.
    Leaf(usize, String, Key),
    /// The position of a place again, with so many lines.
    Again(usize, usize),
}

impl Tree {
    /// The leaf with the least cost that is not claimed; none if nothing is left to search.
    pub(super) fn find_job(&self, claimed: &HashSet<Key>) -> rusqlite::Result<Option<Job>> {
        let mut places: Vec<Place> = Vec::new();
        let mut queue = BinaryHeap::new();
        for side in Color::ALL {
            for (key, cost) in self.cheapest_roots(side, 2 * claimed.len() + 8)? {
                queue.push(Reverse((cost, Next::Position(places.len()))));
                places.push(Place { key, side, cost: 0, before: None });
            }
        }
        let mut seen = HashSet::new();
        let is_free = |key: Key| !claimed.contains(&key);
        while let Some(Reverse((cost, next))) = queue.pop() {
            if seen.len() > MOST_LOOKED_AT {
                break;
            }
            let (at, uci, lines) = match next {
                Next::Leaf(at, uci, key) if is_free(key) => (at, Some(uci), None),
                Next::Again(at, lines) if is_free(places[at].key) => (at, None, Some(lines)),
                Next::Leaf(..) | Next::Again(..) => continue,
                Next::Position(at) => {
                    let Place { key, side, cost: so_far, .. } = places[at];
                    if !seen.insert((key, side)) {
                        continue;
                    }
                    let Some(node) = graph::node(&self.connection, key)? else { continue };
                    let Some(lines) = node.lines else {
                        if is_free(key) {
                            return self.job(&places, at, None, None, cost);
                        }
                        continue;
                    };
                    let Some(best) = node.standing.score else { continue };
                    if best.is_decisive() {
                        continue;
                    }
                    let edges = graph::edges(&self.connection, key)?;
                    for step in steps(&node, &edges, best, side) {
                        let Some(total) = step.cost else { continue };
                        let next = match step.edge {
                            Some(edge) if edge.has_child => {
                                let before = Some((at, edge.uci.clone()));
                                places.push(Place { key: edge.child, side, cost: so_far + step.own, before });
                                Next::Position(places.len() - 1)
                            }
                            Some(edge) => Next::Leaf(at, edge.uci.clone(), edge.child),
                            None => Next::Again(at, 2 * lines),
                        };
                        queue.push(Reverse((so_far + total, next)));
                    }
                    continue;
                }
            };
            return self.job(&places, at, uci, lines, cost);
        }
        Ok(None)
    }

    /// The job of a position: that of a place, or the one after the move `uci` from there.
    fn job(
        &self,
        places: &[Place],
        at: usize,
        uci: Option<String>,
        lines: Option<usize>,
        cost: i64,
    ) -> rusqlite::Result<Option<Job>> {
        let side = places[at].side;
        let mut path = Vec::new();
        path.extend(uci.map(|uci| (places[at].key, uci)));
        let mut first = at;
        while let Some((before, uci)) = &places[first].before {
            path.push((places[*before].key, uci.clone()));
            first = *before;
        }
        path.reverse();
        let Some(root) = self.position(places[first].key)? else { return Ok(None) };
        let mut position = root.clone();
        let mut line = Vec::new();
        for (_, uci) in &path {
            let Some(m) = notation::legal(&position, uci) else { return Ok(None) };
            position = position.play(m);
            line.push(m);
        }
        let first_lines = if position.turn() == side { OWN_LINES } else { OPPONENT_LINES };
        let lines = lines.unwrap_or(first_lines).max(first_lines);
        let position = notation::without_clocks(&position);
        let effort = (lines / first_lines) as u64;
        Ok(Some(Job { position, lines, effort, cost: cost as f64 / BIT, root, line, path }))
    }
}
