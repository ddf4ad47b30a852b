//! The network in floating point: its parameters, its output for samples, and the gradient of the loss, which is the
//! squared error of the expected score.
//!
//! All parameters are in one vector, so that optimiser, checkpoints and limits need not distinguish them:
//!
//! ```text
//!  input weights [units / TILE][INPUTS][TILE] | input biases [units] | heads [HEADS][2 * units] | head biases [HEADS]
//!  pawn part: input weights [PAWN_INPUTS][PAWN_UNITS] | input biases [PAWN_UNITS] |
//!             outputs [HEADS][2][PAWN_UNITS] | output biases [HEADS][2]
//! ```
//! An activation is the square of the sum, clipped to 0 to 1 before (squared clipped rectifier); in the pawn part it
//! is the clipped sum. The pawn part gives a factor for the rest, and what is added to it.
//!
//! Nearly all the time is spent reading and writing rows of input weights. So many samples are processed together, one
//! tile of the units at a time: the weights of a tile, and their gradients, stay in the second-level cache.

use std::ops::Range;

use fastrand::Rng;
use shakmaty::{Color, Role, Square};

use super::{pawns, record::Sample};
use crate::eval::net::{HEADS, INPUTS, ONE_HEAD, ONE_INPUT, head};

/// Centipawns of one natural unit of the logistic function: the network's output counts in it.
pub const SCALE: f32 = 220.0;
/// The numbers of the first layer's rows are kept within this, so that they fit the integers of the engine.
pub const ROW_LIMIT: f32 = 1.0;
/// So are all others within this.
pub const LIMIT: f32 = 1.98;
/// Most pieces on a board.
const MOST: usize = 32;
/// Units that are worked on at a time; the units of a view are a multiple of it.
pub const TILE: usize = 64;

/// The numbers of the units of a tile.
type Tile = [f32; TILE];

/// Where each part of the parameters lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NetworkShape {
    /// Hidden units of a view.
    pub units: usize,
    /// Has it a pawn part?
    pub pawns: bool,
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
        self.pawn_part() + if self.pawns { pawns::PARAMETERS } else { 0 }
    }

    /// The parts that have the same scale in the engine's integers, and the integer that represents 1.0 in them.
    pub fn scales(self) -> Vec<(Range<usize>, i32)> {
        let (input, head, bias) = (ONE_INPUT, ONE_HEAD, ONE_INPUT * ONE_HEAD);
        let mut scales = vec![
            (0..self.heads(), input),
            (self.heads()..self.head_biases(), head),
            (self.head_biases()..self.pawn_part(), bias),
        ];
        if self.pawns {
            let mut place = self.pawn_part();
            for (size, one) in pawns::SIZES.into_iter().zip([input, input, head, bias]) {
                scales.push((place..place + size, one));
                place += size;
            }
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
        if self.pawns {
            // Its outputs begin at zero, so that it has no effect before it has learned something.
            let [weights, ..] = pawns::parts(&mut parameters[self.pawn_part()..]);
            weights.fill_with(|| normal(0.2));
        }
        parameters
    }
}

/// The inputs that a sample sets, for the mover's view and the opponent's, and its output head.
struct Inputs {
    head: usize,
    count: usize,
    views: [[u16; MOST]; 2],
}

impl Inputs {
    fn of(sample: &Sample) -> Inputs {
        let views = sample.views();
        let head = head(sample.occupied.count_ones());
        let mut inputs = Inputs { head, count: 0, views: [[0; MOST]; 2] };
        for (square, role, theirs) in sample.pieces() {
            let (color, role) = (Color::from_white(!theirs), Role::ALL[usize::from(role)]);
            for (inputs_of_view, view) in inputs.views.iter_mut().zip(views) {
                inputs_of_view[inputs.count] = view.input(color, role, Square::new(u32::from(square))) as u16;
            }
            inputs.count += 1;
        }
        inputs
    }

    fn view(&self, view: usize) -> &[u16] {
        &self.views[view][..self.count]
    }

    /// Which of all tiles of the heads is that of its head for a view, where a view has `tiles`.
    fn head_tile(&self, tiles: usize, view: usize, tile: usize) -> usize {
        (2 * self.head + view) * tiles + tile
    }
}

/// Room for the samples that are worked on together.
#[derive(Default)]
pub struct Scratch {
    inputs: Vec<Inputs>,
    /// By tile, sample and view.
    sums: Vec<[Tile; 2]>,
    /// The output without the pawn part; then the slope of the loss by it.
    values: Vec<f32>,
    pawns: pawns::PawnScratch,
}

