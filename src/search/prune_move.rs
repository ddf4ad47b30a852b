//! Steps 16 to 19, move-loop pruning: single moves that are not worth a search. History moves the thresholds: a
//! move that was good elsewhere is given more room.

use shakmaty::Move;

use super::{node_state::Node, params::*};
use crate::types::Score;

/// A move of the loop, with what decides whether and how deep it is searched.
pub struct Candidate {
    pub m: Move,
    /// Its place in the order, from 1.
    pub move_count: usize,
    pub noisy: bool,
    pub gives_check: bool,
    /// Does the opponent attack the square of arrival?
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
    /// Not this move, whose score is this at most.
    Futile(Score),
    /// Neither it nor any later quiet move.
    SkipQuiets,
}

/// Decides about one move of a node that already has a score to fall back on.
pub fn prune_move(node: &Node, candidate: &Candidate) -> Pruning {
    let &Candidate { m, history, alpha, .. } = candidate;
    let depth = node.depth.get();

    if candidate.noisy {
        // Step 16. Captures whose exchange loses too much for this depth.
        let threshold = see_capture_step() * depth - history / see_capture_history_div();
        let losing = candidate.move_count > 1 && !node.position.see_ge(m, threshold);
        return if losing { Pruning::Skip } else { Pruning::Search };
    }
    if candidate.move_count == 1 {
        return Pruning::Search;
    }
    // Step 17. Late move pruning. The moves are ordered well enough that the tail does not matter.
    let limit = (lmp_base() + depth * depth) / if node.improving { 1 } else { lmp_not_improving_div() };
    if candidate.move_count as i32 >= limit {
        return Pruning::SkipQuiets;
    }
    // The depth that the move would really get, with its history counted in.
    let reduced = (depth - (candidate.reduction - history / pruning_history_div()) / PLY).max(0);
    // Step 18. Futility and history pruning. Neither the evaluation nor experience says that it reaches alpha.
    // Not for checks, which change more than an evaluation sees.
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
    // Step 19. Quiet moves that lose the piece (+54 ± 40).
    if candidate.threatened && !node.position.see_ge(m, see_quiet_step() * reduced * reduced) {
        return Pruning::Skip;
    }
    Pruning::Search
}
