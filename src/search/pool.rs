//! The search threads: started once, parked between searches, sharing the table and nothing else on the
//! hot path (Lazy SMP).
//!
//! # Who waits for whom
//! The main thread, which is the first, checks the clock and reports the move. It never waits for the others. On a busy
//! machine one of them may get no processor for longer than a move may take; so the vote counts what each has
//! published by then ([`SearchProgress`]), and a thread that has published nothing has no vote.
//!
//! When the move is reported, other threads may therefore still be working: once they run, they notice within a batch
//! of nodes that the search is over. Until then they hold its [`SearchTask`], and what they still store in the table is
//! valid. The next search does not wait for them: each thread takes its jobs in order, and joins late, or not at all if
//! that search is over too. Before threads or tables are changed, [`Pool::wait`] must be called.
//!
//! Threads beyond the number of processors have the lowest priority; otherwise they would take the main thread's time.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::{Builder, JoinHandle},
};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};

use super::{
    event::Event,
    main_thread::{run_main_thread, run_thread},
    progress::{HitCount, SearchProgress},
    task::{SearchTask, Signals},
    worker::Worker,
};
use crate::{
    eval::{Evaluation, Evaluator},
    locks::locked,
    notice::Notice,
    processor,
};

/// Stack size of a search thread: a search recurses once per ply, with a few kilobytes each.
const STACK_BYTES: usize = 16 << 20;
type ThreadJob = Box<dyn FnOnce(&mut Worker) + Send>;

struct Thread {
    jobs: Sender<ThreadJob>,
    handle: JoinHandle<()>,
}

/// Which jobs are running, so that the engine can wait for them.
#[derive(Default)]
struct Jobs {
    state: Mutex<JobState>,
    changed: Condvar,
}

#[derive(Default)]
struct JobState {
    /// Has the current search not reported its move yet?
    unanswered: bool,
    /// Number of jobs that threads have not finished.
    running: usize,
}

/// A thread's job in a search. It counts as finished when this is dropped, also by a panic.
struct JobGuard {
    jobs: Arc<Jobs>,
    is_main: bool,
}

impl Drop for JobGuard {
    fn drop(&mut self) {
        self.jobs.change(|state| {
            state.unanswered &= !self.is_main;
            state.running -= 1;
        });
    }
}

impl Jobs {
    fn change(&self, change: impl FnOnce(&mut JobState)) {
        change(&mut locked(&self.state));
        self.changed.notify_all();
    }

    fn is_answered(&self) -> bool {
        !locked(&self.state).unanswered
    }

    fn wait_while(&self, condition: impl FnMut(&mut JobState) -> bool) {
        let guard = locked(&self.state);
        drop(self.changed.wait_while(guard, condition).unwrap_or_else(PoisonError::into_inner));
    }
}

/// All search threads.
pub struct Pool {
    threads: Vec<Thread>,
    idle: Arc<SearchTask>,
    jobs: Arc<Jobs>,
    /// Of the last search.
    progress: Arc<SearchProgress>,
    evaluation: Evaluation,
    pawn_hash_mib: usize,
}

impl Pool {
    /// A pool of one thread.
    pub fn new(signals: Arc<Signals>, pawn_hash_mib: usize) -> Pool {
        let mut pool = Pool {
            threads: Vec::new(),
            idle: Arc::new(SearchTask::idle(signals)),
            jobs: Arc::default(),
            progress: Arc::default(),
            evaluation: Evaluation::default(),
            pawn_hash_mib,
        };
        pool.resize(1);
        pool
    }

    /// The number of threads.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Sets the number of threads, at least one. If the system refuses some, fewer start.
    pub fn resize(&mut self, threads: usize) {
        self.wait();
        self.end(threads.max(1));
        while self.threads.len() < threads.max(1) {
            let id = self.threads.len();
            let (jobs, inbox) = unbounded();
            let (idle, mib) = (Arc::clone(&self.idle), self.pawn_hash_mib);
            let evaluation = self.evaluation.clone();
            let started =
                Builder::new().name(format!("search-{id}")).stack_size(STACK_BYTES).spawn(move || {
                    if id >= processor::cores() {
                        processor::lower_thread_priority();
                    }
                    work(&mut Worker::new(id, Evaluator::new(&evaluation, mib), idle), &inbox);
                });
            match started {
                Ok(handle) => self.threads.push(Thread { jobs, handle }),
                Err(error) => {
                    log::error!("search thread {id} did not start: {error}");
                    break;
                }
            }
        }
    }

