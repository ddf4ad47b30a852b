//! The tree: positions that were searched, connected by moves, in a file that grows over hours and is played from.
//!
//! ```text
//!   roots ──► the leaf with the least cost ──► a search ──► its lines become moves
//!     ▲                                                          │
//!     '──────── scores and costs are backed up, parent by parent ◄┘
//! ```
//! **Growth** is best first, as in the drop-out expansion of opening books (Lincke 2000): searched next is the leaf with
//! the least cost. Here the cost is how unlikely a game gets there, in bits: the side that the tree is for plays its
//! best moves, its opponent any plausible one, by its score and by the games that met it. A search
//! with several lines gives a position its moves; if all of them turn out worse than the last of these lines, it is
//! searched again with more lines.
//!
//! **Scores** are backed up by negamax through a graph: a position that several lines reach is there once. A move that
//! would close a cycle of positions is no path to a score: it keeps the score of the search, and the graph of all other
//! moves has no cycle, so that backing up ends and no score rests on itself. That a repetition is a draw is known only
//! along the path of a game, and stored nowhere: the position alone finds the move, position and path together allow the
//! score, as in semi-path-dependent hashing.
//!
//! **The file** is an SQLite database, whose tables `games`, `positions` and `lines` are those of `engram analyse
//! --sqlite`: `engram tree FILE add` makes a tree of an archive of analysed games. Each search is one transaction, so a
//! process that is killed loses the searches under way and nothing else; readers and several writers share a file.

mod claims;
mod error;
mod graph;
mod growth;
mod nearest;
mod notation;
mod schema;
mod store;
#[cfg(test)]
mod tests;
mod view;
mod write;

pub use self::{
    error::TreeError,
    growth::{Advice, Job},
    nearest::{KnownPosition, Nearest},
    schema::{ARCHIVE_SCHEMA, database_path, insert_lines, signed},
    store::{Access, Tree},
    view::{MoveView, PositionView, TreeSize},
    write::{ForSides, PlayedLine},
};
use crate::{
    learn::{Origin, Record},
    position::Position,
    syzygy::CURSED,
    types::{Depth, FIFTY_MOVE_MARGIN, ScoredLine},
};

/// What a search of a position found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSearch {
    /// Depth in plies.
    pub depth: Depth,
    /// Nodes searched.
    pub nodes: u64,
    /// Time in milliseconds.
    pub millis: u64,
    /// The fingerprint of the evaluation that the scores come from; 0 if it is not known.
    pub evaluation_id: u16,
    /// The lines, best first; none where the game is over.
    pub lines: Vec<ScoredLine>,
}

impl TreeSearch {
    /// May its scores rest on how a game reached `position`: on the fifty-move clock, or on a position that comes again?
    /// A draw may, and a score as small as that of a tablebase win that comes too late.
    /// They then say nothing about the position in a tree, which has no clock.
    fn depends_on_path(&self, position: &Position) -> bool {
        let clock = position.halfmoves();
        let draws = self.lines.iter().any(|line| line.is_drawn || line.score.0.abs() <= CURSED.0);
        clock > 0 && (draws || clock as i32 + self.depth.get() + FIFTY_MOVE_MARGIN >= 100)
    }

    /// The search that a record of the learning file comes from, if its score is exact and holds however the position was
    /// reached. None for a record that a tree has published: its score is backed up.
    pub fn of_record(record: &Record) -> Option<(Position, TreeSearch)> {
        let is_search =
            matches!(record.origin, Origin::EveryRoot | Origin::Study | Origin::Import | Origin::Opening);
        let is_exact = record.lower == record.upper && !record.lower.is_none();
        let (position, best) = record.position_and_move().ok()?;
        let best = best.filter(|_| is_search && is_exact && !record.is_published() && record.depth > 0)?;
        let line = ScoredLine { score: record.lower.to_score(), is_drawn: false, moves: vec![best] };
        let search = TreeSearch {
            depth: Depth(i32::from(record.depth)),
            nodes: 1 << record.log2_nodes.min(62),
            millis: 0,
            evaluation_id: record.evaluation_id,
            lines: vec![line],
        };
        (!search.depends_on_path(&position)).then_some((position, search))
    }
}
