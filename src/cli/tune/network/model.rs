//! The network in floating point: its parameters, what it says of a sample, and the gradient of the loss.
//!
//! All parameters lie in one vector, so that the optimiser, checkpoints and limits need not know what they mean:
//!
//! ```text
//!  input weights [INPUTS][units] | input biases [units] | heads [HEADS][2 * units] | head biases [HEADS]
//!  pawn part: first weights [PAWN_INPUTS][FIRST] | first biases [FIRST] | second weights [SECOND][FIRST] |
//!             second biases [SECOND] | outputs [HEADS][2][SECOND] | output biases [HEADS][2]
//! ```
//! An activation is the square of the sum, clipped to 0 to 1 before (squared clipped rectifier); in the pawn part
//! it is the clipped sum. The pawn part says by how much the rest is multiplied and what is added to it.

use fastrand::Rng;
use shakmaty::{Color, Role, Square};

use super::{pawns, record::Sample};
use crate::eval::net::{FIRST, HEADS, INPUTS, View, head};

/// Centipawns of one natural unit of the logistic function: the network's output counts in it.
pub const SCALE: f32 = 220.0;
/// The loss is the error of the expected score to this power.
const POWER: f32 = 2.5;
/// Weights are kept within this, so that they fit the integers of the engine.
pub const LIMIT: f32 = 1.98;
/// Most pieces on a board.
const MOST: usize = 32;

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
            let [first, _, second, _, _, _] = pawns::parts(&mut parameters[self.head_biases() + HEADS..]);
            first.fill_with(|| normal(0.2));
            second.fill_with(|| normal((1.0 / FIRST as f32).sqrt()));
        }
        parameters
    }
}

/// The inputs that a sample sets, for the mover's view and the opponent's.
struct Inputs {
    count: usize,
    views: [[u16; MOST]; 2],
}

impl Inputs {
    fn of(sample: &Sample) -> Inputs {
        // A sample is turned so that the mover plays upwards, as White.
        let mut kings = [Square::A1; 2];
        for (square, role, theirs) in sample.pieces() {
            if role == 5 {
                kings[usize::from(theirs)] = Square::new(u32::from(square));
            }
        }
        let views = [View::new(Color::White, kings[0]), View::new(Color::Black, kings[1])];
        let mut inputs = Inputs { count: 0, views: [[0; MOST]; 2] };
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
}

/// Room for one sample's sums and their gradients.
pub struct Scratch {
    sums: [Vec<f32>; 2],
    slopes: [Vec<f32>; 2],
    pawns: pawns::PawnScratch,
}

impl Scratch {
    pub fn new(shape: NetworkShape) -> Scratch {
        Scratch {
            sums: [vec![0.0; shape.units], vec![0.0; shape.units]],
            slopes: [vec![0.0; shape.units], vec![0.0; shape.units]],
            pawns: pawns::PawnScratch::default(),
        }
    }
}

fn add_rows(shape: NetworkShape, parameters: &[f32], inputs: &[u16], sums: &mut [f32]) {
    let units = shape.units;
    let row = |input: u16| &parameters[input as usize * units..][..units];
    sums.copy_from_slice(&parameters[shape.input_biases()..][..units]);
    let (fours, rest) = inputs.as_chunks::<4>();
    for four in fours {
        let [a, b, c, d] = four.map(row);
        for ((((sum, a), b), c), d) in sums.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *sum += (a + b) + (c + d);
        }
    }
    for &input in rest {
        sums.iter_mut().zip(row(input)).for_each(|(sum, weight)| *sum += weight);
    }
}

