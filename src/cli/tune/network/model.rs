//! The network's output for samples, and the gradient of the loss, which is the squared error of the expected score.
//!
//! An activation is the square of the sum, clipped to 0 to 1 before (squared clipped rectifier); in the pawn part it
//! is the clipped sum. The pawn part gives a factor for the rest, and what is added to it.
//!
//! Nearly all the time goes into the rows of input weights. Therefore many samples are processed together, one tile of
//! the units at a time, whose weights and gradients stay in the second-level cache; rows are summed in the engine's
//! integers; and backwards the slopes of several views that use a row are summed before they are added to its gradient.

use shakmaty::{Color, Role, Square};

use super::{
    aligned::Aligned,
    parameters::{Rounded, SCALE, TILE, Tile},
    pawns,
    record::Sample,
};
use crate::eval::net::{INPUTS, ONE_INPUT, head};

/// Most pieces on a board.
const MOST: usize = 32;
/// Samples whose slopes are worked on together: all their views, and [`NO_VIEW`], fit a byte.
const BLOCK: usize = 127;
/// A view without any slope.
const NO_VIEW: u8 = u8::MAX;
/// Views whose slopes are summed before they are added to a row's gradient.
const GROUP: usize = 4;
/// A sum that is clipped: one more than [`ONE_INPUT`].
const CLIPPED: u8 = ONE_INPUT as u8 + 1;

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

/// Up to [`GROUP`] views of a block that use a row.
#[derive(Copy, Clone)]
struct Use {
    row: u16,
    views: [u8; GROUP],
}

/// All uses of rows in a block of samples, whose views are numbered through.
fn uses(block: &[Inputs]) -> Vec<Use> {
    let mut uses = Vec::new();
    // For each row how often it was used, and the place of its last group.
    let mut rows = vec![(0, 0); INPUTS];
    for (sample, inputs) in block.iter().enumerate() {
        for view in 0..2 {
            for &row in inputs.view(view) {
                let (count, place) = &mut rows[usize::from(row)];
                if *count % GROUP == 0 {
                    *place = uses.len();
                    uses.push(Use { row, views: [NO_VIEW; GROUP] });
                }
                uses[*place].views[*count % GROUP] = (2 * sample + view) as u8;
                *count += 1;
            }
        }
    }
    uses
}

/// Room for the samples that are worked on together.
#[derive(Default)]
pub struct Scratch {
    inputs: Vec<Inputs>,
    /// By tile, sample and view: the sums, from 0 to [`CLIPPED`].
    sums: Vec<[Tile<u8>; 2]>,
    /// Partial sums of the output without the pawn part, one for each place in a tile, so that they are added as vectors.
    outputs: Vec<Tile>,
    /// The output without the pawn part; then the slope of the loss by it.
    values: Vec<f32>,
    pawns: pawns::PawnScratch,
}

/// The clipped sums of a tile's units.
fn sum_rows(rows: &[Tile<i16>], biases: &Tile<i16>, inputs: &[u16]) -> Tile<u8> {
    let mut sums = *biases;
    for &input in inputs {
        let row = &rows[usize::from(input)];
        for unit in 0..TILE {
            sums[unit] += row[unit];
        }
    }
    sums.map(|sum| sum.clamp(0, CLIPPED.into()) as u8)
}

/// A clipped sum as the activation's root, from 0 to 1.
fn root(sum: u8) -> f32 {
    f32::from(sum.min(ONE_INPUT as u8)) * (1.0 / ONE_INPUT as f32)
}

/// Adds the output of a tile's units.
fn add_output(outputs: &mut Tile, sums: &Tile<u8>, weights: &Tile) {
    for unit in 0..TILE {
        outputs[unit] += root(sums[unit]).powi(2) * weights[unit];
    }
}

fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// Computes the output for samples without the pawn part.
fn forward(rounded: &Rounded, samples: &[Sample], scratch: &mut Scratch) {
    let Scratch { inputs, sums, outputs, values, .. } = scratch;
    inputs.clear();
    inputs.extend(samples.iter().map(Inputs::of));
    outputs.clear();
    outputs.resize(samples.len(), [0.0; TILE]);
    let (biases, heads) = (rounded.biases(), rounded.heads());
    sums.resize(biases.len() * samples.len(), [[0; TILE]; 2]);
    for (tile, sums) in sums.chunks_exact_mut(samples.len()).enumerate() {
        let rows = rounded.rows(tile);
        for ((inputs, outputs), sums) in inputs.iter().zip(outputs.iter_mut()).zip(sums) {
            for (view, sums) in sums.iter_mut().enumerate() {
                *sums = sum_rows(rows, &biases[tile], inputs.view(view));
                add_output(outputs, sums, &heads[inputs.head_tile(biases.len(), view, tile)]);
            }
        }
    }
    let value =
        |(inputs, outputs): (&Inputs, &Tile)| rounded.head_bias(inputs.head) + outputs.iter().sum::<f32>();
    values.clear();
    values.extend(inputs.iter().zip(&*outputs).map(value));
}

