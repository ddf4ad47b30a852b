//! The pawn part in floating point: its output for a sample's pawns, and its gradient.

use super::record::Sample;
use crate::eval::net::{HEADS, PAWN_INPUTS, PAWN_UNITS};

/// Sizes of the parts: input weights and biases, outputs and their biases.
pub const SIZES: [usize; 4] = [PAWN_INPUTS * PAWN_UNITS, PAWN_UNITS, HEADS * 2 * PAWN_UNITS, HEADS * 2];

/// How many parameters it has.
pub const PARAMETERS: usize = {
    let [a, b, c, d] = SIZES;
    a + b + c + d
};

/// The parts of its parameters, in the order of [`SIZES`].
pub fn parts(mut rest: &mut [f32]) -> [&mut [f32]; 4] {
    SIZES.map(|size| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(size);
        rest = after;
        part
    })
}

/// [`parts`], to be read.
pub fn parts_of<T>(mut rest: &[T]) -> [&[T]; 4] {
    SIZES.map(|size| {
        let (part, after) = rest.split_at(size);
        rest = after;
        part
    })
}

/// Inputs and activations of one sample's pawns.
pub struct PawnScratch {
    inputs: Vec<u8>,
    active: [f32; PAWN_UNITS],
}

impl Default for PawnScratch {
    fn default() -> Self {
        PawnScratch { inputs: Vec::new(), active: [0.0; PAWN_UNITS] }
    }
}

fn dot(a: &[f32; PAWN_UNITS], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for (a, b) in a.as_chunks::<16>().0.iter().zip(b.as_chunks::<16>().0) {
        for lane in 0..16 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum()
}

/// By what the rest is multiplied (less 1) and what is added.
pub fn forward(parameters: &[f32], head: usize, sample: &Sample, scratch: &mut PawnScratch) -> (f32, f32) {
    let [weights, biases, outputs, output_biases] = parts_of(parameters);
    scratch.inputs.clear();
    for (square, role, theirs) in sample.pieces() {
        // The mover's pawns, then the opponent's, on 48 squares each.
        if role == 0 {
            scratch.inputs.push(square - 8 + if theirs { 48 } else { 0 });
        }
    }
    let active = &mut scratch.active;
    active.copy_from_slice(biases);
    for &input in &scratch.inputs {
        let row = &weights[usize::from(input) * PAWN_UNITS..][..PAWN_UNITS];
        active.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
    }
    active.iter_mut().for_each(|sum| *sum = sum.clamp(0.0, 1.0));
    let [factor, addend] = [0, 1].map(|kind| {
        let place = head * 2 + kind;
        output_biases[place] + dot(&scratch.active, &outputs[place * PAWN_UNITS..][..PAWN_UNITS])
    });
    (factor, addend)
}

/// Adds the gradient, from the slopes of the loss by factor and addend, for the sample that [`forward`] saw last.
pub fn learn(
    parameters: &[f32],
    head: usize,
    slopes: [f32; 2],
    gradient: &mut [f32],
    scratch: &mut PawnScratch,
) {
    let [_, _, outputs, _] = parts_of(parameters);
    let [weight_gradient, bias_gradient, output_gradient, output_biases] = parts(gradient);
    let active = &scratch.active;
    let mut unit_slopes = [0.0; PAWN_UNITS];
    for (kind, slope) in slopes.into_iter().enumerate() {
        let place = head * 2 + kind;
        output_biases[place] += slope;
        let weights = &outputs[place * PAWN_UNITS..][..PAWN_UNITS];
        let gradients = &mut output_gradient[place * PAWN_UNITS..][..PAWN_UNITS];
        for unit in 0..PAWN_UNITS {
            gradients[unit] += slope * active[unit];
            unit_slopes[unit] += slope * weights[unit];
        }
    }
    for (slope, active) in unit_slopes.iter_mut().zip(active) {
        if *active <= 0.0 || *active >= 1.0 {
            *slope = 0.0;
        }
    }
    bias_gradient.iter_mut().zip(&unit_slopes).for_each(|(gradient, slope)| *gradient += slope);
    for &input in &scratch.inputs {
        let row = &mut weight_gradient[usize::from(input) * PAWN_UNITS..][..PAWN_UNITS];
        row.iter_mut().zip(&unit_slopes).for_each(|(gradient, slope)| *gradient += slope);
    }
}
