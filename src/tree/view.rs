//! What the tree knows of a position.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};
use shakmaty::{Color, Move};

use super::{
    Advice, Tree, TreeError,
    graph::{self, Key},
    growth,
    notation::{self, without_clocks},
};
use crate::{
    position::Position,
    types::{Depth, Score},
};

/// With `OR` between the columns SQLite would read all positions rather than the two indexes.
pub(super) const ROOTS: &str = "SELECT fen, root_white, root_black FROM nodes WHERE key IN \
    (SELECT key FROM nodes WHERE root_white UNION SELECT key FROM nodes WHERE root_black) ORDER BY key";
/// Plies of a line at most.
const MOST_PLIES: usize = 60;

/// What the tree knows of a position.
#[derive(Clone, Debug, Default)]
pub struct PositionView {
    /// Its score for the side to move, backed up; none before it was searched.
    pub score: Option<Score>,
    /// Depth of the search that the score comes from, and the plies to its position.
    pub depth: Depth,
    /// The score of its own search.
    pub own: Option<Score>,
    /// Seconds since 1970 when best move or score changed last.
    pub changed: u64,
    /// The moves, best first.
    pub moves: Vec<MoveView>,
}

/// What the tree knows of a move.
#[derive(Clone, Debug)]
pub struct MoveView {
    /// The move.
    pub m: Move,
    /// Its score for the side that plays it; none if no search had it among its lines.
    pub score: Option<Score>,
    /// Depth behind the move.
    pub depth: Depth,
    /// Is the position after it in the tree, and searched?
    pub is_searched: bool,
    /// Searches made by way of this move.
    pub searches: u64,
    /// Games in which it was played, those that White won, and those that Black won.
    pub games: [u64; 3],
    /// The user's advice about it.
    pub advice: Option<Advice>,
    /// Does it lead back to a position before this one?
    pub closes_cycle: bool,
    /// Does it count: is it preferred if any move is, and not excluded?
    pub counts: bool,
}

impl PositionView {
    /// The moves that count and have a score, best first.
    pub fn considered(&self) -> impl Iterator<Item = (&MoveView, Score)> {
        self.moves.iter().filter(|m| m.counts).filter_map(|m| Some((m, m.score?)))
    }

    /// The moves that are preferred, where none of them has a score yet.
    pub fn awaited(&self) -> impl Iterator<Item = &MoveView> {
        let has_score = self.considered().next().is_some();
        self.moves.iter().filter(move |m| !has_score && m.advice == Some(Advice::Prefer))
    }
}

/// How large a tree is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// Positions.
    pub positions: u64,
    /// Of these searched.
    pub searched: u64,
}

