//! The best-thread vote: which thread's move is played. Threads vote for their moves, weighted by depth and score, as
//! in Stockfish. A thread that has published nothing has no vote, and neither has one that lags far behind the main
//! thread: the score of its shallower search may be high by chance. The line chosen is printed last, so it is one as deep
//! as that of the main thread, or one with a proven result.

use std::collections::HashMap;

use shakmaty::Move;

use super::{
    params::{vote_max_lag, vote_score_offset},
    preference::preferred,
    progress::ThreadResult,
};
use crate::types::Score;

/// The index of the result whose line is to be played; the first is that of the main thread.
pub fn best_thread(results: &[ThreadResult]) -> usize {
    let has_vote = |result: &&ThreadResult| result.depth >= results[0].depth - vote_max_lag();
    let lowest = results.iter().filter(has_vote).map(score).min().unwrap_or(Score::ZERO);
    let weight = |result: &ThreadResult| {
        i64::from(score(result) - lowest + vote_score_offset()) * i64::from(result.depth.get())
    };
    let mut sums: HashMap<Move, i64> = HashMap::new();
    for voter in results.iter().filter(has_vote) {
        *sums.entry(voter.lines[0].root_move()).or_default() += weight(voter);
    }
    let votes = |result: &ThreadResult| sums.get(&result.lines[0].root_move()).copied().unwrap_or(0);
    let mut chosen = 0;
    for index in 1..results.len() {
        let (now, candidate) = (&results[chosen], &results[index]);
        let better = if score(now).is_decisive() || score(candidate).is_decisive() {
            // Proven results are decided by score, not by vote.
            score(candidate) > score(now)
        } else {
            (votes(candidate), weight(candidate)) > (votes(now), weight(now))
        };
        if better && says_more(candidate, &results[0]) {
            chosen = index;
        }
    }
    chosen
}

/// The result to answer with: `chosen`, or what was printed if `chosen` says no more. A main thread that has found a
/// better move since it printed may be outvoted in favour of the move printed.
pub fn unless_printed<'a>(chosen: &'a ThreadResult, printed: Option<&'a ThreadResult>) -> &'a ThreadResult {
    // With MultiPV an unfinished iteration may have deepened the best line.
    let is_as_deep = |printed: &ThreadResult| printed.lines[0].depth >= chosen.lines[0].depth;
    printed.filter(|printed| is_as_deep(printed) && !says_more(chosen, printed)).unwrap_or(chosen)
}

/// The score of its best line in the comparison of root moves.
fn score(result: &ThreadResult) -> Score {
    let best = &result.lines[0];
    preferred(best.latest_score(), best.worth)
}

/// Is its line worth printing after another: deeper, as deep with another move, or proven?
fn says_more(candidate: &ThreadResult, other: &ThreadResult) -> bool {
    let best = &candidate.lines[0];
    let is_other = best.root_move() != other.lines[0].root_move();
    let is_proven = score(candidate).is_decisive();
    candidate.depth > other.depth || candidate.depth == other.depth && is_other || is_proven
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::Position,
        search::root_move::RootMove,
        types::{Depth, Ply},
    };

    /// What a thread found: the `number`th legal move of the start, with a score after an iteration.
    fn found(number: usize, score: i32, depth: i32) -> ThreadResult {
        let mut root = RootMove::new(Position::default().legal_moves()[number]);
        root.score = Score(score);
        ThreadResult { lines: vec![root], depth: Depth(depth) }
    }

    #[test]
    fn two_threads_outvote_one_unless_its_score_is_much_higher() {
        let others = [found(1, 20, 12), found(1, 20, 12)];
        let best = |first| best_thread(&[vec![first], others.to_vec()].concat());
        assert_eq!(best(found(0, 24, 12)), 1);
        assert_eq!(best(found(0, 50, 12)), 0);
    }

    #[test]
    fn a_thread_that_lags_has_no_vote_unless_it_has_found_a_proof() {
        let mate = Score::mate_in(Ply(5)).0;
        let three = |second| best_thread(&[found(0, 20, 14), found(1, 50, 14), second]);
        assert_eq!(three(found(0, 40, 13)), 0);
        assert_eq!(three(found(0, 40, 6)), 1);
        assert_eq!(best_thread(&[found(0, 20, 14), found(1, mate, 6)]), 1);
        // What a shallow search knows nothing of is not disproved by it.
        assert_eq!(best_thread(&[found(0, -mate, 14), found(1, 20, 6)]), 0);
        assert_eq!(best_thread(&[found(0, -mate, 14), found(1, 20, 14)]), 1);
    }

    #[test]
    fn no_line_is_chosen_that_says_less_than_that_of_the_main_thread() {
        let best = |other| best_thread(&[found(0, 20, 14), other]);
        assert_eq!([13, 14, 15].map(|depth| best(found(1, 90, depth))), [0, 1, 1]);
        assert_eq!([13, 14, 15].map(|depth| best(found(0, 90, depth))), [0, 0, 1]);
    }

    #[test]
    fn a_move_that_is_printed_is_answered_with_its_line_unless_another_says_more() {
        let printed = found(0, 20, 14);
        let score = |chosen| unless_printed(&chosen, Some(&printed)).lines[0].score.0;
        assert_eq!([13, 14, 15].map(|depth| score(found(0, 30, depth))), [20, 20, 30]);
        assert_eq!([13, 14, 15].map(|depth| score(found(1, 30, depth))), [20, 30, 30]);
        let mate = Score::mate_in(Ply(5)).0;
        assert_eq!(score(found(0, mate, 6)), mate);
        assert_eq!(unless_printed(&found(0, 30, 14), None).lines[0].score, Score(30));
    }
}