/// The pawn part's factor of the rest, and what it adds.
fn pawn_part(
    rounded: &Rounded,
    head: usize,
    sample: &Sample,
    scratch: &mut pawns::PawnScratch,
) -> (f32, f32) {
    let (gate, shift) = pawns::forward(rounded.pawn_part(), head, sample, scratch);
    (1.0 + gate, shift)
}

/// The target: the expected score, `share` of it the result of the game where that is known.
fn target(sample: &Sample, share: f32) -> f32 {
    let teacher = logistic(f32::from(sample.score) / SCALE);
    if sample.result > 2 { teacher } else { teacher + share * (f32::from(sample.result) / 2.0 - teacher) }
}

/// The sum of the losses of samples.
pub fn loss(rounded: &Rounded, samples: &[Sample], share: f32, scratch: &mut Scratch) -> f32 {
    forward(rounded, samples, scratch);
    let mut sum = 0.0;
    for ((sample, inputs), main) in samples.iter().zip(&scratch.inputs).zip(&scratch.values) {
        let (factor, addend) = pawn_part(rounded, inputs.head, sample, &mut scratch.pawns);
        sum += (logistic(main * factor + addend) - target(sample, share)).powi(2);
    }
    sum
}

/// Adds the gradient of the losses of samples, and gives their sum.
pub fn learn(
    rounded: &Rounded,
    samples: &[Sample],
    share: f32,
    gradient: &mut [f32],
    scratch: &mut Scratch,
) -> f32 {
    forward(rounded, samples, scratch);
    let shape = rounded.shape;
    let mut sum = 0.0;
    for ((sample, inputs), value) in samples.iter().zip(&scratch.inputs).zip(&mut scratch.values) {
        let (factor, addend) = pawn_part(rounded, inputs.head, sample, &mut scratch.pawns);
        let said = logistic(*value * factor + addend);
        let error = said - target(sample, share);
        sum += error.powi(2);
        let slope = 2.0 * error * said * (1.0 - said);
        let slopes = [slope * *value, slope];
        let pawn_gradient = &mut gradient[shape.pawn_part()..];
        pawns::learn(rounded.pawn_part(), inputs.head, slopes, pawn_gradient, &mut scratch.pawns);
        *value = slope * factor;
        gradient[shape.head_biases() + inputs.head] += *value;
    }
    backward(rounded, gradient, scratch);
    sum
}

