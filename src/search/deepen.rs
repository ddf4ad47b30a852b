//! Iterative deepening: each iteration improves the move ordering of the next, and any of them may be the last.

use std::{sync::atomic::Ordering::Relaxed, time::Duration};

use shakmaty::Move;

use super::{
    event::{Event, PvInfo},
    params::*,
    progress::ThreadResult,
    resume::Resumed,
    root_move::RootMove,
    worker::Worker,
};
use crate::types::{Bound, Depth, Score};

/// What unfinished iterations find is reported only after this time.
const LONG_SEARCH: Duration = Duration::from_secs(3);
/// After this no further iteration begins where there is one move to search: its score and the expected reply are known.
const SINGLE_MOVE_TIME: Duration = Duration::from_millis(500);

impl Worker {
    /// Searches deeper and deeper until a limit is met.
    pub fn deepen(&mut self) -> ThreadResult {
        let lines = self.task.multi_pv.clamp(1, self.root_moves.len());
        let max_depth = self.task.limits.depth.unwrap_or(Depth::MAX).min(Depth::MAX);
        let mut stability = Stability::default();
        self.found = self.finished(lines, Depth::ZERO);

        if let Some(resumed) = self.task.resumed.clone() {
            self.resume(&resumed);
            self.found = self.finished(lines, resumed.depth);
            if self.id == 0 {
                self.print_found();
            }
        }

        for depth in (self.found.depth.get() + 1..=max_depth.get()).map(Depth) {
            self.iterate(depth, lines);
            if self.stopped {
                break;
            }
            self.found = self.finished(lines, depth);
            self.iterations.finished(depth, self.found.lines[0].shown_score());
            if self.id != 0 {
                self.task.progress.show(self.id, self.found.clone());
            } else {
                // Kept before it is printed: an analysis resumes at the last depth printed.
                self.keep_root(&self.found, depth);
                self.print_found();
                stability.update(&self.found.lines[0]);
                if self.is_enough(&stability) {
                    break;
                }
            }
        }
        self.show_counts();
        self.found.clone()
    }

    fn print_found(&mut self) {
        self.report(&self.found);
        self.printed = Some(self.found.clone());
    }

    /// The best root moves as they stand, after the iteration to `depth`.
    fn finished(&self, lines: usize, depth: Depth) -> ThreadResult {
        ThreadResult { lines: self.root_moves[..lines].to_vec(), depth }
    }

    /// One iteration: the best line, and with MultiPV each further one among the moves that are left.
    fn iterate(&mut self, depth: Depth, lines: usize) {
        self.root_depth = depth;
        for root in &mut self.root_moves {
            root.previous = root.latest_score();
            root.score = -Score::INFINITE;
        }
        self.weigh_preferences(depth);
        for pv_index in 0..lines {
            self.pv_index = pv_index;
            self.seldepth = 0;
            self.aspirate(depth);
            if self.stopped {
                break;
            }
            self.root_moves[..=pv_index].sort_by_key(RootMove::order);
            // The last line comes with all others.
            if pv_index + 1 < lines {
                self.keep_lines(pv_index + 1);
                // In a long search each line is shown when it is found, always with all others: GUIs keep lines by rank.
                if self.is_long() {
                    self.report(&self.found);
                }
            }
        }
        self.pv_index = 0;
    }

    /// Keeps the first `count` lines of an unfinished iteration, before those of the last finished one.
    fn keep_lines(&mut self, count: usize) {
        let new = &self.root_moves[..count];
        let is_old = |line: &RootMove| new.iter().all(|root| root.root_move() != line.root_move());
        let old = self.found.lines.iter().filter(|line| is_old(line)).cloned();
        self.found.lines = new.iter().cloned().chain(old).take(self.found.lines.len()).collect();
    }

    /// Takes over the result of an earlier search with this root.
    fn resume(&mut self, resumed: &Resumed) {
        let first = resumed.line[0];
        let Some(index) = self.root_moves.iter().position(|root| root.root_move() == first) else { return };
        self.root_moves[..=index].rotate_right(1);
        let root = &mut self.root_moves[0];
        (root.score, root.bound, root.depth) = (resumed.score, resumed.bound, resumed.depth);
        root.pv.clone_from(&resumed.line);
        self.iterations.resumed(resumed.depth, resumed.score);
    }

