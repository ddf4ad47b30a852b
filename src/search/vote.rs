//! Which thread's move is played. Threads vote with depth and score, so that one that went astray is
//! outvoted (as Stockfish does it).

use super::deepen::Outcome;
use crate::types::Score;

/// The index of the outcome whose line is to be played.
pub fn elect(outcomes: &[Outcome]) -> usize {
    let score = |outcome: &Outcome| {
        let best = &outcome.lines[0];
        if best.has_score() { best.score } else { best.previous }
    };
    let lowest = outcomes.iter().map(score).min().unwrap_or(Score::ZERO);
    let weight = |outcome: &Outcome| i64::from(score(outcome) - lowest + 14) * i64::from(outcome.depth.get());
    let votes = |index: usize| -> i64 {
        let m = outcomes[index].lines[0].root_move();
        outcomes.iter().filter(|other| other.lines[0].root_move() == m).map(weight).sum()
    };
    let mut elected = 0;
    for index in 1..outcomes.len() {
        let (now, candidate) = (&outcomes[elected], &outcomes[index]);
        let better = if score(now).is_decisive() || score(candidate).is_decisive() {
            // Proven results are compared, not voted on.
            score(candidate) > score(now)
        } else {
            (votes(index), weight(candidate)) > (votes(elected), weight(now))
        };
        if better {
            elected = index;
        }
    }
    elected
}
