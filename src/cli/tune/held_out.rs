//! `engram tune held-out`: how well evaluations agree with the scores of searches, in games that no training has seen.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use shakmaty::{Color, File, Rank};

use super::{
    common::{file_error, no_data},
    data,
    network::{record::Sample, teacher::Teachers},
};
use crate::{
    cli::CliError,
    eval::{Evaluation, Evaluator, net::Network},
    position::Position,
    types::Ply,
    uci::Output,
};

/// The evaluations that are compared.
#[derive(Debug, Args)]
pub struct Evaluations {
    /// A network's file, more than one to compare them; the one inside the program if absent.
    #[arg(long)]
    net: Vec<PathBuf>,
    /// Compare the classical evaluation, too.
    #[arg(long)]
    classical: bool,
    /// Compare a teacher as for `sample`, too; several of them together, as they label samples.
    #[arg(long)]
    teacher: Vec<String>,
}

/// The arguments of `engram tune held-out`.
#[derive(Debug, Args)]
pub struct HeldOutArguments {
    /// Positions as `label` reads them; `-` for standard input.
    file: PathBuf,
    #[command(flatten)]
    evaluations: Evaluations,
    /// Use one held-out position in this many.
    #[arg(long, default_value_t = 1)]
    every: usize,
}

/// Centipawns of one natural unit of the winning chance of a score: at 100 the chance to win is 1/2, with draws in
/// between the expected score 1/(1+exp(-cp/150)).
pub const SCALE: f32 = 150.0;

/// The winning chance of a score.
pub fn chance(score: f32, scale: f32) -> f32 {
    1.0 / (1.0 + (-score / scale).exp())
}

/// Prints the table: one row for each kind of position, two columns for each evaluation.
pub fn print(arguments: &HeldOutArguments, output: &Output) -> Result<(), CliError> {
    let (positions, scores) = read(&arguments.file, arguments.every.max(1))?;
    let targets: Vec<f32> = scores.iter().map(|&score| chance(score, SCALE)).collect();
    let mut columns = Vec::new();
    for (name, values) in arguments.evaluations.of(&positions)? {
        let scale = best_scale(&values, &targets);
        output.line(format_args!("{name}: {scale:.0} centipawns are a natural unit"));
        columns.push(values.into_iter().map(|value| chance(value, scale)).collect::<Vec<f32>>());
    }
    output.line(format_args!("{:>16} {:>9}  error and correlation, in this order", "", "positions"));
    for (name, belongs) in KINDS {
        let rows: Vec<usize> =
            (0..positions.len()).filter(|&row| belongs(&positions[row], scores[row])).collect();
        let of = |column: &[f32]| rows.iter().map(|&row| column[row]).collect::<Vec<f32>>();
        let wanted = of(&targets);
        let mut line = format!("{name:>16} {:>9}", rows.len());
        for column in &columns {
            let found = of(column);
            let error: f32 = found.iter().zip(&wanted).map(|(found, wanted)| (found - wanted).abs()).sum();
            line += &format!("  {:.4} {:.4}", error / rows.len() as f32, pearson(&found, &wanted));
        }
        output.line(line);
    }
    Ok(())
}

/// One in `every` of the quiet positions that are held out, with their scores for White.
fn read(path: &Path, every: usize) -> Result<(Vec<Position>, Vec<f32>), CliError> {
    let (mut positions, mut scores) = (Vec::new(), Vec::new());
    let mut quiet = 0_usize;
    for (number, label) in data::read(path)?.enumerate() {
        let Some(label) = label?.filter(|label| data::held_out(number) && !label.noisy) else { continue };
        let Some(score) = label.score else { continue };
        if quiet.is_multiple_of(every) {
            positions.push(label.position);
            scores.push(score);
        }
        quiet += 1;
    }
    if positions.is_empty() { Err(no_data()) } else { Ok((positions, scores)) }
}

impl Evaluations {
    /// Of each evaluation its name, and centipawns for White.
    pub fn of(&self, positions: &[Position]) -> Result<Vec<(String, Vec<f32>)>, CliError> {
        let mut all = Vec::new();
        for path in &self.net {
            let bytes = fs::read(path).map_err(file_error(path))?;
            let network = Network::from_bytes(&bytes).map_err(io::Error::other).map_err(file_error(path))?;
            all.push((path.display().to_string(), Evaluation::Network(Arc::new(network))));
        }
        if all.is_empty() {
            all.push(("this program's network".to_owned(), Evaluation::default()));
        }
        if self.classical {
            all.push(("classical".to_owned(), Evaluation::Classical));
        }
        let white =
            |position: &Position, score: f32| if position.turn() == Color::White { score } else { -score };
        let mut found = Vec::new();
        for (name, evaluation) in all {
            let mut evaluator = Evaluator::new(&evaluation, 4);
            let score = |position| evaluator.evaluate(position, Ply::ROOT).centipawns() as f32;
            let scores: Vec<f32> = positions.iter().map(score).collect();
            found.push((name, positions.iter().zip(scores).map(|(p, score)| white(p, score)).collect()));
        }
        if !self.teacher.is_empty() {
            let samples: Option<Vec<Sample>> = positions.iter().map(Sample::new).collect();
            let too_many = "--teacher: a position has more than 32 pieces; leave it out";
            let mut samples = samples.ok_or_else(|| CliError::Task(too_many.to_owned()))?;
            Teachers::start(&self.teacher)?.label(&mut samples)?;
            let scores = positions.iter().zip(samples).map(|(p, sample)| white(p, sample.score.into()));
            found.push((self.teacher.join(", "), scores.collect()));
        }
        Ok(found)
    }
}

