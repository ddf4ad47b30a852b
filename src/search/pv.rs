//! The principal variation of each ply, updated as the search returns.

use shakmaty::Move;

use crate::types::{MAX_PLY, Ply};

/// One line for each ply; a parent's line is its move and the child's line.
pub struct PvTable(Vec<Vec<Move>>);

impl PvTable {
    pub fn new() -> PvTable {
        PvTable((0..MAX_PLY + 2).map(|_| Vec::with_capacity(32)).collect())
    }

    /// The best line known from `ply`.
    pub fn line(&self, ply: Ply) -> &[Move] {
        &self.0[ply.index()]
    }

    /// A new node at `ply` has no line yet.
    pub fn clear(&mut self, ply: Ply) {
        self.0[ply.index()].clear();
    }

    /// The line from `ply` comes from an earlier search.
    pub fn set(&mut self, ply: Ply, line: Vec<Move>) {
        self.0[ply.index()] = line;
    }

    /// `m` is now best at `ply`, followed by the child's line.
    pub fn extend(&mut self, ply: Ply, m: Move) {
        let (upper, lower) = self.0.split_at_mut(ply.index() + 1);
        let line = &mut upper[ply.index()];
        line.clear();
        line.push(m);
        line.extend_from_slice(&lower[0]);
    }
}
