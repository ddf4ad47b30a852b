//! The pawn part: a deeper network that sees the pawns alone. It says for each head by how much the rest of the
//! output is multiplied and what is added to it: a locked position is worth less than its pieces say, a chain
//! that will break is worth more. What it says is computed once for each structure and kept in the pawn hash, so
//! its depth costs next to nothing.
//!
//! ```text
//!  96 inputs (48 squares for own pawns, 48 for the opponent's, as the mover sees them)
//!  -> FIRST units -> SECOND units -> for each head factor and addend
//! ```
//! A unit's activation is its sum clipped to 0 to 1.

use shakmaty::{Bitboard, Color};

use super::{
    HEADS,
    file::{Layout, ONE_HEAD, ONE_INPUT},
};
use crate::{
    eval::pawn_table::PawnTableEntry,
    processor::{Instructions, compiled_for_generations},
};

/// Inputs: 48 squares for each side's pawns.
pub const PAWN_INPUTS: usize = 96;
/// Units of the first layer.
pub const FIRST: usize = 64;
/// Units of the second layer.
pub const SECOND: usize = 32;

/// One of a factor's addition to 1.
const ONE_FACTOR: i32 = 128;
/// One of an addend.
const ONE_ADDEND: i32 = 1024;

/// What is kept of a structure: a cache line.
///
/// ```text
///  black pawns 8 | white pawns 8 | addends i16 [mover][head] 32 | factors i8 [mover][head] 16
/// ```
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct PawnEntry {
    pawns: [Bitboard; 2],
    addends: [[i16; HEADS]; 2],
    factors: [[i8; HEADS]; 2],
}

const _: () = assert!(size_of::<PawnEntry>() == 64);

impl PawnTableEntry for PawnEntry {
    fn pawns(&self) -> [Bitboard; 2] {
        self.pawns
    }
}

impl PawnEntry {
    /// Applies what the pawns say to an output in units of 1 / (`ONE_INPUT` * `ONE_HEAD`).
    #[inline]
    pub fn apply(&self, mover: Color, head: usize, output: i64) -> i64 {
        let factor = ONE_FACTOR + i32::from(self.factors[mover as usize][head]);
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

/// The parameters of the pawn part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PawnPart {
    first: Vec<[i16; FIRST]>,
    first_biases: [i16; FIRST],
    /// By input, as the next: the file has them by output.
    second: Box<[[i16; SECOND]; FIRST]>,
    second_biases: [i32; SECOND],
    /// For each head, factor before addend.
    outputs: Box<[[i16; 2 * HEADS]; SECOND]>,
    output_biases: [i32; 2 * HEADS],
}

impl PawnPart {
    /// The pawn part of a file, if it has one.
    pub fn new(layout: &Layout) -> Option<PawnPart> {
        let pawns = layout.pawns.as_ref()?;
        let mut part = PawnPart {
            first: pawns.first.as_chunks().0.to_vec(),
            first_biases: [0; FIRST],
            second: transposed(&pawns.second),
            second_biases: [0; SECOND],
            outputs: transposed(&pawns.outputs),
            output_biases: [0; 2 * HEADS],
        };
        part.first_biases.copy_from_slice(&pawns.first_biases);
        part.second_biases.copy_from_slice(&pawns.second_biases);
        part.output_biases.copy_from_slice(&pawns.output_biases);
        Some(part)
    }

    /// What it says of a structure (black, white).
    #[cold]
    pub fn evaluate(&self, instructions: Instructions, pawns: [Bitboard; 2]) -> PawnEntry {
        evaluate_on(instructions, self, pawns)
    }

    #[inline(always)]
    fn evaluate_here(&self, pawns: [Bitboard; 2]) -> PawnEntry {
        let mut entry = PawnEntry { pawns, ..PawnEntry::default() };
        for mover in Color::ALL {
            let [own, theirs] = match mover {
                Color::White => [pawns[1].0, pawns[0].0],
                Color::Black => [pawns[0].0.swap_bytes(), pawns[1].0.swap_bytes()],
            };
            let outputs = layer(&self.second_layer(own, theirs), &self.outputs, self.output_biases);
            let (outputs, _) = outputs.as_chunks::<2>();
            for (head, &[factor, addend]) in outputs.iter().enumerate() {
                let scaled = |value: i32, one: i32| {
                    i64::from(value) * i64::from(one) / i64::from(ONE_INPUT * ONE_HEAD)
                };
                let most = i64::from(i8::MAX);
                entry.factors[mover as usize][head] = scaled(factor, ONE_FACTOR).clamp(-most, most) as i8;
                let most = i64::from(i16::MAX);
                entry.addends[mover as usize][head] = scaled(addend, ONE_ADDEND).clamp(-most, most) as i16;
            }
        }
        entry
    }

    #[inline(always)]
    fn second_layer(&self, own: u64, theirs: u64) -> [i16; SECOND] {
        let mut first = self.first_biases;
        for (pawns, offset) in [(own, 0), (theirs, PAWN_INPUTS / 2)] {
            let mut rest = pawns >> 8 & 0x0000_FFFF_FFFF_FFFF;
            while rest != 0 {
                let row = &self.first[rest.trailing_zeros() as usize + offset];
                first.iter_mut().zip(row).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
                rest &= rest - 1;
            }
        }
        for unit in &mut first {
            *unit = (*unit).clamp(0, ONE_INPUT as i16);
        }
        let sums = layer(&first, &self.second, self.second_biases);
        let mut second = [0; SECOND];
        for (unit, sum) in second.iter_mut().zip(sums) {
            *unit = (sum / ONE_HEAD).clamp(0, ONE_INPUT) as i16;
        }
        second
    }
}

/// The weights of a layer by input, from those by output.
fn transposed<const FROM: usize, const TO: usize>(weights: &[i16]) -> Box<[[i16; TO]; FROM]> {
    let mut rows = Box::new([[0; TO]; FROM]);
    for (output, weights) in weights.chunks_exact(FROM).enumerate() {
        for (row, &weight) in rows.iter_mut().zip(weights) {
            row[output] = weight;
        }
    }
    rows
}

/// The sums of a layer: its biases and the rows of weights of all inputs that are not zero, which are about half. Those
/// are gathered in a bitboard first: a branch for each input would be mispredicted too often.
#[inline(always)]
fn layer<const FROM: usize, const TO: usize>(
    inputs: &[i16; FROM],
    rows: &[[i16; TO]; FROM],
    biases: [i32; TO],
) -> [i32; TO] {
    const { assert!(FROM <= 64) };
    let mut active = 0_u64;
    for (place, &input) in inputs.iter().enumerate() {
        active |= u64::from(input != 0) << place;
    }
    let mut sums = biases;
    while active != 0 {
        let place = active.trailing_zeros() as usize;
        let (input, row) = (i32::from(inputs[place % FROM]), &rows[place % FROM]);
        for (sum, &weight) in sums.iter_mut().zip(row) {
            *sum = sum.wrapping_add(input * i32::from(weight));
        }
        active &= active - 1;
    }
    sums
}
