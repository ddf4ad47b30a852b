//! Labelled positions in a compact file.
//!
//! ```text
//!  header 32: "Engram labelled positions, v1\n", zero-padded; then records of 32 bytes, little-endian
//!   0 position [24] (shakmaty's packed setup, zero-padded)   24 score i16 (centipawns, White's view)
//!  26 result u8 (White: 0 loss, 1 draw, 2 win)   27 noisy u8 (0 or 1)   28 zero [4]
//! ```
//! The score is the printed one. A game is appended whole; a torn last record is cut off when a file is continued.

use shakmaty::{CastlingMode, EnPassantMode, Position as _, packed::PackedSetup};

use crate::position::Position;

/// A labelled position.
#[derive(Debug)]
pub struct Labelled {
    /// The position.
    pub position: Position,
    /// Centipawns for White.
    pub score: Option<f32>,
    /// 1, 0.5, 0 for White.
    pub result: f32,
    /// Is the mover in check, or does the best move take or promote? Then no static evaluation can be right.
    pub noisy: bool,
}

/// Bytes of the header and of each record.
pub const SIZE: usize = 32;

/// The beginning of a file.
pub const HEADER: [u8; SIZE] = *b"Engram labelled positions, v1\n\0\0";

/// Packs a position, without the counters of moves where many pieces leave no room for them; `None` if it has more
/// pieces than fit.
pub fn pack(label: &Labelled) -> Option<[u8; SIZE]> {
    let mut record = [0; SIZE];
    let setup = label.position.chess().to_setup(EnPassantMode::Legal);
    let room = &mut record[..24];
    let whole =
        PackedSetup::pack_standard(&setup).ok().filter(|packed| packed.as_bytes().len() <= room.len());
    let packed = whole.or_else(|| PackedSetup::pack_standard_normalized(&setup).ok())?;
    room.get_mut(..packed.as_bytes().len())?.copy_from_slice(packed.as_bytes());
    let score = label.score?.clamp(-30_000.0, 30_000.0) as i16;
    record[24..26].copy_from_slice(&score.to_le_bytes());
    record[26] = (2.0 * label.result) as u8;
    record[27] = u8::from(label.noisy);
    Some(record)
}

/// The inverse of [`pack`]; `None` if the record is none.
pub fn unpack(record: &[u8; SIZE]) -> Option<Labelled> {
    let setup = PackedSetup::try_from_bytes(&record[..24]).ok()?.unpack_standard().ok()?;
    let result = match record[26] {
        0 => 0.0,
        1 => 0.5,
        2 => 1.0,
        _ => return None,
    };
    Some(Labelled {
        position: Position::from_setup(setup, CastlingMode::Standard).ok()?,
        score: Some(f32::from(i16::from_le_bytes([record[24], record[25]]))),
        result,
        noisy: record[27] != 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tune::data;

    #[test]
    fn a_record_is_read_back() {
        let lines = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 | 31 | 0.5 | e2e4",
            "8/1pkrpB1p/p7/P3RPp1/5nP1/2P5/1P6/1K6 w - - 7 41 | -1203 | 1.0 | f7d5",
            "r3k2r/8/8/8/8/8/8/R3K2R b Kq - 3 50 | 0 | 0.0 | a8a1",
        ];
        for line in lines {
            let label = data::parse(line).expect(line);
            let again = pack(&label).and_then(|record| unpack(&record)).expect(line);
            assert_eq!(again.position.fen(), label.position.fen());
            assert_eq!((again.score, again.result, again.noisy), (label.score, label.result, label.noisy));
        }
        let full = data::parse("rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 40 31 | 9 | 0.5")
            .expect("a line");
        let again = pack(&full).and_then(|record| unpack(&record)).expect("32 pieces fit");
        assert!(again.position.fen().ends_with("/RNBQKBNR w KQkq - 0 1"), "{}", again.position.fen());
        assert!(unpack(&[0; SIZE]).is_none() && unpack(&[255; SIZE]).is_none());
    }
}
