//! The network arranged for speed, and its arithmetic.
//!
//! A view's accumulator is the sum of the weight rows of its inputs. The output is `sum over units of
//! clip(accumulator)^2 * weight` over both views, where `clip` limits to 0 to [`ONE_INPUT`], with the weights of the
//! head that the number of pieces selects. All arithmetic is in integers, so that vector code and a plain loop give
//! the same bits.

use std::sync::{Arc, OnceLock};

use shakmaty::{Bitboard, Color};

use super::{
    View,
    difference::{Difference, PieceOn},
    file::{HEADS, Layout, NetworkError, ONE_HEAD, ONE_INPUT, SCALE},
    pawns::{PawnEntry, PawnPart},
};
use crate::{
    processor::{Instructions, weighted_squares},
    types::Score,
};

/// The file of the built-in network.
pub const EMBEDDED: &[u8] = include_bytes!("engram.net");

/// Hidden units of a view.
pub const UNITS: usize = 1024;
const _: () = assert!(UNITS.is_multiple_of(128) && UNITS <= 4096, "`weighted_squares` asks for it");

/// One number for each unit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Units(pub [i16; UNITS]);

/// The weights of an input. In a byte each, so that the rows of a position's pieces come from the second-level cache.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Row([i8; UNITS]);

/// The head for a board with `pieces` pieces.
#[inline]
pub fn head(pieces: u32) -> usize {
    ((pieces.saturating_sub(1) / 4) as usize).min(HEADS - 1)
}

/// A row of zeros, for a missing input.
static NO_ROW: Row = Row([0; UNITS]);

/// A network.
#[derive(Debug)]
pub struct Network {
    rows: Box<[Row]>,
    biases: Units,
    /// By head, the mover's units and the opponent's.
    heads: Box<[[Units; 2]]>,
    head_biases: [i32; HEADS],
    pawns: PawnPart,
    instructions: Instructions,
    /// The CRC-32 of its file.
    checksum: u32,
}

impl Network {
    /// The built-in network.
    pub fn embedded() -> Arc<Network> {
        static PARSED: OnceLock<Arc<Network>> = OnceLock::new();
        let network = PARSED.get_or_init(|| {
            let network = Network::from_bytes(EMBEDDED);
            // A test reads it, and a compiled-in file cannot be damaged later.
            Arc::new(network.expect("the network inside the program is one"))
        });
        Arc::clone(network)
    }

    /// Reads a network from the bytes of a file.
    ///
    /// # Errors
    /// See [`NetworkError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        let layout = Layout::from_bytes(bytes)?;
        if layout.units != UNITS {
            return Err(NetworkError::Units { found: layout.units as u32, expected: UNITS });
        }
        let units = |numbers: &[i16]| -> Box<[Units]> {
            numbers.as_chunks::<UNITS>().0.iter().map(|&units| Units(units)).collect()
        };
        let mut head_biases = [0; HEADS];
        head_biases.copy_from_slice(&layout.head_biases);
        Ok(Network {
            rows: layout.input_weights.as_chunks::<UNITS>().0.iter().map(|&row| Row(row)).collect(),
            biases: units(&layout.input_biases)[0].clone(),
            heads: units(&layout.heads)
                .chunks_exact(2)
                .map(|pair| [pair[0].clone(), pair[1].clone()])
                .collect(),
            head_biases,
            pawns: PawnPart::new(&layout.pawns),
            instructions: Instructions::best(),
            checksum: crc32fast::hash(bytes),
        })
    }

    /// The same network, computed with other instructions; its values are the same.
    pub fn with_instructions(self, instructions: Instructions) -> Network {
        Network { instructions, ..self }
    }

    /// The instructions with which it is computed: by default the best of this processor.
    pub fn instructions(&self) -> Instructions {
        self.instructions
    }

    /// The accumulator of an empty board.
    pub fn empty(&self) -> &Units {
        &self.biases
    }

    /// Applies a difference, as a view sees it, to `from` (or, without it, to `to` itself), and writes the result to
    /// `to`. A quiet move and a capture need one pass over the units, and so do most differences of two moves.
    #[inline(always)]
    pub fn update(&self, view: View, from: Option<&Units>, to: &mut Units, difference: &Difference) {
        let (added, removed) = (difference.added.as_slice(), difference.removed.as_slice());
        let row = |&piece: &PieceOn| &self.rows[view.input_of(piece)];
        match (added, removed) {
            ([more], [less]) => return pass(from, to, [row(more)], [row(less)]),
            ([more], [less, least]) => return pass(from, to, [row(more)], [row(less), row(least)]),
            _ => {}
        }
        let mut from = from;
        for first in (0..added.len().max(removed.len())).step_by(2) {
            let rows =
                |pieces: &[PieceOn]| [first, first + 1].map(|place| pieces.get(place).map_or(&NO_ROW, row));
            pass(from.take(), to, rows(added), rows(removed));
        }
        if let Some(from) = from {
            to.clone_from(from);
        }
    }

    /// The evaluation of a position with `pieces` pieces for the side to move, from the accumulators of that side and
    /// of the opponent, and from the pawn part.
    #[inline(always)]
    pub fn output(&self, pieces: u32, pawns: &PawnEntry, turn: Color, sums: [&Units; 2]) -> Score {
        let head = head(pieces);
        let [own, theirs] = &self.heads[head];
        let [mover, opponent] = sums;
        let weighted = |units: &Units, weights: &Units| {
            weighted_squares(self.instructions, &units.0, &weights.0, ONE_INPUT as i16)
        };
        let sum = weighted(mover, own) + weighted(opponent, theirs);
        let output = sum / i64::from(ONE_INPUT) + i64::from(self.head_biases[head]);
        let output = pawns.apply(turn, head, output);
        // Whatever the weights are, an output is less than 2^35, and so many internal units fit into 32 bits.
        let scale = i64::from(const { Score::from_centipawns(SCALE as i32).0 });
        Score((output * scale / i64::from(ONE_INPUT * ONE_HEAD)) as i32).clamp_evaluation()
    }

    /// The pawn part's output for a structure (black, white).
    pub fn evaluate_pawns(&self, pawns: [Bitboard; 2]) -> PawnEntry {
        self.pawns.evaluate(self.instructions, pawns)
    }

    /// The CRC-32 of its file.
    pub(in crate::eval) fn checksum(&self) -> u32 {
        self.checksum
    }
}

/// Adds some rows to `from` (or, without it, to `to` itself), subtracts others, and writes the result to `to`.
#[inline(always)]
fn pass<const ADDED: usize, const REMOVED: usize>(
    from: Option<&Units>,
    to: &mut Units,
    added: [&Row; ADDED],
    removed: [&Row; REMOVED],
) {
    let total = |unit: usize, before: i16| {
        let sum = added.iter().fold(before, |sum, row| sum.wrapping_add(i16::from(row.0[unit])));
        removed.iter().fold(sum, |sum, row| sum.wrapping_sub(i16::from(row.0[unit])))
    };
    match from {
        Some(from) => {
            for unit in 0..UNITS {
                to.0[unit] = total(unit, from.0[unit]);
            }
        }
        None => {
            for unit in 0..UNITS {
                to.0[unit] = total(unit, to.0[unit]);
            }
        }
    }
}
