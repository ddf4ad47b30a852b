//! Late move reductions (step 21), and their correction one ply later (step 10).
//!
//! Moves are ordered well enough that a late one rarely raises alpha. It is first searched to a reduced depth with a
//! null window, which is cheap; if it raises alpha it is searched again at full depth. So a good move is missed only if
//! the reduced depth is too small to show that it is good.

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
        // Nodes that are or were in the principal variation matter most for the move played.
        if node.was_pv {
            reduction -= lmr_was_pv() + if N::PV { lmr_pv() } else { 0 };
        }
        // If a cutoff is expected, late moves hardly matter.
        if node.expect == Expect::Cut {
            reduction += lmr_cut_node() - if node.was_pv { lmr_cut_node_was_pv() } else { 0 };
        }
        // If the side's evaluation got worse, a good move late in the order is unlikely.
        if !node.improving {
            reduction += lmr_not_improving();
        }
        // If a capture or queen promotion was best, a late move is unlikely to be better.
        if node.tt_move_is_noisy() {
            reduction += lmr_noisy_tt_move();
        }
        // A check leaves few replies, so a deeper search is cheap.
        if gives_check {
            reduction -= lmr_gives_check();
        }
        // Several moves of this node were refuted already: this one probably is too.
        if i32::from(self.stack(node.ply.next()).cutoff_count) > lmr_cutoff_count() {
            reduction += lmr_cutoffs();
        }
        if PackedMove::pack(m) == self.stack(node.ply).killer {
            reduction -= lmr_killer();
        }
        reduction - history * PLY / lmr_history_div()
    }

    /// Step 10. Hindsight: if a much reduced move improved its side's static evaluation, the node is searched a ply
    /// deeper; if a reduced move worsened it by much, the reduction was right, and the node is searched a ply less
    /// deep.
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
        // Each evaluation is for its side to move, so the sum is what the previous move cost its side.
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
