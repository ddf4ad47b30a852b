//! What the threads of a search publish for each other while it runs.
//!
//! No thread waits for another. Each writes only its own counters and its result, which is replaced as a whole. So a
//! reader sees a consistent, perhaps slightly outdated state of every thread, even of one that is not running at the
//! time.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crossbeam::utils::CachePadded;

use super::root_move::RootMove;
use crate::{locks::locked, types::Depth};

/// What one thread has found. It is replaced only as a whole: by the next finished iteration, or by another move that
/// an unfinished one has found to be better. Its score is exact or, in a game, a lower bound.
#[derive(Clone, Debug, Default)]
pub struct ThreadResult {
    /// The best lines, best first.
    pub lines: Vec<RootMove>,
    /// The last iteration that was finished, 0 before the first. After scores that fail high an iteration ends up to three
    /// plies less deep than it is counted.
    pub depth: Depth,
}

/// Hits and probes of a cache.
pub type HitCount = (u64, u64);

/// What one thread publishes. Relaxed: the counters are statistics.
#[derive(Default)]
struct ThreadProgress {
    nodes: AtomicU64,
    learned_cutoffs: AtomicU64,
    tb_hits: AtomicU64,
    pawn_hits: AtomicU64,
    pawn_probes: AtomicU64,
    result: Mutex<Option<ThreadResult>>,
}

/// What all threads of one search publish.
#[derive(Default)]
pub struct SearchProgress(Vec<CachePadded<ThreadProgress>>);

impl SearchProgress {
    /// The progress of `threads` threads that have done nothing yet.
    pub fn new(threads: usize) -> SearchProgress {
        SearchProgress((0..threads).map(|_| CachePadded::default()).collect())
    }

    /// Publishes the counters of thread `id`.
    pub fn count(&self, id: usize, nodes: u64, learned_cutoffs: u64, tb_hits: u64, pawn_hits: HitCount) {
        let thread = &self.0[id];
        thread.nodes.store(nodes, Relaxed);
        thread.learned_cutoffs.store(learned_cutoffs, Relaxed);
        thread.tb_hits.store(tb_hits, Relaxed);
        thread.pawn_hits.store(pawn_hits.0, Relaxed);
        thread.pawn_probes.store(pawn_hits.1, Relaxed);
    }

    /// Publishes the result of thread `id`.
    pub fn show(&self, id: usize, result: ThreadResult) {
        *locked(&self.0[id].result) = Some(result);
    }

    /// The results published so far. The result of a thread that is just replacing it is left out: the thread may have
    /// been interrupted there, and nobody waits for it.
    pub fn results(&self) -> impl Iterator<Item = ThreadResult> {
        self.0.iter().filter_map(|thread| thread.result.try_lock().ok()?.clone())
    }

    fn sum(&self, counter: impl Fn(&ThreadProgress) -> &AtomicU64) -> u64 {
        self.0.iter().map(|thread| counter(thread).load(Relaxed)).sum()
    }

    /// Nodes of all threads.
    pub fn nodes(&self) -> u64 {
        self.sum(|thread| &thread.nodes)
    }

    /// How often learned entries caused a cutoff.
    pub fn learned_cutoffs(&self) -> u64 {
        self.sum(|thread| &thread.learned_cutoffs)
    }

    /// Positions found in tablebases inside the search.
    pub fn tb_hits(&self) -> u64 {
        self.sum(|thread| &thread.tb_hits)
    }

    /// Hits and probes of the pawn hash tables.
    pub fn pawn_hits(&self) -> HitCount {
        (self.sum(|thread| &thread.pawn_hits), self.sum(|thread| &thread.pawn_probes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(depth: i32) -> ThreadResult {
        ThreadResult { depth: Depth(depth), ..ThreadResult::default() }
    }

    #[test]
    fn the_last_result_of_each_thread_is_seen() {
        let progress = SearchProgress::new(4);
        for (id, depth) in [(1, 3), (3, 7), (1, 4)] {
            progress.show(id, result(depth));
        }
        assert_eq!(progress.results().map(|result| result.depth.get()).collect::<Vec<_>>(), [4, 7]);
    }

    #[test]
    fn a_thread_interrupted_while_it_shows_is_passed_over() {
        let progress = SearchProgress::new(3);
        progress.show(1, result(1));
        progress.show(2, result(2));
        let _interrupted = progress.0[1].result.lock();
        assert_eq!(progress.results().map(|result| result.depth.get()).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn counts_are_sums() {
        let progress = SearchProgress::new(2);
        progress.count(0, 10, 1, 3, (5, 6));
        progress.count(1, 20, 2, 4, (7, 8));
        progress.count(0, 30, 3, 5, (9, 10));
        assert_eq!((progress.nodes(), progress.learned_cutoffs(), progress.tb_hits()), (50, 5, 9));
        assert_eq!(progress.pawn_hits(), (16, 18));
    }
}
