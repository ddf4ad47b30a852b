//! Finds the single move that leads from one position to another by their two keys alone (M. N. J. van Kervinck, "A
//! fast method to detect upcoming repetitions", 2013).
//!
//! If one reversible move connects two positions, their keys differ by the Zobrist numbers of the piece on both
//! squares and of the side to move: 3,668 differences, which a cuckoo table (two possible slots for each, Pagh and
//! Rodler 2001) finds with two loads. So the search knows, before it has generated a move, that the side to move can
//! repeat an earlier position.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Piece, Role, Square, attacks};

use super::{
    keys::{piece_key, turn_key},
    state::Position,
};
use crate::types::PositionKey;

const SLOTS: usize = 8192;

/// A piece that goes from `a` to `b` or back, and the change of the key.
#[derive(Copy, Clone, Debug)]
struct ReversibleMove {
    key: u64,
    piece: Piece,
    a: Square,
    b: Square,
}

type Slots = [Option<ReversibleMove>; SLOTS];

static REVERSIBLE_MOVES: LazyLock<Box<Slots>> = LazyLock::new(|| {
    let mut slots = Box::new([None; SLOTS]);
    for moved in all() {
        insert(&mut slots, moved);
    }
    slots
});

fn places(key: u64) -> [usize; 2] {
    [key as usize % SLOTS, (key >> 16) as usize % SLOTS]
}

/// Every reversible move of a lone piece, one of each pair.
fn all() -> impl Iterator<Item = ReversibleMove> {
    let pieces = Color::ALL.into_iter().flat_map(|color| {
        Role::ALL.into_iter().filter(|&role| role != Role::Pawn).map(move |role| role.of(color))
    });
    pieces.flat_map(|piece| {
        Square::ALL.into_iter().flat_map(move |a| {
            let targets = attacks::attacks(a, piece, Bitboard::EMPTY);
            targets.into_iter().filter(move |&b| b > a).map(move |b| {
                let key = piece_key(a, piece) ^ piece_key(b, piece) ^ turn_key();
                ReversibleMove { key, piece, a, b }
            })
        })
    })
}

/// Puts a move into one of its two slots; the one that was there moves to its other slot.
fn insert(slots: &mut Slots, mut moved: ReversibleMove) {
    let mut place = places(moved.key)[0];
    // With these numbers no chain is long; the test below would find a cycle.
    while let Some(homeless) = slots[place].replace(moved) {
        let [first, second] = places(homeless.key);
        place = if place == first { second } else { first };
        moved = homeless;
    }
}

/// The change of the key by `moves` moves of one side whose pieces end where they began: the side to move.
pub(super) fn turn_difference(moves: usize) -> u64 {
    if moves.is_multiple_of(2) { 0 } else { turn_key() }
}

/// Does a reversible move of the side to move change the key of `position` by `difference`? The move is legal if it
/// leads to a legal position, as every position of the path is.
pub(super) fn has_reversible_move(position: &Position, difference: PositionKey) -> bool {
    let slots = &**REVERSIBLE_MOVES;
    places(difference.0).into_iter().any(|place| {
        slots[place].is_some_and(|moved| {
            let board = position.board();
            moved.key == difference.0
                && moved.piece.color == position.turn()
                && [moved.a, moved.b].into_iter().any(|s| board.piece_at(s) == Some(moved.piece))
                && (attacks::between(moved.a, moved.b) & board.occupied()).is_empty()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_move_is_in_one_of_its_two_slots() {
        let slots = &**REVERSIBLE_MOVES;
        let mut count = 0;
        for moved in all() {
            count += 1;
            assert!(places(moved.key).into_iter().any(|p| slots[p].is_some_and(|m| m.key == moved.key)));
        }
        assert_eq!(count, 3668);
        assert_eq!(slots.iter().flatten().count(), count);
    }
}