    /// Is there no reason to begin another iteration?
    fn is_enough(&mut self, stability: &Stability) -> bool {
        let task = &self.task;
        let best = &self.root_moves[0];
        if let (Some(most), Some(moves)) = (task.limits.mate, best.score.mate_moves())
            && moves > 0
            && moves.unsigned_abs() <= most
        {
            return true;
        }
        if !task.clock.is_game() {
            return false;
        }
        // The larger the share of the nodes spent below the best move, the clearer the choice.
        let effort = best.nodes as f64 / self.nodes.max(1) as f64;
        let effort = thousandths(time_effort_base()) - thousandths(time_effort_step()) * effort;
        let mut scale = stability.scale() * effort;
        // There is nothing to choose, or a far deeper search has chosen.
        let is_chosen = best.preference.is_some_and(|preference| preference.is_far_deeper(self.root_depth));
        let is_only = self.root_moves.len() == 1;
        if is_only || is_chosen {
            scale *= thousandths(time_single_move());
        }
        self.show_counts();
        let nodes = task.progress.nodes();
        let enough =
            task.clock.is_enough(nodes, scale) || is_only && task.clock.spent(nodes) >= SINGLE_MOVE_TIME;
        // While it ponders the search continues; with its time used up it answers as soon as the opponent plays the move.
        let pondering = task.signals.pondering.load(Relaxed);
        self.time_used_up = enough && pondering;
        enough && !pondering
    }

    /// Reports what was found.
    pub fn report(&self, result: &ThreadResult) {
        for (index, root) in result.lines.iter().enumerate() {
            self.emit_line(root, index);
        }
    }

    /// Reports the bound of an unfinished iteration, in a long search.
    pub fn report_bound(&self) {
        if self.is_long() && self.task.multi_pv == 1 {
            self.emit_line(&self.root_moves[0], 0);
        }
    }

    /// Is this the main thread of a search whose unfinished iterations are shown?
    fn is_long(&self) -> bool {
        self.id == 0 && self.task.clock.elapsed() >= LONG_SEARCH
    }

    fn emit_line(&self, root: &RootMove, index: usize) {
        let searched = root.latest_score();
        if searched == -Score::INFINITE {
            // Stopped before anything was found.
            return;
        }
        let is_proven = root.tb_score.is_some() && !searched.is_mate();
        self.show_counts();
        let task = &self.task;
        (task.sink)(Event::Pv(PvInfo {
            depth: root.depth.clamp(Depth(1), Depth::MAX),
            seldepth: root.seldepth,
            multi_pv: index + 1,
            score: root.shown_score(),
            bound: if is_proven { Bound::Exact } else { root.bound },
            is_drawn: !searched.is_mate() && self.is_drawn_after(root),
            // Not 0 for what a resumed search knows already: Lucas Chess does not show lines without nodes.
            nodes: task.progress.nodes().max(1),
            time: task.clock.elapsed(),
            hashfull: task.table.hashfull(),
            tbhits: task.tablebases.root_hits() + task.progress.tb_hits(),
            pv: self.shown_line(root, index),
        }));
    }

    /// The line of a root move as it is printed. In an analysis tablebases extend that of the best move.
    pub fn shown_line(&self, root: &RootMove, index: usize) -> Vec<Move> {
        let task = &self.task;
        if index > 0 || !task.analysis {
            return root.pv.clone();
        }
        task.tablebases.extended(&task.root, &task.path, &root.pv, root.shown_score())
    }
}

