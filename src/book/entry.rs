use shakmaty::{CastlingSide, Move, Role, Square};

use crate::position::Position;

/// The size of an entry in bytes.
pub const ENTRY_BYTES: usize = 16;

/// One entry of the file.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct BookEntry {
    /// The position.
    pub key: u64,
    /// The move: `promotion 3 | from 6 | to 6`, a square being `rank 3 | file 3`, castling as king takes rook.
    pub raw: u16,
    /// Relative frequency with which the move is chosen.
    pub weight: u16,
    /// Not defined by the format; [`super::Experience`] is Engram's use of it.
    pub learn: u32,
}

impl BookEntry {
    /// The entry of its bytes in the file.
    pub fn from_bytes(bytes: [u8; ENTRY_BYTES]) -> BookEntry {
        let [k0, k1, k2, k3, k4, k5, k6, k7, m0, m1, w0, w1, l0, l1, l2, l3] = bytes;
        BookEntry {
            key: u64::from_be_bytes([k0, k1, k2, k3, k4, k5, k6, k7]),
            raw: u16::from_be_bytes([m0, m1]),
            weight: u16::from_be_bytes([w0, w1]),
            learn: u32::from_be_bytes([l0, l1, l2, l3]),
        }
    }

    /// Its bytes in the file.
    pub fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let mut bytes = [0; ENTRY_BYTES];
        bytes[..8].copy_from_slice(&self.key.to_be_bytes());
        bytes[8..10].copy_from_slice(&self.raw.to_be_bytes());
        bytes[10..12].copy_from_slice(&self.weight.to_be_bytes());
        bytes[12..].copy_from_slice(&self.learn.to_be_bytes());
        bytes
    }
}

/// A legal move of a position with its entry in the book.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BookMove {
    /// The move.
    pub book_move: Move,
    /// Relative frequency with which it is chosen, the sum of its entries; 0 for never.
    pub weight: u32,
    /// The entry's `learn` field.
    pub learn: u32,
    /// The number of the entry, from 0.
    pub index: usize,
}

impl BookMove {
    /// The move of an entry in `position`, if it is legal there.
    pub(super) fn new(entry: &BookEntry, index: usize, position: &Position) -> Option<BookMove> {
        let found = decode(entry.raw, position)?;
        Some(BookMove { book_move: found, weight: entry.weight.into(), learn: entry.learn, index })
    }
}

/// A move in the encoding of the format.
pub fn raw_move(m: Move) -> u16 {
    let Some(from) = m.from() else { return 0 };
    // shakmaty numbers squares as the format does, rank by rank from a1, and gives a castling move the
    // rook's square as its target.
    let promotion = match m.promotion() {
        Some(Role::Knight) => 1,
        Some(Role::Bishop) => 2,
        Some(Role::Rook) => 3,
        Some(Role::Queen) => 4,
        _ => 0,
    };
    promotion << 12 | (from as u16) << 6 | m.to() as u16
}

fn decode(raw: u16, position: &Position) -> Option<Move> {
    let square = |bits: u16| Square::new(u32::from(bits & 63));
    let legal = position.legal_moves();
    let exact = legal.iter().copied().find(|&m| raw_move(m) == raw);
    // Some programs write castling as a king move by two squares.
    exact.or_else(|| {
        let (from, to) = (square(raw >> 6), square(raw));
        legal.iter().copied().find(|&m| {
            let Move::Castle { king, rook } = m else { return false };
            let side = CastlingSide::from_king_side(king < rook);
            raw >> 12 == 0 && king == from && side.king_to(position.turn()) == to
        })
    })
}
