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
    pub fn hindsight(&self, ply: Ply, depth: Depth, in_check: bool, static_eval: Score) -> Depth {
        let parent = self.stack_before(ply, 1);
        if in_check || parent.static_eval == Score::NONE {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::Position,
        search::{
            node_state::{NonPvNode, PvNode},
            worker::tests::{legal, node, position, worker_at},
        },
    };

    /// The reduction of a quiet move from 5,000 in an improving null-window node that is not expected to fail high.
    fn reduction<N: NodeKind>(history: i32, check: bool, change: impl FnOnce(&mut Worker, &mut Node)) -> i32 {
        let position = position("rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2");
        let mut worker = worker_at(&position);
        let mut node = node(&mut worker, &position, Score::ZERO, 8);
        (node.expect, node.improving) = (Expect::All, true);
        change(&mut worker, &mut node);
        worker.adjusted_reduction::<N>(&node, legal(&position, "b1c3"), 5000, history, check)
    }

    #[test]
    fn a_reduction_grows_and_shrinks_by_what_is_known_of_node_and_move() {
        type Change = fn(&mut Worker, &mut Node);
        let cases: [(i32, Change); 9] = [
            (0, |_, _| {}),
            (-lmr_was_pv(), |_, node| node.was_pv = true),
            (lmr_cut_node(), |_, node| node.expect = Expect::Cut),
            (lmr_cut_node() - lmr_cut_node_was_pv() - lmr_was_pv(), |_, node| {
                (node.expect, node.was_pv) = (Expect::Cut, true);
            }),
            (lmr_not_improving(), |_, node| node.improving = false),
            (lmr_noisy_tt_move(), |_, node| node.tt_move = Some(legal(node.position, "e4d5"))),
            (0, |_, node| node.tt_move = Some(legal(node.position, "g1f3"))),
            (lmr_cutoffs(), |worker, node| {
                worker.stack_mut(node.ply.next()).cutoff_count = lmr_cutoff_count() as u8 + 1;
            }),
            (-lmr_killer(), |worker, node| {
                worker.stack_mut(node.ply).killer = PackedMove::pack(legal(node.position, "b1c3"));
            }),
        ];
        for (index, (difference, change)) in cases.into_iter().enumerate() {
            assert_eq!(reduction::<NonPvNode>(0, false, change), 5000 + difference, "case {index}");
        }
        let was_pv = |_: &mut Worker, node: &mut Node| node.was_pv = true;
        assert_eq!(reduction::<PvNode>(0, false, was_pv), 5000 - lmr_was_pv() - lmr_pv());
        assert_eq!(reduction::<NonPvNode>(0, true, |_, _| {}), 5000 - lmr_gives_check());
        assert_eq!(reduction::<NonPvNode>(lmr_history_div(), false, |_, _| {}), 5000 - PLY);
        assert_eq!(reduction::<NonPvNode>(-lmr_history_div(), false, |_, _| {}), 5000 + PLY);
    }

    #[test]
    fn hindsight_corrects_a_reduction_by_what_the_move_changed() {
        let mut worker = worker_at(&Position::default());
        let ply = Ply::ROOT.next();
        let mut depth_after = |reduction: i32, before: Score, after: i32, depth: i32| {
            let parent = worker.stack_mut(Ply::ROOT);
            (parent.reduction, parent.static_eval) = (reduction, before);
            let in_check = worker.hindsight(ply, Depth(depth), true, Score(after));
            assert_eq!(in_check, Depth(depth));
            worker.hindsight(ply, Depth(depth), false, Score(after)).get()
        };
        let (much, little) = (hindsight_deeper_reduction(), hindsight_shallower_reduction());
        // The mover had 50 and has 51 now: the move was better than its place in the order.
        assert_eq!(depth_after(much, Score(50), -51, 6), 7);
        assert_eq!(depth_after(much - 1, Score(50), -51, 6), 6);
        assert_eq!(depth_after(much, Score(50), -50, 6), 6);
        // It cost the mover more than the margin.
        let lost = hindsight_margin() + 1 - 50;
        assert_eq!(depth_after(little, Score(50), lost, 6), 5);
        assert_eq!(depth_after(little - 1, Score(50), lost, 6), 6);
        assert_eq!(depth_after(little, Score(50), lost - 1, 6), 6);
        assert_eq!(
            depth_after(little, Score(50), lost, hindsight_min_depth() - 1),
            hindsight_min_depth() - 1
        );
        // The parent was in check.
        assert_eq!(depth_after(much, Score::NONE, -500, 6), 6);
    }
}
