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
            || !node.excluded.is_none()
            || hit.depth.get() < depth - singular_tt_depth()
            || tt_score <= -Score::INFINITE
            || tt_score.is_decisive()
        {
            return Ok(0);
        }
        if depth < singular_min_depth() {
            // Too shallow for a search of the others. A move that holds although the position looks far worse than alpha is
            // probably the only one (Koivisto).
            let looks_bad =
                !node.in_check && node.static_eval <= node.window.alpha - singular_shallow_margin();
            return Ok(i32::from(looks_bad));
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
            // A mate, or a draw by a repetition on this path, is returned as it is.
            Err(self.damped(score, |_| singular_beta))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::{Position, PositionPath},
        search::{
            node_state::PvNode,
            worker::tests::{legal, node, position, worker_at},
        },
        tt::{NodeResult, PathCheck, ScoreWindow},
        types::Ply,
    };

    /// What the search is told of the table's move.
    struct Stored {
        uci: &'static str,
        window: ScoreWindow,
        depth: i32,
    }

    const QUIET: &str = "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";

    /// The extension at depth 8 with a window at `beta`; `change` comes before the search.
    fn extension<N: NodeKind>(
        stored: &Stored,
        beta: i32,
        change: impl FnOnce(&mut Worker, &mut Node),
    ) -> (Result<i32, Score>, u64) {
        let position: Position = position(QUIET);
        let mut worker = worker_at(&position);
        let m = legal(&position, stored.uci);
        let mut node = node(&mut worker, &position, Score(beta), 8);
        let result = NodeResult {
            best: PackedMove::pack(m),
            window: stored.window,
            depth: Depth(stored.depth),
            path: PathCheck::new(&PositionPath::new(&position), Depth(stored.depth)),
            ply: node.ply,
            ..NodeResult::default()
        };
        worker.task.table.store(position.key(), &result);
        node.tt_hit = worker.task.table.probe(position.key());
        node.tt_window = node.tt_hit.and_then(|hit| hit.window(&worker.path, node.ply));
        node.tt_move = Some(m);
        change(&mut worker, &mut node);
        let extension = worker.singular_extension::<N>(&node, m);
        assert!(worker.stack(node.ply).excluded.is_none(), "only while the others are searched");
        (extension, worker.nodes)
    }

    fn at_least(score: i32) -> ScoreWindow {
        ScoreWindow::at_least(Score(score))
    }

    const UNCHANGED: fn(&mut Worker, &mut Node) = |_, _| {};

    #[test]
    fn the_only_good_move_is_extended_by_how_far_the_others_are_below() {
        // No other move is worth 1,500 here.
        let quiet = Stored { uci: "b1c3", window: at_least(1500), depth: 8 };
        let capture = Stored { uci: "e4d5", ..quiet };
        assert_eq!(extension::<NonPvNode>(&quiet, 0, UNCHANGED).0, Ok(3));
        assert_eq!(extension::<NonPvNode>(&capture, 0, UNCHANGED).0, Ok(2));
        assert_eq!(extension::<PvNode>(&quiet, 0, UNCHANGED).0, Ok(1));
        let exhausted = |worker: &mut Worker, _: &mut Node| {
            worker.stack_mut(Ply::ROOT).double_extensions = double_max() as u8;
        };
        assert_eq!(extension::<NonPvNode>(&quiet, 0, exhausted).0, Ok(1));
    }

    #[test]
    fn at_low_depth_a_move_is_extended_that_holds_where_the_position_looks_bad() {
        let stored = Stored { uci: "b1c3", window: at_least(1500), depth: 8 };
        let looks = |above: i32| {
            extension::<NonPvNode>(&stored, 0, |_, node| {
                node.depth = Depth(singular_min_depth() - 1);
                node.static_eval = node.window.alpha - singular_shallow_margin() + above;
            })
        };
        assert_eq!((looks(0), looks(1)), ((Ok(1), 0), (Ok(0), 0)));
    }

    #[test]
    fn where_others_come_near_the_move_is_reduced_or_the_node_needs_no_search() {
        // Every other move is worth more than -1,500.
        let stored = Stored { uci: "b1c3", window: at_least(-1500), depth: 8 };
        let singular_beta = Score(-1500 - singular_step() * 8);
        assert_eq!(extension::<NonPvNode>(&stored, singular_beta.0, UNCHANGED).0, Err(singular_beta));
        assert_eq!(extension::<PvNode>(&stored, singular_beta.0, UNCHANGED).0, Ok(-negative_extension_pv()));
        assert_eq!(extension::<NonPvNode>(&stored, -1500, UNCHANGED).0, Ok(-negative_extension()));
        assert_eq!(extension::<NonPvNode>(&stored, 0, UNCHANGED).0, Ok(-negative_extension_cut_node()));
        let all = |_: &mut Worker, node: &mut Node| node.expect = Expect::All;
        assert_eq!(extension::<NonPvNode>(&stored, 0, all).0, Ok(0));
    }

    #[test]
    fn without_a_reliable_lower_bound_nothing_is_searched() {
        let none = (Ok(0), 0);
        let stored = |window, depth| Stored { uci: "b1c3", window, depth };
        let good = stored(at_least(1500), 8);
        assert_eq!(extension::<NonPvNode>(&stored(ScoreWindow::at_most(Score(1500)), 8), 0, UNCHANGED), none);
        assert_eq!(
            extension::<NonPvNode>(&stored(at_least(Score::mate_in(Ply(9)).0), 8), 0, UNCHANGED),
            none
        );
        assert_eq!(
            extension::<NonPvNode>(&stored(at_least(1500), 7 - singular_tt_depth()), 0, UNCHANGED),
            none
        );
        let changes: [fn(&mut Worker, &mut Node); 5] = [
            |_, node| node.depth = Depth(singular_min_depth() - 1),
            |_, node| node.tt_hit = None,
            // The bounds hold on another path.
            |_, node| node.tt_window = None,
            |_, node| node.excluded = PackedMove::pack(legal(node.position, "e4d5")),
            |worker, _| worker.root_depth = Depth::ZERO,
        ];
        for change in changes {
            assert_eq!(extension::<NonPvNode>(&good, 0, change), none);
        }
    }
}
