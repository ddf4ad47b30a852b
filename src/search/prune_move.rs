//! Steps 16 to 19, move-loop pruning: single moves that are not worth a search. The thresholds depend on history: a
//! move with a good history is pruned later.

use shakmaty::Move;

use super::{node_state::Node, params::*};
use crate::types::Score;

/// A move of the loop, with the facts that decide whether and how deep it is searched.
pub struct Candidate {
    pub m: Move,
    /// Its place in the order, from 1.
    pub move_count: usize,
    pub noisy: bool,
    pub gives_check: bool,
    /// May the opponent capture on the square of arrival? Also true if the piece is attacked now: it may have been in the
    /// way of the attacker.
    pub threatened: bool,
    /// Quiet or capture history.
    pub history: i32,
    /// The base reduction in 1024ths of a ply.
    pub reduction: i32,
    pub alpha: Score,
}

/// What to do with the move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Pruning {
    Search,
    Skip,
    /// Skip this move, whose score is at most this.
    Futile(Score),
    /// Skip this and all later quiet moves.
    SkipQuiets,
}

/// Decides about one move of a node in which another move was searched that does not get mated.
pub fn prune_move(node: &Node, candidate: &Candidate) -> Pruning {
    let &Candidate { m, history, alpha, .. } = candidate;
    let depth = node.depth.get();

    if candidate.noisy {
        // Step 16. Captures whose static exchange evaluation is too low for this depth. A capture that
        // loses no material is never pruned.
        let threshold = (see_capture_step() * depth - history / see_capture_history_div()).min(0);
        return if node.position.see_ge(m, threshold) { Pruning::Search } else { Pruning::Skip };
    }
    // Step 17. Late move pruning. The moves are ordered well enough that the last ones do not matter.
    let limit = (lmp_base() + depth * depth) / if node.improving { 1 } else { lmp_not_improving_div() };
    if candidate.move_count as i32 >= limit {
        return Pruning::SkipQuiets;
    }
    // The depth to which the move would be searched after reduction, adjusted by its history.
    let reduced = (depth - (candidate.reduction - history / pruning_history_div()) / PLY).max(0);
    // Step 18. Futility and history pruning. By the static evaluation, or by its history, the move will not raise
    // alpha. Not for checks, whose effect a static evaluation does not see.
    if !candidate.gives_check {
        let margin = futility_base() + futility_step() * reduced + history / futility_history_div();
        let most = node.static_eval + margin;
        if !node.in_check && reduced <= futility_max_depth() && most <= alpha {
            return Pruning::Futile(most);
        }
        if reduced <= history_pruning_max_depth() && history < history_pruning_step() * depth {
            return Pruning::Skip;
        }
    }
    // Step 19. Quiet moves that lose the moved piece (+54 ± 40).
    if candidate.threatened && !node.position.see_ge(m, see_quiet_step() * reduced * reduced) {
        return Pruning::Skip;
    }
    Pruning::Search
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::Position,
        search::worker::tests::{legal, node, worker_at},
    };

    /// What is done at `depth` with the `move_count`th move, a quiet one; `change` comes before.
    fn pruning(depth: i32, move_count: i32, change: impl FnOnce(&mut Node)) -> Pruning {
        let position = Position::default();
        let mut node = node(&mut worker_at(&position), &position, Score::ZERO, depth);
        (node.static_eval, node.improving) = (Score(2000), true);
        change(&mut node);
        let candidate = Candidate {
            m: legal(&position, "b1c3"),
            move_count: move_count as usize,
            noisy: false,
            gives_check: false,
            threatened: false,
            history: 0,
            reduction: 0,
            alpha: Score::ZERO,
        };
        prune_move(&node, &candidate)
    }

    #[test]
    fn late_quiet_moves_are_skipped() {
        let limit = lmp_base() + 9;
        let late = |move_count| pruning(3, move_count, |_| {});
        assert_eq!([limit - 1, limit].map(late), [Pruning::Search, Pruning::SkipQuiets]);
        assert_eq!(pruning(3, limit / 2, |node| node.improving = false), Pruning::SkipQuiets);
    }

    #[test]
    fn a_futile_move_scores_at_most_the_evaluation_and_a_margin_for_the_depth() {
        let futile = pruning(5, 2, |node| node.static_eval = Score(-5000));
        assert_eq!(futile, Pruning::Futile(Score(-5000 + futility_base() + futility_step() * 5)));
    }
}
