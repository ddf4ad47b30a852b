//! Continuation history: a move is good or bad as an answer to another, or as its continuation two moves later.

use shakmaty::{Color, Move};

use super::entry::{MOVES, piece_to, table, update_with_gravity};
use crate::search::params::history_max;

/// A move as continuation history indexes it: which piece went to which square. The default stands for
/// "no move" (before the root, after a null move).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MoveIndex(u16);

impl Default for MoveIndex {
    fn default() -> MoveIndex {
        MoveIndex(MOVES as u16)
    }
}

impl MoveIndex {
    pub fn new(color: Color, m: Move) -> MoveIndex {
        MoveIndex(piece_to(color, m.role(), m.to()) as u16)
    }

    /// Index below [`MoveIndex::COUNT`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Number of different indices, "no move" included.
    pub const COUNT: usize = MOVES + 1;
}

/// Continuation history: quiet moves by an earlier move of either side, the reply and the follow-up at once.
pub struct ContinuationHistory(Box<[[i16; MOVES]]>);

impl ContinuationHistory {
    pub fn new() -> ContinuationHistory {
        ContinuationHistory(table([0; MOVES], MoveIndex::COUNT))
    }

    /// The history of every move after an earlier one.
    pub fn after(&self, earlier: MoveIndex) -> &[i16; MOVES] {
        &self.0[earlier.index()]
    }

    pub fn update(&mut self, earlier: MoveIndex, now: MoveIndex, bonus: i32) {
        if earlier != MoveIndex::default() {
            let entry = &mut self.0[earlier.index()][now.index().min(MOVES - 1)];
            update_with_gravity(entry, bonus, history_max());
        }
    }
}
