//! The small layers in floating point, beside each linear head: their output for samples, and their gradient.
//!
//! ```text
//!  activations of both views -> FIRST clipped units -> these and their squares -> SECOND clipped units -> added to the head
//!  parameters: first weights [HEADS][2][tiles][FIRST][TILE] |
//!              for each head: biases [FIRST] | second weights [SECOND][SECOND] | biases [SECOND] | output [SECOND] | bias
//! ```
//! The output begins at zero, so that the training begins with the network without them.

use super::{
    model::{LIMIT, TILE, Tile},
    pawns::{split, split_mut},
};
use crate::eval::net::{FIRST, HEADS, ONE_FIRST, SECOND};

/// Sizes of the parts that follow the first weights, for a head.
const SIZES: [usize; 5] = [FIRST, SECOND * SECOND, SECOND, SECOND, 1];
/// Their sum.
const REST: usize = {
    let [a, b, c, d, e] = SIZES;
    a + b + c + d + e
};
/// The first weights are kept within this, so that they fit bytes.
pub const FIRST_LIMIT: f32 = 127.0 / ONE_FIRST as f32;

/// How many first weights there are.
pub fn first_weights(units: usize) -> usize {
    HEADS * 2 * units * FIRST
}

/// Where the first weights of each tile begin in the order of a file with `old` units, and in the order of the
/// parameters with at least as many.
pub fn places(old: usize, new: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..2 * HEADS).flat_map(move |side| {
        let (head, view) = (side / 2, side % 2);
        let tiles = (0..old.min(new) / TILE).flat_map(|tile| (0..FIRST).map(move |unit| (tile, unit)));
        tiles.map(move |(tile, unit)| {
            let file = ((head * FIRST + unit) * 2 + view) * old + tile * TILE;
            (file, ((side * (new / TILE) + tile) * FIRST + unit) * TILE)
        })
    })
}

/// How many parameters there are.
pub fn parameters(units: usize) -> usize {
    first_weights(units) + HEADS * REST
}

/// The first weights, and for each head the parts after them in the order of [`SIZES`].
pub fn parts(small: &[f32], units: usize) -> (&[f32], impl Iterator<Item = [&[f32]; 5]>) {
    let (first, rest) = small.split_at(first_weights(units));
    (first, rest.chunks(REST).map(|rest| split(rest, SIZES)))
}

/// [`parts`], to be changed.
pub fn parts_mut(small: &mut [f32], units: usize) -> (&mut [f32], impl Iterator<Item = [&mut [f32]; 5]>) {
    let (first, rest) = small.split_at_mut(first_weights(units));
    (first, rest.chunks_mut(REST).map(|rest| split_mut(rest, SIZES)))
}

/// Begins with random parameters; `normal` gives numbers of a standard deviation.
pub fn begin(small: &mut [f32], units: usize, mut normal: impl FnMut(f32) -> f32) {
    let (first, heads) = parts_mut(small, units);
    first.fill_with(|| normal(1.5 / (units as f32).sqrt()).clamp(-FIRST_LIMIT, FIRST_LIMIT));
    for [biases, second, second_biases, _, _] in heads {
        biases.fill_with(|| 0.4 + normal(0.2));
        second.fill_with(|| normal(0.25).clamp(-LIMIT, LIMIT));
        second_biases.fill_with(|| 0.3 + normal(0.1));
    }
}

/// What is known of a sample.
#[derive(Clone)]
struct Layers {
    /// The sums of the first layer's units.
    first: [f32; FIRST],
    /// The inputs of the second layer.
    inputs: [f32; SECOND],
    /// The sums of its units.
    second: [f32; SECOND],
    /// The slopes by the sums of the first layer.
    slopes: [f32; FIRST],
}

/// Room for samples.
#[derive(Default)]
pub struct SmallScratch {
    /// The first weights by head, view and tile, the units of the layer last.
    turned: Vec<[[f32; FIRST]; TILE]>,
    layers: Vec<Layers>,
}

fn clipped(sums: &[f32; SECOND]) -> [f32; SECOND] {
    let mut active = [0.0; SECOND];
    for unit in 0..SECOND {
        active[unit] = sums[unit].clamp(0.0, 1.0);
    }
    active
}

/// Adds a factor times a row of weights.
#[inline(always)]
fn add_row<const UNITS: usize>(sums: &mut [f32; UNITS], factor: f32, weights: &[f32; UNITS]) {
    for unit in 0..UNITS {
        sums[unit] += factor * weights[unit];
    }
}

impl SmallScratch {
    /// Begins with the samples that have these heads.
    pub fn begin(&mut self, small: &[f32], units: usize, samples: impl Iterator<Item = usize>) {
        let (first, heads) = parts(small, units);
        self.turned.resize(first.len() / (FIRST * TILE), [[0.0; FIRST]; TILE]);
        for (turned, block) in self.turned.iter_mut().zip(first.as_chunks::<TILE>().0.chunks_exact(FIRST)) {
            for (unit, weights) in block.iter().enumerate() {
                turned.iter_mut().zip(weights).for_each(|(turned, weight)| turned[unit] = *weight);
            }
        }
        let mut biases = [[0.0; FIRST]; HEADS];
        biases.iter_mut().zip(heads).for_each(|(to, [from, ..])| to.copy_from_slice(from));
        let (inputs, second, slopes) = ([0.0; SECOND], [0.0; SECOND], [0.0; FIRST]);
        self.layers.clear();
        self.layers.extend(samples.map(|head| Layers { first: biases[head], inputs, second, slopes }));
    }