    /// Sets the size of each thread's pawn hash table in MiB. Returns the size of the smallest one that was allocated.
    pub fn set_pawn_hash(&mut self, mib: usize) -> usize {
        self.pawn_hash_mib = mib;
        self.renew_evaluators()
    }

    /// Sets what each thread evaluates with.
    pub fn set_evaluation(&mut self, evaluation: Evaluation) {
        self.evaluation = evaluation;
        self.renew_evaluators();
    }

    /// Gives each thread a new evaluator. Returns the size in MiB of the smallest pawn hash table.
    fn renew_evaluators(&self) -> usize {
        let (evaluation, mib) = (self.evaluation.clone(), self.pawn_hash_mib);
        let kept = Arc::new(AtomicUsize::new(mib));
        let least = Arc::clone(&kept);
        self.on_all(move |worker| {
            worker.evaluator = Evaluator::new(&evaluation, mib);
            least.fetch_min(worker.evaluator.pawn_hash_mib(), Relaxed);
        });
        kept.load(Relaxed)
    }

    /// Shows `observer` every position that is evaluated from now on.
    #[cfg(any(feature = "tune", test))]
    pub fn observe(&mut self, observer: &super::Observer) {
        let observer = Arc::clone(observer);
        self.on_all(move |worker| worker.observer = Some(Arc::clone(&observer)));
    }

    /// Clears histories and caches for a new game.
    pub fn clear(&self) {
        self.on_all(Worker::clear);
    }

    fn on_all(&self, job: impl Fn(&mut Worker) + Send + Clone + 'static) {
        self.wait();
        let (done, all_done) = bounded(self.threads.len());
        for thread in &self.threads {
            let (job, done) = (job.clone(), done.clone());
            let _ = thread.jobs.send(Box::new(move |worker| {
                job(worker);
                let _ = done.send(());
            }));
        }
        drop(done);
        while all_done.recv().is_ok() {}
    }

    /// Is a search running that has not reported its move?
    pub fn is_searching(&self) -> bool {
        !self.jobs.is_answered()
    }

    /// Waits until the current search has reported its move.
    pub fn wait_for_answer(&self) {
        self.jobs.wait_while(|state| state.unanswered);
    }

    /// Waits until no search runs and all threads have left the last one.
    pub fn wait(&self) {
        self.jobs.wait_while(|state| state.running > 0);
    }

    /// Hits and probes of the pawn hash tables in the last search.
    pub fn pawn_hits(&self) -> HitCount {
        self.progress.pawn_hits()
    }

    /// Nodes of the last search, on all threads.
    pub fn nodes(&self) -> u64 {
        self.progress.nodes()
    }

    /// Starts a search on all threads and returns. The previous search must have reported its move.
    pub fn start(&mut self, task: SearchTask) {
        // A resumed search keeps the generation of the table: a new one would let shallow results replace the deep ones
        // that it builds on.
        if task.resumed.is_none() {
            task.table.new_search();
        }
        let Some((first, others)) = self.threads.split_first() else {
            let best = task.root_moves().first().map(|root_move| root_move.root_move());
            (task.sink)(Event::Notice(Notice::NoThread));
            (task.sink)(Event::Finished { best, ponder: None, result: None });
            return;
        };
        self.progress = Arc::clone(&task.progress);
        self.jobs.change(|state| {
            state.unanswered = true;
            state.running += 1 + others.len();
        });
        let task = Arc::new(task);
        // The main thread begins first: nobody else checks the clock.
        let (shared, idle) = (Arc::clone(&task), Arc::clone(&self.idle));
        let guard = JobGuard { jobs: Arc::clone(&self.jobs), is_main: true };
        let _ = first.jobs.send(Box::new(move |worker| {
            let _guard = guard;
            let finished = run_main_thread(worker, &shared);
            worker.task = idle;
            let sink = Arc::clone(&shared.sink);
            drop(shared);
            sink(finished);
        }));
        for thread in others {
            let task = Arc::clone(&task);
            let guard = JobGuard { jobs: Arc::clone(&self.jobs), is_main: false };
            let idle = Arc::clone(&self.idle);
            let _ = thread.jobs.send(Box::new(move |worker| {
                let _guard = guard;
                if !task.over.load(Relaxed) {
                    run_thread(worker, Arc::clone(&task));
                }
                worker.task = idle;
                drop(task);
            }));
        }
    }

