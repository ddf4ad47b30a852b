//! The pawn part in floating point: what it says of a sample's pawns, and its gradient.

use super::record::Sample;
use crate::eval::net::{FIRST, HEADS, PAWN_INPUTS, SECOND};

/// Sizes of the parts: first weights and biases, second weights and biases, outputs and their biases.
const SIZES: [usize; 6] = [PAWN_INPUTS * FIRST, FIRST, SECOND * FIRST, SECOND, HEADS * 2 * SECOND, HEADS * 2];

/// How many parameters it has.
pub const PARAMETERS: usize = {
    let [a, b, c, d, e, f] = SIZES;
    a + b + c + d + e + f
};

/// The parts of its parameters, in the order of [`SIZES`].
pub fn parts(mut rest: &mut [f32]) -> [&mut [f32]; 6] {
    SIZES.map(|size| {
        let (part, after) = std::mem::take(&mut rest).split_at_mut(size);
        rest = after;
        part
    })
}

/// [`parts`], to be read.
pub fn parts_of(mut rest: &[f32]) -> [&[f32]; 6] {
    SIZES.map(|size| {
        let (part, after) = rest.split_at(size);
        rest = after;
        part
    })
}

/// What one sample's pawns came to.
#[derive(Default)]
pub struct PawnScratch {
    inputs: Vec<u8>,
    first: Layer<FIRST>,
    second: Layer<SECOND>,
}

/// Activations, and the slopes of the loss by the sums behind them.
struct Layer<const N: usize> {
    active: [f32; N],
    slope: [f32; N],
}

impl<const N: usize> Default for Layer<N> {
    fn default() -> Self {
        Layer { active: [0.0; N], slope: [0.0; N] }
    }
}

fn dot<const N: usize>(a: &[f32; N], b: &[f32]) -> f32 {
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
    let [first, first_biases, second, second_biases, outputs, output_biases] = parts_of(parameters);
    scratch.inputs.clear();
    for (square, role, theirs) in sample.pieces() {
        // The mover's pawns, then the opponent's, on 48 squares each.
        if role == 0 {
            scratch.inputs.push(square - 8 + if theirs { 48 } else { 0 });
        }
    }
    let active = &mut scratch.first.active;
    active.copy_from_slice(first_biases);
    for &input in &scratch.inputs {
        let row = &first[usize::from(input) * FIRST..][..FIRST];
        active.iter_mut().zip(row).for_each(|(sum, weight)| *sum += weight);
    }
    active.iter_mut().for_each(|sum| *sum = sum.clamp(0.0, 1.0));
    for (unit, active) in scratch.second.active.iter_mut().enumerate() {
        let sum = second_biases[unit] + dot(&scratch.first.active, &second[unit * FIRST..][..FIRST]);
        *active = sum.clamp(0.0, 1.0);
    }
    let [gate, shift] = [0, 1].map(|kind| {
        let place = head * 2 + kind;
        output_biases[place] + dot(&scratch.second.active, &outputs[place * SECOND..][..SECOND])
    });
    (gate, shift)
}

/// Adds the gradient, from the slopes of the loss by factor and addend, for the sample that [`forward`] saw last.
pub fn learn(
    parameters: &[f32],
    head: usize,
    slopes: [f32; 2],
    gradient: &mut [f32],
    scratch: &mut PawnScratch,
) {
    let [_, _, second, _, outputs, _] = parts_of(parameters);
    let [first_gradient, first_biases, second_gradient, second_biases, output_gradient, output_biases] =
        parts(gradient);
    let (one, two) = (&mut scratch.first, &mut scratch.second);
    two.slope = [0.0; SECOND];
    for (kind, slope) in slopes.into_iter().enumerate() {
        let place = head * 2 + kind;
        output_biases[place] += slope;
        let weights = &outputs[place * SECOND..][..SECOND];
        let gradients = &mut output_gradient[place * SECOND..][..SECOND];
        for unit in 0..SECOND {
            gradients[unit] += slope * two.active[unit];
            two.slope[unit] += slope * weights[unit];
        }
    }
    one.slope = [0.0; FIRST];
    for unit in 0..SECOND {
        if two.active[unit] <= 0.0 || two.active[unit] >= 1.0 {
            continue;
        }
        let slope = two.slope[unit];
        second_biases[unit] += slope;
        let weights = &second[unit * FIRST..][..FIRST];
        let gradients = &mut second_gradient[unit * FIRST..][..FIRST];
        for below in 0..FIRST {
            gradients[below] += slope * one.active[below];
            one.slope[below] += slope * weights[below];
        }
    }
    for (slope, active) in one.slope.iter_mut().zip(&one.active) {
        if *active <= 0.0 || *active >= 1.0 {
            *slope = 0.0;
        }
    }
    first_biases.iter_mut().zip(&one.slope).for_each(|(gradient, slope)| *gradient += slope);
    for &input in &scratch.inputs {
        let row = &mut first_gradient[usize::from(input) * FIRST..][..FIRST];
        row.iter_mut().zip(&one.slope).for_each(|(gradient, slope)| *gradient += slope);
    }
}
