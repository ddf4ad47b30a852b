//! `engram tune siblings`: how well evaluations tell the moves of a position apart. A search chooses between moves, so
//! an error that all moves of a position share does no harm; this measure follows strength in games where the error of
//! single positions (`held_out.rs`) does not.

use std::{
    io::BufRead,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{
    common::{file_error, is_quiet, no_data},
    held_out::{Evaluations, SCALE, best_scale, chance, pearson},
};
use crate::{
    cli::{CliError, source},
    position::Position,
    uci::Output,
};

/// The arguments of `engram tune siblings`.
#[derive(Debug, Args)]
pub struct SiblingsArguments {
    /// The positions after each move of a position, one a line as `FEN | score` (centipawns for White), with an empty
    /// line before those of the next; `-` for standard input. `benches/train/siblings.py` makes such a file.
    file: PathBuf,
    #[command(flatten)]
    evaluations: Evaluations,
}

/// Moves that are worse than the best one by more than this, in centipawns, are left out.
const WORST: f32 = 150.0;
/// Positions with fewer moves left than this are left out.
const FEWEST: usize = 4;

/// Prints for each evaluation how it agrees with the scores among siblings, and what its favourites lose.
pub fn print(arguments: &SiblingsArguments, output: &Output) -> Result<(), CliError> {
    let families = read(&arguments.file)?;
    let (positions, scores): (Vec<Position>, Vec<f32>) = families.iter().flatten().cloned().unzip();
    if positions.is_empty() {
        return Err(no_data());
    }
    let targets: Vec<f32> = scores.iter().map(|&score| chance(score, SCALE)).collect();
    output.line(format_args!("{} moves of {} positions", positions.len(), families.len()));
    for (name, values) in arguments.evaluations.of(&positions)? {
        let scale = best_scale(&values, &targets);
        let chances: Vec<f32> = values.iter().map(|&value| chance(value, scale)).collect();
        let (correlation, loss) = agreement(&families, &targets, &chances);
        output.line(format_args!(
            "{name}: correlation among siblings {correlation:.4}; its favourites lose {:.2} %",
            100.0 * loss
        ));
    }
    Ok(())
}

type Family = Vec<(Position, f32)>;

/// The quiet positions of each family that are not far worse than the best.
fn read(path: &Path) -> Result<Vec<Family>, CliError> {
    let mut families = Vec::new();
    let mut family = Family::new();
    for line in source::reader(path).map_err(file_error(path))?.lines().chain([Ok(String::new())]) {
        let line = line.map_err(file_error(path))?;
        if let Some((fen, score)) = line.split_once('|') {
            let (Some(position), Ok(score)) = (Position::from_fen(fen.trim()), score.trim().parse()) else {
                continue;
            };
            family.push((position, score));
        } else {
            let mut family = std::mem::take(&mut family);
            let sign = sign(&family);
            let best = family.iter().map(|&(_, score)| sign * score).fold(f32::MIN, f32::max);
            family.retain(|(position, score)| sign * score >= best - WORST && is_quiet(position));
            if family.len() >= FEWEST {
                families.push(family);
            }
        }
    }
    Ok(families)
}

/// The correlation of both series within families, and what the move that `found` likes best loses of `wanted`, on
/// average.
fn agreement(families: &[Family], wanted: &[f32], found: &[f32]) -> (f64, f64) {
    let (wanted, found) = (beyond_mean(families, wanted), beyond_mean(families, found));
    let (mut lost, mut start) = (0.0, 0);
    for family in families {
        let part = start..start + family.len();
        let best = wanted[part.clone()].iter().copied().fold(f32::MIN, f32::max);
        let favourite = part.max_by(|&a, &b| found[a].total_cmp(&found[b])).unwrap_or(start);
        lost += f64::from(best - wanted[favourite]);
        start += family.len();
    }
    (pearson(&wanted, &found), lost / families.len() as f64)
}

/// What each move is worth to its side, less the mean of its family.
fn beyond_mean(families: &[Family], series: &[f32]) -> Vec<f32> {
    let (mut beyond, mut rest) = (Vec::with_capacity(series.len()), series);
    for family in families {
        let (values, after) = rest.split_at(family.len());
        let mean = values.iter().sum::<f32>() / values.len() as f32;
        beyond.extend(values.iter().map(|value| sign(family) * (value - mean)));
        rest = after;
    }
    beyond
}

/// 1 if White made the moves of a family, -1 if Black did: after them the other side is to move.
fn sign(family: &[(Position, f32)]) -> f32 {
    family.first().map_or(1.0, |(position, _)| if position.turn().is_white() { -1.0 } else { 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_the_quiet_positions_near_the_best() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("siblings");
        // After moves of White's king; the last two lose too much.
        let line = |square: usize, score: i32| {
            let rank = format!("{square}K{}", 7 - square).replace('0', "");
            format!("8/8/8/4k3/8/8/P7/{rank} b - - 0 1 | {score}\n")
        };
        let family: String = (0..6).map(|square| line(square, 100 - 49 * square as i32)).collect();
        // A rook that can be taken; and a family that is too small.
        let text = format!("{family}8/8/8/8/8/4k3/4R3/K7 b - - 0 1 | 90\n\n{}\n", line(0, 10));
        std::fs::write(&path, text).expect("a file");
        let families = read(&path).expect("families");
        let scores: Vec<Vec<f32>> =
            families.iter().map(|family| family.iter().map(|&(_, score)| score).collect()).collect();
        assert_eq!(scores, [[100.0, 51.0, 2.0, -47.0]]);
    }

    #[test]
    fn what_all_siblings_share_does_not_matter() {
        let child = Position::from_fen("8/8/8/4k3/8/8/P7/K7 b - - 0 1").expect("a position");
        let family = |scores: [f32; 3]| scores.map(|score| (child.clone(), score)).to_vec();
        let families = [family([0.0; 3]), family([0.0; 3])];
        let wanted = [0.5, 0.6, 0.7, 0.2, 0.3, 0.4];
        let (correlation, loss) = agreement(&families, &wanted, &[0.1, 0.2, 0.3, 0.7, 0.8, 0.9]);
        assert!((correlation - 1.0).abs() < 1e-6 && loss.abs() < 1e-6);
        let (correlation, loss) = agreement(&families[..1], &wanted[..3], &[0.3, 0.2, 0.1]);
        assert!((correlation + 1.0).abs() < 1e-6 && (loss - 0.2).abs() < 1e-6);
    }
}
