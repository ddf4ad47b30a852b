//! A labelled position in 32 bytes, as the mover sees it. The layout is that of the bullet trainer's
//! `ChessBoard` (Jamie Whiting), so that its tools read our files and we read theirs.
//!
//! ```text
//!   0 occupied u64 (square a1 first; ranks reversed if Black is to move)
//!   8 pieces [16]: four bits for each occupied square in order: role (pawn 0 to king 5), 8 for the opponent's
//!  24 score i16 (centipawns, mover's view)   26 result u8 (mover: 0 loss, 1 draw, 2 win, 3 unknown)
//!  27 own king u8   28 opponent's king u8 (both on the board as each side sees it)   29 zero [3]
//! ```
//! Castling rights, en passant and the clock are left out: the network does not see them.

use std::fmt::Write;

use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use crate::{eval::net::View, position::Position};

/// Bytes of a record.
pub const SIZE: usize = 32;

/// The result is not known.
pub const UNKNOWN: u8 = 3;

/// A labelled position.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    pub occupied: u64,
    pub pieces: [u8; 16],
    /// Centipawns for the mover.
    pub score: i16,
    /// For the mover: 0 loss, 1 draw, 2 win, [`UNKNOWN`].
    pub result: u8,
}

impl Sample {
    /// The position without a label; none if it has more than 32 pieces.
    pub fn new(position: &Position) -> Option<Sample> {
        let board = position.board();
        let flip = position.turn() == Color::Black;
        let occupied = board.occupied();
        if occupied.count() > 32 {
            return None;
        }
        let mut sample = Sample { result: UNKNOWN, ..Sample::default() };
        let seen = if flip { occupied.flip_vertical() } else { occupied };
        sample.occupied = seen.0;
        for (index, square) in seen.into_iter().enumerate() {
            if let Some(piece) = board.piece_at(if flip { square.flip_vertical() } else { square }) {
                let code = (piece.role as u8 - 1) | (u8::from(piece.color != position.turn()) << 3);
                sample.pieces[index / 2] |= code << (4 * (index % 2));
            }
        }
        Some(sample)
    }

    /// The pieces: square as the mover sees the board, role (pawn 0 to king 5), the opponent's?
    pub fn pieces(&self) -> impl Iterator<Item = (u8, u8, bool)> + '_ {
        Bitboard(self.occupied).into_iter().take(32).enumerate().map(|(index, square)| {
            let code = self.pieces[index / 2] >> (4 * (index % 2)) & 15;
            (square.to_u32() as u8, code & 7, code & 8 != 0)
        })
    }

    /// The views of the mover and of the opponent: the mover plays upwards, as White.
    pub fn views(&self) -> [View; 2] {
        let [own, theirs] = self.kings().map(|square| Square::new(u32::from(square)));
        [View::new(Color::White, own), View::new(Color::Black, theirs)]
    }

    /// The squares of the mover's king and of the opponent's, as the mover sees the board.
    fn kings(&self) -> [u8; 2] {
        let mut kings = [0; 2];
        for (square, role, theirs) in self.pieces() {
            if role == 5 {
                kings[usize::from(theirs)] = square;
            }
        }
        kings
    }

    /// As bytes.
    pub fn to_bytes(self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        bytes[..8].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.pieces);
        bytes[24..26].copy_from_slice(&self.score.to_le_bytes());
        bytes[26] = self.result;
        let [own, theirs] = self.kings();
        (bytes[27], bytes[28]) = (own, theirs ^ 56);
        bytes
    }

    /// The inverse of [`Sample::to_bytes`]; `None` if the bytes are no position, with two kings and no pawn on the first or
    /// last rank.
    pub fn from_bytes(bytes: &[u8; SIZE]) -> Option<Sample> {
        let (occupied, rest) = bytes.split_first_chunk::<8>()?;
        let (pieces, rest) = rest.split_first_chunk::<16>()?;
        let sample = Sample {
            occupied: u64::from_le_bytes(*occupied),
            pieces: *pieces,
            score: i16::from_le_bytes([rest[0], rest[1]]),
            result: rest[2],
        };
        let kings =
            |side: bool| sample.pieces().filter(|&(_, role, theirs)| role == 5 && theirs == side).count();
        let is_possible = |(square, role, _)| role < 6 && (role > 0 || (8..56).contains(&square));
        let sound = sample.pieces().all(is_possible) && sample.occupied.count_ones() <= 32;
        (sound && kings(false) == 1 && kings(true) == 1).then_some(sample)
    }

    /// Appends the position as a FEN with White to move, and a line end.
    pub fn write_fen(&self, text: &mut String) {
        let mut board = Board::empty();
        for (square, role, theirs) in self.pieces() {
            let (color, role) = (Color::from_white(!theirs), Role::ALL[usize::from(role)]);
            board.set_piece_at(Square::new(u32::from(square)), Piece { color, role });
        }
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} w - - 0 1", board.board_fen());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(fen: &str) -> Sample {
        Sample::new(&Position::from_fen(fen).expect(fen)).expect("a sample")
    }

    #[test]
    fn the_mover_is_white_whoever_it_was() {
        let white = sample("r3k2r/2p3p1/8/8/3pP3/8/1P4PP/4K2R w K - 0 1");
        let black = sample("4k2r/1p4pp/8/3Pp3/8/8/2P3P1/R3K2R b k - 0 1");
        assert_eq!(white, black);
        let mut text = String::new();
        white.write_fen(&mut text);
        assert_eq!(text, "r3k2r/2p3p1/8/8/3pP3/8/1P4PP/4K2R w - - 0 1\n");
    }

    #[test]
    fn a_record_is_read_back_and_nonsense_is_not() {
        let before = Sample { score: -321, result: 2, ..sample("8/8/4k3/8/8/3K4/3R4/8 b - - 0 1") };
        assert_eq!(Sample::from_bytes(&before.to_bytes()), Some(before));
        let many = "krbnqbnr/pppppppp/pppppppp/8/8/PPPPPPPP/PPPPPPPP/RNBQNBRK b - - 0 1";
        assert_eq!(Sample::new(&Position::from_fen(many).expect(many)), None);
        assert_eq!(Sample::from_bytes(&[0; SIZE]), None);
        assert_eq!(Sample::from_bytes(&[255; SIZE]), None);
    }
}
