//! Aspiration windows (+106 ± 42, as in `node.rs`): an iteration expects the score of the one before, and widens its
//! window on the side on which the search failed. A narrow window cuts off more; one that fails costs a second search
//! of the root.

use super::{
    node_state::{Expect, RootNode, Window},
    params::*,
    preference::preferred,
    root_move::RootMove,
    worker::Worker,
};
use crate::types::{Bound, Depth, Ply, Score};

impl Worker {
    /// Searches the root to `depth` for the line at `pv_index`. The best move ends up there.
    pub fn aspirate(&mut self, depth: Depth) {
        let first = &self.root_moves[self.pv_index];
        let expected = preferred(first.previous, first.worth);
        let mut margin = aspiration_margin() + expected.0 * expected.0 / aspiration_score_div();
        let mut window = Window::FULL;
        if depth >= aspiration_min_depth() && !expected.is_decisive() {
            window = around(expected, margin);
        }
        let root = self.task.root.clone();
        let mut reduction = 0;
        loop {
            let reduced = Depth((depth.get() - reduction).max(1));
            let score = self.search::<RootNode>(&root, Ply::ROOT, window, reduced, Expect::All);
            self.sort_root_moves();
            if self.stopped {
                return;
            }
            match Bound::of(score, window.alpha, window.beta) {
                Bound::Upper => {
                    if self.pv_index == 0 {
                        self.iterations
                            .failed_low(reduced, preferred(score, -self.task.preferences.least(depth)));
                    }
                    // The score lies below: beta follows, so that the next window is not twice as wide.
                    window.beta = Score((window.alpha.0 + window.beta.0) / 2);
                    window.alpha = around(score, margin).alpha;
                    reduction = 0;
                }
                Bound::Lower => {
                    self.iterations.recovered();
                    window.beta = around(score, margin).beta;
                    // The move is found; a shallower search tells sooner how good it is.
                    reduction = (reduction + 1).min(aspiration_reduction_max());
                }
                Bound::Exact => {
                    self.iterations.recovered();
                    return;
                }
            }
            self.report_bound(depth);
            margin += margin / aspiration_growth_div();
            if margin > aspiration_margin_max() {
                window = Window::FULL;
            }
        }
    }

    /// Best first; the sort is stable, so that moves without a result keep their order.
    fn sort_root_moves(&mut self) {
        let from = self.pv_index;
        self.root_moves[from..].sort_by_key(RootMove::order);
    }
}

fn around(score: Score, margin: i32) -> Window {
    Window { alpha: (score - margin).max(-Score::INFINITE), beta: (score + margin).min(Score::INFINITE) }
}