    /// Adds the activations of a tile of the head `place` to the first layer.
    #[inline(always)]
    pub fn add(&mut self, sample: usize, place: usize, active: &Tile) {
        // Four independent sums, each a vector.
        let [mut a, mut b, mut c, mut d] = [[0.0_f32; FIRST]; 4];
        for (active, weights) in active.as_chunks::<4>().0.iter().zip(self.turned[place].as_chunks::<4>().0) {
            add_row(&mut a, active[0], &weights[0]);
            add_row(&mut b, active[1], &weights[1]);
            add_row(&mut c, active[2], &weights[2]);
            add_row(&mut d, active[3], &weights[3]);
        }
        let first = &mut self.layers[sample].first;
        for unit in 0..FIRST {
            first[unit] += (a[unit] + b[unit]) + (c[unit] + d[unit]);
        }
    }

    /// The output for a sample whose first layer is complete.
    pub fn output(&mut self, small: &[f32], units: usize, sample: usize, head: usize) -> f32 {
        let [_, weights, biases, outputs, bias] = rest(small, units, head);
        let layers = &mut self.layers[sample];
        for unit in 0..FIRST {
            let active = layers.first[unit].clamp(0.0, 1.0);
            (layers.inputs[unit], layers.inputs[FIRST + unit]) = (active, active * active);
        }
        layers.second.copy_from_slice(biases);
        for (input, weights) in layers.inputs.iter().zip(weights.as_chunks::<SECOND>().0) {
            add_row(&mut layers.second, *input, weights);
        }
        let active = clipped(&layers.second);
        bias[0] + active.iter().zip(outputs).map(|(active, weight)| active * weight).sum::<f32>()
    }

    /// Adds the gradient of all but the first weights, from the slope by the output of a sample.
    pub fn learn(
        &mut self,
        small: &[f32],
        units: usize,
        (sample, head): (usize, usize),
        slope: f32,
        gradient: &mut [f32],
    ) {
        let [_, weights, _, outputs, _] = rest(small, units, head);
        let start = first_weights(units) + head * REST;
        let [biases, second, second_biases, output_gradient, bias] =
            split_mut(&mut gradient[start..start + REST], SIZES);
        let layers = &mut self.layers[sample];
        bias[0] += slope;
        let active = clipped(&layers.second);
        let mut slopes = [0.0; SECOND];
        for unit in 0..SECOND {
            output_gradient[unit] += slope * active[unit];
            slopes[unit] = if active[unit] == layers.second[unit] { slope * outputs[unit] } else { 0.0 };
            second_biases[unit] += slopes[unit];
        }
        let mut input_slopes = [0.0; SECOND];
        let gradients = second.as_chunks_mut::<SECOND>().0.iter_mut();
        for (input, (gradient, weights)) in gradients.zip(weights.as_chunks::<SECOND>().0).enumerate() {
            let mut products = [0.0; SECOND];
            for unit in 0..SECOND {
                gradient[unit] += layers.inputs[input] * slopes[unit];
                products[unit] = weights[unit] * slopes[unit];
            }
            let (low, high) = products.split_at(SECOND / 2);
            let mut half = [0.0; SECOND / 2];
            for lane in 0..SECOND / 2 {
                half[lane] = low[lane] + high[lane];
            }
            input_slopes[input] = half.iter().sum();
        }
        for unit in 0..FIRST {
            let active = layers.inputs[unit];
            let by_active = input_slopes[unit] + 2.0 * active * input_slopes[FIRST + unit];
            layers.slopes[unit] = if active == layers.first[unit] { by_active } else { 0.0 };
            biases[unit] += layers.slopes[unit];
        }
    }

    /// Adds the gradient of the first weights for a tile of the head `place`, and the slopes by its activations.
    #[inline(always)]
    pub fn learn_first(
        &self,
        small: &[f32],
        (sample, place): (usize, usize),
        active: &Tile,
        gradient: &mut [f32],
        slopes: &mut Tile,
    ) {
        let block = place * FIRST * TILE..(place + 1) * FIRST * TILE;
        let weights = small[block.clone()].as_chunks::<TILE>().0;
        let gradients = gradient[block].as_chunks_mut::<TILE>().0;
        let mut by_active = *slopes;
        for ((slope, weights), gradient) in self.layers[sample].slopes.iter().zip(weights).zip(gradients) {
            add_row(&mut by_active, *slope, weights);
            add_row(gradient, *slope, active);
        }
        *slopes = by_active;
    }
}

/// The parts of a head after the first weights.
fn rest(small: &[f32], units: usize, head: usize) -> [&[f32]; 5] {
    let start = first_weights(units) + head * REST;
    split(&small[start..start + REST], SIZES)
}
