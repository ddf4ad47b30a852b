//! How far search results lay from the static evaluation in positions of the same kind: same pawns, same
//! men of one side, same last move. (Correction history: first in Caissa, 2023; then Stockfish.)

use shakmaty::Color;

use super::{MoveIndex, table, update_with_gravity};
use crate::{
    position::Position,
    types::{Depth, Score, prefetch},
};

const ENTRIES: usize = 16_384;
/// Entries are in so many parts of a centipawn.
const GRAIN: i32 = 16;
const LIMIT: i32 = 96 * GRAIN;

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
            pawns: table(2 * ENTRIES),
            non_pawns: [table(2 * ENTRIES), table(2 * ENTRIES)],
            continuation: table(2 * MoveIndex::COUNT),
        }
    }

    /// Brings near what is asked about a position.
    pub fn prefetch(&self, position: &Position) {
        let (us, keys) = (position.turn(), position.keys());
        prefetch(&self.pawns[slot(us, keys.pawns.0)]);
        for side in 0..2 {
            prefetch(&self.non_pawns[side][slot(us, keys.non_pawns[side].0)]);
        }
    }

    /// The correction for the side to move, in centipawns.
    pub fn get(&self, position: &Position, last: MoveIndex) -> i32 {
        let (us, keys) = (position.turn(), position.keys());
        let pawns = i32::from(self.pawns[slot(us, keys.pawns.0)]);
        let non_pawns: i32 =
            (0..2).map(|side| i32::from(self.non_pawns[side][slot(us, keys.non_pawns[side].0)])).sum();
        let continuation = i32::from(self.continuation[us as usize * MoveIndex::COUNT + last.index()]);
        (pawns * 2 + non_pawns + continuation) / (2 * GRAIN)
    }

    /// Learns that a search of `depth` found `score` where the corrected evaluation was `evaluation`.
    pub fn update(
        &mut self,
        position: &Position,
        last: MoveIndex,
        depth: Depth,
        score: Score,
        evaluation: Score,
    ) {
        let bonus = ((score - evaluation) * depth.get().min(16) * GRAIN / 8).clamp(-LIMIT / 4, LIMIT / 4);
        let (us, keys) = (position.turn(), position.keys());
        update_with_gravity(&mut self.pawns[slot(us, keys.pawns.0)], bonus, LIMIT);
        for side in 0..2 {
            let entry = &mut self.non_pawns[side][slot(us, keys.non_pawns[side].0)];
            update_with_gravity(entry, bonus, LIMIT);
        }
        let entry = &mut self.continuation[us as usize * MoveIndex::COUNT + last.index()];
        update_with_gravity(entry, bonus, LIMIT);
    }

    pub fn clear(&mut self) {
        self.pawns.fill(0);
        self.non_pawns.iter_mut().for_each(|side| side.fill(0));
        self.continuation.fill(0);
    }
}
