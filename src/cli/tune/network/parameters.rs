//! The network's parameters in floating point, and rounded to the engine's integers.
//!
//! All parameters are in one vector, so that optimiser, checkpoints and limits need not distinguish them:
//!
//! ```text
//!  input weights [units / TILE][INPUTS][TILE] | input biases [units] | heads [HEADS][2 * units] | head biases [HEADS]
//!  pawn part: input weights [PAWN_INPUTS][PAWN_UNITS] | input biases [PAWN_UNITS] |
//!             outputs [HEADS][2][PAWN_UNITS] | output biases [HEADS][2]
//! ```

use std::ops::Range;

use fastrand::Rng;

use super::{aligned::Aligned, pawns};
use crate::eval::net::{self, HEADS, INPUTS, ONE_HEAD, ONE_INPUT};

/// Centipawns of one natural unit of the logistic function: the network's output counts in it.
pub const SCALE: f32 = net::SCALE as f32;
/// The numbers of the first layer's rows are kept within this, so that they fit the integers of the engine.
pub const ROW_LIMIT: f32 = 1.0;
/// So are all others within this.
pub const LIMIT: f32 = 1.98;
/// Units that are worked on at a time; the units of a view are a multiple of it.
pub const TILE: usize = 32;
/// A number for each unit of a tile.
pub type Tile<T = f32> = [T; TILE];

/// Where each part of the parameters lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    /// Hidden units of a view.
    pub units: usize,
}

impl NetworkShape {
    pub fn input_biases(self) -> usize {
        INPUTS * self.units
    }

    /// Where the weights of an input for a tile of the units lie.
    pub fn row(self, input: usize, tile: usize) -> Range<usize> {
        let start = (tile * INPUTS + input) * TILE;
        start..start + TILE
    }

    /// Where the weights of all inputs for a tile lie.
    pub fn tile(self, tile: usize) -> Range<usize> {
        self.row(0, tile).start..self.row(INPUTS, tile).start
    }

    pub fn heads(self) -> usize {
        self.input_biases() + self.units
    }

    pub fn head_biases(self) -> usize {
        self.heads() + HEADS * 2 * self.units
    }

    pub fn pawn_part(self) -> usize {
        self.head_biases() + HEADS
    }

    pub fn parameters(self) -> usize {
        self.pawn_part() + pawns::PARAMETERS
    }

    /// The parts that have the same scale in the engine's integers, and the integer that represents 1.0 in them.
    pub fn scales(self) -> Vec<(Range<usize>, i32)> {
        let (input, head, bias) = (ONE_INPUT, ONE_HEAD, ONE_INPUT * ONE_HEAD);
        let mut scales = vec![
            (0..self.heads(), input),
            (self.heads()..self.head_biases(), head),
            (self.head_biases()..self.pawn_part(), bias),
        ];
        let mut place = self.pawn_part();
        for (size, one) in pawns::SIZES.into_iter().zip([input, input, head, bias]) {
            scales.push((place..place + size, one));
            place += size;
        }
        scales
    }

    /// Random parameters to begin with.
    pub fn random(self, seed: u64) -> Vec<f32> {
        let mut random = Rng::with_seed(seed);
        // The sum of four uniform numbers is close enough to a normal one.
        let mut normal = |deviation: f32| {
            let sum: f32 = (0..4).map(|_| random.f32() - 0.5).sum();
            sum * deviation * 3.0_f32.sqrt()
        };
        let mut parameters = vec![0.0; self.parameters()];
        parameters[..self.input_biases()].fill_with(|| normal(0.05));
        parameters[self.heads()..self.head_biases()].fill_with(|| normal((1.0 / self.units as f32).sqrt()));
        // The outputs of the pawn part begin at zero, so that it has no effect before it has learned something.
        let [weights, ..] = pawns::parts(&mut parameters[self.pawn_part()..]);
        weights.fill_with(|| normal(0.2));
        parameters
    }
}

/// The parameters as the engine's integers hold them. What is computed with these instead of the parameters, and changes
/// the parameters, allows for the rounding (straight-through estimator; Bengio and others, 2013).
pub struct Rounded {
    pub shape: NetworkShape,
    /// Those of the first layer, in units of 1 / [`ONE_INPUT`].
    first: Aligned<i16>,
    /// The others, in the order of the parameters.
    others: Vec<f32>,
}

impl Rounded {
    pub fn new(shape: NetworkShape, parameters: &[f32]) -> Rounded {
        let mut first = Aligned::zeros(shape.heads());
        for (integer, number) in first.iter_mut().zip(parameters) {
            *integer = (number * ONE_INPUT as f32).round() as i32 as i16;
        }
        let others = shape.scales().into_iter().skip(1).flat_map(|(part, one)| {
            let one = one as f32;
            parameters[part].iter().map(move |number| (number * one).round() / one)
        });
        Rounded { shape, first, others: others.collect() }
    }

    pub fn rows(&self, tile: usize) -> &[Tile<i16>] {
        self.first[self.shape.tile(tile)].as_chunks().0
    }

    pub fn biases(&self) -> &[Tile<i16>] {
        self.first[self.shape.input_biases()..].as_chunks().0
    }

    /// The weights of all heads, mover's before the opponent's.
    pub fn heads(&self) -> &[Tile] {
        self.others[..self.shape.head_biases() - self.shape.heads()].as_chunks().0
    }

    pub fn head_bias(&self, head: usize) -> f32 {
        self.others[self.shape.head_biases() - self.shape.heads() + head]
    }

    pub fn pawn_part(&self) -> &[f32] {
        &self.others[self.shape.pawn_part() - self.shape.heads()..]
    }
}