impl Tree {
    /// What the tree knows of a position; none if it is not there.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn look(&self, position: &Position) -> Result<Option<PositionView>, TreeError> {
        let position = without_clocks(position);
        self.reading(|tree| {
            let key = notation::key_of(&position);
            let Some(node) = graph::node(&tree.connection, key)? else { return Ok(None) };
            let edges = graph::edges(&tree.connection, key)?;
            let considered: HashSet<&str> = growth::considered(&edges).map(|edge| &*edge.uci).collect();
            let mut moves: Vec<_> = edges
                .iter()
                .filter_map(|edge| {
                    let (score, depth) = edge.value().unzip();
                    let (black, white) = (edge.black_wins, edge.white_wins);
                    let view = MoveView {
                        m: position.legal_move(&edge.uci)?,
                        score,
                        depth: depth.unwrap_or_default(),
                        is_searched: edge.after.score.is_some(),
                        searches: edge.searches,
                        games: [edge.games, white, black],
                        advice: edge.advice,
                        closes_cycle: edge.closes_cycle,
                        counts: considered.contains(&*edge.uci),
                    };
                    // Of moves with a score the first by name, as `standing` chooses.
                    let games = if score.is_none() { edge.games } else { 0 };
                    let rank = (view.counts, score, depth, games);
                    Some((rank, std::cmp::Reverse(&edge.uci), view))
                })
                .collect();
            moves.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)));
            Ok(Some(PositionView {
                score: node.standing.score,
                depth: node.standing.depth,
                own: node.own,
                changed: u64::try_from(node.changed).unwrap_or(0),
                moves: moves.into_iter().map(|(.., view)| view).collect(),
            }))
        })
    }

    /// The line that the tree expects after `moves` from `position`: its best moves, then the line of the search before the
    /// first position that was not searched. It ends where a position comes again.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn expected(&self, position: &Position, moves: &[Move]) -> Result<Vec<Move>, TreeError> {
        self.reading(|tree| {
            let mut at = without_clocks(position);
            let mut line = moves.to_vec();
            let mut seen = HashSet::from([notation::key_of(&at)]);
            let mut before = at.clone();
            for &m in moves {
                before = at;
                at = without_clocks(&before.play(m));
                seen.insert(notation::key_of(&at));
            }
            loop {
                let node = graph::node(&tree.connection, notation::key_of(&at))?;
                let is_searched = node.as_ref().is_some_and(|node| node.lines.is_some());
                let best = node.and_then(|node| at.legal_move(&node.standing.best?));
                let Some(m) = best.filter(|_| line.len() < MOST_PLIES) else {
                    if let Some(&last) = line.last().filter(|_| !is_searched) {
                        line.extend(tree.searched_line(&before, last)?.into_iter().skip(1));
                    }
                    line.truncate(MOST_PLIES);
                    return Ok(line);
                };
                before = at;
                at = without_clocks(&before.play(m));
                line.push(m);
                if !seen.insert(notation::key_of(&at)) {
                    return Ok(line);
                }
            }
        })
    }

    /// The line that the search of a position found for a move.
    fn searched_line(&self, position: &Position, m: Move) -> rusqlite::Result<Vec<Move>> {
        let key = notation::key_of(position);
        let query = "SELECT l.pv FROM nodes n JOIN lines l ON l.position = n.search WHERE n.key = ? \
                     AND (l.pv = ?2 OR l.pv LIKE ?2 || ' %') LIMIT 1";
        let values = rusqlite::params![key, notation::uci(position, m)];
        let pv: Option<String> =
            self.connection.prepare_cached(query)?.query_row(values, |row| row.get(0)).optional()?;
        Ok(pv.map_or_else(Vec::new, |pv| notation::moves_of(position, &pv)))
    }

    /// The fingerprint of the evaluation that the score of a position comes from, which is that of the search at the end of
    /// the expected line; 0 if it is not known.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn evaluation_id(&self, position: &Position) -> Result<u16, TreeError> {
        self.reading(|tree| tree.evaluation_of(notation::key_of(&without_clocks(position))))
    }

    /// The same of the position with this key.
    pub(super) fn evaluation_of(&self, key: Key) -> rusqlite::Result<u16> {
        // The bound is that of `expected`: a file that another program changed may lead in a cycle.
        let query = "WITH RECURSIVE line(key, ply) AS (VALUES(?1, 0) UNION ALL \
                       SELECT c.key, ply + 1 FROM line l JOIN nodes n ON n.key = l.key \
                       JOIN edges e ON e.parent = n.key AND e.move = n.best AND NOT e.circle \
                       JOIN nodes c ON c.key = e.child AND c.score IS NOT NULL WHERE l.ply < ?2) \
                     SELECT n.evaluation FROM line l JOIN nodes n ON n.key = l.key ORDER BY l.ply DESC LIMIT 1";
        let mut evaluation = self.connection.prepare_cached(query)?;
        let id: Option<Option<u16>> =
            evaluation.query_row(params![key, MOST_PLIES], |row| row.get(0)).optional()?;
        Ok(id.flatten().unwrap_or(0))
    }

    /// The searches of a position and of those below it that were made for it; none if nothing is left to search there.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn searches_below(&self, position: &Position) -> Result<Option<u64>, TreeError> {
        let query = "SELECT (search IS NOT NULL) + coalesce((SELECT sum(searches) FROM edges WHERE parent = key), 0) \
                     FROM nodes WHERE key = ? AND coalesce(cost_white, cost_black) IS NOT NULL";
        self.reading(|tree| {
            let mut below = tree.connection.prepare_cached(query)?;
            below.query_row([notation::key_of(position)], |row| graph::count(row, 0)).optional()
        })
    }

    /// The number of searches in the file, which is that of the last one: none is ever removed.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn searches(&self) -> Result<u64, TreeError> {
        let query = "SELECT coalesce(max(id), 0) FROM positions";
        self.reading(|tree| tree.connection.query_row(query, [], |row| graph::count(row, 0)))
    }

    /// Does it grow below one position alone?
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn is_focused(&self) -> Result<bool, TreeError> {
        self.reading(Tree::has_focus)
    }

    /// Counts what is in the tree.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn size(&self) -> Result<TreeSize, TreeError> {
        self.reading(|tree| {
            tree.connection.query_row("SELECT count(*), count(search) FROM nodes", [], |row| {
                Ok(TreeSize { positions: graph::count(row, 0)?, searched: graph::count(row, 1)? })
            })
        })
    }

    /// The positions from which the tree grows, with the sides that it is for.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn roots(&self) -> Result<Vec<(Position, Vec<Color>)>, TreeError> {
        self.reading(|tree| {
            let mut roots = tree.connection.prepare(ROOTS)?;
            let roots = roots.query_map([], |row| {
                let fen: String = row.get(0)?;
                let flags: [bool; 2] = [row.get(1)?, row.get(2)?];
                let sides = Color::ALL.into_iter().zip(flags).filter(|(_, on)| *on).map(|(side, _)| side);
                Ok(Position::from_fen(&fen).map(|position| (position, sides.collect())))
            })?;
            roots.filter_map(Result::transpose).collect()
        })
    }

    /// What SQLite and the rules of chess find wrong in the file; nothing if it is sound.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn check(&self) -> Result<Vec<String>, TreeError> {
        self.reading(|tree| {
            let mut faults: Vec<String> = {
                let mut check = tree.connection.prepare("PRAGMA integrity_check")?;
                check.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
            };
            faults.retain(|fault| fault != "ok");
            let mut nodes = tree.connection.prepare("SELECT key FROM nodes")?;
            for key in nodes.query_map([], |row| row.get(0))? {
                let key = key?;
                let found = tree.faults_of(key).unwrap_or_else(|error| vec![error.to_string()]);
                faults.extend(found.into_iter().map(|fault| format!("node {key}: {fault}")));
            }
            if graph::has_cycle(&tree.connection)? {
                faults.push(graph::CYCLE.to_owned());
            }
            Ok(faults)
        })
    }

    /// What is wrong with a position and its moves.
    fn faults_of(&self, key: Key) -> rusqlite::Result<Vec<String>> {
        let Some(node) = graph::node(&self.connection, key)? else { return Ok(Vec::new()) };
        let position = Position::from_fen(&node.fen).filter(|position| notation::key_of(position) == key);
        let Some(position) = position else {
            return Ok(vec![format!("`{}` is not the position of this key", node.fen)]);
        };
        let leads_to = |m| notation::key_of(&without_clocks(&position.play(m)));
        let edges = graph::edges(&self.connection, key)?.into_iter();
        let wrong = edges.filter(|edge| position.legal_move(&edge.uci).map(leads_to) != Some(edge.child));
        Ok(wrong.map(|edge| format!("`{}` does not lead to node {}", edge.uci, edge.child)).collect())
    }
}
