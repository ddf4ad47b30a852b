//! The search threads: started once, parked between searches, sharing the table and nothing else on the
//! hot path (Lazy SMP).
//!
//! # Who waits for whom
//! The first thread leads: it looks at the clock, decides, and answers. It never waits for the others. On a busy
//! machine one of them may get no processor for longer than a move may take; so the vote counts what each has
//! shown by then ([`Progress`]), and who has shown nothing has no vote.
//!
//! The answer is therefore not the end of all work: the others notice within a batch of nodes that the search is
//! over, once they run. Until then they hold its [`Task`], and what they still store in the table is as true as
//! what they stored before. The next search need not wait for them: each thread takes its jobs in order, and
//! joins late, or not at all if that search is over too. What changes threads or tables does: it asks for
//! [`Pool::wait`].

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
    lead::{lead_guarded, root_moves, search_guarded},
    progress::{HitCount, Progress},
    task::{Signals, Task},
    worker::Worker,
};

/// A search recurses once a ply with a few kilobytes each.
const STACK_BYTES: usize = 16 << 20;
type Job = Box<dyn FnOnce(&mut Worker) + Send>;

struct Thread {
    jobs: Sender<Job>,
    handle: JoinHandle<()>,
}

/// Who is at work, waited for by the engine.
#[derive(Default)]
struct Shift {
    now: Mutex<Work>,
    changed: Condvar,
}

#[derive(Default)]
struct Work {
    /// Does a search owe its answer?
    unanswered: bool,
    /// Jobs of searches that threads have not left yet.
    jobs: usize,
}

/// A thread's part of a search, over when this is dropped: also if it panics.
struct Part {
    shift: Arc<Shift>,
    leads: bool,
}

impl Drop for Part {
    fn drop(&mut self) {
        self.shift.change(|work| {
            work.unanswered &= !self.leads;
            work.jobs -= 1;
        });
    }
}

impl Shift {
    fn change(&self, change: impl FnOnce(&mut Work)) {
        change(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }

    fn is_answered(&self) -> bool {
        !self.now.lock().unwrap_or_else(PoisonError::into_inner).unanswered
    }

    fn wait_while(&self, condition: impl FnMut(&mut Work) -> bool) {
        let guard = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(guard, condition).unwrap_or_else(PoisonError::into_inner));
    }
}

/// All search threads.
pub struct Pool {
    threads: Vec<Thread>,
    idle: Arc<Task>,
    shift: Arc<Shift>,
    /// Of the last search.
    progress: Arc<Progress>,
    pawn_hash_mib: usize,
}

impl Pool {
    /// A pool of one thread.
    pub fn new(signals: Arc<Signals>, pawn_hash_mib: usize) -> Pool {
        let mut pool = Pool {
            threads: Vec::new(),
            idle: Arc::new(Task::idle(signals)),
            shift: Arc::default(),
            progress: Arc::default(),
            pawn_hash_mib,
        };
        pool.resize(1);
        pool
    }

    /// The number of threads.
    pub fn len(&self) -> usize {
        self.threads.len()
    }

    /// Sets the number of threads, at least one. Fewer start if the system gives no more.
    pub fn resize(&mut self, threads: usize) {
        self.wait();
        for thread in self.threads.drain(threads.max(1).min(self.threads.len())..) {
            drop(thread.jobs);
            let _ = thread.handle.join();
        }
        while self.threads.len() < threads.max(1) {
            let id = self.threads.len();
            let (jobs, inbox) = unbounded();
            let (idle, mib) = (Arc::clone(&self.idle), self.pawn_hash_mib);
            let started = Builder::new()
                .name(format!("search-{id}"))
                .stack_size(STACK_BYTES)
                .spawn(move || work(&mut Worker::new(id, mib, idle), &inbox));
            match started {
                Ok(handle) => self.threads.push(Thread { jobs, handle }),
                Err(error) => {
                    log::error!("search thread {id} did not start: {error}");
                    break;
                }
            }
        }
    }

    /// Sets the size of each thread's pawn hash table in MiB and says of how much the smallest had the memory.
    pub fn set_pawn_hash(&mut self, mib: usize) -> usize {
        self.pawn_hash_mib = mib;
        let kept = Arc::new(AtomicUsize::new(mib));
        let least = Arc::clone(&kept);
        self.on_all(move |worker| {
            worker.caches = crate::eval::Caches::new(mib);
            least.fetch_min(worker.caches.pawn_hash_mib(), Relaxed);
        });
        kept.load(Relaxed)
    }

    /// Forgets what belongs to a game.
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

    /// Does a search run that has not been answered?
    pub fn is_searching(&self) -> bool {
        !self.shift.is_answered()
    }