/// The sums of a tile's units.
fn sum_rows(rows: &[Tile], biases: &Tile, inputs: &[u16]) -> Tile {
    let mut sums = *biases;
    for &input in inputs {
        let row = &rows[usize::from(input)];
        for unit in 0..TILE {
            sums[unit] += row[unit];
        }
    }
    sums
}

/// The output of a tile's units, in independent sums, so that the compiler vectorises it.
fn output(sums: &Tile, weights: &Tile) -> f32 {
    const LANES: usize = 32;
    let mut lanes = [0.0_f32; LANES];
    for (sums, weights) in sums.as_chunks::<LANES>().0.iter().zip(weights.as_chunks::<LANES>().0) {
        for lane in 0..LANES {
            let clipped = sums[lane].clamp(0.0, 1.0);
            lanes[lane] += clipped * clipped * weights[lane];
        }
    }
    lanes.iter().sum()
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes the output for samples without the pawn part.
fn forward(shape: NetworkShape, parameters: &[f32], samples: &[Sample], scratch: &mut Scratch) {
    let Scratch { inputs, sums, values, .. } = scratch;
    inputs.clear();
    inputs.extend(samples.iter().map(Inputs::of));
    values.clear();
    values.extend(inputs.iter().map(|inputs| parameters[shape.head_biases() + inputs.head]));
    sums.resize(shape.units / TILE * samples.len(), [[0.0; TILE]; 2]);
    let tiles = |part: Range<usize>| parameters[part].as_chunks::<TILE>().0;
    let biases = tiles(shape.input_biases()..shape.heads());
    let heads = tiles(shape.heads()..shape.head_biases());
    for (tile, sums) in sums.chunks_exact_mut(samples.len()).enumerate() {
        let rows = tiles(shape.row(0, tile).start..shape.row(INPUTS, tile).start);
        for ((inputs, value), sums) in inputs.iter().zip(values.iter_mut()).zip(sums) {
            for (view, sums) in sums.iter_mut().enumerate() {
                *sums = sum_rows(rows, &biases[tile], inputs.view(view));
                *value += output(sums, &heads[inputs.head_tile(biases.len(), view, tile)]);
            }
        }
    }
}

/// The pawn part's factor of the rest, and what it adds.
fn pawn_part(
    shape: NetworkShape,
    parameters: &[f32],
    head: usize,
    sample: &Sample,
    scratch: &mut pawns::PawnScratch,
) -> (f32, f32) {
    if !shape.pawns {
        return (1.0, 0.0);
    }
    let (gate, shift) = pawns::forward(&parameters[shape.pawn_part()..], head, sample, scratch);
    (1.0 + gate, shift)
}

/// The target: the expected score, `share` of it the result of the game where that is known.
fn target(sample: &Sample, share: f32) -> f32 {
    let teacher = logistic(f32::from(sample.score) / SCALE);
    if sample.result > 2 { teacher } else { teacher + share * (f32::from(sample.result) / 2.0 - teacher) }
}

/// The sum of the losses of samples.
pub fn loss(
    shape: NetworkShape,
    parameters: &[f32],
    samples: &[Sample],
    share: f32,
    scratch: &mut Scratch,
) -> f32 {
    forward(shape, parameters, samples, scratch);
    let mut sum = 0.0;
    for ((sample, inputs), main) in samples.iter().zip(&scratch.inputs).zip(&scratch.values) {
        let (factor, addend) = pawn_part(shape, parameters, inputs.head, sample, &mut scratch.pawns);
        sum += (logistic(main * factor + addend) - target(sample, share)).powi(2);
    }
    sum
}

/// Adds the gradient of the losses of samples, and gives their sum.
pub fn learn(
    shape: NetworkShape,
    parameters: &[f32],
    samples: &[Sample],
    share: f32,
    gradient: &mut [f32],
    scratch: &mut Scratch,
) -> f32 {
    forward(shape, parameters, samples, scratch);
    let mut sum = 0.0;
    for ((sample, inputs), value) in samples.iter().zip(&scratch.inputs).zip(&mut scratch.values) {
        let (factor, addend) = pawn_part(shape, parameters, inputs.head, sample, &mut scratch.pawns);
        let said = logistic(*value * factor + addend);
        let error = said - target(sample, share);
        sum += error.powi(2);
        let slope = 2.0 * error * said * (1.0 - said);
        if shape.pawns {
            let (parameters, gradient) =
                (&parameters[shape.pawn_part()..], &mut gradient[shape.pawn_part()..]);
            pawns::learn(parameters, inputs.head, [slope * *value, slope], gradient, &mut scratch.pawns);
        }
        *value = slope * factor;
        gradient[shape.head_biases() + inputs.head] += *value;
    }
    backward(shape, parameters, gradient, scratch);
    sum
}

/// Adds the gradient of inputs and heads, from the slope by their output for each sample.
fn backward(shape: NetworkShape, parameters: &[f32], gradient: &mut [f32], scratch: &Scratch) {
    let heads = parameters[shape.heads()..shape.head_biases()].as_chunks::<TILE>().0;
    let (rows, rest) = gradient.split_at_mut(shape.input_biases());
    let (biases, rest) = rest.split_at_mut(shape.units);
    let biases = biases.as_chunks_mut::<TILE>().0;
    let head_gradients = rest[..heads.len() * TILE].as_chunks_mut::<TILE>().0;
    let tiles = biases.len();
    for (tile, sums) in scratch.sums.chunks_exact(scratch.values.len()).enumerate() {
        let rows = rows[shape.row(0, tile).start..shape.row(INPUTS, tile).start].as_chunks_mut::<TILE>().0;
        for ((inputs, &slope), sums) in scratch.inputs.iter().zip(&scratch.values).zip(sums) {
            for (view, sums) in sums.iter().enumerate() {
                let place = inputs.head_tile(tiles, view, tile);
                let (weights, head_gradient) = (&heads[place], &mut head_gradients[place]);
                let mut slopes = [0.0; TILE];
                for unit in 0..TILE {
                    let sum = sums[unit];
                    let clipped = sum.clamp(0.0, 1.0);
                    head_gradient[unit] += slope * clipped * clipped;
                    slopes[unit] = if clipped == sum { slope * weights[unit] * 2.0 * clipped } else { 0.0 };
                    biases[tile][unit] += slopes[unit];
                }
                for &input in inputs.view(view) {
                    let row = &mut rows[usize::from(input)];
                    for unit in 0..TILE {
                        row[unit] += slopes[unit];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tune::data;

    const SHAPE: NetworkShape = NetworkShape { units: 2 * TILE, pawns: true };

    fn sample(fen: &str, score: i16) -> Sample {
        Sample { score, ..Sample::new(&data::position(fen).expect(fen)) }
    }

    fn samples() -> [Sample; 3] {
        [
            sample("r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N1P/PP1P1PP1/RNBQR1K1 b - - 0 9", 310),
            sample("2kr3r/ppp1qppp/2n5/3p1b2/3P1Bn1/2N2N2/PPP1QPPP/2KR3R w - - 8 11", -480),
            sample("8/pp3kp1/2p2p1p/8/3PK3/5PP1/PP5P/8 b - - 1 33", 150),
        ]
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let mut parameters = SHAPE.random(5);
        // The pawn part's outputs begin at zero, where its inner slopes are zero too.
        let mut random = Rng::with_seed(9);
        parameters[SHAPE.head_biases()..].iter_mut().for_each(|weight| *weight += 0.2 * (random.f32() - 0.5));
        let mut scratch = Scratch::default();
        for sample in samples() {
            let mut gradient = vec![0.0; SHAPE.parameters()];
            let before = learn(SHAPE, &parameters, &[sample], 0.0, &mut gradient, &mut scratch);
            assert_eq!(before, loss(SHAPE, &parameters, &[sample], 0.0, &mut scratch));
            // A step against the gradient lowers the loss by its squared length, where it is short.
            let squared: f32 = gradient.iter().map(|slope| slope * slope).sum();
            let step = 0.02 * before / squared;
            let moved: Vec<f32> =
                parameters.iter().zip(&gradient).map(|(weight, slope)| weight - step * slope).collect();
            let fallen = (before - loss(SHAPE, &moved, &[sample], 0.0, &mut scratch)) / (step * squared);
            assert!((0.9..1.1).contains(&fallen), "{fallen}");
            // And so does a step in each part of the parameters alone.
            for part in [
                0..SHAPE.input_biases(),
                SHAPE.input_biases()..SHAPE.heads(),
                SHAPE.heads()..SHAPE.head_biases(),
                SHAPE.head_biases()..SHAPE.pawn_part(),
                SHAPE.pawn_part()..SHAPE.parameters(),
            ] {
                let squared: f32 = gradient[part.clone()].iter().map(|slope| slope * slope).sum();
                let step = 0.01 * before / squared;
                let mut moved = parameters.clone();
                for place in part.clone() {
                    moved[place] -= step * gradient[place];
                }
                let fallen = (before - loss(SHAPE, &moved, &[sample], 0.0, &mut scratch)) / (step * squared);
                assert!((0.8..1.2).contains(&fallen), "{part:?}: {fallen}");
            }
        }
    }

    #[test]
    fn a_known_result_moves_the_target() {
        let [sample, ..] = samples();
        let won = Sample { result: 2, ..sample };
        assert!(target(&won, 0.5) > target(&sample, 0.5));
        assert_eq!(target(&won, 0.0), target(&sample, 0.0));
    }
}
