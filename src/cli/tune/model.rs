//! The evaluation as a differentiable function of the weights, over many positions at once.

use crate::eval::classical::coefficients::{ACCOUNTS, Coefficients, danger};

/// A middlegame and an endgame weight.
pub type Weight = [f32; 2];

/// One sum's weights and how often (in sixteenths) they are in it.
type Entries = [(u16, i16)];

/// A position as coefficients of the weights.
#[derive(Copy, Clone, Debug)]
struct TunedPosition {
    /// Where its entries begin.
    first: u32,
    /// The number of entries of each account.
    lengths: [u8; ACCOUNTS],
    shares: [f32; 2],
    /// A score of the position from White's point of view, as a chance of 0 to 1.
    chance: f32,
    /// How the game ended: 1, 0.5, 0.
    result: f32,
}

/// Positions with their coefficients and labels.
#[derive(Debug, Default)]
pub struct Positions {
    heads: Vec<TunedPosition>,
    entries: Vec<(u16, i16)>,
}

/// Intermediate sums of a position's score.
struct Sums {
    score: Weight,
    danger: [Weight; 2],
    initiative: f32,
}

impl Positions {
    /// Adds a position, unless it has too many terms, as only absurd ones have.
    pub fn push(&mut self, coefficients: &Coefficients, chance: f32, result: f32) {
        let mut lengths = [0; ACCOUNTS];
        for (length, entries) in lengths.iter_mut().zip(&coefficients.accounts) {
            let Ok(fitting) = u8::try_from(entries.len()) else { return };
            *length = fitting;
        }
        let Ok(first) = u32::try_from(self.entries.len()) else { return };
        self.heads.push(TunedPosition { first, lengths, shares: coefficients.shares, chance, result });
        self.entries.extend(coefficients.accounts.iter().flatten());
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// The number of entries over all positions.
    pub fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The target chance of a position: a mixture of its result and its score.
    pub fn target(&self, index: usize, result_share: f32) -> f32 {
        let head = &self.heads[index];
        result_share * head.result + (1.0 - result_share) * head.chance
    }

    /// The score of a position in centipawns from White's point of view.
    pub fn score(&self, index: usize, weights: &[Weight]) -> f32 {
        let head = &self.heads[index];
        let (total, _) = finish(&self.sums(head, weights));
        total[0] * head.shares[0] + total[1] * head.shares[1]
    }

    /// Adds to `gradient` the derivative of a position's score by each weight, times `slope`.
    pub fn add_gradient(&self, index: usize, weights: &[Weight], slope: f32, gradient: &mut [Weight]) {
        let head = &self.heads[index];
        let sums = self.sums(head, weights);
        let (_, slopes) = finish(&sums);
        let mg = slope * head.shares[0] / 16.0;
        let eg = slope * head.shares[1] / 16.0;
        let [score, black, white, initiative] = self.accounts(head);
        let mut add = |entries: &Entries, by: Weight| {
            for &(weight, times) in entries {
                let slot = &mut gradient[usize::from(weight)];
                slot[0] += by[0] * f32::from(times);
                slot[1] += by[1] * f32::from(times);
            }
        };
        add(score, [mg, eg * slopes.endgame]);
        for (entries, units, sign) in [(black, sums.danger[0], 1.0), (white, sums.danger[1], -1.0)] {
            let (_, growth) = danger(units);
            if growth != [0.0; 2] {
                add(entries, [sign * mg * growth[0], sign * eg * slopes.endgame * growth[1]]);
            }
        }
        add(initiative, [0.0, eg * slopes.initiative]);
    }

    fn accounts(&self, head: &TunedPosition) -> [&Entries; ACCOUNTS] {
        let mut rest = &self.entries[head.first as usize..];
        head.lengths.map(|length| {
            let (account, others) = rest.split_at(usize::from(length));
            rest = others;
            account
        })
    }

    fn sums(&self, head: &TunedPosition, weights: &[Weight]) -> Sums {
        let sum = |entries: &Entries| {
            let mut sum = [0.0, 0.0];
            for &(weight, times) in entries {
                let value = weights[usize::from(weight)];
                sum[0] += value[0] * f32::from(times);
                sum[1] += value[1] * f32::from(times);
            }
            sum.map(|phase| phase / 16.0)
        };
        let [score, black, white, initiative] = self.accounts(head).map(sum);
        Sums { score, danger: [black, white], initiative: initiative[1] }
    }
}

/// Derivatives of the endgame total by the endgame sum and by the initiative.
struct EndgameSlopes {
    endgame: f32,
    initiative: f32,
}

/// The middlegame and endgame totals: penalties for danger, then the initiative, which may take the endgame
/// advantage away or double it.
fn finish(sums: &Sums) -> (Weight, EndgameSlopes) {
    let [(black, _), (white, _)] = sums.danger.map(danger);
    let mg = sums.score[0] + black[0] - white[0];
    let eg = sums.score[1] + black[1] - white[1];
    let slopes = if sums.initiative <= -eg.abs() {
        EndgameSlopes { endgame: 0.0, initiative: 0.0 }
    } else if sums.initiative >= eg.abs() {
        EndgameSlopes { endgame: 2.0, initiative: 0.0 }
    } else {
        EndgameSlopes { endgame: 1.0, initiative: eg.signum() }
    };
    ([mg, slopes.endgame * eg + slopes.initiative * sums.initiative], slopes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        eval::classical::{Caches, coefficients, evaluate},
        position::Position,
    };
    use shakmaty::Color;

    /// Positions of games in which the moves are chosen by a counter.
    fn positions() -> Vec<Position> {
        let mut found = Vec::new();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..60 {
            let mut position = Position::default();
            for _ in 0..120 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                position = position.play(moves[(random >> 33) as usize % moves.len()]);
                found.push(position.clone());
            }
        }
        found
    }

