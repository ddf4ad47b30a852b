//! A list of scored moves from which the best one is taken repeatedly.

use arrayvec::ArrayVec;
use shakmaty::{Move, MoveList};

/// Moves with scores, picked best first, equals in the order in which they were added.
///
/// Score and place of a move share one integer, so that the best move is a plain maximum, which the compiler
/// vectorizes. Most lists are abandoned (by a cutoff) before sorting them would pay off.
#[derive(Default)]
pub struct ScoredMoves {
    moves: MoveList,
    /// Score in the upper 23 bits, `LAST` minus the place in `moves` below. As many as a [`MoveList`] holds.
    keys: ArrayVec<i32, 270>,
}

const PLACE_BITS: u32 = 9;
const LAST: usize = (1 << PLACE_BITS) - 1;

fn key(score: i32, place: usize) -> i32 {
    score << PLACE_BITS | (LAST - place) as i32
}

impl ScoredMoves {
    /// Adds a move; the score must fit in 23 bits.
    pub fn push(&mut self, m: Move, score: i32) {
        self.keys.push(key(score, self.moves.len()));
        self.moves.push(m);
    }

    /// Replaces the scores of the wanted moves and drops the others.
    pub fn rescore(&mut self, wanted: impl Fn(Move) -> bool, score: impl Fn(Move) -> i32) {
        self.moves.retain(|&mut m| wanted(m));
        self.keys.clear();
        for (place, &m) in self.moves.iter().enumerate() {
            self.keys.push(key(score(m), place));
        }
    }

    /// Removes and returns the best move with its score.
    pub fn take_best(&mut self) -> Option<(Move, i32)> {
        let best = self.keys.iter().copied().max()?;
        let place = LAST - (best as usize & LAST);
        self.keys.swap_remove(place);
        if let Some(last) = self.keys.get_mut(place) {
            // The last move takes the free place.
            *last = key(*last >> PLACE_BITS, place);
        }
        Some((self.moves.swap_remove(place), best >> PLACE_BITS))
    }
}
