//! Step 17: how much less deep a late move is searched, and step 6, the second look at it.

use shakmaty::Move;

use super::{
    node::{Expect, Node, NodeKind},
    params::*,
    worker::Worker,
};
use crate::types::{Depth, PackedMove, Ply, Score};

impl Worker {
    /// The reduction in 1024ths of a ply.
    pub fn adjusted_reduction<N: NodeKind>(
        &self,
        node: &Node,
        m: Move,
        base: i32,
        history: i32,
        gives_check: bool,
    ) -> i32 {
        let mut reduction = base;
        // Nodes once on a principal variation deserve care.
        if node.was_pv {
            reduction -= PLY + if N::PV { PLY / 2 } else { 0 };
        }
        // Where a cutoff is expected late moves hardly matter.
        if node.expect == Expect::Cut {
            reduction += 2 * PLY - if node.was_pv { PLY / 2 } else { 0 };
        }
        if !node.improving {
            reduction += PLY / 2;
        }
        // A capture was best: quiet moves are unlikely to be.
        if node.table_move_is_noisy() {
            reduction += PLY;
        }
        if gives_check {
            reduction -= PLY;
        }
        // The opponent refutes everything here.
        if self.frame(node.ply.next()).cutoffs > 3 {
            reduction += PLY;
        }
        if PackedMove::pack(m) == self.frame(node.ply).killer {
            reduction -= PLY;
        }
        reduction - history * PLY / lmr_history_div()
    }

    /// Step 6. Hindsight: if the parent reduced this move much and the evaluation says that both sides are
    /// content, it was right; if the opponent's position got worse, look one ply deeper.
    pub fn hindsight<N: NodeKind>(&self, ply: Ply, depth: Depth, in_check: bool, evaluation: Score) -> Depth {
        let parent = self.frame_before(ply, 1);
        if N::ROOT || in_check || parent.evaluation == Score::NONE {
            return depth;
        }
        let sum = evaluation.0 + parent.evaluation.0;
        if parent.reduction >= 3 * PLY && sum < 0 {
            depth + 1
        } else if parent.reduction >= PLY && depth >= 2 && sum > 180 {
            depth - 1
        } else {
            depth
        }
    }
}
