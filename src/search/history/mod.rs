//! What earlier nodes taught about moves and evaluations: each table remembers with gravity, so that a
//! value stays within its limit and recent experience weighs most.

mod continuation;
mod correction;
mod moves;
mod promise;

pub use continuation::{ContinuationHistory, MoveIndex};
pub use correction::CorrectionHistory;
pub use moves::{CaptureHistory, PawnHistory, QuietHistory};
pub use promise::Promise;

use shakmaty::{Color, Role, Square};

/// Values lie within plus and minus this.
pub const HISTORY_MAX: i32 = 16_384;

/// Adds `bonus`, pulling the value towards zero the closer it is to `limit`.
fn update_with_gravity(entry: &mut i16, bonus: i32, limit: i32) {
    let value = i32::from(*entry);
    let bonus = bonus.clamp(-limit, limit);
    *entry = (value + bonus - value * bonus.abs() / limit) as i16;
}

/// Number of kinds of men, colours apart.
const PIECES: usize = 12;
/// Number of pairs of a man and the square where it arrives.
const MOVES: usize = PIECES * 64;

fn piece_index(color: Color, role: Role) -> usize {
    role as usize - 1 + 6 * color as usize
}

/// Index of the man that moves and where it arrives.
fn piece_to(color: Color, role: Role, to: Square) -> usize {
    piece_index(color, role) * 64 + to as usize
}

/// A zeroed table on the heap.
fn table<T: Copy + Zero>(entries: usize) -> Box<[T]> {
    vec![T::ZERO; entries].into_boxed_slice()
}

/// What a forgotten entry holds.
trait Zero {
    const ZERO: Self;
}

impl Zero for i16 {
    const ZERO: i16 = 0;
}

impl Zero for [i16; MOVES] {
    const ZERO: [i16; MOVES] = [0; MOVES];
}
