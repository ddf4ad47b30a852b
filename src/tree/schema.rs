//! The tables.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use shakmaty::{Position as _, san::SanPlus};

use crate::{position::Position, types::ScoredLine};

/// The version of the schema, SQLite's `user_version`.
pub(super) const VERSION: i64 = 1;

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
    ply INTEGER,                     -- from the beginning of the game
    variation INTEGER,               -- its number in the game, from 1; NULL in the game itself
    parent INTEGER,                  -- the variation that this one leaves; NULL for the game
    fen TEXT NOT NULL,
    played TEXT, played_uci TEXT,    -- the move of the game
    chances_lost REAL,               -- by that move, in percent
    judgement TEXT,                  -- inaccuracy, mistake, blunder, good or brilliant
    depth INTEGER NOT NULL, nodes INTEGER NOT NULL, ms INTEGER NOT NULL,
    solved INTEGER,                  -- 1 or 0; NULL without `bm`, `am` and `dm`
    solved_after_ms INTEGER,         -- when the solution was found for good
    points INTEGER                   -- of the move found, by `c8` and `c9`
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
pub(super) const SCHEMA: &str = "
CREATE TABLE nodes (                 -- a position of the tree
    key INTEGER PRIMARY KEY,         -- its Polyglot key, as a signed number
    fen TEXT NOT NULL,               -- with half-move clock 0 and move number 1
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
    advice INTEGER NOT NULL DEFAULT 0,   -- 1 preferred, -1 excluded; not the advice of `engram learn`
    irreversible INTEGER NOT NULL,   -- a capture or a pawn move
    circle INTEGER NOT NULL,         -- closes a cycle of positions: the score is that of the search
    searches INTEGER NOT NULL DEFAULT 0, -- made by way of this move
    PRIMARY KEY (parent, move)
) WITHOUT ROWID;
CREATE INDEX edges_by_child ON edges (child);
CREATE TABLE added (                 -- games that were added
    hash INTEGER PRIMARY KEY,
    plies INTEGER NOT NULL           -- of it that are counted
);
CREATE TABLE claims (                -- positions that some process searches
    key INTEGER PRIMARY KEY,
    until INTEGER NOT NULL,          -- seconds since 1970
    process INTEGER NOT NULL
);
";

/// The path by which SQLite opens a file: it gives a meaning of its own to some names, such as `:memory:` and `file:…`, but
/// to no absolute path.
pub fn database_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Nodes or milliseconds as SQLite stores them; its integers have a sign.
pub fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Adds the lines of a search of `position`, whose row in the table `positions` is `row`.
///
/// # Errors
/// The file cannot be written.
pub fn insert_lines(
    connection: &Connection,
    row: i64,
    position: &Position,
    lines: &[ScoredLine],
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached("INSERT INTO lines VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (rank, line) in (1..).zip(lines) {
        let Some(&first) = line.moves.first() else { continue };
        let [win, draw, loss] = line.wdl(position.material_points());
        let mate = line.score.mate_moves();
        let cp = mate.is_none().then(|| line.score.centipawns());
        let best = SanPlus::from_move(position.chess().clone(), first).to_string();
        let pv = line.uci(position.chess().castles().mode()).join(" ");
        insert.execute(params![row, rank, cp, mate, win, draw, loss, best, pv])?;
    }
    Ok(())
}