    #[test]
    fn the_coefficients_add_up_to_the_evaluation() {
        let weights = coefficients::present();
        let mut caches = Caches::new(1);
        let (mut seen, mut sum_of_errors) = (0, 0.0);
        for position in positions() {
            let Some(found) = Coefficients::of(&position, &mut caches) else { continue };
            let mut set = Positions::default();
            set.push(&found, 0.5, 0.5);
            let score = evaluate(&position, &mut caches).0 as f32;
            let white = if position.turn() == Color::White { score } else { -score };
            // Divisions round towards zero on the way, and the initiative may double what they lost.
            let error = (set.score(0, &weights) - white).abs();
            assert!(error < 10.0, "{}: {error} from {white}", position.fen());
            sum_of_errors += error;
            seen += 1;
        }
        assert!(seen > 3000 && sum_of_errors < 1.5 * seen as f32, "{sum_of_errors} in {seen}");
    }

    #[test]
    fn the_gradient_is_the_difference_quotient() {
        let weights = coefficients::present();
        let mut caches = Caches::new(1);
        for position in positions().into_iter().step_by(211) {
            let Some(found) = Coefficients::of(&position, &mut caches) else { continue };
            let mut set = Positions::default();
            set.push(&found, 0.5, 0.5);
            let mut gradient = vec![[0.0; 2]; weights.len()];
            set.add_gradient(0, &weights, 1.0, &mut gradient);
            for index in (0..weights.len()).step_by(7) {
                for phase in 0..2 {
                    let moved = |by: f32| {
                        let mut moved = weights.clone();
                        moved[index][phase] += by;
                        set.score(0, &moved)
                    };
                    let quotient = (moved(0.25) - moved(-0.25)) / 0.5;
                    assert!(
                        (quotient - gradient[index][phase]).abs() < 0.05,
                        "{index} {phase} {}",
                        position.fen()
                    );
                }
            }
        }
    }
}
