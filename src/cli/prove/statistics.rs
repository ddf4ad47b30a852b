//! Elo and its intervals.
//!
//! Games from one opening are not independent: the same moves recur in every round. So the bootstrap (Efron 1979)
//! resamples openings, each with all of its games, instead of games. The intervals are percentiles.

use fastrand::Rng;

/// Resamples of a bootstrap.
const DRAWS: usize = 4000;
/// The share beyond each side of an interval of 95 %.
const TAIL: f64 = 0.025;

/// A random generator seeded by these numbers in their order.
pub(super) fn seeded(words: &[u64]) -> Rng {
    Rng::with_seed(words.iter().fold(0, |seed, &word| Rng::with_seed(seed ^ word).u64(..)))
}

/// Points (a win 1, a draw 0.5) and games.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(super) struct PointTally {
    pub points: f64,
    pub games: f64,
}

impl PointTally {
    pub fn add(&mut self, other: PointTally) {
        self.points += other.points;
        self.games += other.games;
    }

    /// From 0 to 1; a half where nothing was played.
    pub fn score(self) -> f64 {
        if self.games > 0.0 { self.points / self.games } else { 0.5 }
    }

    /// The rating difference with this expected score (Elo's logistic formula). A score of 0 or 100 % is moved by half
    /// a point: no number of games proves an infinite difference.
    pub fn elo(self) -> f64 {
        let margin = 0.5 / self.games.max(1.0);
        elo(self.score().clamp(margin, 1.0 - margin))
    }
}

/// The rating difference of a score between 0 and 1.
pub(super) fn elo(score: f64) -> f64 {
    -400.0 * (1.0 / score - 1.0).log10()
}

/// An estimate with its 95 % interval.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// With this many decimals, and no negative zero, which would be printed with its sign.
    pub fn rounded(self, decimals: i32) -> Estimate {
        let unit = 10_f64.powi(decimals);
        let round = |value: f64| (value * unit).round() / unit + 0.0;
        Estimate { value: round(self.value), low: round(self.low), high: round(self.high) }
    }
}

/// Estimates `statistic` of the sum of `clusters`; its argument has as many tallies as each cluster.
pub(super) fn bootstrap<const N: usize>(
    clusters: &[[PointTally; N]],
    seed: u64,
    statistic: impl Fn(&[PointTally; N]) -> f64,
) -> Estimate {
    let sum = |chosen: &mut dyn Iterator<Item = &[PointTally; N]>| {
        let mut sum = [PointTally::default(); N];
        for cluster in chosen {
            for (total, part) in sum.iter_mut().zip(cluster) {
                total.add(*part);
            }
        }
        statistic(&sum)
    };
    let value = sum(&mut clusters.iter());
    let mut random = seeded(&[seed]);
    let mut draws: Vec<f64> = (0..DRAWS)
        .map(|_| sum(&mut (0..clusters.len()).map(|_| &clusters[random.usize(..clusters.len())])))
        .collect();
    draws.sort_unstable_by(f64::total_cmp);
    let percentile = |part: f64| draws[((DRAWS - 1) as f64 * part).round() as usize];
    Estimate { value, low: percentile(TAIL), high: percentile(1.0 - TAIL) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(points: f64, games: f64) -> PointTally {
        PointTally { points, games }
    }

    #[test]
    fn elo_follows_the_logistic_formula() {
        for (score, expected) in
            [(0.5, 0.0), (0.75, 190.85), (0.25, -190.85), (0.64, 99.95), (10.0 / 11.0, 400.0)]
        {
            assert!((elo(score) - expected).abs() < 0.01, "{score}: {}", elo(score));
        }
        assert!((tally(100.0, 100.0).elo() - elo(0.995)).abs() < 1e-9, "a clean score is not infinite");
        assert!((tally(0.0, 100.0).elo() + tally(100.0, 100.0).elo()).abs() < 1e-9);
        assert_eq!(PointTally::default().elo(), 0.0);
    }

    #[test]
    fn the_interval_of_a_mean_is_the_one_of_the_textbook() {
        // 400 independent games with a score of 40 %, no draws: the standard error of the mean is 0.0245.
        let clusters: Vec<[PointTally; 1]> =
            (0..400).map(|n| [tally(if n % 5 < 2 { 1.0 } else { 0.0 }, 1.0)]).collect();
        let mean = bootstrap(&clusters, 7, |[tally]| tally.score());
        assert!((mean.value - 0.4).abs() < 1e-9);
        assert!((mean.low - 0.352).abs() < 0.006 && (mean.high - 0.448).abs() < 0.006, "{mean:?}");
        assert_eq!(mean, bootstrap(&clusters, 7, |[tally]| tally.score()), "the same seed, the same answer");
    }

    #[test]
    fn repeated_games_of_an_opening_prove_nothing_more() {
        // The same games, ten times each: a bootstrap over games would be 3.2 times too sure.
        let once: Vec<[PointTally; 1]> = (0..100).map(|n| [tally(f64::from(n % 2), 1.0)]).collect();
        let ten: Vec<[PointTally; 1]> = (0..100).map(|n| [tally(10.0 * f64::from(n % 2), 10.0)]).collect();
        let width = |clusters: &[[PointTally; 1]]| {
            let estimate = bootstrap(clusters, 3, |[tally]| tally.score());
            estimate.high - estimate.low
        };
        assert!((width(&once) - width(&ten)).abs() < 1e-9);
    }

    #[test]
    fn a_paired_difference_is_surer_than_its_parts() {
        // Openings differ by much, but the second arm is better by one point of ten in each.
        let clusters: Vec<[PointTally; 2]> =
            (0..50).map(|n| [tally(f64::from(n % 9), 10.0), tally(f64::from(n % 9 + 1), 10.0)]).collect();
        let part = bootstrap(&clusters, 1, |[a, _]| a.score());
        let difference = bootstrap(&clusters, 1, |[a, b]| b.score() - a.score());
        assert!((difference.value - 0.1).abs() < 1e-9);
        assert!(difference.high - difference.low < 1e-9 && part.high - part.low > 0.1);
    }

    #[test]
    fn what_rounds_to_zero_has_no_sign() {
        let Estimate { value, low, high } = Estimate { value: -0.0, low: -0.04, high: 0.04 }.rounded(1);
        assert_eq!(format!("{value:.1} {low:.1} {high:+.1}"), "0.0 0.0 +0.0");
        let Estimate { value, low, high } = Estimate { value: -0.3, low: -1.6, high: 21.5 }.rounded(0);
        assert_eq!(format!("{value:+.0} {low:+.0} {high:+.0}"), "+0 -2 +22");
    }

    #[test]
    fn random_numbers_depend_on_every_word_of_their_seed() {
        let first = |words: &[u64]| seeded(words).u64(..);
        assert_eq!(first(&[1, 2, 3]), first(&[1, 2, 3]));
        assert!(first(&[1, 2, 3]) != first(&[1, 3, 2]) && first(&[1, 2]) != first(&[1, 2, 0]));
    }
}
