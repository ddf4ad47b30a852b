//! Step 20: singular extensions. If every other move fails low against a window well below the table's score, the
//! table's move is the only good one and is searched deeper (Anantharaman, Campbell and Hsu 1988).
//!
//! The same search also shows the opposite: if another move comes close, the table's move is searched less deeply; if
//! it reaches beta, the node needs no search at all (multi-cut).

use shakmaty::Move;

use super::{
    node_state::{Expect, Node, NodeKind, NonPvNode, Window},
    params::*,
    worker::Worker,
};
use crate::{
    position::is_noisy,
    types::{Depth, PackedMove, Score},
};

impl Worker {
    /// Searches the node without the table's move to a fraction of the depth. Returns the extension of that move in
    /// plies (a reduction if negative); the score as an error if another move reaches beta too (multi-cut).
    pub fn singular_extension<N: NodeKind>(&mut self, node: &Node, m: Move) -> Result<i32, Score> {
        let (Some(hit), Some(tt_window)) = (node.tt_hit, node.tt_window) else { return Ok(0) };
        let depth = node.depth.get();
        let beta = node.window.beta;
        // The stored score must be a lower bound of sufficient depth, valid on this path, and not a proven result.
        let tt_score = tt_window.lower;
        if (node.ply.index() as i32) >= extension_ply_factor() * self.root_depth.get()
            || depth < singular_min_depth()
            || !node.excluded.is_none()
            || hit.depth.get() < depth - singular_tt_depth()
            || tt_score <= -Score::INFINITE
            || tt_score.is_decisive()
        {
            return Ok(0);
        }
        let factor = if node.was_pv && !N::PV { singular_was_pv_factor() } else { 1 };
        let singular_beta = tt_score - singular_step() * depth * factor;
        let singular_depth = Depth((depth - 1) / singular_depth_div());
        let window = Window::null(singular_beta - 1);
        self.stack_mut(node.ply).excluded = PackedMove::pack(m);
        let score = self.search::<NonPvNode>(node.position, node.ply, window, singular_depth, node.expect);
        self.stack_mut(node.ply).excluded = PackedMove::NONE;
        if self.stopped {
            return Ok(0);
        }
        if score < singular_beta {
            // Two or three plies if the others are far below, but only so often in a line, or a forced line explodes.
            let exhausted = self.stack_before(node.ply, 1).double_extensions >= double_max() as u8;
            if N::PV || exhausted || score >= singular_beta - double_margin() {
                Ok(1)
            } else if !is_noisy(m) && score < singular_beta - triple_margin() {
                Ok(3)
            } else {
                Ok(2)
            }
        } else if singular_beta >= beta && !N::PV {
            Err(singular_beta)
        } else if tt_score >= beta {
            // The table's move fails high and others come near: a shallower search is enough to confirm that.
            Ok(-if N::PV { negative_extension_pv() } else { negative_extension() })
        } else if node.expect == Expect::Cut {
            Ok(-negative_extension_cut_node())
        } else {
            Ok(0)
        }
    }
}
