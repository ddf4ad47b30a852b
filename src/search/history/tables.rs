//! Butterfly, capture and pawn history.

use shakmaty::{Bitboard, Color, Move, Square};

use super::entry::{MOVES, PIECES, piece_to, table, update_with_gravity};
use crate::{
    search::params::{butterfly_kept_share, history_max, share_of},
    types::PawnKey,
};

/// Butterfly history: quiet moves by from and to square, and by whether the opponent attacks either
/// square (the move evades an attack, or walks into one).
pub struct ButterflyHistory(Box<[[i16; 64]]>);

impl ButterflyHistory {
    pub fn new() -> ButterflyHistory {
        ButterflyHistory(table([0; 64], 2 * 4 * 64))
    }

    /// Moves the entries towards zero: the next search begins some plies on.
    pub fn age(&mut self) {
        for entry in self.0.as_flattened_mut() {
            *entry = share_of(i32::from(*entry), butterfly_kept_share()) as i16;
        }
    }

    fn index(color: Color, threats: Bitboard, from: Square, to_threatened: bool) -> usize {
        let threatened = usize::from(threats.contains(from)) * 2 + usize::from(to_threatened);
        (color as usize * 4 + threatened) * 64 + from as usize
    }

    /// By square of arrival: the moves from a square to squares that are attacked, or to those that are not.
    pub fn moves_from(
        &self,
        color: Color,
        threats: Bitboard,
        from: Square,
        to_threatened: bool,
    ) -> &[i16; 64] {
        &self.0[Self::index(color, threats, from, to_threatened)]
    }

    pub fn update(&mut self, color: Color, threats: Bitboard, m: Move, bonus: i32) {
        let (from, to) = (m.from().unwrap_or(m.to()), m.to());
        let row = &mut self.0[Self::index(color, threats, from, threats.contains(to))];
        update_with_gravity(&mut row[to as usize], bonus, history_max());
    }
}

/// Capture history: captures and queen promotions by piece, square of arrival and captured role.
pub struct CaptureHistory(Box<[i16]>);

impl CaptureHistory {
    pub fn new() -> CaptureHistory {
        CaptureHistory(table(0, PIECES * 64 * 7))
    }

    fn index(color: Color, m: Move) -> usize {
        piece_to(color, m.role(), m.to()) * 7 + m.capture().map_or(0, |role| role as usize)
    }

    pub fn get(&self, color: Color, m: Move) -> i32 {
        i32::from(self.0[Self::index(color, m)])
    }

    pub fn update(&mut self, color: Color, m: Move, bonus: i32) {
        update_with_gravity(&mut self.0[Self::index(color, m)], bonus, history_max());
    }
}

/// Pawn history: quiet moves by pawn structure, because similar structures call for similar plans.
pub struct PawnHistory(Box<[[i16; MOVES]]>);

impl PawnHistory {
    /// Number of entries; the pawn key modulo this is the index.
    const STRUCTURES: usize = 1024;

    pub fn new() -> PawnHistory {
        PawnHistory(table([0; MOVES], Self::STRUCTURES))
    }

    /// The history of every move in this structure.
    pub fn of_structure(&self, key: PawnKey) -> &[i16; MOVES] {
        &self.0[key.0 as usize % Self::STRUCTURES]
    }

    pub fn update(&mut self, key: PawnKey, color: Color, m: Move, bonus: i32) {
        let entry = &mut self.0[key.0 as usize % Self::STRUCTURES][piece_to(color, m.role(), m.to())];
        update_with_gravity(entry, bonus, history_max());
    }
}
