//! The best-thread vote: which thread's move is played. Threads vote with depth and score for their moves, as in
//! Stockfish. A thread that has published nothing has no vote.

use super::{params::vote_score_offset, preference::preferred, progress::ThreadResult};
use crate::types::Score;

/// The index of the result whose line is to be played.
pub fn best_thread(results: &[ThreadResult]) -> usize {
    let score = |result: &ThreadResult| {
        let best = &result.lines[0];
        preferred(best.latest_score(), best.worth)
    };
    let lowest = results.iter().map(score).min().unwrap_or(Score::ZERO);
    let weight = |result: &ThreadResult| {
        i64::from(score(result) - lowest + vote_score_offset()) * i64::from(result.depth.get())
    };
    let votes = |index: usize| -> i64 {
        let m = results[index].lines[0].root_move();
        results.iter().filter(|other| other.lines[0].root_move() == m).map(weight).sum()
    };
    let mut chosen = 0;
    for index in 1..results.len() {
        let (now, candidate) = (&results[chosen], &results[index]);
        let better = if score(now).is_decisive() || score(candidate).is_decisive() {
            // Proven results are compared, not voted on.
            score(candidate) > score(now)
        } else {
            (votes(index), weight(candidate)) > (votes(chosen), weight(now))
        };
        if better {
            chosen = index;
        }
    }
    chosen
}
