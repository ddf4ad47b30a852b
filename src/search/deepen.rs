//! Iterative deepening: each iteration orders the next, and one can stop after any of them.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use super::{
    event::{Event, Line},
    lasting::Resumed,
    root::RootMove,
    worker::Worker,
};
use crate::types::{Bound, Depth, MAX_PLY, Score};

/// From this time on bounds of unfinished iterations are reported.
const BOUNDS_AFTER: Duration = Duration::from_secs(3);

/// What one thread brings home.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The best lines, best first.
    pub lines: Vec<RootMove>,
    /// The last iteration that was finished.
    pub depth: Depth,
    /// Was more searched since the lines were reported, if they were?
    pub unreported: bool,
}

impl Worker {
    /// Searches deeper and deeper until a limit is met.
    pub fn deepen(&mut self) -> Outcome {
        let lines = self.task.multi_pv.min(self.root_moves.len());
        let max_depth = self.task.limits.depth.unwrap_or(Depth::MAX).min(Depth::MAX);
        let mut outcome =
            Outcome { lines: self.root_moves[..lines].to_vec(), depth: Depth::ZERO, unreported: true };
        let mut stability = Stability::default();

        if let Some(resumed) = self.task.resumed.clone() {
            self.resume(&resumed);
            outcome = Outcome {
                lines: self.root_moves[..lines].to_vec(),
                depth: resumed.depth,
                unreported: self.id != 0,
            };
            if self.id == 0 {
                self.report(&outcome.lines, resumed.depth);
            }
        }

        for depth in (outcome.depth.get() + 1..=max_depth.get()).map(Depth) {
            self.root_depth = depth;
            for root in &mut self.root_moves {
                root.previous = if root.has_score() { root.score } else { root.previous };
                root.score = -Score::INFINITE;
            }
            for pv_index in 0..lines {
                self.pv_index = pv_index;
                self.seldepth = 0;
                self.aspirate(depth);
                if self.stopped {
                    break;
                }
                self.root_moves[..=pv_index].sort_by_key(RootMove::order);
            }
            self.pv_index = 0;
            if self.stopped {
                // An unfinished iteration counts if it has found something better than a bound from above.
                let first = &self.root_moves[0];
                if lines == 1 && first.has_score() && first.bound != Bound::Upper {
                    outcome.lines = vec![first.clone()];
                    // Another move may lose later.
                    if first.score.is_loss() {
                        outcome.lines[0].bound = Bound::Lower;
                    }
                }
                outcome.unreported = true;
                break;
            }
            outcome = Outcome { lines: self.root_moves[..lines].to_vec(), depth, unreported: self.id != 0 };
            self.course.finished(depth, outcome.lines[0].score);
            // Before it is shown or printed. The other threads' too: theirs may be what is printed last.
            self.keep_iteration(depth);
            if self.id != 0 {
                self.task.progress.show(self.id, outcome.clone());
            } else {
                self.report(&outcome.lines, depth);
                stability.update(&outcome.lines[0]);
                if self.is_enough(&stability) {
                    break;
                }
            }
        }
        self.show_counts();
        outcome
    }

    /// Takes over what an earlier search with this root came to.
    fn resume(&mut self, resumed: &Resumed) {
        let first = resumed.line[0];
        let Some(index) = self.root_moves.iter().position(|root| root.root_move() == first) else { return };
        self.root_moves[..=index].rotate_right(1);
        let root = &mut self.root_moves[0];
        (root.score, root.bound, root.pv) = (resumed.score, resumed.bound, resumed.line.clone());
        self.course.resumed(resumed.depth, resumed.score);
    }

    /// Is there no reason to begin another iteration?
    fn is_enough(&mut self, stability: &Stability) -> bool {
        let task = &self.task;
        let best = &self.root_moves[0];
        if let (Some(moves), Some(plies)) = (task.limits.mate, best.score.mate_plies())
            && plies > 0
            && plies <= 2 * moves as i32
        {
            return true;
        }
        if !task.clock.is_game() {
            return false;
        }
        let share = best.nodes as f64 / self.nodes.max(1) as f64;
        let mut scale = stability.scale() * (1.9 - 1.4 * share);
        if self.root_moves.len() == 1 {
            scale *= 0.1;
        }
        self.show_counts();
        let enough = task.clock.is_enough(task.progress.nodes(), scale);
        if enough && task.signals.pondering.load(Relaxed) {
            self.enough = true;
            return false;
        }
        enough
    }

    /// Reports finished lines.
    pub fn report(&self, lines: &[RootMove], depth: Depth) {
        for (index, root) in lines.iter().enumerate() {
            self.emit_line(root, index, depth);
        }
    }

    /// Reports a bound of an iteration that takes long.
    pub fn report_bound(&self, depth: Depth) {
        if self.id == 0 && self.task.multi_pv == 1 && self.task.clock.elapsed() >= BOUNDS_AFTER {
            self.emit_line(&self.root_moves[0], 0, depth);
        }
    }

    fn emit_line(&self, root: &RootMove, index: usize, depth: Depth) {
        let score = if root.has_score() { root.score } else { root.previous };
        if score == -Score::INFINITE {
            // Stopped before anything was found.
            return;
        }
        // A mate that the search has found says more than the tables do.
        let proven = root.proven.filter(|_| !score.is_mate());
        let (score, bound) = proven.map_or((score, root.bound), |proven| (proven, Bound::Exact));
        self.show_counts();
        let task = &self.task;
        (task.sink)(Event::Line(Line {
            depth: depth.min(Depth(MAX_PLY as i32 - 1)),
            seldepth: root.seldepth,
            multi_pv: index + 1,
            score,
            bound,
            nodes: task.progress.nodes(),
            time: task.clock.elapsed(),
            hashfull: task.table.hashfull(),
            tbhits: task.tablebases.hits(),
            pv: root.pv.clone(),
        }));
    }
}

/// How settled the choice of the move is, over the iterations.
#[derive(Default)]
struct Stability {
    best: Option<shakmaty::Move>,
    unchanged: u32,
    score: Option<Score>,
    falling: f64,
}

impl Stability {
    fn update(&mut self, best: &RootMove) {
        if self.best == Some(best.root_move()) {
            self.unchanged += 1;
        } else {
            self.unchanged = 0;
        }
        let fall = self.score.map_or(0, |score| score - best.score);
        self.falling = self.falling * 0.5 + f64::from(fall.clamp(-60, 60));
        self.best = Some(best.root_move());
        self.score = Some(best.score);
    }

    /// How much more or less time than usual the move deserves.
    fn scale(&self) -> f64 {
        let settled = 1.35 - 0.08 * f64::from(self.unchanged.min(8));
        let trend = (1.0 + self.falling * 0.008).clamp(0.75, 1.6);
        settled * trend
    }
}
