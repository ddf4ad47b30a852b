//! What the threads of a search show to each other while it runs.
//!
//! Nobody ever waits here for another thread. Each writes what is its own: counters, and the best line of its
//! last finished iteration (or a better one found since), which is replaced as a whole. So whoever looks sees a
//! true state, if perhaps not the newest, also of a thread that gets no processor at the time.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use crossbeam::utils::CachePadded;

use super::deepen::Outcome;

/// Hits and probes of a cache.
pub type HitCount = (u64, u64);

/// What one thread shows. Relaxed: the counters are statistics.
#[derive(Default)]
struct Shown {
    nodes: AtomicU64,
    learned_cutoffs: AtomicU64,
    pawn_hits: AtomicU64,
    pawn_probes: AtomicU64,
    outcome: Mutex<Option<Outcome>>,
}

/// What all threads of one search show.
#[derive(Default)]
pub struct Progress(Vec<CachePadded<Shown>>);

impl Progress {
    /// For so many threads, which have done nothing yet.
    pub fn new(threads: usize) -> Progress {
        Progress((0..threads).map(|_| CachePadded::default()).collect())
    }

    /// Thread `id` has come so far.
    pub fn count(&self, id: usize, nodes: u64, learned_cutoffs: u64, pawn_hits: HitCount) {
        let shown = &self.0[id];
        shown.nodes.store(nodes, Relaxed);
        shown.learned_cutoffs.store(learned_cutoffs, Relaxed);
        shown.pawn_hits.store(pawn_hits.0, Relaxed);
        shown.pawn_probes.store(pawn_hits.1, Relaxed);
    }

    /// Thread `id` would play this.
    pub fn show(&self, id: usize, outcome: Outcome) {
        // Poisoned by a panic in a drop at most; what lies there is whole.
        *self.0[id].outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    }

    /// What the threads that have shown something would play. One that is just replacing it is passed over: it
    /// may have been interrupted there.
    pub fn outcomes(&self) -> impl Iterator<Item = Outcome> {
        self.0.iter().filter_map(|shown| shown.outcome.try_lock().ok()?.clone())
    }

    fn sum(&self, counter: impl Fn(&Shown) -> &AtomicU64) -> u64 {
        self.0.iter().map(|shown| counter(shown).load(Relaxed)).sum()
    }

    /// Nodes of all threads.
    pub fn nodes(&self) -> u64 {
        self.sum(|shown| &shown.nodes)
    }

    /// How often learned entries decided a node.
    pub fn learned_cutoffs(&self) -> u64 {
        self.sum(|shown| &shown.learned_cutoffs)
    }

    /// Hits and probes of the pawn hash tables.
    pub fn pawn_hits(&self) -> HitCount {
        (self.sum(|shown| &shown.pawn_hits), self.sum(|shown| &shown.pawn_probes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Depth;

    fn outcome(depth: i32) -> Outcome {
        Outcome { lines: Vec::new(), depth: Depth(depth), unreported: true }
    }

    #[test]
    fn the_last_outcome_of_each_thread_is_seen() {
        let progress = Progress::new(4);
        for (id, depth) in [(1, 3), (3, 7), (1, 4)] {
            progress.show(id, outcome(depth));
        }
        assert_eq!(progress.outcomes().map(|outcome| outcome.depth.get()).collect::<Vec<_>>(), [4, 7]);
    }

    #[test]
    fn a_thread_interrupted_while_it_shows_is_passed_over() {
        let progress = Progress::new(3);
        progress.show(1, outcome(1));
        progress.show(2, outcome(2));
        let _interrupted = progress.0[1].outcome.lock();
        assert_eq!(progress.outcomes().map(|outcome| outcome.depth.get()).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn counts_are_sums() {
        let progress = Progress::new(2);
        progress.count(0, 10, 1, (5, 6));
        progress.count(1, 20, 2, (7, 8));
        progress.count(0, 30, 3, (9, 10));
        assert_eq!((progress.nodes(), progress.learned_cutoffs(), progress.pawn_hits()), (50, 5, (16, 18)));
    }
}
