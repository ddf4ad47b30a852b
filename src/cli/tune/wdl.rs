//! `engram tune wdl`: fits the model of win, draw and loss to self-play games.

use std::path::Path;

use super::{common::no_data, data};
use crate::{
    cli::CliError,
    types::{ChanceModel, Score},
    uci::Output,
};

/// A score for White, the material, and how the game ended: 0 White won, 1 draw, 2 Black won.
type GamePoint = (Score, u32, usize);

/// Prints the parameters with the greatest likelihood.
pub fn print(path: &Path, output: &Output) -> Result<(), CliError> {
    let mut samples: Vec<GamePoint> = Vec::new();
    for label in data::read(path)? {
        let Some(label) = label? else { continue };
        let Some(score) = label.score else { continue };
        let material = label.position.material_points();
        let ended = ((1.0 - label.result) * 2.0) as usize;
        samples.push((Score::from_centipawns(score as i32), material, ended));
    }
    if samples.is_empty() {
        return Err(no_data());
    }
    let model = fit(&samples);
    output.line(format_args!("{} positions, -log likelihood {:.5}", samples.len(), cost(&model, &samples)));
    output.line(format_args!(
        "even: [{:.1}, {:.2}], spread: [{:.1}, {:.2}] (internal units; UNITS_PER_PAWN = {:.0})",
        model.even[0], model.even[1], model.spread[0], model.spread[1], model.even[0]
    ));
    for range in [10..30, 30..50, 50..64, 64..79] {
        let part: Vec<GamePoint> =
            samples.iter().copied().filter(|sample| range.contains(&sample.1)).collect();
        let mean = |chance: &dyn Fn(&GamePoint) -> f64| {
            100.0 * part.iter().map(chance).sum::<f64>() / part.len().max(1) as f64
        };
        output.line(format_args!(
            "material {range:?}: {} positions, draws {:.1} %, by the model {:.1} %",
            part.len(),
            mean(&|sample| f64::from(u8::from(sample.2 == 1))),
            mean(&|sample| model.chances(sample.0, sample.1)[1]),
        ));
    }
    Ok(())
}

/// The mean negative log-likelihood.
fn cost(model: &ChanceModel, samples: &[GamePoint]) -> f64 {
    let surprise =
        |&(score, material, ended): &GamePoint| -model.chances(score, material)[ended].max(1e-6).ln();
    samples.iter().map(surprise).sum::<f64>() / samples.len() as f64
}

/// Coordinate search with shrinking steps: four parameters, a smooth cost.
fn fit(samples: &[GamePoint]) -> ChanceModel {
    let mut best = ChanceModel { even: [150.0, 0.0], spread: [80.0, 0.0] };
    let mut least = cost(&best, samples);
    let mut steps = [32.0, 0.5, 32.0, 0.5];
    while steps[0] > 0.5 {
        let mut improved = false;
        for index in 0..4 {
            for sign in [1.0, -1.0] {
                let mut tried = best;
                let [even, spread] = [&mut tried.even, &mut tried.spread];
                let parameter = if index < 2 { &mut even[index] } else { &mut spread[index - 2] };
                *parameter += sign * steps[index];
                let found = cost(&tried, samples);
                if found < least {
                    (best, least, improved) = (tried, found, true);
                }
            }
        }
        if !improved {
            steps = steps.map(|step| step / 2.0);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_model_is_found_again() {
        let truth = ChanceModel { even: [180.0, 1.0], spread: [70.0, 0.4] };
        let mut samples = Vec::new();
        let mut random = fastrand::Rng::with_seed(1);
        for index in 0..40_000 {
            let (score, material) = (Score(index % 801 - 400), 20 + index as u32 % 59);
            let [win, draw, _] = truth.chances(score, material);
            let drawn = random.f64();
            let ended = if drawn < win {
                0
            } else if drawn < win + draw {
                1
            } else {
                2
            };
            samples.push((score, material, ended));
        }
        let found = fit(&samples);
        assert!((found.even[0] - 180.0).abs() < 6.0 && (found.spread[0] - 70.0).abs() < 6.0, "{found:?}");
        assert!((found.even[1] - 1.0).abs() < 0.4, "{found:?}");
    }
}
