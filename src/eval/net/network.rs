//! The network arranged for speed, and its arithmetic.
//!
//! A view's accumulator is the sum of the weight rows of its inputs. The output is `sum over units of
//! clip(accumulator)^2 * weight` over both views, where `clip` limits to 0 to [`ONE_INPUT`], with the weights of the
//! head that the number of pieces selects. All arithmetic is in integers, so that vector code and a plain loop give
//! the same bits.

use std::sync::{Arc, OnceLock};

use shakmaty::{Bitboard, Color};

use super::{
    INPUTS, View,
    difference::{Difference, PieceOn},
    file::{HEADS, Layout, NetworkError, ONE_HEAD, ONE_INPUT},
    pawns::{PawnEntry, PawnPart},
};
use crate::{processor::Instructions, types::Score};

/// The file of the built-in network.
pub const EMBEDDED: &[u8] = include_bytes!("engram.net");

/// Hidden units of a view.
pub const UNITS: usize = 512;

/// One number for each unit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Units(pub [i16; UNITS]);

/// The head for a board with `pieces` pieces.
#[inline]
pub fn head(pieces: u32) -> usize {
    ((pieces.saturating_sub(1) / 4) as usize).min(HEADS - 1)
}

/// A row of zeros, for a missing input.
static NO_ROW: Units = Units([0; UNITS]);

/// A network.
#[derive(Debug)]
pub struct Network {
    rows: Box<[Units]>,
    biases: Units,
    /// By head, the mover's units and the opponent's.
    heads: Box<[[Units; 2]]>,
    head_biases: [i32; HEADS],
    pawns: Option<PawnPart>,
    /// Centipawns of one unit of output.
    scale: i32,
    instructions: Instructions,
    fingerprint: OnceLock<u16>,
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
        // If there are fewer inputs, one bucket is used for all.
        let rows = |numbers: &[i16], count: usize| -> Box<[Units]> {
            numbers.as_chunks::<UNITS>().0.iter().cycle().take(count).map(|&row| Units(row)).collect()
        };
        let mut head_biases = [0; HEADS];
        head_biases.copy_from_slice(&layout.head_biases);
        Ok(Network {
            rows: rows(&layout.input_weights, INPUTS),
            biases: rows(&layout.input_biases, 1)[0].clone(),
            heads: rows(&layout.heads, 2 * HEADS)
                .chunks_exact(2)
                .map(|pair| [pair[0].clone(), pair[1].clone()])
                .collect(),
            head_biases,
            pawns: PawnPart::new(&layout),
            scale: Score::from_centipawns(layout.scale as i32).0,
            instructions: Instructions::best(),
            fingerprint: OnceLock::new(),
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
    /// `to`. Two rows are added and two subtracted in one pass over the units, so that most boards need one pass, and
    /// every number is read and written once.
    #[inline(always)]
    pub fn update(&self, view: View, from: Option<&Units>, to: &mut Units, difference: &Difference) {
        let (added, removed) = (difference.added.as_slice(), difference.removed.as_slice());
        let row = |&piece: &PieceOn| &self.rows[view.input_of(piece)];
        if let ([more], [less]) = (added, removed) {
            return pass(from, to, [row(more)], [row(less)]);
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
    pub fn output(&self, pieces: u32, pawns: Option<&PawnEntry>, turn: Color, sums: [&Units; 2]) -> Score {
        let head = head(pieces);
        let [own, theirs] = &self.heads[head];
        let [mover, opponent] = sums;
        let sum = dot(mover, own) + dot(opponent, theirs);
        let mut output = sum / i64::from(ONE_INPUT) + i64::from(self.head_biases[head]);
        if let Some(pawns) = pawns {
            output = pawns.apply(turn, head, output);
        }
        Score((output * i64::from(self.scale) / i64::from(ONE_INPUT * ONE_HEAD)) as i32).clamp_evaluation()
    }

    /// The pawn part's output for a structure (black, white); none if there is no pawn part.
    pub fn evaluate_pawns(&self, pawns: [Bitboard; 2]) -> Option<PawnEntry> {
        self.pawns.as_ref().map(|part| part.evaluate(self.instructions, pawns))
    }

    /// The fingerprint, computed by `compute` once.
    pub(in crate::eval) fn fingerprint(&self, compute: impl FnOnce() -> u16) -> u16 {
        *self.fingerprint.get_or_init(compute)
    }
}

/// Adds some rows to `from` (or, without it, to `to` itself), subtracts others, and writes the result to `to`.
#[inline(always)]
fn pass<const ROWS: usize>(
    from: Option<&Units>,
    to: &mut Units,
    added: [&Units; ROWS],
    removed: [&Units; ROWS],
) {
    let total = |unit: usize, before: i16| {
        let mut sum = before;
        for row in 0..ROWS {
            sum = sum.wrapping_add(added[row].0[unit]).wrapping_sub(removed[row].0[unit]);
        }
        sum
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

/// The sum of the squared clipped units times their weights. Weights are within ±127, so that a unit times its weight
/// fits into 16 bits, and the sum over a part of the units into 32.
#[inline(always)]
fn dot(units: &Units, weights: &Units) -> i64 {
    const PART: usize = 256;
    const _: () = assert!(PART as i64 * (ONE_INPUT * ONE_INPUT) as i64 * 127 <= i32::MAX as i64);
    let (units, weights) = (units.0.as_chunks::<PART>().0, weights.0.as_chunks::<PART>().0);
    let mut total = 0;
    for (units, weights) in units.iter().zip(weights) {
        let mut sum = 0_i32;
        for (&unit, &weight) in units.iter().zip(weights) {
            let clipped = unit.clamp(0, ONE_INPUT as i16);
            sum = sum.wrapping_add(i32::from(clipped.wrapping_mul(weight)) * i32::from(clipped));
        }
        total += i64::from(sum);
    }
    total
}
