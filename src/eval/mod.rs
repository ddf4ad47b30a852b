//! stub
use crate::{position::Position, types::Score};

/// c
pub struct Caches;
impl Caches {
    /// n
    pub fn new(_: usize) -> Caches {
        Caches
    }
    /// c
    pub fn clear(&mut self) {}
    /// r
    pub fn reset_counters(&mut self) {}
    /// h
    pub fn pawn_hits(&self) -> (u64, u64) {
        (0, 0)
    }
}
/// e
pub fn evaluate(p: &Position, _: &mut Caches) -> Score {
    let mut s = 0;
    for (sq, pc) in p.board() {
        let f = sq.file() as i32;
        let r = sq.rank() as i32;
        let c = 6 - ((2 * f - 7).abs() + (2 * r - 7).abs()) / 2;
        let v =
            [0, 100, 320, 330, 500, 950, 0][pc.role as usize] + c * [0, 3, 5, 4, 1, 1, -4][pc.role as usize];
        s += if pc.color == p.turn() { v } else { -v };
    }
    Score(s + 10)
}