    /// Ends all threads but the first `kept`. All are told before the first is waited for.
    fn end(&mut self, kept: usize) {
        let kept = kept.min(self.threads.len());
        let ending: Vec<JoinHandle<()>> = self.threads.drain(kept..).map(|thread| thread.handle).collect();
        for handle in ending {
            let _ = handle.join();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.idle.signals.stop.store(true, Relaxed);
        self.end(0);
    }
}

fn work(worker: &mut Worker, inbox: &Receiver<ThreadJob>) {
    for job in inbox {
        // A panic must not cost the next search this thread.
        if catch_unwind(AssertUnwindSafe(|| job(worker))).is_err() {
            log::error!("internal error in search thread {}", worker.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use shakmaty::Move;

    use super::*;
    use crate::{
        search::{Event, Limits},
        tt::Table,
        types::Depth,
    };

    /// Longer than anything here takes.
    const TIMEOUT: Duration = Duration::from_secs(60);

    fn pool() -> (Pool, Arc<Signals>) {
        let signals = Arc::<Signals>::default();
        let mut pool = Pool::new(Arc::clone(&signals), 1);
        pool.resize(2);
        (pool, signals)
    }

    fn start(pool: &mut Pool, signals: &Arc<Signals>, limits: Limits) -> Receiver<Event> {
        signals.stop.store(false, Relaxed);
        let (sender, events) = unbounded();
        pool.start(SearchTask {
            limits,
            table: Arc::new(Table::new(1).expect("a megabyte")),
            progress: Arc::new(SearchProgress::new(pool.len())),
            sink: Arc::new(move |event| drop(sender.send(event))),
            ..SearchTask::idle(Arc::clone(signals))
        });
        events
    }

    fn answer(events: &Receiver<Event>) -> Option<Move> {
        loop {
            if let Event::Finished { best, .. } = events.recv_timeout(TIMEOUT).expect("an answer") {
                return best;
            }
        }
    }

    #[test]
    fn the_answer_does_not_wait_for_a_thread_that_does_not_run() {
        let (mut pool, signals) = pool();
        let (release, held) = bounded::<()>(0);
        let _ = pool.threads[1].jobs.send(Box::new(move |_| {
            let _ = held.recv();
        }));
        for _ in 0..2 {
            let events = start(&mut pool, &signals, Limits { depth: Some(Depth(4)), ..Limits::default() });
            assert!(answer(&events).is_some());
            pool.wait_for_answer();
        }
        let nodes = pool.nodes();
        drop(release);
        pool.wait();
        assert_eq!(pool.nodes(), nodes, "who comes too late does nothing");
    }

    #[test]
    fn a_panic_at_the_end_of_a_search_does_not_cost_the_next_search() {
        let (mut pool, signals) = pool();
        for panics in [true, false] {
            signals.stop.store(false, Relaxed);
            let (sender, events) = unbounded();
            pool.start(SearchTask {
                limits: Limits { depth: Some(Depth(3)), ..Limits::default() },
                table: Arc::new(Table::new(1).expect("a megabyte")),
                progress: Arc::new(SearchProgress::new(pool.len())),
                sink: Arc::new(move |event| {
                    let is_end = matches!(event, Event::Finished { .. });
                    let _ = sender.send(event);
                    assert!(!(panics && is_end), "on purpose");
                }),
                ..SearchTask::idle(Arc::clone(&signals))
            });
            assert!(answer(&events).is_some());
            pool.wait();
        }
    }

    #[test]
    fn every_thread_leaves_a_search_that_is_over_and_joins_the_next() {
        let (mut pool, signals) = pool();
        for _ in 0..50 {
            let events = start(&mut pool, &signals, Limits { infinite: true, ..Limits::default() });
            let began = Instant::now();
            while pool.progress.results().next().is_none() {
                assert!(began.elapsed() < TIMEOUT, "the second thread has not joined");
                std::thread::yield_now();
            }
            signals.stop.store(true, Relaxed);
            assert!(answer(&events).is_some());
            pool.wait_for_answer();
        }
        pool.wait();
    }
}
