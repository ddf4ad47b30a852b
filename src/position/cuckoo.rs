//! Which single move leads from one position to another? Asked by the two keys alone (M. N. J. van
//! Kervinck, "A fast method to detect upcoming repetitions", 2013).
//!
//! The difference of two keys that one reversible move connects is the piece's number on both squares and
//! the side to move: 3,668 numbers, which a cuckoo table (two possible places for each, Pagh and Rodler
//! 2001) answers with two loads. With it the search knows, before it has generated a move, that the side to
//! move can repeat an earlier position.

use std::sync::LazyLock;

use shakmaty::{Bitboard, Color, Piece, Role, Square, attacks};

use super::{
    Position,
    keys::{piece_key, turn_key},
};
use crate::types::PositionKey;

const SLOTS: usize = 8192;

/// A piece that goes from `a` to `b`, or back.
#[derive(Copy, Clone, Debug)]
struct Shuttle {
    key: u64,
    piece: Piece,
    a: Square,
    b: Square,
}

type Slots = [Option<Shuttle>; SLOTS];

static SHUTTLES: LazyLock<Box<Slots>> = LazyLock::new(|| {
    let mut slots = Box::new([None; SLOTS]);
    for shuttle in all() {
        insert(&mut slots, shuttle);
    }
    slots
});

fn places(key: u64) -> [usize; 2] {
    [key as usize % SLOTS, (key >> 16) as usize % SLOTS]
}

/// Every reversible move of a lone piece, one of each pair.
fn all() -> impl Iterator<Item = Shuttle> {
    let pieces = Color::ALL.into_iter().flat_map(|color| {
        Role::ALL.into_iter().filter(|&role| role != Role::Pawn).map(move |role| role.of(color))
    });
    pieces.flat_map(|piece| {
        Square::ALL.into_iter().flat_map(move |a| {
            let targets = attacks::attacks(a, piece, Bitboard::EMPTY);
            targets.into_iter().filter(move |&b| b > a).map(move |b| {
                let key = piece_key(a, piece) ^ piece_key(b, piece) ^ turn_key();
                Shuttle { key, piece, a, b }
            })
        })
    })
}

/// Puts a shuttle into one of its two places; what was there moves on to its other one.
fn insert(slots: &mut Slots, mut shuttle: Shuttle) {
    let mut place = places(shuttle.key)[0];
    // With these numbers the longest chain is short; a cycle would be seen by the test below.
    while let Some(homeless) = slots[place].replace(shuttle) {
        let [first, second] = places(homeless.key);
        place = if place == first { second } else { first };
        shuttle = homeless;
    }
}

/// What `moves` moves of one side leave in the key if the men are back where they were: the side to move.
pub(super) fn passes(moves: usize) -> u64 {
    if moves.is_multiple_of(2) { 0 } else { turn_key() }
}

/// Does one move of the side to move change the key of `position` by `difference`, and nothing stand in its
/// way? It is legal if what it leads to is a legal position.
pub(super) fn connects(position: &Position, difference: PositionKey) -> bool {
    let shuttles = &**SHUTTLES;
    places(difference.0).into_iter().any(|place| {
        shuttles[place].is_some_and(|shuttle| {
            let board = position.board();
            shuttle.key == difference.0
                && shuttle.piece.color == position.turn()
                && [shuttle.a, shuttle.b].into_iter().any(|s| board.piece_at(s) == Some(shuttle.piece))
                && (attacks::between(shuttle.a, shuttle.b) & board.occupied()).is_empty()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shuttle_is_in_one_of_its_two_places() {
        let slots = &**SHUTTLES;
        let mut count = 0;
        for shuttle in all() {
            count += 1;
            assert!(places(shuttle.key).into_iter().any(|p| slots[p].is_some_and(|s| s.key == shuttle.key)));
        }
        assert_eq!(count, 3668);
        assert_eq!(slots.iter().flatten().count(), count);
    }
}
