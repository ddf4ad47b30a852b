//! Contempt for draws, and evaluation errors at limited strength.

use shakmaty::Color;

use crate::{
    position::Position,
    types::{PositionKey, Score, mix},
};

/// Contempt and limited strength in one search.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Strength {
    /// By how many internal units a draw is worse than an even position for the side to move at the root.
    pub contempt: i32,
    /// Evaluation errors, at limited strength.
    pub noise: Option<EvalNoise>,
}

impl Strength {
    /// The score of a draw for `turn`, the side to move in a position; `root` is the root of the search.
    pub fn draw(&self, turn: Color, root: &Position) -> Score {
        if turn == root.turn() { Score(-self.contempt) } else { Score(self.contempt) }
    }
}

/// Evaluation errors: every position has an error of its own, the same whenever it is reached. So the engine errs
/// consistently, as a weaker player does, instead of mixing good moves with random ones.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EvalNoise {
    /// Determines the errors.
    pub seed: u64,
    /// The standard deviation of the errors, in internal units.
    pub deviation: i32,
}

impl EvalNoise {
    /// The raw evaluation with the error of the position added.
    pub fn disturb(self, raw_eval: Score, key: PositionKey) -> Score {
        let bits = mix(mix(key.0 ^ self.seed));
        // The sum of eight bytes is near enough to a normal distribution: mean 1020, deviation 209.
        let sum: i32 = bits.to_le_bytes().iter().map(|&byte| i32::from(byte)).sum();
        Score(raw_eval.0 + (sum - 1020) * self.deviation / 209).clamp_evaluation()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_belong_to_positions_and_have_the_size_asked_for() {
        let noise = EvalNoise { seed: 7, deviation: 100 };
        let error = |key| f64::from(noise.disturb(Score::ZERO, PositionKey(key)).0);
        let errors: Vec<f64> = (0..20_000).map(|key| error(key * 0x1234_5678_9ABC)).collect();
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let deviation = (errors.iter().map(|e| (e - mean).powi(2)).sum::<f64>() / errors.len() as f64).sqrt();
        assert!(mean.abs() < 3.0 && (deviation - 100.0).abs() < 5.0, "{mean} {deviation}");
        assert_ne!(
            noise.disturb(Score::ZERO, PositionKey(5)),
            EvalNoise { seed: 8, ..noise }.disturb(Score::ZERO, PositionKey(5))
        );
    }
}