    /// Waits until the present search is answered.
    pub fn wait_for_answer(&self) {
        self.shift.wait_while(|work| work.unanswered);
    }

    /// Waits until no search runs and all threads have left the last one.
    pub fn wait(&self) {
        self.shift.wait_while(|work| work.jobs > 0);
    }

    /// Hits and probes of the pawn hash tables in the last search.
    pub fn pawn_hits(&self) -> HitCount {
        self.progress.pawn_hits()
    }

    /// Nodes of the last search, on all threads.
    pub fn nodes(&self) -> u64 {
        self.progress.nodes()
    }

    /// Starts a search on all threads and returns. The one before must have been answered.
    pub fn start(&mut self, task: Task) {
        // What a resumed search goes on from does not become old by that: its deep entries would give way to
        // shallow ones of the same positions, and it would have to find them again.
        if task.resumed.is_none() {
            task.table.new_search();
        }
        let Some((first, others)) = self.threads.split_first() else {
            let best = root_moves(&task).first().map(|root_move| root_move.root_move());
            (task.sink)(Event::Message(
                "the system gives no thread to search with; a legal move is played".to_owned(),
            ));
            (task.sink)(Event::Finished { best, ponder: None });
            return;
        };
        self.progress = Arc::clone(&task.progress);
        self.shift.change(|work| {
            work.unanswered = true;
            work.jobs += 1 + others.len();
        });
        let root_moves = root_moves(&task);
        let task = Arc::new(task);
        for thread in others {
            let (task, root_moves) = (Arc::clone(&task), root_moves.clone());
            let (idle, part) =
                (Arc::clone(&self.idle), Part { shift: Arc::clone(&self.shift), leads: false });
            let _ = thread.jobs.send(Box::new(move |worker| {
                let _part = part;
                if !task.over.load(Relaxed) {
                    search_guarded(worker, Arc::clone(&task), root_moves);
                }
                worker.task = idle;
                drop(task);
            }));
        }
        let (idle, part) = (Arc::clone(&self.idle), Part { shift: Arc::clone(&self.shift), leads: true });
        let _ = first.jobs.send(Box::new(move |worker| {
            let _part = part;
            let finished = lead_guarded(worker, &task, root_moves);
            worker.task = idle;
            let sink = Arc::clone(&task.sink);
            drop(task);
            sink(finished);
        }));
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.idle.signals.stop.store(true, Relaxed);
        for thread in self.threads.drain(..) {
            drop(thread.jobs);
            let _ = thread.handle.join();
        }
    }
}

fn work(worker: &mut Worker, inbox: &Receiver<Job>) {
    for job in inbox {
        // The next search wants this thread, whatever became of this one.
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
    const PATIENCE: Duration = Duration::from_secs(60);

    fn pool() -> (Pool, Arc<Signals>) {
        let signals = Arc::<Signals>::default();
        let mut pool = Pool::new(Arc::clone(&signals), 1);
        pool.resize(2);
        (pool, signals)
    }

    fn start(pool: &mut Pool, signals: &Arc<Signals>, limits: Limits) -> Receiver<Event> {
        signals.stop.store(false, Relaxed);
        let (sender, events) = unbounded();
        pool.start(Task {
            limits,
            table: Arc::new(Table::new(1).expect("a megabyte")),
            progress: Arc::new(Progress::new(pool.len())),
            sink: Arc::new(move |event| drop(sender.send(event))),
            ..Task::idle(Arc::clone(signals))
        });
        events
    }

    fn answer(events: &Receiver<Event>) -> Option<Move> {
        loop {
            if let Event::Finished { best, .. } = events.recv_timeout(PATIENCE).expect("an answer") {
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
    fn a_panic_at_the_end_of_a_search_costs_neither_the_answer_nor_the_next_search() {
        let (mut pool, signals) = pool();
        for panics in [true, false] {
            signals.stop.store(false, Relaxed);
            let (sender, events) = unbounded();
            pool.start(Task {
                limits: Limits { depth: Some(Depth(3)), ..Limits::default() },
                table: Arc::new(Table::new(1).expect("a megabyte")),
                progress: Arc::new(Progress::new(pool.len())),
                sink: Arc::new(move |event| drop(sender.send(event))),
                on_end: Some(Box::new(move |_| assert!(!panics, "on purpose"))),
                ..Task::idle(Arc::clone(&signals))
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
            while pool.progress.outcomes().next().is_none() {
                assert!(began.elapsed() < PATIENCE, "the second thread has not joined");
                std::thread::yield_now();
            }
            signals.stop.store(true, Relaxed);
            assert!(answer(&events).is_some());
            pool.wait_for_answer();
        }
        pool.wait();
    }
}
