//! Positions and moves as rows, and how scores and costs are backed up.

use std::collections::{HashMap, HashSet, VecDeque};

use rusqlite::{Connection, Error, OptionalExtension as _, Row, ffi, params};
use shakmaty::Color;

use super::growth::{self, Advice, MOST_COST};
use crate::{
    learn::{LearnedScore, now},
    types::{Depth, Score},
};

/// A change of the score of at least this size, in printed centipawns, is news.
const NEWS: i32 = 10;
/// No position counts as searched deeper.
pub(super) const DEEPEST: Depth = Depth(1000);
/// No search has more lines: no position has more moves.
const MOST_LINES: usize = 256;
/// Scores and costs of a position change at most so often while those of others are backed up: no line of a sound tree is
/// as long.
const MOST_CHANGES: u32 = 10_000;
/// What is wrong where they change for ever.
pub(super) const CYCLE: &str = "its moves lead in a cycle";

/// The key of a position as SQLite keeps it: its bits as a signed number.
pub(super) type Key = i64;

/// What backing up finds of a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    /// The score for the side to move; none before a search.
    pub score: Option<Score>,
    /// Depth of the search that the score comes from, and the plies to its position.
    pub depth: Depth,
    /// The best move.
    pub best: Option<String>,
    /// Cost from here to the next leaf in the tree for White and in that for Black, in hundredths of a bit; none where
    /// nothing is left to search.
    pub cost: [Option<i64>; 2],
}

/// A position.
pub(super) struct Node {
    pub fen: String,
    pub turn: Color,
    /// Lines of the search that its moves come from; none before a search.
    pub lines: Option<usize>,
    /// Moves outside of the tree score at most this; none if there are no others.
    pub rest: Option<Score>,
    /// The score of that search, its depth, and the fingerprint of its evaluation.
    pub own: Option<Score>,
    pub own_depth: Option<Depth>,
    pub evaluation: Option<u16>,
    pub standing: Standing,
    /// Seconds since 1970 when score or best move changed last.
    pub changed: i64,
}

/// A move.
pub(super) struct Edge {
    pub uci: String,
    pub child: Key,
    /// Score and depth by the search of the position before it; none if no line began with it.
    pub score: Option<Score>,
    pub depth: Depth,
    pub games: u64,
    pub white_wins: u64,
    pub black_wins: u64,
    pub advice: Option<Advice>,
    /// Would it close a cycle?
    pub closes_cycle: bool,
    /// Searches made by way of this move.
    pub searches: u64,
    /// Is the position after it in the tree?
    pub has_child: bool,
    /// What is known of it.
    pub after: Standing,
}

impl Edge {
    /// The score of the move for the side that plays it, and the depth behind it.
    pub fn value(&self) -> Option<(Score, Depth)> {
        let backed_up = self.after.score.filter(|_| !self.closes_cycle);
        let backed_up = backed_up.map(|score| ((-score).one_ply_farther(), self.after.depth + 1));
        backed_up.or(self.score.map(|score| (score, self.depth)))
    }
}

/// A score as a number in the file.
pub(super) fn stored(score: Score) -> i64 {
    i64::from(LearnedScore::from_score(score).bits())
}

/// The score of a number in the file; none for a number that is no score.
pub(super) fn read(stored: Option<i64>) -> Option<Score> {
    let bits = i16::try_from(stored?).ok()?;
    LearnedScore::from_bits(bits).filter(|score| !score.is_none()).map(LearnedScore::to_score)
}

fn plies(stored: Option<i64>) -> Depth {
    Depth(stored.and_then(|plies| i32::try_from(plies).ok()).unwrap_or(0)).clamp(Depth::ZERO, DEEPEST)
}

/// Reads a number of things.
pub(super) fn count(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(at).map(|count| u64::try_from(count).unwrap_or(0))
}

/// Reads score, depth, best move and costs from five columns.
fn standing(row: &Row<'_>, at: usize) -> rusqlite::Result<Standing> {
    Ok(Standing {
        score: read(row.get(at)?),
        depth: plies(row.get(at + 1)?),
        best: row.get(at + 2)?,
        cost: [cost(row.get(at + 3)?), cost(row.get(at + 4)?)],
    })
}

fn cost(stored: Option<i64>) -> Option<i64> {
    stored.map(|cost| cost.clamp(0, MOST_COST))
}

/// A position of the tree.
pub(super) fn node(connection: &Connection, key: Key) -> rusqlite::Result<Option<Node>> {
    let query = "SELECT n.fen, n.lines, n.rest, n.own, p.depth, n.score, n.depth, n.best, n.cost_white, n.cost_black, \
                        n.changed, n.evaluation \
                 FROM nodes n LEFT JOIN positions p ON p.id = n.search WHERE n.key = ?";
    let read_row = |row: &Row<'_>| {
        let fen: String = row.get(0)?;
        let lines: Option<i64> = row.get(1)?;
        Ok(Node {
            turn: Color::from_white(fen.split(' ').nth(1) != Some("b")),
            fen,
            lines: lines.and_then(|lines| usize::try_from(lines).ok()).map(|lines| lines.min(MOST_LINES)),
            rest: read(row.get(2)?),
            own: read(row.get(3)?),
            own_depth: row.get::<_, Option<i64>>(4)?.map(|depth| plies(Some(depth))),
            standing: standing(row, 5)?,
            changed: row.get(10)?,
            evaluation: row.get::<_, Option<i64>>(11)?.and_then(|id| u16::try_from(id).ok()),
        })
    };
    connection.prepare_cached(query)?.query_row([key], read_row).optional()
}

