//! Steps 12 to 15: which single moves are not worth a search.

use shakmaty::Move;

use super::{node::Node, params::*};
use crate::types::Score;

/// What is known about the move.
pub struct Facts {
    pub m: Move,
    /// Its place in the order, from 1.
    pub number: usize,
    pub noisy: bool,
    pub gives_check: bool,
    /// Does the opponent attack the square where it arrives?
    pub exposed: bool,
    pub history: i32,
    /// The base reduction in 1024ths of a ply.
    pub reduction: i32,
    pub alpha: Score,
}

/// What to do with the move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Search,
    Skip,
    /// Neither it nor any later quiet move.
    SkipQuiets,
}

/// Decides about one move.
pub fn verdict(node: &Node, facts: &Facts) -> Verdict {
    let depth = node.depth.get();
    // The depth that a late move would really get, with its history counted in.
    let reduced = (depth - (facts.reduction - facts.history / 8) / PLY).max(0);

    if facts.noisy {
        // Step 12. Captures that lose too much for this depth.
        let threshold = see_capture_step() * depth - facts.history / 48;
        let losing = facts.number > 1 && !node.position.exchange_wins(facts.m, threshold);
        return if losing { Verdict::Skip } else { Verdict::Search };
    }
    if facts.number > 1 {
        // Step 13. Late move pruning. The order is good enough that the tail does not matter.
        let limit = (lmp_base() + depth * depth) / if node.improving { 1 } else { 2 };
        if facts.number as i32 >= limit {
            return Verdict::SkipQuiets;
        }
        // Step 14. Futility and history. Too little promise to reach alpha.
        if !facts.gives_check {
            let hope = node.evaluation + futility_base() + futility_step() * reduced + facts.history / 160;
            if !node.in_check && reduced <= futility_max_depth() && hope <= facts.alpha {
                return Verdict::Skip;
            }
            if reduced <= history_pruning_max_depth() && facts.history < history_pruning_step() * depth {
                return Verdict::Skip;
            }
        }
        // Step 15. Quiet moves that hang the man.
        if facts.exposed && !node.position.exchange_wins(facts.m, see_quiet_step() * reduced * reduced) {
            return Verdict::Skip;
        }
    }
    Verdict::Search
}