/// How stable the choice of the move is, over the iterations.
#[derive(Default)]
struct Stability {
    best: Option<Move>,
    /// Iterations since the best move changed.
    unchanged: u32,
    score: Option<Score>,
    /// By how much the score fell in recent iterations, in internal units; negative if it rose.
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
        let fall = fall.clamp(-time_fall_max(), time_fall_max());
        self.falling = self.falling * thousandths(time_fall_decay()) + f64::from(fall);
        self.best = Some(best.root_move());
        self.score = Some(best.score);
    }

    /// How much more or less time than usual the move deserves.
    fn scale(&self) -> f64 {
        let unchanged = f64::from(self.unchanged.min(time_stability_max() as u32));
        let stable = thousandths(time_stability_base()) - thousandths(time_stability_step()) * unchanged;
        let trend = 1.0 + self.falling * thousandths(time_fall_step());
        let (least, most) = (thousandths(time_fall_factor_min()), thousandths(time_fall_factor_max()));
        stable * trend.clamp(least, most)
    }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroU32, sync::Arc, time::Instant};

    use super::*;
    use crate::{
        position::Position,
        search::{
            clock::{Clock, NodeRate},
            limits::{ClockTime, Limits},
            progress::SearchProgress,
            task::SearchTask,
            worker::tests::worker_at,
        },
    };

    /// After iterations that ended with the first or second move as the best, and with this score.
    fn stability(iterations: &[(usize, i32)]) -> Stability {
        let (mut stability, moves) = (Stability::default(), Position::default().legal_moves());
        for &(number, score) in iterations {
            stability.update(&RootMove { score: Score(score), ..RootMove::new(moves[number]) });
        }
        stability
    }

    #[test]
    fn a_falling_score_and_another_move_deserve_more_time() {
        let scale = |iterations: &[(usize, i32)]| stability(iterations).scale();
        let steady = scale(&[(0, 50); 4]);
        assert!(scale(&[(0, 50), (0, 50), (0, 50), (0, 10)]) > steady);
        assert!(scale(&[(0, 50), (0, 50), (0, 50), (1, 50)]) > steady);
    }

    /// The main thread of a game with `seconds` on its clock, which counts 100 nodes as a millisecond, and this many
    /// root moves.
    fn in_a_game(seconds: u64, moves: usize) -> Worker {
        let root = Position::default();
        let remaining = Duration::from_secs(seconds);
        let clock = ClockTime { remaining, increment: Duration::ZERO, moves_to_go: None };
        let limits = Limits { clock: Some(clock), ..Limits::default() };
        let rate = NonZeroU32::new(100).map(NodeRate);
        let task = SearchTask {
            clock: Clock::new(&limits, Instant::now(), Duration::ZERO, rate),
            progress: Arc::new(SearchProgress::new(1)),
            ..SearchTask::idle(Arc::default())
        };
        let mut worker = worker_at(&root);
        worker.begin(Arc::new(task));
        worker.root_moves.truncate(moves);
        worker
    }

    /// Is it enough after `nodes`, of which `percent` were spent below the best move?
    fn is_enough(worker: &mut Worker, stability: &Stability, nodes: u64, percent: u64) -> bool {
        worker.nodes = nodes;
        worker.root_moves[0].nodes = nodes / 100 * percent;
        worker.is_enough(stability)
    }

    /// After how many thousand nodes it is.
    fn thousands(worker: &mut Worker, stability: &Stability, percent: u64) -> Option<u64> {
        (0..100_000).find(|thousands| is_enough(worker, stability, thousands * 1_000, percent))
    }

    #[test]
    fn a_falling_score_and_a_hard_choice_get_more_nodes() {
        let steady = stability(&[(0, 50); 4]);
        let falling = stability(&[(0, 50), (0, 50), (0, 50), (0, 10)]);
        let mut worker = in_a_game(60, 20);
        let usual = thousands(&mut worker, &steady, 50);
        assert!(usual.is_some() && thousands(&mut worker, &falling, 50) > usual);
        assert!(thousands(&mut worker, &steady, 95) < usual, "nearly all below the best move");
    }

    #[test]
    fn a_single_move_is_searched_for_a_moment() {
        let steady = stability(&[(0, 50); 4]);
        let moment = SINGLE_MOVE_TIME.as_millis() as u64 / 10;
        for seconds in [6, 3600] {
            let [single, choice] =
                [1, 2].map(|moves| thousands(&mut in_a_game(seconds, moves), &steady, 50).expect("enough"));
            assert!(3 * single < choice && single <= moment, "{single} of {choice}, {seconds} s");
        }
    }

    #[test]
    fn time_that_is_used_up_in_pondering_ends_the_search_at_the_ponderhit() {
        let steady = stability(&[(0, 50); 4]);
        let mut worker = in_a_game(60, 20);
        worker.task.signals.pondering.store(true, Relaxed);
        for (nodes, is_used_up) in [(1_000, false), (10_000_000, true)] {
            assert!(!is_enough(&mut worker, &steady, nodes, 50));
            assert_eq!(worker.time_used_up, is_used_up);
        }
        worker.task.signals.pondering.store(false, Relaxed);
        assert!(is_enough(&mut worker, &steady, 10_000_000, 50));
    }
}
