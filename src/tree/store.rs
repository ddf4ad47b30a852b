//! The file: opened, made, and written in transactions.

use std::{
    collections::HashSet,
    io::Read as _,
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior, params};
use shakmaty::{
    CastlingMode, Color, EnPassantMode, Move, Outcome, Position as _,
    fen::{Epd, Fen},
    san::SanPlus,
    uci::UciMove,
};

use super::{
    Advice, Job, TreeError, TreeSearch,
    graph::{self, Key},
};
use crate::{
    files,
    position::Position,
    types::{ChanceModel, Depth, Ply, Score},
};

/// The version of the schema, SQLite's `user_version`.
const VERSION: i64 = 1;
/// How long another process that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// Seconds for which a position is claimed.
const CLAIMED: i64 = 600;
/// The first bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The tables that `engram analyse --sqlite` writes; those of a tree are beside them.
pub const ARCHIVE_SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS games (
    id INTEGER PRIMARY KEY,   -- in the order of the input, from 1
    file TEXT NOT NULL,
    number INTEGER NOT NULL,  -- in its file, from 1
    line INTEGER NOT NULL,    -- of its file, where it begins
    white TEXT, black TEXT, event TEXT, site TEXT, date TEXT,
    result TEXT NOT NULL,     -- 1-0, 0-1, 1/2-1/2 or *
    eco TEXT, opening TEXT,
    white_accuracy REAL, black_accuracy REAL   -- percent
);
CREATE TABLE IF NOT EXISTS positions (
    id INTEGER PRIMARY KEY,
    game INTEGER REFERENCES games,   -- NULL for a position that stands alone
    file TEXT,                       -- of a position that stands alone
    name TEXT,                       -- id of an EPD line
    ply INTEGER,                     -- from the begin of the game
    variation INTEGER,               -- its number in the game, from 1; NULL in the game itself
    parent INTEGER,                  -- the variation that this one leaves; NULL for the game
    fen TEXT NOT NULL,
    played TEXT, played_uci TEXT,    -- the move of the game
    chances_lost REAL,               -- by that move, in percent
    judgement TEXT,                  -- inaccuracy, mistake or blunder
    depth INTEGER NOT NULL, nodes INTEGER NOT NULL, ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS lines (
    position INTEGER NOT NULL REFERENCES positions,
    rank INTEGER NOT NULL,           -- from 1
    cp INTEGER, mate INTEGER,        -- one of them, for the side to move
    win INTEGER NOT NULL, draw INTEGER NOT NULL, loss INTEGER NOT NULL,   -- per mille
    best TEXT NOT NULL,              -- first move, standard notation
    pv TEXT NOT NULL,                -- all moves, UCI notation
    PRIMARY KEY (position, rank)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS positions_by_game ON positions (game, ply);
";

/// The tables of a tree.
const SCHEMA: &str = "
CREATE TABLE nodes (                 -- a position of the tree
    key INTEGER PRIMARY KEY,         -- its Polyglot key, as a signed number
    fen TEXT NOT NULL,               -- with its clocks at zero
    search INTEGER REFERENCES positions, -- the search that its moves come from; NULL: not searched
    evaluation INTEGER,              -- fingerprint of the evaluation of that search; 0: not known
    lines INTEGER,                   -- number of lines of that search
    own INTEGER,                     -- score of that search
    rest INTEGER,                    -- moves not in the tree score at most this; NULL: there are none
    score INTEGER,                   -- backed up from the moves
    depth INTEGER,                   -- of the search that the score comes from, and the plies to it
    best TEXT,                       -- the best move, UCI notation
    cost_white INTEGER, cost_black INTEGER, -- to the next leaf, in hundredths of a bit; NULL: none is left
    root_white INTEGER NOT NULL DEFAULT 0, root_black INTEGER NOT NULL DEFAULT 0, -- does a tree begin here?
    focus INTEGER NOT NULL DEFAULT 0,    -- does the tree grow only below here?
    changed INTEGER NOT NULL DEFAULT 0   -- seconds since 1970 when best move or score changed last
);
-- Scores of nodes and edges are for the side to move: centipawns up to 30000; 32000 - n: mate in n plies; 31000 - n: a
-- tablebase win in n plies; negative for the opponent.
CREATE INDEX nodes_root_white ON nodes (cost_white) WHERE root_white;
CREATE INDEX nodes_root_black ON nodes (cost_black) WHERE root_black;
CREATE INDEX nodes_focus ON nodes (focus) WHERE focus;
CREATE TABLE edges (                 -- a move
    parent INTEGER NOT NULL, move TEXT NOT NULL, -- UCI notation
    child INTEGER NOT NULL,          -- the key of the position after it, which is a node or will be one
    score INTEGER, depth INTEGER,    -- by the search of the parent; NULL: none of its lines
    games INTEGER NOT NULL DEFAULT 0, white_wins INTEGER NOT NULL DEFAULT 0, black_wins INTEGER NOT NULL DEFAULT 0,
    advice INTEGER NOT NULL DEFAULT 0,   -- 1 preferred, -1 excluded
    irreversible INTEGER NOT NULL,   -- a capture or a pawn move
    circle INTEGER NOT NULL,         -- closes a circle of positions: the score is that of the search
    searches INTEGER NOT NULL DEFAULT 0, -- made by way of this move
    PRIMARY KEY (parent, move)
) WITHOUT ROWID;
CREATE INDEX edges_by_child ON edges (child);
CREATE TABLE added (                 -- games that were added
    hash INTEGER PRIMARY KEY
);
CREATE TABLE claims (                -- positions that some process searches
    key INTEGER PRIMARY KEY, until INTEGER NOT NULL   -- seconds since 1970
);
";

/// How a tree is opened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// To be read.
    Read,
    /// To be written; it must be there.
    Write,
    /// To be written; made if it is missing.
    Create,
}

/// Whose moves a tree is to find.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ForSides {
    /// White's.
    pub white: bool,
    /// Black's.
    pub black: bool,
}

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

