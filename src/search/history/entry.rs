//! The entries of all tables: their updates and their places.

use shakmaty::{Color, Role, Square};

/// Adds `bonus` and takes off `|bonus| / limit` of the entry.
pub(super) fn update_with_gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let value = i32::from(*entry);
    let bonus = bonus.clamp(-limit, limit);
    *entry = (value + bonus - value * bonus.abs() / limit) as i16;
}

/// Number of kinds of pieces, colours apart.
pub(super) const PIECES: usize = 12;
/// Number of pairs of a piece and its square of arrival.
pub(super) const MOVES: usize = PIECES * 64;

pub(super) fn piece_index(color: Color, role: Role) -> usize {
    role as usize - 1 + 6 * color as usize
}

/// Index of a piece and its square of arrival, below [`MOVES`].
pub(super) fn piece_to(color: Color, role: Role, to: Square) -> usize {
    piece_index(color, role) * 64 + to as usize
}

/// A table without experience.
pub(super) fn table<T: Copy>(zero: T, entries: usize) -> Box<[T]> {
    vec![zero; entries].into_boxed_slice()
}
