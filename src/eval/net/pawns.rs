//! The pawn part: a small network that sees only the pawns. For each head it outputs a factor, by which the rest of
//! the output is multiplied, and an addend: a locked position, for example, is worth less than its pieces suggest.
//! Its output is computed once for each structure and kept in the pawn hash.
//!
//! ```text
//!  96 inputs (48 squares for own pawns, 48 for the opponent's, as the mover sees them)
//!  -> PAWN_UNITS units -> for each head factor and addend
//! ```
//! A unit's activation is its sum clipped to the range 0 to 1.

use shakmaty::{Bitboard, Color};

use super::file::{HEADS, ONE_HEAD, ONE_INPUT, PAWN_INPUTS, PAWN_UNITS, PawnLayout};
use crate::{
    eval::pawn_table::PawnTableEntry,
    processor::{Instructions, compiled_for_generations},
};

/// The integer that represents 1.0 in a factor, which is below 4: with one or two pawns those trained come near it.
const ONE_FACTOR: i32 = 64;
/// The integer that represents 1.0 in an addend.
const ONE_ADDEND: i32 = 1024;

/// The pawn hash entry of a structure: a cache line.
///
/// ```text
///  black pawns 8 | white pawns 8 | addends i16 [mover][head] 32 | factors u8 [mover][head] 16
/// ```
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct PawnEntry {
    pawns: [Bitboard; 2],
    addends: [[i16; HEADS]; 2],
    factors: [[u8; HEADS]; 2],
}

const _: () = assert!(size_of::<PawnEntry>() == 64);
// An output times `ONE_ADDEND` fits into 32 bits: trained weights and biases are within ±2. Those of another file wrap.
const _: () =
    assert!((PAWN_UNITS as i64 + 1) * 2 * (ONE_INPUT * ONE_HEAD * ONE_ADDEND) as i64 <= i32::MAX as i64);

impl PawnTableEntry for PawnEntry {
    fn pawns(&self) -> [Bitboard; 2] {
        self.pawns
    }
}

impl PawnEntry {
    /// Applies factor and addend to an output in units of 1 / (`ONE_INPUT` * `ONE_HEAD`).
    #[inline]
    pub fn apply(&self, mover: Color, head: usize, output: i64) -> i64 {
        let factor = self.factors[mover as usize][head];
        let addend = i32::from(self.addends[mover as usize][head]);
        output * i64::from(factor) / i64::from(ONE_FACTOR)
            + i64::from(addend) * i64::from(ONE_INPUT * ONE_HEAD) / i64::from(ONE_ADDEND)
    }
}

compiled_for_generations! {
    /// [`PawnPart::evaluate_here`].
    fn evaluate_on(part: &PawnPart, pawns: [Bitboard; 2]) -> PawnEntry {
        part.evaluate_here(pawns)
    }
}

/// Hidden units for either side to move, Black and then White: a pawn is an input of both.
type BothUnits = [i16; 2 * PAWN_UNITS];

/// The parameters of the pawn part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PawnPart {
    /// By color of the pawn and square.
    rows: Box<[[BothUnits; 64]; 2]>,
    biases: BothUnits,
    /// By unit, the factors of all heads before the addends.
    outputs: Box<[[i16; 2 * HEADS]; PAWN_UNITS]>,
    output_biases: [i32; 2 * HEADS],
}

impl PawnPart {
    /// The pawn part of a file.
    pub fn new(layout: &PawnLayout) -> PawnPart {
        let mut part = PawnPart {
            rows: Box::new([[[0; 2 * PAWN_UNITS]; 64]; 2]),
            biases: [0; 2 * PAWN_UNITS],
            outputs: Box::new([[0; 2 * HEADS]; PAWN_UNITS]),
            output_biases: [0; 2 * HEADS],
        };
        for mover in Color::ALL {
            let units = mover as usize * PAWN_UNITS..(mover as usize + 1) * PAWN_UNITS;
            part.biases[units.clone()].copy_from_slice(&layout.input_biases);
            for (input, weights) in layout.input_weights.chunks_exact(PAWN_UNITS).enumerate() {
                let color = if input < PAWN_INPUTS / 2 { mover } else { mover.other() };
                // The side to move plays upwards.
                let upwards = input % (PAWN_INPUTS / 2) + 8;
                let square = mover.fold_wb(upwards, upwards ^ 56);
                part.rows[color as usize][square][units.clone()].copy_from_slice(weights);
            }
        }
        let outputs = layout.output_biases.iter().zip(layout.outputs.chunks_exact(PAWN_UNITS));
        for (output, (&bias, weights)) in outputs.enumerate() {
            let place = output / 2 + output % 2 * HEADS;
            part.output_biases[place] = bias;
            part.outputs.iter_mut().zip(weights).for_each(|(row, &weight)| row[place] = weight);
        }
        part
    }

    /// Its output for a structure (black, white).
    #[cold]
    pub fn evaluate(&self, instructions: Instructions, pawns: [Bitboard; 2]) -> PawnEntry {
        evaluate_on(instructions, self, pawns)
    }

    #[inline(always)]
    fn evaluate_here(&self, pawns: [Bitboard; 2]) -> PawnEntry {
        let mut entry = PawnEntry { pawns, ..PawnEntry::default() };
        let mut units = self.biases;
        for (rows, pawns) in self.rows.iter().zip(pawns) {
            for square in pawns {
                let row = &rows[square as usize];
                units.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
            }
        }
        for (mover, units) in units.as_chunks::<PAWN_UNITS>().0.iter().enumerate() {
            let mut sums = self.output_biases;
            for (&unit, row) in units.iter().zip(&*self.outputs) {
                let active = i32::from(unit.clamp(0, ONE_INPUT as i16));
                for (sum, &weight) in sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(active * i32::from(weight));
                }
            }
            let one = ONE_INPUT * ONE_HEAD;
            for head in 0..HEADS {
                // What the network says is the factor's difference from 1. Rounded, as it is coarse.
                let factor =
                    (sums[head].wrapping_add(one).wrapping_mul(ONE_FACTOR)).wrapping_add(one / 2) / one;
                entry.factors[mover][head] = factor.clamp(0, i32::from(u8::MAX)) as u8;
                let most = i32::from(i16::MAX);
                let addend = sums[HEADS + head].wrapping_mul(ONE_ADDEND) / one;
                entry.addends[mover][head] = addend.clamp(-most, most) as i16;
            }
        }
        entry
    }
}
