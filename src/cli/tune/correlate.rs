//! `engram tune correlate`: how well evaluations agree with a reference.

use std::{io::BufRead, path::Path};

use shakmaty::Color;

use super::{
    common::{file_error, no_data},
    data,
    train::{self, LABEL_SCALE},
};
use crate::{
    cli::CliError,
    eval::{Evaluation, Evaluator},
    types::Ply,
    uci::Output,
};

/// Scores are clamped to this, in centipawns.
const CLIP: f32 = 1000.0;

/// Prints the correlation with the first column of this evaluation and of each further column.
pub fn print(path: &Path, evaluation: &Evaluation, output: &Output) -> Result<(), CliError> {
    let mut evaluator = Evaluator::new(evaluation, 4);
    let mut columns: Vec<Vec<f32>> = Vec::new();
    for line in data::open(path)?.lines() {
        let line = line.map_err(file_error(path))?;
        let mut fields = line.split('|').map(str::trim);
        let Some(position) = fields.next().and_then(data::position) else { continue };
        let Ok(scores) = fields.map(str::parse::<f32>).collect::<Result<Vec<_>, _>>() else { continue };
        let own = evaluator.evaluate(&position, Ply::ROOT).centipawns() as f32;
        let own = if position.turn() == Color::White { own } else { -own };
        let row: Vec<f32> = [own].into_iter().chain(scores).collect();
        columns.resize(columns.len().max(row.len()), Vec::new());
        // A line with fewer columns than the others would shift them.
        if row.len() == columns.len() {
            columns.iter_mut().zip(row).for_each(|(column, score)| column.push(score));
        }
    }
    let [own, reference, others @ ..] = columns.as_slice() else { return Err(no_data()) };
    output.line(format_args!("{} positions; correlation as chance, as clipped centipawns", own.len()));
    let chances =
        |column: &[f32]| column.iter().map(|&cp| train::chance(cp, LABEL_SCALE)).collect::<Vec<_>>();
    let clipped = |column: &[f32]| column.iter().map(|&cp| cp.clamp(-CLIP, CLIP)).collect::<Vec<_>>();
    for (number, column) in [own].into_iter().chain(others).enumerate() {
        let name = if number == 0 { "this evaluation".to_owned() } else { format!("column {}", number + 1) };
        output.line(format_args!(
            "{name:>16}: {:.4} {:.4}",
            pearson(&chances(column), &chances(reference)),
            pearson(&clipped(column), &clipped(reference)),
        ));
    }
    Ok(())
}

/// Pearson's coefficient of correlation.
fn pearson(a: &[f32], b: &[f32]) -> f64 {
    let mean = |values: &[f32]| values.iter().map(|&v| f64::from(v)).sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (&x, &y) in a.iter().zip(b) {
        let (x, y) = (f64::from(x) - mean_a, f64::from(y) - mean_b);
        ab += x * y;
        aa += x * x;
        bb += y * y;
    }
    ab / (aa * bb).sqrt()
}

#[cfg(test)]
mod tests {
    use super::pearson;

    #[test]
    fn correlation_of_known_series() {
        assert!((pearson(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]) - 1.0).abs() < 1e-12);
        assert!((pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert!(pearson(&[1.0, 2.0, 3.0, 4.0], &[1.0, -1.0, -1.0, 1.0]).abs() < 1e-12);
    }
}
