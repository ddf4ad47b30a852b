//! The history tables: what earlier nodes taught about moves and evaluations.
//!
//! Every entry is updated with gravity: a bonus counts for less the closer the entry is to its limit, so that it
//! stays within the limit and recent results weigh most.

mod continuation;
mod correction;
mod quiet;
mod tables;

pub use continuation::{ContinuationHistory, MoveIndex};
pub use correction::CorrectionHistory;
pub use quiet::QuietHistory;
pub use tables::{ButterflyHistory, CaptureHistory, PawnHistory};

use shakmaty::{Color, Role, Square};

/// Adds `bonus`, less what the entry already has of `limit`.
fn update_with_gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let value = i32::from(*entry);
    let bonus = bonus.clamp(-limit, limit);
    *entry = (value + bonus - value * bonus.abs() / limit) as i16;
}

/// Number of kinds of pieces, colours apart.
const PIECES: usize = 12;
/// Number of pairs of a piece and its square of arrival.
const MOVES: usize = PIECES * 64;

fn piece_index(color: Color, role: Role) -> usize {
    role as usize - 1 + 6 * color as usize
}

/// Index of a piece and its square of arrival, below [`MOVES`].
fn piece_to(color: Color, role: Role, to: Square) -> usize {
    piece_index(color, role) * 64 + to as usize
}

/// A zeroed table, allocated on the heap and never on the stack.
fn table<T: Copy + Zero>(entries: usize) -> Box<[T]> {
    vec![T::ZERO; entries].into_boxed_slice()
}

/// The value of an entry that was never updated.
trait Zero {
    const ZERO: Self;
}

impl Zero for i16 {
    const ZERO: i16 = 0;
}

impl Zero for [i16; 64] {
    const ZERO: [i16; 64] = [0; 64];
}

impl Zero for [i16; MOVES] {
    const ZERO: [i16; MOVES] = [0; MOVES];
}
