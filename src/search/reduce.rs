//! How much less deep a late move is searched (step 21), and the correction of that one ply later (step 10).
//!
//! Moves are ordered well enough that a late one rarely raises alpha. It is first searched to a reduced depth with a
//! null window, which is cheap; one that raises alpha there is searched again in full. So a good move is missed only
//! if its point lies beyond the reduced depth.

use shakmaty::Move;

use super::{
    node_state::{Expect, Node, NodeKind},
    params::*,
    worker::Worker,
};
use crate::types::{Depth, PackedMove, Ply, Score};

impl Worker {
    /// The reduction of a late move in 1024ths of a ply, from its `base`.
    pub fn adjusted_reduction<N: NodeKind>(
        &self,
        node: &Node,
        m: Move,
        base: i32,
        history: i32,
        gives_check: bool,
    ) -> i32 {
        let mut reduction = base;
        // Nodes that are or were on a principal variation decide what is played.
        if node.was_pv {
            reduction -= lmr_was_pv() + if N::PV { lmr_pv() } else { 0 };
        }
        // Where a cutoff is expected late moves hardly matter.
        if node.expect == Expect::Cut {
            reduction += lmr_cut_node() - if node.was_pv { lmr_cut_node_was_pv() } else { 0 };
        }
        // A side that stands worse than before seldom finds a good move late in the order.
        if !node.improving {
            reduction += lmr_not_improving();
        }
        // A capture was best: quiet moves are unlikely to be.
        if node.tt_move_is_noisy() {
            reduction += lmr_noisy_tt_move();
        }
        // A check leaves few replies, so a deeper search is cheap.
        if gives_check {
            reduction -= lmr_gives_check();
        }
        // Most moves of this node were refuted: expect this one to be as well.
        if i32::from(self.stack(node.ply.next()).cutoff_count) > lmr_cutoff_count() {
            reduction += lmr_cutoffs();
        }
        if PackedMove::pack(m) == self.stack(node.ply).killer {
            reduction -= lmr_killer();
        }
        reduction - history * PLY / lmr_history_div()
    }

    /// Step 10. Hindsight: a move that was reduced much and cost its side nothing is searched a ply deeper; one
    /// that was reduced and cost its side much was rightly reduced, and is searched a ply less.
    pub fn hindsight<N: NodeKind>(
        &self,
        ply: Ply,
        depth: Depth,
        in_check: bool,
        static_eval: Score,
    ) -> Depth {
        let parent = self.stack_before(ply, 1);
        if N::ROOT || in_check || parent.static_eval == Score::NONE {
            return depth;
        }
        // Each is from the side to move, so the sum is what the move before cost its side.
        let cost = static_eval.0 + parent.static_eval.0;
        if parent.reduction >= hindsight_deeper_reduction() && cost < 0 {
            depth + 1
        } else if parent.reduction >= hindsight_shallower_reduction()
            && depth >= hindsight_min_depth()
            && cost > hindsight_margin()
        {
            depth - 1
        } else {
            depth
        }
    }
}