/// Adds the gradient of inputs and heads, from the slope by their output for each sample.
fn backward(rounded: &Rounded, gradient: &mut [f32], scratch: &Scratch) {
    let (shape, heads) = (rounded.shape, rounded.heads());
    let (rows, rest) = gradient.split_at_mut(shape.input_biases());
    let (biases, rest) = rest.split_at_mut(shape.units);
    let biases = biases.as_chunks_mut::<TILE>().0;
    let head_gradients = rest[..heads.len() * TILE].as_chunks_mut::<TILE>().0;
    let tiles = biases.len();
    let uses: Vec<Vec<Use>> = scratch.inputs.chunks(BLOCK).map(uses).collect();
    // By view; those of `NO_VIEW` stay zero.
    let mut slopes = Aligned::zeros(TILE * (usize::from(NO_VIEW) + 1));
    let slopes = slopes.as_chunks_mut::<TILE>().0;
    for (tile, sums) in scratch.sums.chunks_exact(scratch.values.len()).enumerate() {
        let rows = rows[shape.tile(tile)].as_chunks_mut::<TILE>().0;
        let samples = scratch.inputs.chunks(BLOCK).zip(scratch.values.chunks(BLOCK)).zip(sums.chunks(BLOCK));
        for (((inputs, values), sums), uses) in samples.zip(&uses) {
            let views = slopes.as_chunks_mut::<2>().0;
            for (((inputs, slope), sums), slopes) in inputs.iter().zip(values).zip(sums).zip(views) {
                for (view, (sums, slopes)) in sums.iter().zip(slopes).enumerate() {
                    let place = inputs.head_tile(tiles, view, tile);
                    let (weights, head_gradient) = (&heads[place], &mut head_gradients[place]);
                    for unit in 0..TILE {
                        let root = root(sums[unit]);
                        head_gradient[unit] += slope * root * root;
                        let is_clipped = sums[unit] == CLIPPED;
                        slopes[unit] = if is_clipped { 0.0 } else { slope * weights[unit] * 2.0 * root };
                        biases[tile][unit] += slopes[unit];
                    }
                }
            }
            for Use { row, views } in uses {
                let row = &mut rows[usize::from(*row)];
                let [a, b, c, d] = views.map(|view| &slopes[usize::from(view)]);
                for unit in 0..TILE {
                    row[unit] += (a[unit] + b[unit]) + (c[unit] + d[unit]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::{super::parameters::NetworkShape, *};
    use crate::position::Position;

    const SHAPE: NetworkShape = NetworkShape { units: 2 * TILE };

    fn sample(fen: &str, score: i16) -> Sample {
        Sample { score, ..Sample::new(&Position::from_fen(fen).expect(fen)).expect("a sample") }
    }

    fn samples() -> [Sample; 3] {
        [
            sample("r1bq1rk1/2p1bppp/p1np1n2/1p2p3/4P3/1BP2N1P/PP1P1PP1/RNBQR1K1 b - - 0 9", 310),
            sample("2kr3r/ppp1qppp/2n5/3p1b2/3P1Bn1/2N2N2/PPP1QPPP/2KR3R w - - 8 11", -480),
            sample("8/pp3kp1/2p2p1p/8/3PK3/5PP1/PP5P/8 b - - 1 33", 150),
        ]
    }

    /// The loss of a sample by the definition, with parameters as they are.
    fn defined_loss(parameters: &[f32], sample: &Sample) -> f32 {
        let inputs = Inputs::of(sample);
        let mut value = parameters[SHAPE.head_biases() + inputs.head];
        for view in 0..2 {
            for unit in 0..SHAPE.units {
                let (tile, place) = (unit / TILE, unit % TILE);
                let weight = |&input: &u16| parameters[SHAPE.row(usize::from(input), tile)][place];
                let sum: f32 = inputs.view(view).iter().map(weight).sum();
                let root = (parameters[SHAPE.input_biases() + unit] + sum).clamp(0.0, 1.0);
                value +=
                    root * root * parameters[SHAPE.heads() + (2 * inputs.head + view) * SHAPE.units + unit];
            }
        }
        let pawns = &parameters[SHAPE.pawn_part()..];
        let (gate, shift) = pawns::forward(pawns, inputs.head, sample, &mut pawns::PawnScratch::default());
        (logistic(value * (1.0 + gate) + shift) - target(sample, 0.0)).powi(2)
    }

    #[test]
    fn the_gradient_is_the_slope_of_the_loss() {
        let mut parameters = SHAPE.random(5);
        // The pawn part's outputs begin at zero, where its inner slopes are zero too.
        let mut random = Rng::with_seed(9);
        parameters[SHAPE.head_biases()..].iter_mut().for_each(|weight| *weight += 0.2 * (random.f32() - 0.5));
        // So that rounding changes none of them.
        for (part, one) in SHAPE.scales() {
            let one = one as f32;
            parameters[part].iter_mut().for_each(|weight| *weight = (*weight * one).round() / one);
        }
        let (rounded, mut scratch) = (Rounded::new(SHAPE, &parameters), Scratch::default());
        for sample in samples() {
            let mut gradient = vec![0.0; SHAPE.parameters()];
            let before = learn(&rounded, &[sample], 0.0, &mut gradient, &mut scratch);
            assert_eq!(before, loss(&rounded, &[sample], 0.0, &mut scratch));
            let defined = defined_loss(&parameters, &sample);
            assert!((before - defined).abs() < 1e-4 * defined, "{before} {defined}");
            // A step against the gradient lowers the loss by its squared length, where it is short.
            let squared: f32 = gradient.iter().map(|slope| slope * slope).sum();
            let step = 0.02 * before / squared;
            let moved: Vec<f32> =
                parameters.iter().zip(&gradient).map(|(weight, slope)| weight - step * slope).collect();
            let fallen = (before - defined_loss(&moved, &sample)) / (step * squared);
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
                let fallen = (before - defined_loss(&moved, &sample)) / (step * squared);
                assert!((0.8..1.2).contains(&fallen), "{part:?}: {fallen}");
            }
        }
    }

    #[test]
    fn the_gradient_of_many_samples_is_the_sum_of_theirs() {
        let (rounded, mut scratch) = (Rounded::new(SHAPE, &SHAPE.random(5)), Scratch::default());
        let mut gradient = |samples: &[Sample]| {
            let mut gradient = vec![0.0; SHAPE.parameters()];
            learn(&rounded, samples, 0.0, &mut gradient, &mut scratch);
            gradient
        };
        // A whole block and a part of one; each row is used by more views than a group has.
        let together = gradient(&samples().repeat(BLOCK / 2));
        let alone = samples().map(|sample| gradient(&[sample]));
        for (place, found) in together.iter().enumerate() {
            let parts = alone.each_ref().map(|one| one[place] * (BLOCK / 2) as f32);
            let size: f32 = parts.iter().map(|part| part.abs()).sum();
            assert!((found - parts.iter().sum::<f32>()).abs() <= 1e-3 * size + 1e-6, "{place}");
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
