//! Correction history: by how much search results differed from the static evaluation in similar positions,
//! those with the same pawns, the same pieces of one side, or the same last move. (First in Caissa, 2023; then
//! Stockfish.)
//!
//! The evaluation errs in the same direction as long as the cause of the error is on the board, and every search result
//! that differs from it is a sample of that error. Four tables average these samples; their mean is added to the next
//! evaluation.

use shakmaty::Color;

use super::{
    super::params::*,
    MoveIndex,
    entry::{table, update_with_gravity},
};
use crate::{
    position::Position,
    types::{Depth, Score, prefetch},
};

/// Entries of each table for each side to move; the key modulo this is the index.
const ENTRIES: usize = 16_384;
/// Entries are in 16ths of a unit.
const GRAIN: i32 = 16;

/// Corrections of the static evaluation, learned during the search.
pub struct CorrectionHistory {
    pawns: Box<[i16]>,
    non_pawns: [Box<[i16]>; 2],
    continuation: Box<[i16]>,
}

fn slot(color: Color, key: u64) -> usize {
    color as usize * ENTRIES + key as usize % ENTRIES
}

impl CorrectionHistory {
    pub fn new() -> CorrectionHistory {
        CorrectionHistory {
            pawns: table(0, 2 * ENTRIES),
            non_pawns: [table(0, 2 * ENTRIES), table(0, 2 * ENTRIES)],
            continuation: table(0, 2 * MoveIndex::COUNT),
        }
    }

    /// Prefetches what [`CorrectionHistory::get`] reads, except the small continuation table.
    pub fn prefetch(&self, position: &Position) {
        let (us, keys) = (position.turn(), position.keys());
        prefetch(&self.pawns[slot(us, keys.pawns.0)]);
        for side in 0..2 {
            prefetch(&self.non_pawns[side][slot(us, keys.non_pawns[side].0)]);
        }
    }

    /// The correction for the side to move, in internal units.
    pub fn get(&self, position: &Position, last: MoveIndex) -> i32 {
        let (us, keys) = (position.turn(), position.keys());
        let pawns = i32::from(self.pawns[slot(us, keys.pawns.0)]);
        let non_pawns: i32 =
            (0..2).map(|side| i32::from(self.non_pawns[side][slot(us, keys.non_pawns[side].0)])).sum();
        let continuation = i32::from(self.continuation[us as usize * MoveIndex::COUNT + last.index()]);
        (pawns + non_pawns + continuation) / (correction_div() * GRAIN)
    }

    /// Updates all tables: a search of `depth` found `score`, and `static_eval` is the corrected static evaluation.
    pub fn update(
        &mut self,
        position: &Position,
        last: MoveIndex,
        depth: Depth,
        score: Score,
        static_eval: Score,
    ) {
        let limit = correction_max() * GRAIN;
        let weight = depth.get().min(correction_depth_max());
        let bonus = (score - static_eval) * weight * GRAIN / correction_depth_div();
        let bonus = bonus.clamp(-limit / correction_bonus_div(), limit / correction_bonus_div());
        let (us, keys) = (position.turn(), position.keys());
        update_with_gravity(&mut self.pawns[slot(us, keys.pawns.0)], bonus, limit);
        for side in 0..2 {
            let entry = &mut self.non_pawns[side][slot(us, keys.non_pawns[side].0)];
            update_with_gravity(entry, bonus, limit);
        }
        let entry = &mut self.continuation[us as usize * MoveIndex::COUNT + last.index()];
        update_with_gravity(entry, bonus, limit);
    }
}
