//! Accuracy as Lichess publishes it (lichess.org/page/accuracy, 2022, and `AccuracyPercent.scala` of its source,
//! whose constants these are), so that the numbers are comparable: for a move the share of the winning chances that
//! it keeps; for a game the average of two means, one weighted by the volatility around each move, and a harmonic
//! one, which a single blunder lowers considerably.

use shakmaty::Color;

use super::judge::{capped, win_percent};
use crate::types::Score;

/// Approximate number of windows in a game.
const WINDOWS: usize = 10;
/// Bounds of the length of a window.
const WINDOW: (usize, usize) = (2, 8);
/// The weight of a move is the standard deviation of the chances in its window within these bounds, in percent.
const WEIGHT: (f64, f64) = (0.5, 12.0);

/// Accuracy of the moves of a game in percent.
#[derive(Debug)]
pub struct Accuracies(Vec<MoveAccuracy>);

#[derive(Debug)]
struct MoveAccuracy {
    side: Color,
    accuracy: f64,
    weight: f64,
}

impl Accuracies {
    /// From White's scores before the first move and after each, and the side that begins.
    pub fn new(scores: &[Score], first: Color) -> Accuracies {
        let chances: Vec<f64> = scores.iter().map(|&score| win_percent(capped(score))).collect();
        let moves = chances.len().saturating_sub(1);
        let window = (moves / WINDOWS).clamp(WINDOW.0, WINDOW.1);
        let one = |index: usize| {
            let side = if index.is_multiple_of(2) { first } else { !first };
            let sign = side.fold_wb(1.0, -1.0);
            // The first windows begin with the game, every other one ends with its move.
            let from = (index + 2).saturating_sub(window);
            let weight = deviation(&chances[from..from + window]).clamp(WEIGHT.0, WEIGHT.1);
            let accuracy = of_move(sign * (chances[index] - chances[index + 1]));
            MoveAccuracy { side, accuracy, weight }
        };
        Accuracies((0..moves).map(one).collect())
    }

    /// Accuracy of a side's moves whose numbers, from 0, are in `counted`; `None` without such moves.
    pub fn of(&self, side: Color, counted: impl Fn(usize) -> bool) -> Option<f64> {
        let moves = self.0.iter().enumerate().filter(|&(index, m)| m.side == side && counted(index));
        let (mut count, mut sum, mut weights, mut inverse) = (0.0, 0.0, 0.0, 0.0);
        for (_, m) in moves {
            count += 1.0;
            sum += m.accuracy * m.weight;
            weights += m.weight;
            inverse += 1.0 / m.accuracy.max(1.0);
        }
        (count > 0.0).then(|| (sum / weights + count / inverse) / 2.0)
    }
}

/// Accuracy of a move by the winning chances that it lost, in percent. One percent is added because no analysis is
/// perfect.
fn of_move(loss: f64) -> f64 {
    if loss <= 0.0 {
        return 100.0;
    }
    (103.166_810_071_164_9 * (-0.043_544_153_867_539_51 * loss).exp() - 3.166_924_740_191_411 + 1.0)
        .clamp(0.0, 100.0)
}

/// The population standard deviation.
fn deviation(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(centipawns: &[i32], first: Color) -> [Option<f64>; 2] {
        let scores: Vec<Score> = centipawns.iter().map(|&cp| Score::from_centipawns(cp)).collect();
        let accuracies = Accuracies::new(&scores, first);
        [Color::White, Color::Black].map(|side| accuracies.of(side, |_| true))
    }

    fn is_close(found: [Option<f64>; 2], expected: [f64; 2], tolerance: f64) {
        for (found, expected) in found.into_iter().zip(expected) {
            let found = found.expect("both sides moved");
            assert!((found - expected).abs() <= tolerance, "{found} instead of {expected}");
        }
    }

    /// The cases of Lichess's own test of its formula, with its tolerances.
    #[test]
    fn games_are_as_accurate_as_lichess_says() {
        let after = |first: i32, rest: &[i32]| [&[first], rest].concat();
        let often = |times: usize, pair: [i32; 2]| [[15].as_slice(), &pair.repeat(times)].concat();
        let perfect = |plies: usize, last: i32| [vec![15; plies + 1], vec![last]].concat();
        for (scores, expected, tolerance) in [
            (after(15, &[15, 15]), [100.0, 100.0], 1.0),
            (after(15, &[-900, -900]), [10.0, 100.0], 5.0),
            (after(15, &[15, 900]), [100.0, 10.0], 5.0),
            (after(15, &[-900, 0]), [10.0, 10.0], 5.0),
            (perfect(20, -900), [50.0, 100.0], 5.0),
            (perfect(21, 900), [100.0, 50.0], 5.0),
            (often(5, [-50, 15]), [76.0, 76.0], 8.0),
            (often(50, [-50, 15]), [76.0, 76.0], 8.0),
            (often(50, [-135, 15]), [54.0, 54.0], 8.0),
            (often(50, [-435, 15]), [20.0, 20.0], 8.0),
        ] {
            is_close(of(&scores, Color::White), expected, tolerance);
            let mirrored: Vec<i32> = scores.iter().map(|score| -score).collect();
            is_close(of(&mirrored, Color::Black), [expected[1], expected[0]], tolerance);
        }
    }

    /// A game of 93 plies; the numbers are those of a second implementation, written with Python's `statistics`.
    #[test]
    fn a_long_game_agrees_with_another_implementation() {
        let scores = [
            20, 1, 37, 20, -3, -68, -81, -1, 29, 101, 115, 139, 148, 27, 86, 119, 150, 27, -96, -155, -183,
            -156, -155, -114, -156, -130, -99, -142, -18, 22, 105, 58, 4, -20, -27, 18, 35, 3, -64, -99, -11,
            -67, -48, -17, -121, -114, -19, -159, -177, -179, -231, -189, -188, -285, -219, -166, -95, 9, 34,
            41, -51, -6, -49, -79, -165, -228, -258, -160, -297, -390, -362, -250, -202, -329, -495, -455,
            -493, -557, -472, -381, -359, -331, -291, -171, -123, -83, -42, -151, -57, 12, 49, -91, -133,
            -70,
        ];
        is_close(of(&scores, Color::White), [89.074_731_585, 91.330_232_472], 1e-6);
        is_close(of(&scores, Color::Black), [91.157_686_240, 90.482_386_105], 1e-6);
    }

    #[test]
    fn a_side_without_moves_has_none() {
        assert_eq!(of(&[15], Color::White), [None, None]);
        assert_eq!(of(&[], Color::White), [None, None]);
        assert!(of(&[15, 15], Color::Black)[0].is_none());
    }
}
