//! What is searched next: costs, and the leaf with the least of them.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashSet},
};

use rusqlite::params;
use shakmaty::{Color, Move};

use super::{
    Tree,
    graph::{self, DEEPEST, Edge, Key, Node, Standing},
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
/// More than any line of a sound tree costs.
pub(super) const MOST_COST: i64 = 1_000_000;

/// The user's advice about a move.
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
}

/// The moves that count: those preferred if there are any, else those not excluded.
pub(super) fn considered(edges: &[Edge]) -> impl Iterator<Item = &Edge> {
    let only = has_preferred(edges);
    edges.iter().filter(move |edge| edge.advice.map_or(!only, |advice| advice == Advice::Prefer))
}

fn has_preferred(edges: &[Edge]) -> bool {
    edges.iter().any(|edge| edge.advice == Some(Advice::Prefer))
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
        let cost = node.own.map_or([None; 2], cost_below);
        return Standing { score: node.own, depth: node.own_depth.unwrap_or_default(), best: None, cost };
    };
    // A win is enough; a loss is settled where the moves outside of the tree lose too.
    let is_settled = score.is_win() || score.is_loss() && node.rest.is_none_or(Score::is_loss);
    let cost = if is_settled { [None; 2] } else { cost_below(score) };
    Standing { score: Some(score), depth: depth.min(DEEPEST), best: Some(edge.uci.clone()), cost }
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
        Some(score) => (best.centipawns() - score.centipawns()).clamp(-MOST_LOST, MOST_LOST),
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
    let moves = considered(edges).filter(|edge| !edge.closes_cycle).map(move |edge| {
        let own = step(value(edge), weight(edge, side)).max(0);
        let after = if edge.has_child { edge.after.cost[side.fold_wb(0, 1)] } else { Some(0) };
        Step { edge: Some(edge), own, cost: after.map(|after| (own + after).min(MOST_COST)) }
    });
    let more = rest.filter(|_| !has_preferred(edges)).map(|rest| {
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

/// A position on the way from the roots to a leaf.
struct Place {
    key: Key,
    side: Color,
    /// Cost of the moves so far.
    cost: i64,
    /// It is to be searched again, with so many lines.
    again: Option<usize>,
    /// The place before, and the move.
    before: Option<(usize, String)>,
}

impl Tree {
    /// The leaf with the least cost, below `root` if one is given, that is not claimed; none if nothing is left to search.
    pub(super) fn find_job(
        &self,
        claimed: &HashSet<Key>,
        root: Option<Key>,
    ) -> rusqlite::Result<Option<Job>> {
        let mut places = Vec::new();
        // Places by what the whole way to a leaf costs; of equal ones the first.
        let mut queue = BinaryHeap::new();
        for side in Color::ALL {
            for (key, total) in self.cheapest_roots(side, 2 * claimed.len() + 8, root)? {
                queue.push(Reverse((total, places.len())));
                places.push(Place { key, side, cost: 0, again: None, before: None });
            }
        }
        let mut seen = HashSet::new();
        while let Some(Reverse((total, at))) = queue.pop().filter(|_| seen.len() <= MOST_LOOKED_AT) {
            let Place { key, side, cost, again, .. } = places[at];
            let node = graph::node(&self.connection, key)?;
            let Some(node) = node.filter(|node| node.lines.is_some() && again.is_none()) else {
                if claimed.contains(&key) {
                    continue;
                }
                return self.job(&places, at, total);
            };
            let best = node.standing.score.filter(|_| seen.insert((key, side)));
            let Some(best) = best else { continue };
            for step in steps(&node, &graph::edges(&self.connection, key)?, best, side) {
                let Some(below) = step.cost else { continue };
                queue.push(Reverse((cost + below, places.len())));
                places.push(match step.edge {
                    Some(edge) => {
                        let before = Some((at, edge.uci.clone()));
                        Place { key: edge.child, side, cost: cost + step.own, again: None, before }
                    }
                    None => {
                        let again = node.lines.map(|lines| 2 * lines);
                        Place { key, side, cost, again, before: places[at].before.clone() }
                    }
                });
            }
        }
        Ok(None)
    }

    pub(super) fn has_focus(&self) -> rusqlite::Result<bool> {
        self.connection.prepare_cached("SELECT 1 FROM nodes WHERE focus LIMIT 1")?.exists([])
    }

    /// The roots of the tree for `side` that are nearest to their next leaf, or the position in focus; `only` one if given.
    fn cheapest_roots(
        &self,
        side: Color,
        most: usize,
        only: Option<Key>,
    ) -> rusqlite::Result<Vec<(Key, i64)>> {
        let (cost, root) = side.fold_wb(("cost_white", "root_white"), ("cost_black", "root_black"));
        let begins = if only.is_none() && self.has_focus()? { "focus" } else { root };
        let query = format!(
            "SELECT key, {cost} FROM nodes WHERE {begins} AND {cost} IS NOT NULL \
             AND EXISTS (SELECT 1 FROM nodes WHERE {root}) AND key = coalesce(?1, key) ORDER BY {cost} LIMIT ?2"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut roots = self.connection.prepare_cached(&query)?;
        roots.query_map(params![only, most], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// The search of a place.
    fn job(&self, places: &[Place], at: usize, total: i64) -> rusqlite::Result<Option<Job>> {
        let Place { side, again, .. } = places[at];
        let (mut first, mut path) = (at, Vec::new());
        while let Some((before, uci)) = &places[first].before {
            path.push(uci);
            first = *before;
        }
        let root = graph::node(&self.connection, places[first].key)?;
        let Some(root) = root.and_then(|node| Position::from_fen(&node.fen)) else { return Ok(None) };
        let mut position = root.clone();
        let mut line = Vec::new();
        for uci in path.into_iter().rev() {
            let Some(m) = position.legal_move(uci) else { return Ok(None) };
            position = position.play(m);
            line.push(m);
        }
        let first_lines = if position.turn() == side { OWN_LINES } else { OPPONENT_LINES };
        let lines = again.unwrap_or(0).max(first_lines);
        let position = notation::without_clocks(&position);
        let effort = (lines / first_lines) as u64;
        Ok(Some(Job { position, lines, effort, cost: total as f64 / BIT, root, line }))
    }
}
