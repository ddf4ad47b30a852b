//! Gradient descent on the weights: Adam (D. Kingma, J. Ba, 2015) over mini-batches in random order.

use fastrand::Rng;

use super::model::{Positions, Weight};

/// The parameters of the training.
#[derive(Copy, Clone, Debug)]
pub struct TuningPlan {
    /// Centipawns of one natural unit of the logistic function.
    pub scale: f32,
    /// The share of the game's result in the target; the rest is the score.
    pub result_share: f32,
    /// The first step size in centipawns; it falls to a fiftieth.
    pub rate: f32,
    /// Passes over the data.
    pub epochs: usize,
    /// Positions a step.
    pub batch: usize,
    /// Pull towards the first weights: the loss grows by this for each centipawn squared.
    pub pull: f32,
}

/// The state of the training, which is saved in a checkpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningState {
    /// Passes done.
    pub epoch: usize,
    /// The weights.
    pub weights: Vec<Weight>,
    moment: Vec<Weight>,
    square: Vec<Weight>,
    steps: i32,
}

/// The scale of the winning chance of a labelled score: at 100 centipawns the chance to win is 1/2, as in the model of
/// the score (win chance 1/2 at one pawn, draws in between, expected score 1/(1+exp(-cp/150))).
pub const LABEL_SCALE: f32 = 150.0;

const MOMENT_DECAY: f32 = 0.9;
const SQUARE_DECAY: f32 = 0.999;

/// The winning chance of a score.
pub fn chance(score: f32, scale: f32) -> f32 {
    1.0 / (1.0 + (-score / scale).exp())
}

/// The mean square error of the chances over all positions.
pub fn loss(positions: &Positions, weights: &[Weight], plan: &TuningPlan) -> f64 {
    let error = |index| {
        let expected = positions.target(index, plan.result_share);
        f64::from(chance(positions.score(index, weights), plan.scale) - expected).powi(2)
    };
    (0..positions.len()).map(error).sum::<f64>() / positions.len().max(1) as f64
}

/// The scale with the least loss for these weights, by golden section.
pub fn fit_scale(positions: &Positions, weights: &[Weight], plan: &TuningPlan) -> f32 {
    const GOLDEN: f32 = 0.618;
    let sample: Vec<(f32, f32)> = (0..positions.len())
        .step_by(positions.len() / 100_000 + 1)
        .map(|index| (positions.score(index, weights), positions.target(index, plan.result_share)))
        .collect();
    let loss = |scale: f32| -> f64 {
        sample.iter().map(|&(score, target)| f64::from(chance(score, scale) - target).powi(2)).sum()
    };
    let (mut low, mut high) = (40.0, 800.0);
    while high - low > 0.5 {
        let (a, b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if loss(a) < loss(b) {
            high = b;
        } else {
            low = a;
        }
    }
    f32::midpoint(low, high)
}

impl TuningState {
    /// The state before the first step.
    pub fn new(weights: Vec<Weight>) -> TuningState {
        let zero = vec![[0.0; 2]; weights.len()];
        TuningState { epoch: 0, weights, moment: zero.clone(), square: zero, steps: 0 }
    }

    /// One pass over the positions.
    pub fn epoch(&mut self, positions: &Positions, first: &[Weight], plan: &TuningPlan) {
        // From the step size to a fiftieth of it, evenly on a logarithmic scale.
        let rate = plan.rate * 0.02_f32.powf(self.epoch as f32 / plan.epochs.max(1) as f32);
        // The order depends only on the number of the pass, so that resuming changes nothing.
        let mut order: Vec<u32> = (0..positions.len() as u32).collect();
        Rng::with_seed(self.epoch as u64).shuffle(&mut order);
        for batch in order.chunks(plan.batch.max(1)) {
            let mut gradient = vec![[0.0; 2]; self.weights.len()];
            for &index in batch {
                let index = index as usize;
                let found = chance(positions.score(index, &self.weights), plan.scale);
                let error = found - positions.target(index, plan.result_share);
                let slope = 2.0 * error * found * (1.0 - found) / plan.scale / batch.len() as f32;
                positions.add_gradient(index, &self.weights, slope, &mut gradient);
            }
            self.step(&gradient, first, rate, plan.pull);
        }
        self.epoch += 1;
    }

    fn step(&mut self, gradient: &[Weight], first: &[Weight], rate: f32, pull: f32) {
        self.steps += 1;
        let unbias = |decay: f32| 1.0 / (1.0 - decay.powi(self.steps));
        let (moment_unbias, square_unbias) = (unbias(MOMENT_DECAY), unbias(SQUARE_DECAY));
        for (index, weight) in self.weights.iter_mut().enumerate() {
            for phase in 0..2 {
                let slope = gradient[index][phase] + 2.0 * pull * (weight[phase] - first[index][phase]);
                let moment = &mut self.moment[index][phase];
                *moment = MOMENT_DECAY * *moment + (1.0 - MOMENT_DECAY) * slope;
                let square = &mut self.square[index][phase];
                *square = SQUARE_DECAY * *square + (1.0 - SQUARE_DECAY) * slope * slope;
                let spread = (*square * square_unbias).sqrt() + 1e-10;
                weight[phase] -= rate * *moment * moment_unbias / spread;
            }
        }
    }

    /// As text, one line a weight after a line of counters.
    pub fn to_text(&self) -> String {
        let mut text = format!("{} {} {}\n", self.epoch, self.steps, self.weights.len());
        for ((weight, moment), square) in self.weights.iter().zip(&self.moment).zip(&self.square) {
            let numbers = [weight, moment, square].map(|[mg, eg]| format!("{mg:e} {eg:e}"));
            text += &(numbers.join(" ") + "\n");
        }
        text
    }

    /// The inverse of [`TuningState::to_text`].
    pub fn from_text(text: &str) -> Option<TuningState> {
        let mut lines = text.lines();
        let mut counters = lines.next()?.split(' ').map(str::parse::<usize>);
        let (epoch, steps, len) = (counters.next()?.ok()?, counters.next()?.ok()?, counters.next()?.ok()?);
        let mut state = TuningState { epoch, steps: steps as i32, ..TuningState::new(Vec::new()) };
        for line in lines {
            let numbers: Vec<f32> = line.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?;
            let &[a, b, c, d, e, f] = numbers.as_slice() else { return None };
            state.weights.push([a, b]);
            state.moment.push([c, d]);
            state.square.push([e, f]);
        }
        (state.weights.len() == len).then_some(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_read_back_exactly() {
        let mut state = TuningState::new(vec![[1.25, -7.5e-3], [0.0, 900.0]]);
        state.step(&[[0.1, -0.2], [0.0, 3e-7]], &[[0.0; 2]; 2], 1.0, 1e-6);
        assert_eq!(TuningState::from_text(&state.to_text()), Some(state.clone()));
        assert_eq!(TuningState::from_text("3 4 2\n1 2 3 4 5 6\n"), None);
    }
}
