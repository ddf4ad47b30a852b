use shakmaty::{Move, Role, Square};

/// A move in 16 bits, as tables store it: `promotion 4 | to 6 | from 6`. Castling is king takes own rook.
///
/// It has no meaning without its position: [`crate::position::Position::unpack`] turns it into a legal [`Move`] or
/// `None`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackedMove(u16);

impl PackedMove {
    /// No move. It equals a1a1, which no position has.
    pub const NONE: PackedMove = PackedMove(0);

    /// Packs a move. Drops do not exist in chess and become [`PackedMove::NONE`].
    pub fn pack(m: Move) -> PackedMove {
        let (from, to, promotion) = match m {
            Move::Normal { from, to, promotion, .. } => (from, to, promotion),
            Move::EnPassant { from, to } => (from, to, None),
            Move::Castle { king, rook } => (king, rook, None),
            Move::Put { .. } => return PackedMove::NONE,
        };
        PackedMove(from as u16 | (to as u16) << 6 | promotion.map_or(0, |role| role as u16) << 12)
    }

    /// The stored bits.
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The move of stored bits, which may be anything.
    pub const fn from_bits(bits: u16) -> PackedMove {
        PackedMove(bits)
    }

    /// Is there no move?
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The square of departure.
    pub fn from(self) -> Square {
        Square::new(u32::from(self.0 & 63))
    }

    /// The square of arrival; in castling that of the own rook.
    pub fn to(self) -> Square {
        Square::new(u32::from(self.0 >> 6 & 63))
    }

    /// The role promoted to, if any; none for invalid bits.
    pub fn promotion(self) -> Option<Role> {
        match self.0 >> 12 {
            2 => Some(Role::Knight),
            3 => Some(Role::Bishop),
            4 => Some(Role::Rook),
            5 => Some(Role::Queen),
            _ => None,
        }
    }
}
