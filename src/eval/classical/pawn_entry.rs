//! An entry of the pawn hash.
//!
//! ```text
//!  one entry = one cache line of 64 bytes
//!  black pawns 8 | white pawns 8 | passed 8 | attack spans 16 | score 4 | shelters 16 | files 2
//! ```
//! A zeroed entry is valid for a board without pawns.

use shakmaty::{Bitboard, CastlingSide, Position as _};

use super::{
    geometry::{Side, files},
    pair::Pair,
    shelter::shelter,
    trace::Tracer,
};
use crate::{eval::pawn_table::PawnTableEntry, position::Position};

/// The king-dependent pawn terms, with the king square and castling rights for which they are valid.
#[derive(Copy, Clone, Debug, Default)]
struct Shelter {
    score: Pair,
    /// The middlegame value of shelter and storm alone.
    middlegame: i16,
    key: u16,
}

/// The evaluation of a pawn structure.
#[derive(Copy, Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct ClassicalPawns {
    /// The pawns, black and white.
    pub pawns: [Bitboard; 2],
    /// Passed pawns of both sides.
    pub passed: Bitboard,
    /// All squares that the pawns can ever attack, black and white.
    pub attack_span: [Bitboard; 2],
    /// Pawn structure from White's point of view.
    pub score: Pair,
    shelters: [Shelter; 2],
    /// Files with pawns, as bits a to h, black and white.
    pub files: [u8; 2],
}

const _: () = assert!(size_of::<ClassicalPawns>() == 64);

impl ClassicalPawns {
    /// An entry for these pawns (black, white) that is not evaluated yet.
    pub fn new(pawns: [Bitboard; 2]) -> ClassicalPawns {
        ClassicalPawns { pawns, files: pawns.map(files), ..ClassicalPawns::default() }
    }

    /// The terms of our king and pawns, and the middlegame value of the shelter; computed only if king square or
    /// castling rights have changed.
    #[inline]
    pub fn shelter<S: Side, T: Tracer>(&mut self, position: &Position, tracer: &mut T) -> (Pair, i32) {
        let castles = position.chess().castles();
        let rights = u16::from(castles.has(S::US, CastlingSide::KingSide))
            | u16::from(castles.has(S::US, CastlingSide::QueenSide)) << 1;
        let king = position.board().king_of(S::US).map_or(0, |king| king as u16);
        let key = 1 << 15 | rights << 8 | king;
        let known = &mut self.shelters[S::ME];
        if T::LISTENS || known.key != key {
            let (score, middlegame) = shelter::<S, T>(position, &self.pawns, tracer);
            *known = Shelter { score, middlegame: middlegame as i16, key };
        }
        (known.score, i32::from(known.middlegame))
    }

    /// Has our side no pawn on this file (0 to 7)?
    #[inline]
    pub fn is_half_open<S: Side>(&self, file: u32) -> bool {
        self.files[S::ME] >> file & 1 == 0
    }
}

impl PawnTableEntry for ClassicalPawns {
    fn pawns(&self) -> [Bitboard; 2] {
        self.pawns
    }
}