/// What adding changed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Positions that were not in the tree.
    pub positions: u64,
    /// Is it a game that was added before? Then nothing changed.
    pub was_known: bool,
}

/// A tree.
pub struct Tree {
    connection: Connection,
    path: PathBuf,
}

impl Tree {
    /// Opens a tree. A database of `engram analyse --sqlite` that is opened for writing becomes one.
    ///
    /// # Errors
    /// See [`TreeError`]; the file is as it was.
    pub fn open(path: &Path, access: Access) -> Result<Tree, TreeError> {
        let foreign = |what: &str| TreeError::Foreign(path.to_owned(), what.to_owned());
        match files::info_at(path) {
            Ok(info) if info.not_a_file.is_some() => {
                return Err(foreign(info.not_a_file.unwrap_or_default()));
            }
            Ok(info) if info.length > 0 => {
                let mut magic = [0; MAGIC.len()];
                let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
                if read.is_err() || magic != MAGIC {
                    return Err(foreign("no SQLite database"));
                }
            }
            Ok(_) if access == Access::Read => return Err(foreign("an empty file")),
            Err(_) if access != Access::Create => return Err(TreeError::Missing(path.to_owned())),
            _ => {}
        }
        let flags = match access {
            Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
            Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Access::Create => OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE,
        };
        let opened = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX);
        let connection = opened.map_err(|error| TreeError::of(path, &error))?;
        let mut tree = Tree { connection, path: path.to_owned() };
        tree.reading(|tree| tree.connection.busy_timeout(PATIENCE))?;
        let version = tree.reading(|tree| tree.version())?;
        match (version, access) {
            (VERSION, _) => {}
            (0, Access::Read) => return Err(foreign("a database without a tree")),
            (0, _) => tree.begin()?,
            _ => return Err(TreeError::Version(path.to_owned(), version, VERSION)),
        }
        if access != Access::Read {
            // Readers see the last state while another process writes. What a killed process committed is there; a power
            // failure may lose the last seconds, and never damages the file.
            tree.reading(|tree| {
                tree.connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
            })?;
        }
        Ok(tree)
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    fn version(&self) -> rusqlite::Result<i64> {
        self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))
    }

    /// Makes the tables, and takes in the searches of an archive.
    fn begin(&mut self) -> Result<(), TreeError> {
        self.writing(|tree| {
            // Another process may have made them meanwhile.
            if tree.version()? == VERSION {
                return Ok(());
            }
            tree.connection.execute_batch(ARCHIVE_SCHEMA)?;
            tree.connection.execute_batch(SCHEMA)?;
            tree.connection.pragma_update(None, "user_version", VERSION)?;
            tree.take_in_archive()
        })
    }

    /// Makes a node of each position that the archive has searched.
    fn take_in_archive(&self) -> rusqlite::Result<()> {
        let ids: Vec<i64> = {
            let mut all = self.connection.prepare("SELECT id FROM positions ORDER BY id")?;
            all.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for id in ids {
            let query = "SELECT fen, depth, nodes, ms FROM positions WHERE id = ?";
            let (fen, depth, nodes, millis): (String, i64, i64, i64) = self
                .connection
                .prepare_cached(query)?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
            let Some(position) = position_of(&fen) else { continue };
            let mut lines = self
                .connection
                .prepare_cached("SELECT cp, mate, pv, draw FROM lines WHERE position = ? ORDER BY rank")?;
            let lines = lines.query_map([id], |row| {
                let (cp, mate): (Option<i32>, Option<i32>) = (row.get(0)?, row.get(1)?);
                let (pv, draw): (String, i64) = (row.get(2)?, row.get(3)?);
                let score = match (cp, mate) {
                    (_, Some(moves)) => mate_score(moves),
                    (cp, None) => Score::from_centipawns(cp.unwrap_or(0)).clamp_evaluation(),
                };
                let moves = moves_of(&position, &pv);
                Ok(super::TreeLine { score, is_drawn: draw == 1000, moves })
            })?;
            let lines = lines.collect::<Result<Vec<_>, _>>()?;
            let search = TreeSearch {
                depth: Depth(i32::try_from(depth).unwrap_or(0)),
                nodes: u64::try_from(nodes).unwrap_or(0),
                millis: u64::try_from(millis).unwrap_or(0),
                evaluation_id: 0,
                lines: lines.into_iter().filter(|line| !line.moves.is_empty()).collect(),
            };
            self.enter(&position, &search, Some(id))?;
        }
        Ok(())
    }

    /// Runs `read`, turning what SQLite says into an error of ours.
    pub(super) fn reading<T>(&self, read: impl FnOnce(&Tree) -> rusqlite::Result<T>) -> Result<T, TreeError> {
        read(self).map_err(|error| TreeError::of(&self.path, &error))
    }

    /// Runs `write` in a transaction of its own: all of it is in the file afterwards, or nothing.
    pub(super) fn writing<T>(
        &mut self,
        write: impl FnOnce(&Tree) -> rusqlite::Result<T>,
    ) -> Result<T, TreeError> {
        self.reading(|tree| {
            let transaction = Transaction::new_unchecked(&tree.connection, TransactionBehavior::Immediate)?;
            let done = write(tree)?;
            transaction.commit()?;
            Ok(done)
        })
    }

    /// Adds a position from which the tree is to grow for these sides.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_root(&mut self, position: &Position, sides: ForSides) -> Result<Added, TreeError> {
        self.add_line(&PlayedLine { start: position, moves: &[], outcome: Outcome::Unknown }, sides, None)
    }

    /// Adds the positions of a game, from whose start the tree is to grow; `identity` tells the game from all others,
    /// and one that was added before is not counted again.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_line(
        &mut self,
        line: &PlayedLine<'_>,
        sides: ForSides,
        identity: Option<u64>,
    ) -> Result<Added, TreeError> {
        self.writing(|tree| {
            let mut added = Added::default();
            if let Some(identity) = identity {
                let query = "INSERT OR IGNORE INTO added VALUES (?)";
                if tree.connection.prepare_cached(query)?.execute([identity as i64])? == 0 {
                    return Ok(Added { was_known: true, ..added });
                }
            }
            let mut position = without_clocks(line.start);
            let mut changed = vec![tree.insert_node(&position, &mut added)?];
            let query = "UPDATE nodes SET root_white = max(root_white, ?), root_black = max(root_black, ?) WHERE key = ?";
            tree.connection.prepare_cached(query)?.execute(params![sides.white, sides.black, changed[0]])?;
            for &m in line.moves {
                tree.insert_edge(&position, m, None)?;
                tree.count_game(&position, m, line.outcome)?;
                position = without_clocks(&position.play(m));
                changed.push(tree.insert_node(&position, &mut added)?);
            }
            changed.reverse();
            graph::back_up(&tree.connection, changed, now())?;
            Ok(added)
        })
    }

    /// Adds a move after a position of the tree, as if a game had met it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_move(&mut self, position: &Position, m: Move) -> Result<Added, TreeError> {
        let neither = ForSides { white: false, black: false };
        let line = PlayedLine { start: position, moves: &[m], outcome: Outcome::Unknown };
        self.add_line(&line, neither, None)
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

    /// Takes in a search that was made outside of the tree.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn add_search(&mut self, position: &Position, search: &TreeSearch) -> Result<(), TreeError> {
        self.writing(|tree| tree.enter(&without_clocks(position), search, None))
    }

    /// Takes in the search of a job.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn record(&mut self, job: &Job, search: &TreeSearch) -> Result<(), TreeError> {
        self.writing(|tree| {
            tree.enter(&job.position, search, None)?;
            tree.unclaim(&job.position)?;
            let query = "UPDATE edges SET searches = searches + 1 WHERE parent = ? AND move = ?";
            let mut count = tree.connection.prepare_cached(query)?;
            job.path.iter().try_for_each(|step| count.execute(params![step.0, step.1]).map(|_| ()))
        })
    }

    /// Gives a job back that was not done.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn release(&mut self, job: &Job) -> Result<(), TreeError> {
        self.writing(|tree| tree.unclaim(&job.position))
    }

    /// The keys of the positions that some process searches. Claims of dead processes run out.
    pub(super) fn claimed(&self) -> rusqlite::Result<HashSet<Key>> {
        self.connection.prepare_cached("DELETE FROM claims WHERE until < ?")?.execute([now()])?;
        let mut claimed = self.connection.prepare_cached("SELECT key FROM claims")?;
        claimed.query_map([], |row| row.get(0))?.collect()
    }

    pub(super) fn claim(&self, position: &Position) -> rusqlite::Result<()> {
        let query = "INSERT OR REPLACE INTO claims VALUES (?, ?)";
        self.connection.prepare_cached(query)?.execute([key_of(position), now() + CLAIMED])?;
        Ok(())
    }

    fn unclaim(&self, position: &Position) -> rusqlite::Result<()> {
        self.connection.prepare_cached("DELETE FROM claims WHERE key = ?")?.execute([key_of(position)])?;
        Ok(())
    }

    /// Says of the move after `position` what a person advises; nothing takes it back.
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
            tree.insert_edge(&position, m, None)?;
            let advice = advice.map_or(0, |advice| advice as i64);
            let query = "UPDATE edges SET advice = ? WHERE parent = ? AND move = ?";
            tree.connection.prepare_cached(query)?.execute(params![advice, key, uci(&position, m)])?;
            graph::back_up(&tree.connection, [key], now())?;
            Ok(true)
        })
    }

    /// Lets the tree grow below this position alone, or everywhere again. False if it is not in the tree.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn focus(&mut self, position: Option<&Position>) -> Result<bool, TreeError> {
        self.writing(|tree| {
            tree.connection.execute("UPDATE nodes SET focus = 0 WHERE focus", [])?;
            let Some(position) = position else { return Ok(true) };
            let query = "UPDATE nodes SET focus = 1 WHERE key = ?";
            Ok(tree.connection.execute(query, [key_of(&without_clocks(position))])? == 1)
        })
    }

    /// The roots of the tree for `side` that are nearest to their next leaf, or the position in focus.
    pub(super) fn cheapest_roots(&self, side: Color, most: usize) -> rusqlite::Result<Vec<(Key, i64)>> {
        let cost = side.fold_wb("cost_white", "cost_black");
        let root = side.fold_wb("root_white", "root_black");
        let any = format!("SELECT 1 FROM nodes WHERE {root} LIMIT 1");
        if self.connection.prepare_cached(&any)?.query_row([], |_| Ok(())).optional()?.is_none() {
            return Ok(Vec::new());
        }
        let is_focused = "SELECT 1 FROM nodes WHERE focus LIMIT 1";
        let focused = self.connection.prepare_cached(is_focused)?.query_row([], |_| Ok(())).optional()?;
        let begins = if focused.is_some() { "focus" } else { root };
        let query = format!(
            "SELECT key, {cost} FROM nodes WHERE {begins} AND {cost} IS NOT NULL ORDER BY {cost} LIMIT ?"
        );
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let mut roots = self.connection.prepare_cached(&query)?;
        roots.query_map([most], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
    }

    /// The position of a key.
    pub(super) fn position(&self, key: Key) -> rusqlite::Result<Option<Position>> {
        Ok(graph::node(&self.connection, key)?.and_then(|node| position_of(&node.fen)))
    }

    /// Makes a node of a position, if it is not in the tree.
    fn insert_node(&self, position: &Position, added: &mut Added) -> rusqlite::Result<Key> {
        let key = key_of(position);
        let query = "INSERT OR IGNORE INTO nodes (key, fen) VALUES (?, ?)";
        let inserted = self.connection.prepare_cached(query)?.execute(params![key, fen(position)])?;
        added.positions += inserted as u64;
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
        let circle = !m.is_zeroing() && graph::leads_to(&self.connection, child, parent)?;
        let query = "INSERT INTO edges (parent, move, child, score, depth, irreversible, circle) \
                     VALUES (?, ?, ?, ?, ?, ?, ?)";
        let values = params![parent, uci, child, score, depth, m.is_zeroing(), circle];
        self.connection.prepare_cached(query)?.execute(values)?;
        Ok(())
    }

    /// Takes in a search of `position`, which is row `row` of the table `positions` if it is there.
    fn enter(&self, position: &Position, search: &TreeSearch, row: Option<i64>) -> rusqlite::Result<()> {
        let key = self.insert_node(position, &mut Added::default())?;
        let Some(known) = graph::node(&self.connection, key)? else { return Ok(()) };
        let legal = position.legal_moves().len();
        // Two positions of one key are as good as impossible; a search without result is no search.
        if known.fen != fen(position) || search.lines.is_empty() && legal > 0 {
            return Ok(());
        }
        for line in &search.lines {
            if let Some(&m) = line.moves.first() {
                self.insert_edge(position, m, Some((line.score, search.depth)))?;
            }
        }
        let own = match search.lines.first() {
            Some(line) => line.score,
            None if position.in_check() => Score::mated_in(Ply::ROOT),
            None => Score::ZERO,
        };
        let lines = search.lines.len().max(known.lines.unwrap_or(0));
        let rest = match search.lines.last() {
            _ if lines >= legal => None,
            Some(last) if search.lines.len() == lines => Some(last.score),
            _ => known.rest,
        };
        let row = match row {
            Some(row) => row,
            None => self.insert_search(position, search)?,
        };
        let query = "UPDATE nodes SET search = ?, evaluation = ?, lines = ?, own = ?, rest = ? WHERE key = ?";
        let (own, rest) = (graph::stored(own), rest.map(graph::stored));
        let lines = i64::try_from(lines).unwrap_or(i64::MAX);
        let values = params![row, search.evaluation_id, lines, own, rest, key];
        self.connection.prepare_cached(query)?.execute(values)?;
        graph::back_up(&self.connection, [key], now())
    }

    /// Writes a search into the tables of an analysis, and returns its row.
    fn insert_search(&self, position: &Position, search: &TreeSearch) -> rusqlite::Result<i64> {
        let signed = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let (nodes, millis) = (signed(search.nodes), signed(search.millis));
        let query = "INSERT INTO positions (fen, depth, nodes, ms) VALUES (?, ?, ?, ?)";
        let values = params![fen(position), search.depth.get(), nodes, millis];
        self.connection.prepare_cached(query)?.execute(values)?;
        let row = self.connection.last_insert_rowid();
        for (rank, line) in (1..).zip(&search.lines) {
            let Some(&first) = line.moves.first() else { continue };
            let [win, draw, loss] = match line.is_drawn {
                true => [0, 1000, 0],
                false => ChanceModel::PRINTED.per_mille(line.score, position.material_points()),
            };
            let mate = line.score.mate_moves();
            let cp = mate.is_none().then(|| line.score.centipawns());
            let best = SanPlus::from_move(position.chess().clone(), first).to_string();
            let mut at = position.clone();
            let mut pv = Vec::new();
            for &m in &line.moves {
                pv.push(uci(&at, m));
                at = at.play(m);
            }
            let values = params![row, rank, cp, mate, win, draw, loss, best, pv.join(" ")];
            let query = "INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
            self.connection.prepare_cached(query)?.execute(values)?;
        }
        Ok(row)
    }
}