/// Does a position with this score for White belong to a kind?
type Belongs = fn(&Position, f32) -> bool;

/// The kinds of positions that are told apart.
const KINDS: [(&str, Belongs); 12] = [
    ("all", |_, _| true),
    ("below 100 cp", |_, score| score.abs() < 100.0),
    ("100 to 300 cp", |_, score| (100.0..=300.0).contains(&score.abs())),
    ("above 300 cp", |_, score| score.abs() > 300.0),
    ("3 to 8 pieces", |position, _| pieces(position) <= 8),
    ("9 to 12", |position, _| (9..=12).contains(&pieces(position))),
    ("13 to 20", |position, _| (13..=20).contains(&pieces(position))),
    ("21 to 28", |position, _| (21..=28).contains(&pieces(position))),
    ("29 to 32", |position, _| pieces(position) > 28),
    ("queens", |position, _| position.board().queens().any()),
    ("no queens", |position, _| position.board().queens().is_empty()),
    ("opposite castled", |position, _| castled_opposite(position)),
];

fn pieces(position: &Position) -> usize {
    position.board().occupied().count()
}

/// Are the kings at home, on opposite wings?
fn castled_opposite(position: &Position) -> bool {
    let king = |color| position.board().king_of(color);
    let (Some(white), Some(black)) = (king(Color::White), king(Color::Black)) else { return false };
    let home = white.rank() <= Rank::Second && black.rank() >= Rank::Seventh;
    let left = |file: File| file <= File::C;
    let right = |file: File| file >= File::G;
    let (white, black) = (white.file(), black.file());
    home && (left(white) && right(black) || right(white) && left(black))
}

/// The scale with the least squared error, by golden section.
pub fn best_scale(values: &[f32], targets: &[f32]) -> f32 {
    const GOLDEN: f32 = 0.618;
    let error = |scale: f32| -> f64 {
        let pairs = values.iter().zip(targets);
        pairs.map(|(&value, target)| f64::from(chance(value, scale) - target).powi(2)).sum()
    };
    let (mut low, mut high) = (40.0, 800.0);
    while high - low > 0.5 {
        let (a, b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
        if error(a) < error(b) {
            high = b;
        } else {
            low = a;
        }
    }
    f32::midpoint(low, high)
}

/// Pearson's coefficient of correlation.
pub fn pearson(a: &[f32], b: &[f32]) -> f64 {
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
    use super::*;

    #[test]
    fn correlation_of_known_series() {
        assert!((pearson(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]) - 1.0).abs() < 1e-12);
        assert!((pearson(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]) + 1.0).abs() < 1e-12);
        assert!(pearson(&[1.0, 2.0, 3.0, 4.0], &[1.0, -1.0, -1.0, 1.0]).abs() < 1e-12);
    }

    #[test]
    fn the_scale_of_scores_in_other_units_is_found() {
        let scores = [-400.0, -90.0, 0.0, 35.0, 210.0];
        let targets = scores.map(|score| chance(score, SCALE));
        assert!((best_scale(&scores.map(|score| 2.0 * score), &targets) - 2.0 * SCALE).abs() < 2.0);
    }

    #[test]
    fn only_held_out_quiet_positions_are_read_and_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("positions");
        let opposite = "2kr3r/ppp1qppp/2n5/3p1b2/3P1Bn1/2N2N2/PPP1QPPP/3R1RK1 w - - 8 11";
        let line = |number| match number % 3 {
            0 => format!("{opposite} | 120 | 1.0 | d1d2\n"),
            1 => "8/8/4k3/3r4/8/3K4/3R4/8 w - - 0 1 | 510 | 1.0 | d2d5\n".to_owned(),
            _ => format!("8/8/4k3/8/8/3K4/3R4/8 b - - 0 1 | {number} | 1.0 | e6d5\n"),
        };
        fs::write(&path, (0..30 * data::BLOCK).map(line).collect::<String>()).expect("a file");
        let (positions, scores) = read(&path, 1).expect("positions");
        let expected: Vec<usize> =
            (0..30 * data::BLOCK).filter(|&number| data::held_out(number) && number % 3 != 1).collect();
        assert!(!expected.is_empty() && positions.len() == expected.len());
        for ((position, score), number) in positions.iter().zip(&scores).zip(expected) {
            assert!(number % 3 == 0 || *score == number as f32);
            assert_eq!(castled_opposite(position), number % 3 == 0);
        }
        assert_eq!(read(&path, 7).expect("positions").0.len(), positions.len().div_ceil(7));
        fs::write(&path, line(0)).expect("a file");
        assert!(read(&path, 1).is_err(), "the first block is for training");
    }
}
