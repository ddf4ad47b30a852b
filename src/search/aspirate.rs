//! Aspiration windows (+106 ± 42, measured as in `node.rs`): an iteration begins with a narrow window around the score
//! of the one before, and widens it on the side on which the search failed. A narrow window causes more cutoffs; one
//! that fails costs another search of the root.

use super::{
    node_state::{Expect, RootNode, Window},
    params::*,
    preference::preferred,
    root_move::RootMove,
    worker::Worker,
};
use crate::types::{Bound, Depth, Ply, Score};

impl Worker {
    /// Searches the root to `depth` for the line at `pv_index`, and moves the best root move there.
    pub fn aspirate(&mut self, depth: Depth) {
        let first = &self.root_moves[self.pv_index];
        let expected = preferred(first.latest_score(), first.worth);
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
                        self.time_used_up = false;
                        self.iterations
                            .failed_low(reduced, preferred(score, -self.task.preferences.least(depth)));
                    }
                    // The score is below alpha: beta comes down too, so that the next window is not twice as wide.
                    window.beta = Score((window.alpha.0 + window.beta.0) / 2);
                    window.alpha = around(score, margin).alpha;
                    reduction = 0;
                }
                Bound::Lower => {
                    self.iterations.recovered();
                    window.beta = around(score, margin).beta;
                    // The move is known; a shallower search is enough to find its score, and cheaper.
                    reduction = (reduction + 1).min(aspiration_reduction_max());
                }
                Bound::Exact => {
                    self.iterations.recovered();
                    return;
                }
            }
            self.report_bound();
            margin += margin / aspiration_growth_div();
            if margin > aspiration_margin_max() {
                window = Window::FULL;
            }
        }
    }

    /// Sorts best first. The sort is stable, so that moves without a result keep their order.
    fn sort_root_moves(&mut self) {
        let from = self.pv_index;
        self.root_moves[from..].sort_by_key(RootMove::order);
    }
}

fn around(score: Score, margin: i32) -> Window {
    Window { alpha: (score - margin).max(-Score::INFINITE), beta: (score + margin).min(Score::INFINITE) }
}
