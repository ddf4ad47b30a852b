//! What goes into a tree: roots, games, searches, advice. Each call is one transaction.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};
use shakmaty::{ByColor, Color, Move, Outcome};

use super::{
    Advice, Tree, TreeError, TreeSearch,
    graph::{self, Key},
    notation::{key_of, moves_of, uci, without_clocks},
    schema::{insert_lines, signed},
};
use crate::{
    learn::Record,
    position::Position,
    types::{Depth, Ply, Score, ScoredLine},
};

/// Whose moves a tree is to find.
pub type ForSides = ByColor<bool>;

/// A game, or the beginning of one, that is added.
#[derive(Clone, Debug)]
pub struct PlayedLine<'a> {
    /// Where it begins.
    pub start: &'a Position,
    /// Its moves.
    pub moves: &'a [Move],
    /// Its result.
    pub outcome: Outcome,
}

impl Tree {
    /// Adds a position from which the tree is to grow for these sides.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_root(&mut self, position: &Position, sides: ForSides) -> Result<(), TreeError> {
        let line = PlayedLine { start: position, moves: &[], outcome: Outcome::Unknown };
        self.add_line(&line, sides, None).map(drop)
    }

    /// Adds the positions of a game, from whose start the tree is to grow; `identity` tells the game from all others.
    /// Returns true if it was added before; then only moves beyond those that were added then are counted.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_line(
        &mut self,
        line: &PlayedLine<'_>,
        sides: ForSides,
        identity: Option<u64>,
    ) -> Result<bool, TreeError> {
        self.writing(|tree| {
            let known = identity.map(|identity| tree.count_plies(identity, line.moves.len())).transpose()?;
            let known = known.flatten();
            let mut position = without_clocks(line.start);
            let mut changed = vec![tree.insert_root(&position, sides)?.0];
            let mut counted = HashSet::new();
            for (ply, &m) in line.moves.iter().enumerate() {
                tree.insert_edge(&position, m, None)?;
                if counted.insert((key_of(&position), m)) && ply >= known.unwrap_or(0) {
                    tree.count_game(&position, m, line.outcome)?;
                }
                position = without_clocks(&position.play(m));
                changed.push(tree.insert_node(&position)?);
            }
            changed.reverse();
            graph::back_up(&tree.connection, changed)?;
            Ok(known.is_some())
        })
    }

    /// Adds the openings that games met, from each of which the tree is to grow for the side to move, and what an old study
    /// found there.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_openings(&mut self, openings: &[Record]) -> Result<(), TreeError> {
        self.writing(|tree| {
            for record in openings {
                let Ok(position) = record.position().map(|position| without_clocks(&position)) else {
                    continue;
                };
                let white = position.turn().is_white();
                let (root, is_new_root) = tree.insert_root(&position, ForSides { white, black: !white })?;
                match TreeSearch::of_record(record) {
                    Some((_, search)) => drop(tree.enter(&position, &search, 0, None)?),
                    None if is_new_root => graph::back_up(&tree.connection, [root])?,
                    None => {}
                }
            }
            Ok(())
        })
    }

    /// Adds the moves of a line that is no game. Each counts as met by one game, however often it is added.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_moves(&mut self, start: &Position, moves: &[Move]) -> Result<(), TreeError> {
        self.writing(|tree| {
            let mut position = without_clocks(start);
            let mut changed = vec![tree.insert_node(&position)?];
            let query = "UPDATE edges SET games = max(games, 1) WHERE parent = ? AND move = ?";
            let mut count = tree.connection.prepare_cached(query)?;
            for &m in moves {
                tree.insert_edge(&position, m, None)?;
                count.execute(params![key_of(&position), uci(&position, m)])?;
                position = without_clocks(&position.play(m));
                changed.push(tree.insert_node(&position)?);
            }
            changed.reverse();
            graph::back_up(&tree.connection, changed)
        })
    }

    /// Notes that so many plies of a game are counted. Returns how many were before, if it was added before.
    fn count_plies(&self, identity: u64, plies: usize) -> rusqlite::Result<Option<usize>> {
        let identity = identity as i64;
        let query = "SELECT plies FROM added WHERE hash = ?";
        let known = self.connection.prepare_cached(query)?.query_row([identity], |row| graph::count(row, 0));
        let known = known.optional()?;
        let query = "INSERT INTO added VALUES (?1, ?2) ON CONFLICT DO UPDATE SET plies = max(plies, ?2)";
        self.connection.prepare_cached(query)?.execute(params![identity, signed(plies as u64)])?;
        Ok(known.map(|plies| plies as usize))
    }

    /// Counts a game in which a move was played.
    fn count_game(&self, position: &Position, m: Move, outcome: Outcome) -> rusqlite::Result<()> {
        let winner = outcome.winner();
        let (white, black) = (winner == Some(Color::White), winner == Some(Color::Black));
        self.connection
            .prepare_cached(
                "UPDATE edges SET games = games + 1, white_wins = white_wins + ?, black_wins = black_wins + ? \
                 WHERE parent = ? AND move = ?",
            )?
            .execute(params![white, black, key_of(position), uci(position, m)])?;
        Ok(())
    }

    /// Takes in a search that was made outside of the tree; false if it says nothing new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_search(&mut self, position: &Position, search: &TreeSearch) -> Result<bool, TreeError> {
        self.writing(|tree| tree.enter(&without_clocks(position), search, 0, None))
    }

    /// Takes in the searches that `find` has of the tree's positions, of those a move after them, and so on from there as
    /// long as it has some. Returns how many said something new.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_searches(
        &mut self,
        find: impl Fn(&Position) -> Option<TreeSearch>,
    ) -> Result<usize, TreeError> {
        self.writing(|tree| {
            let mut all = tree.connection.prepare("SELECT fen FROM nodes")?;
            let all = all.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
            let mut known = all.iter().filter_map(|fen| Position::from_fen(fen));
            let (mut found, mut seen, mut taken) = (Vec::new(), HashSet::new(), 0);
            let mut next_known = || known.next().map(|position| (find(&position), position));
            while let Some((search, position)) = found.pop().or_else(&mut next_known) {
                let key = key_of(&position);
                if !seen.insert(key) {
                    continue;
                }
                if let Some(search) = search {
                    taken += usize::from(tree.enter(&position, &search, 0, None)?);
                }
                for m in position.legal_moves() {
                    let child = position.play(m);
                    if let Some(search) = find(&child) {
                        tree.insert_edge(&position, m, None)?;
                        graph::back_up(&tree.connection, [key])?;
                        found.push((Some(search), without_clocks(&child)));
                    }
                }
            }
            Ok(taken)
        })
    }

    /// Sets a person's advice on a move; `None` withdraws it. False if the position is not in the tree.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn advise(
        &mut self,
        position: &Position,
        m: Move,
        advice: Option<Advice>,
    ) -> Result<bool, TreeError> {
        let position = without_clocks(position);
        self.writing(|tree| {
            let key = key_of(&position);
            if graph::node(&tree.connection, key)?.is_none() {
                return Ok(false);
            }
            if advice.is_some() {
                tree.insert_edge(&position, m, None)?;
            }
            let advice = advice.map_or(0, |advice| advice as i64);
            let query = "UPDATE edges SET advice = ? WHERE parent = ? AND move = ?";
            tree.connection.prepare_cached(query)?.execute(params![advice, key, uci(&position, m)])?;
            graph::back_up(&tree.connection, [key])?;
            Ok(true)
        })
    }

    /// Lets the tree grow below this position alone, or everywhere again. False if it is not in the tree.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn focus(&mut self, position: Option<&Position>) -> Result<bool, TreeError> {
        let key = position.map(|position| key_of(&without_clocks(position)));
        self.writing(|tree| {
            if let Some(key) = key
                && graph::node(&tree.connection, key)?.is_none()
            {
                return Ok(false);
            }
            tree.connection.execute("UPDATE nodes SET focus = 0 WHERE focus", [])?;
            tree.connection.execute("UPDATE nodes SET focus = 1 WHERE key = ?", [key])?;
            Ok(true)
        })
    }

    /// Lets the tree grow from a position for these sides alone, for which it does already.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn restrict_root(&mut self, position: &Position, sides: ForSides) -> Result<(), TreeError> {
        let key = key_of(&without_clocks(position));
        let wider = "SELECT 1 FROM nodes WHERE key = ?3 AND (root_white > ?1 OR root_black > ?2)";
        let values = params![sides.white, sides.black, key];
        // Mostly it does not grow for others, and nothing is written.
        if !self.reading(|tree| tree.connection.prepare_cached(wider)?.exists(values))? {
            return Ok(());
        }
        let query = "UPDATE nodes SET root_white = min(root_white, ?1), root_black = min(root_black, ?2) WHERE key = ?3";
        self.writing(|tree| tree.connection.prepare_cached(query)?.execute(values).map(drop))
    }

    /// Lets the tree grow from a position for these sides: its key, and whether the tree did not grow from there for one of
    /// them.
    fn insert_root(&self, position: &Position, sides: ForSides) -> rusqlite::Result<(Key, bool)> {
        let key = self.insert_node(position)?;
        let query = "UPDATE nodes SET root_white = max(root_white, ?1), root_black = max(root_black, ?2) \
                     WHERE key = ?3 AND (root_white < ?1 OR root_black < ?2)";
        let changed =
            self.connection.prepare_cached(query)?.execute(params![sides.white, sides.black, key])?;
        Ok((key, changed > 0))
    }

    /// Makes a node of a position, if it is not in the tree, and returns its key.
    fn insert_node(&self, position: &Position) -> rusqlite::Result<Key> {
        let key = key_of(position);
        let query = "INSERT OR IGNORE INTO nodes (key, fen) VALUES (?, ?)";
        self.connection.prepare_cached(query)?.execute(params![key, position.fen()])?;
        Ok(key)
    }

    /// Adds a move, or the score of a search that is at least as deep as the last one.
    fn insert_edge(
        &self,
        position: &Position,
        m: Move,
        score: Option<(Score, Depth)>,
    ) -> rusqlite::Result<()> {
        let (parent, uci) = (key_of(position), uci(position, m));
        let (depth, score) =
            (score.map(|(_, depth)| depth.get()), score.map(|(score, _)| graph::stored(score)));
        let known = self
            .connection
            .prepare_cached(
                "UPDATE edges SET score = CASE WHEN ?1 >= coalesce(depth, 0) THEN ?2 ELSE score END, \
                                  depth = CASE WHEN ?1 >= coalesce(depth, 0) THEN ?1 ELSE depth END \
                 WHERE parent = ?3 AND move = ?4",
            )?
            .execute(params![depth, score, parent, uci])?;
        if known > 0 {
            return Ok(());
        }
        let child = key_of(&without_clocks(&position.play(m)));
        let closes_cycle = !m.is_zeroing() && graph::leads_to(&self.connection, child, parent)?;
        let query = "INSERT INTO edges (parent, move, child, score, depth, irreversible, circle) \
                     VALUES (?, ?, ?, ?, ?, ?, ?)";
        let values = params![parent, uci, child, score, depth, m.is_zeroing(), closes_cycle];
        self.connection.prepare_cached(query)?.execute(values)?;
        Ok(())
    }

    /// Takes in a search of `position` with `asked` lines, which is row `row` of the table `positions` if it is there. False
    /// if it says nothing new: no move, or less than is known. That of another evaluation replaces all scores or none.
    pub(super) fn enter(
        &self,
        position: &Position,
        search: &TreeSearch,
        asked: usize,
        row: Option<i64>,
    ) -> rusqlite::Result<bool> {
        let key = self.insert_node(position)?;
        let Some(mut known) = graph::node(&self.connection, key)? else { return Ok(false) };
        // The game is over also where nobody can mate any more.
        let legal = if position.is_insufficient_material() { 0 } else { position.legal_moves().len() };
        let found: Vec<_> =
            search.lines.iter().filter_map(|line| Some((line, *line.moves.first()?))).take(legal).collect();
        let lines = found.len().max(asked);
        let is_less =
            lines <= known.lines.unwrap_or(0) && known.own_depth.is_some_and(|depth| depth >= search.depth);
        let is_foreign = known.evaluation.is_some_and(|evaluation| evaluation != search.evaluation_id);
        // Two positions of one key are as good as impossible; a search without result is no search.
        if known.fen != position.fen() || found.is_empty() && legal > 0 || is_less && is_foreign {
            return Ok(false);
        }
        if is_foreign {
            // A node has the scores of one evaluation.
            (known.lines, known.rest) = (None, None);
            let query = "UPDATE edges SET score = NULL, depth = NULL WHERE parent = ?";
            self.connection.prepare_cached(query)?.execute([key])?;
        }
        let known_lines = known.lines.unwrap_or(0);
        let stored = graph::stored;
        if let Some((last, _)) = found.last().filter(|_| !is_less) {
            // A deeper search says that a move is worse than its last line: the better score is refuted.
            let query =
                "UPDATE edges SET score = NULL, depth = NULL WHERE parent = ? AND depth <= ? AND score > ?";
            let values = params![key, search.depth.get(), stored(last.score)];
            self.connection.prepare_cached(query)?.execute(values)?;
        }
        for &(line, m) in &found {
            let is_refuted = is_less && known.rest.is_some_and(|rest| stored(line.score) > stored(rest));
            let score = (!is_refuted).then_some((line.score, search.depth));
            self.insert_edge(position, m, score)?;
        }
        if is_less {
            // Only moves that no other search had among its lines are new.
            graph::back_up(&self.connection, [key])?;
            return Ok(false);
        }
        let own = match found.first() {
            Some((line, _)) => line.score,
            None if position.in_check() => Score::mated_in(Ply::ROOT),
            None => Score::ZERO,
        };
        let others = found.last().filter(|_| lines.max(known_lines) < legal);
        let rest = others.map(|(last, _)| match known.rest {
            Some(rest) if lines < known_lines => rest.min(last.score),
            _ => last.score,
        });
        let row = match row {
            Some(row) => row,
            None => self.insert_search(position, search)?,
        };
        let query = "UPDATE nodes SET search = ?, evaluation = ?, lines = ?, own = ?, rest = ? WHERE key = ?";
        let (own, rest) = (stored(own), rest.map(stored));
        let lines = i64::try_from(lines.max(known_lines)).unwrap_or(i64::MAX);
        let values = params![row, search.evaluation_id, lines, own, rest, key];
        self.connection.prepare_cached(query)?.execute(values)?;
        graph::back_up(&self.connection, [key])?;
        Ok(true)
    }

    /// Writes a search into the tables of an analysis, and returns its row.
    fn insert_search(&self, position: &Position, search: &TreeSearch) -> rusqlite::Result<i64> {
        let (nodes, millis) = (signed(search.nodes), signed(search.millis));
        let query = "INSERT INTO positions (fen, depth, nodes, ms) VALUES (?, ?, ?, ?)";
        let values = params![position.fen(), search.depth.get(), nodes, millis];
        self.connection.prepare_cached(query)?.execute(values)?;
        let row = self.connection.last_insert_rowid();
        insert_lines(&self.connection, row, position, &search.lines)?;
        Ok(row)
    }

    /// Makes a node of each position of the archive, with its search where that holds however the position was reached.
    pub(super) fn add_archive(&self) -> rusqlite::Result<()> {
        let ids: Vec<i64> = {
            let mut all = self.connection.prepare("SELECT id FROM positions ORDER BY id")?;
            all.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for id in ids {
            let query = "SELECT fen, depth, nodes, ms, played_uci FROM positions WHERE id = ?";
            let (fen, depth, nodes, millis, played): (String, i64, i64, i64, Option<String>) =
                self.connection.prepare_cached(query)?.query_row([id], |row| {
                    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?))
                })?;
            let Some(position) = Position::from_fen(&fen) else { continue };
            let mut lines = self
                .connection
                .prepare_cached("SELECT cp, mate, pv, draw FROM lines WHERE position = ? ORDER BY rank")?;
            let lines = lines.query_map([id], |row| {
                let (cp, mate): (Option<i32>, Option<i32>) = (row.get(0)?, row.get(1)?);
                let (pv, draw): (String, i64) = (row.get(2)?, row.get(3)?);
                let score = match (cp, mate) {
                    (_, Some(moves)) => mate_score(moves),
                    (cp, None) => Score::from_printed(cp.unwrap_or(0)),
                };
                let moves = moves_of(&position, &pv);
                Ok(ScoredLine { score, is_drawn: draw == 1000, moves })
            })?;
            let lines = lines.collect::<Result<Vec<_>, _>>()?;
            let search = TreeSearch {
                depth: Depth(i32::try_from(depth).unwrap_or(0)),
                nodes: u64::try_from(nodes).unwrap_or(0),
                millis: u64::try_from(millis).unwrap_or(0),
                evaluation_id: 0,
                lines,
            };
            let depends_on_path = search.depends_on_path(&position);
            let position = without_clocks(&position);
            if let Some(m) = played.and_then(|uci| position.legal_move(&uci)) {
                self.insert_edge(&position, m, None)?;
                self.insert_node(&without_clocks(&position.play(m)))?;
            }
            if depends_on_path {
                let node = self.insert_node(&position)?;
                graph::back_up(&self.connection, [node])?;
            } else {
                self.enter(&position, &search, 0, Some(id))?;
            }
        }
        Ok(())
    }
}

/// The score of a mate in so many moves; negative: of the opponent.
fn mate_score(moves: i32) -> Score {
    let plies = 2 * moves.unsigned_abs().min(100) as u16;
    if moves > 0 { Score::mate_in(Ply(plies - 1)) } else { Score::mated_in(Ply(plies)) }
}