/// The moves of a position.
pub(super) fn edges(connection: &Connection, parent: Key) -> rusqlite::Result<Vec<Edge>> {
    let query = "SELECT e.move, e.child, e.score, e.depth, e.games, e.white_wins, e.black_wins, e.advice, e.circle, \
                        e.searches, n.key IS NOT NULL, n.score, n.depth, n.best, n.cost_white, n.cost_black \
                 FROM edges e LEFT JOIN nodes n ON n.key = e.child WHERE e.parent = ?";
    let read_row = |row: &Row<'_>| {
        Ok(Edge {
            uci: row.get(0)?,
            child: row.get(1)?,
            score: read(row.get(2)?),
            depth: plies(row.get(3)?),
            games: count(row, 4)?,
            white_wins: count(row, 5)?,
            black_wins: count(row, 6)?,
            advice: Advice::of(row.get(7)?),
            closes_cycle: row.get(8)?,
            searches: count(row, 9)?,
            has_child: row.get(10)?,
            after: standing(row, 11)?,
        })
    };
    connection.prepare_cached(query)?.query_map([parent], read_row)?.collect()
}

/// Backs up from these positions to all that lead to them, as far as anything changes. A damaged file in which that does
/// not end is an error.
pub(super) fn back_up(connection: &Connection, from: impl IntoIterator<Item = Key>) -> rusqlite::Result<()> {
    let mut queue = VecDeque::new();
    let mut waiting = HashSet::new();
    let mut changes: HashMap<Key, u32> = HashMap::new();
    queue.extend(from.into_iter().filter(|&key| waiting.insert(key)));
    while let Some(key) = queue.pop_front() {
        waiting.remove(&key);
        let Some(node) = node(connection, key)? else { continue };
        let standing = growth::standing(&node, &edges(connection, key)?);
        if standing == node.standing {
            continue;
        }
        let changes = changes.entry(key).or_default();
        *changes += 1;
        if *changes > MOST_CHANGES {
            let damaged = ffi::Error::new(ffi::SQLITE_CORRUPT);
            return Err(Error::SqliteFailure(damaged, Some(CYCLE.to_owned())));
        }
        let is_news = standing.best != node.standing.best
            || match (standing.score, node.standing.score) {
                (Some(after), Some(before)) => (after.centipawns() - before.centipawns()).abs() >= NEWS,
                (after, before) => after != before,
            };
        let changed = if is_news { i64::from(now()) } else { node.changed };
        let [white, black] = standing.cost;
        let depth = standing.depth.get();
        connection
            .prepare_cached(
                "UPDATE nodes SET score = ?, depth = ?, best = ?, cost_white = ?, cost_black = ?, changed = ? \
                 WHERE key = ?",
            )?
            .execute(params![standing.score.map(stored), depth, standing.best, white, black, changed, key])?;
        let mut parents =
            connection.prepare_cached("SELECT parent FROM edges WHERE child = ? AND NOT circle")?;
        for parent in parents.query_map([key], |row| row.get(0))? {
            let parent = parent?;
            if waiting.insert(parent) {
                queue.push_back(parent);
            }
        }
    }
    Ok(())
}

/// Do moves lead in a cycle, other than those that are known to close one?
pub(super) fn has_cycle(connection: &Connection) -> rusqlite::Result<bool> {
    let mut parents: HashMap<Key, Vec<Key>> = HashMap::new();
    // Moves of each position. Those to positions without moves are taken away until none is left, or only cycles.
    let mut moves: HashMap<Key, usize> = HashMap::new();
    let mut edges = connection.prepare("SELECT parent, child FROM edges WHERE NOT circle")?;
    for edge in edges.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))? {
        let (parent, child) = edge?;
        parents.entry(child).or_default().push(parent);
        *moves.entry(parent).or_default() += 1;
    }
    let mut ends: Vec<Key> = parents.keys().copied().filter(|key| !moves.contains_key(key)).collect();
    while let Some(child) = ends.pop() {
        for parent in parents.remove(&child).unwrap_or_default() {
            let left = moves.entry(parent).or_default();
            *left -= 1;
            if *left == 0 {
                ends.push(parent);
            }
        }
    }
    Ok(!parents.is_empty())
}

/// Does a way lead from a position to another one, by moves that can be taken back? None leads back over a capture or a
/// pawn move.
pub(super) fn leads_to(connection: &Connection, from: Key, to: Key) -> rusqlite::Result<bool> {
    let query = "WITH RECURSIVE reached(key) AS (VALUES(?1) UNION \
                   SELECT e.child FROM reached r JOIN edges e ON e.parent = r.key \
                   WHERE NOT e.irreversible AND NOT e.circle) \
                 SELECT 1 FROM reached WHERE key = ?2 LIMIT 1";
    let found = connection.prepare_cached(query)?.query_row([from, to], |_| Ok(())).optional()?;
    Ok(found.is_some())
}