/// Seconds since 1970.
fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(0))
}

/// The key of a position as SQLite keeps it.
pub(super) fn key_of(position: &Position) -> Key {
    position.key().0 as Key
}

/// A position as it is in the tree: nothing of how it was reached.
pub(super) fn without_clocks(position: &Position) -> Position {
    position_of(&fen(position)).unwrap_or_else(|| position.clone())
}

/// The FEN of a position in the tree. Its en-passant square is there whenever the key has it.
fn fen(position: &Position) -> String {
    format!("{} 0 1", Epd::from_position(position.chess(), EnPassantMode::PseudoLegal))
}

pub(super) fn position_of(fen: &str) -> Option<Position> {
    let setup = fen.parse::<Fen>().ok()?.into_setup();
    let mode = CastlingMode::detect(&setup);
    Position::from_setup(setup, mode).ok()
}

/// A move in UCI notation as the tree has it.
pub(super) fn uci(position: &Position, m: Move) -> String {
    m.to_uci(position.chess().castles().mode()).to_string()
}

/// A move of the tree, if it is legal.
pub(super) fn legal(position: &Position, uci: &str) -> Option<Move> {
    uci.parse::<UciMove>().ok()?.to_move(position.chess()).ok()
}

/// The score of a mate in so many moves; negative: of the opponent.
fn mate_score(moves: i32) -> Score {
    let plies = 2 * moves.unsigned_abs().min(100) as u16;
    if moves > 0 { Score::mate_in(Ply(plies - 1)) } else { Score::mated_in(Ply(plies)) }
}

/// The moves of a text in UCI notation, up to the first that is not legal.
pub(super) fn moves_of(position: &Position, text: &str) -> Vec<Move> {
    let mut at = position.clone();
    let play = |uci| {
        let m = legal(&at, uci)?;
        at = at.play(m);
        Some(m)
    };
    text.split(' ').map_while(play).collect()
}