/// A dot product in `LANES` independent sums, so that the compiler vectorises it.
fn output(sums: &[f32], weights: &[f32]) -> f32 {
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

/// What the network says of a sample, in units of [`SCALE`] centipawns.
pub fn evaluate(shape: NetworkShape, parameters: &[f32], sample: &Sample, scratch: &mut Scratch) -> f32 {
    let inputs = Inputs::of(sample);
    forward(shape, parameters, sample, &inputs, scratch).0
}

/// What the network says, what it says without the pawn part, and the pawn part's factor.
fn forward(
    shape: NetworkShape,
    parameters: &[f32],
    sample: &Sample,
    inputs: &Inputs,
    scratch: &mut Scratch,
) -> (f32, f32, f32) {
    let head = head(sample.occupied.count_ones());
    let weights = &parameters[shape.heads() + head * 2 * shape.units..][..2 * shape.units];
    let mut value = parameters[shape.head_biases() + head];
    for (view, weights) in weights.chunks_exact(shape.units).enumerate() {
        add_rows(shape, parameters, inputs.view(view), &mut scratch.sums[view]);
        value += output(&scratch.sums[view], weights);
    }
    if !shape.pawns {
        return (value, value, 1.0);
    }
    let (gate, shift) = pawns::forward(&parameters[shape.pawn_part()..], head, sample, &mut scratch.pawns);
    (value * (1.0 + gate) + shift, value, 1.0 + gate)
}

/// What the network should say: the expected score, `share` of it the result of the game where that is known.
fn target(sample: &Sample, share: f32) -> f32 {
    let teacher = logistic(f32::from(sample.score) / SCALE);
    if sample.result > 2 { teacher } else { teacher + share * (f32::from(sample.result) / 2.0 - teacher) }
}

/// The loss of a sample.
pub fn loss(
    shape: NetworkShape,
    parameters: &[f32],
    sample: &Sample,
    share: f32,
    scratch: &mut Scratch,
) -> f32 {
    let said = logistic(evaluate(shape, parameters, sample, scratch));
    (said - target(sample, share)).abs().powf(POWER)
}

/// Adds the gradient of a sample's loss, and gives the loss.
pub fn learn(
    shape: NetworkShape,
    parameters: &[f32],
    sample: &Sample,
    share: f32,
    gradient: &mut [f32],
    scratch: &mut Scratch,
) -> f32 {
    let inputs = Inputs::of(sample);
    let (value, main, factor) = forward(shape, parameters, sample, &inputs, scratch);
    let said = logistic(value);
    let error = said - target(sample, share);
    let slope = POWER * error.abs().powf(POWER - 1.0) * error.signum() * said * (1.0 - said);
    let units = shape.units;
    let head = head(sample.occupied.count_ones());
    let heads = shape.heads() + head * 2 * units;
    if shape.pawns {
        let (parameters, gradient) = (&parameters[shape.pawn_part()..], &mut gradient[shape.pawn_part()..]);
        pawns::learn(parameters, head, [slope * main, slope], gradient, &mut scratch.pawns);
    }
    let slope = slope * factor;
    gradient[shape.head_biases() + head] += slope;
    for view in 0..2 {
        let place = heads + view * units;
        let weights = &parameters[place..][..units];
        let (sums, slopes) = (&scratch.sums[view], &mut scratch.slopes[view]);
        let head_gradient = &mut gradient[place..][..units];
        for (((sum, slope_of_sum), weight), gradient) in
            sums.iter().zip(slopes.iter_mut()).zip(weights).zip(head_gradient)
        {
            let clipped = sum.clamp(0.0, 1.0);
            let inside = if clipped == *sum { 2.0 * clipped } else { 0.0 };
            *gradient += slope * clipped * clipped;
            *slope_of_sum = slope * weight * inside;
        }
        let slopes = &scratch.slopes[view];
        let biases = &mut gradient[shape.input_biases()..][..units];
        biases.iter_mut().zip(slopes).for_each(|(gradient, slope)| *gradient += slope);
        for &input in inputs.view(view) {
            let row = &mut gradient[input as usize * units..][..units];
            row.iter_mut().zip(slopes).for_each(|(gradient, slope)| *gradient += slope);
        }
    }
    error.abs().powf(POWER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tune::data;

    const SHAPE: NetworkShape = NetworkShape { units: 32, pawns: true };

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
        let mut scratch = Scratch::new(SHAPE);
        for sample in samples() {
            let mut gradient = vec![0.0; SHAPE.parameters()];
            let before = learn(SHAPE, &parameters, &sample, 0.0, &mut gradient, &mut scratch);
            assert_eq!(before, loss(SHAPE, &parameters, &sample, 0.0, &mut scratch));
            // A step against the gradient lowers the loss by its squared length, where it is short.
            let squared: f32 = gradient.iter().map(|slope| slope * slope).sum();
            let step = 0.02 * before / squared;
            let moved: Vec<f32> =
                parameters.iter().zip(&gradient).map(|(weight, slope)| weight - step * slope).collect();
            let fallen = (before - loss(SHAPE, &moved, &sample, 0.0, &mut scratch)) / (step * squared);
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
                let fallen = (before - loss(SHAPE, &moved, &sample, 0.0, &mut scratch)) / (step * squared);
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
