//! Step 16: singular extensions. If every other move fails well below the table's score, the table's move
//! is the only one, and what happens after it matters more (Anantharaman, Campbell and Hsu 1988).

use shakmaty::Move;

use super::{
    node::{Expect, Node, NodeKind, NonPv, Window},
    params::*,
    worker::Worker,
};
use crate::{
    position::is_noisy,
    types::{Depth, PackedMove, Score},
};

/// How alone the table's move stands.
pub enum Singularity {
    /// Search it so many plies deeper (or shallower).
    Extend(i32),
    /// Another move reaches beta too: so does the node.
    MultiCut(Score),
}

impl Worker {
    /// Searches the other moves of the node to half the depth and compares.
    pub fn singularity<N: NodeKind>(&mut self, node: &Node, m: Move) -> Singularity {
        let (Some(hit), Some(known)) = (node.hit, node.known) else { return Singularity::Extend(0) };
        let depth = node.depth.get();
        let beta = node.window.beta;
        if depth < singular_min_depth()
            || !node.excluded.is_none()
            || hit.depth.get() < depth - singular_tt_depth()
            || known.lower <= -Score::INFINITE
            || known.lower.is_decisive()
        {
            return Singularity::Extend(0);
        }
        let stored = known.lower;
        let bar = stored - singular_step() * depth * if node.was_pv && !N::PV { 2 } else { 1 };
        self.frame_mut(node.ply).excluded = PackedMove::pack(m);
        let score = self.search::<NonPv>(
            node.position,
            node.ply,
            Window::null(bar - 1),
            Depth((depth - 1) / 2),
            node.expect,
        );
        self.frame_mut(node.ply).excluded = PackedMove::NONE;
        if self.stopped {
            return Singularity::Extend(0);
        }
        if score < bar {
            let budget = self.frame_before(node.ply, 1).double_extensions < double_max() as u8;
            if N::PV || !budget || score >= bar - double_margin() {
                Singularity::Extend(1)
            } else if !is_noisy(m) && score < bar - triple_margin() {
                Singularity::Extend(3)
            } else {
                Singularity::Extend(2)
            }
        } else if bar >= beta && !N::PV {
            Singularity::MultiCut(bar)
        } else if stored >= beta {
            Singularity::Extend(if N::PV { -1 } else { -2 })
        } else if node.expect == Expect::Cut {
            Singularity::Extend(-1)
        } else {
            Singularity::Extend(0)
        }
    }
}
