//! The search threads: started once, parked between searches, sharing the table and nothing else on the
//! hot path (Lazy SMP).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, Sender, bounded, unbounded};
use shakmaty::Move;

use super::{
    clock::Clock,
    deepen::Outcome,
    ending::Ending,
    event::{Event, Line},
    limits::Limits,
    root::RootMove,
    style::Style,
    tablebases::Tablebases,
    vote::elect,
    worker::{Signals, Task, Worker},
};
use crate::{
    position::{Path, Position},
    tt::Table,
    types::{Bound, Depth, Ply, Score},
};

/// A search recurses once a ply with a few kilobytes each.
const STACK_BYTES: usize = 16 << 20;
/// How often a finished search looks whether it may answer (`go infinite`, pondering).
const ANSWER_POLL: Duration = Duration::from_millis(1);

type Job = Box<dyn FnOnce(&mut Worker) + Send>;

struct Thread {
    jobs: Sender<Job>,
    handle: JoinHandle<()>,
}

/// "A search runs", waited for by the engine.
#[derive(Default)]
struct Busy {
    running: Mutex<bool>,
    changed: Condvar,
}

impl Busy {
    fn set(&self, running: bool) {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = running;
        self.changed.notify_all();
    }

    fn get(&self) -> bool {
        *self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self) {
        let guard = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(guard, |running| *running).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Hits and probes of a cache.
type HitCount = (u64, u64);

/// All search threads.
pub struct Pool {
    threads: Vec<Thread>,
    idle: Arc<Task>,
    busy: Arc<Busy>,
    pawn_hits: Arc<Mutex<HitCount>>,
    /// Relaxed: written before, read after `busy` changes.
    nodes: Arc<AtomicU64>,
    pawn_hash_mib: usize,
}

impl Pool {
    /// A pool of one thread.
    pub fn new(signals: Arc<Signals>, pawn_hash_mib: usize) -> Pool {
        let root = Position::default();
        let limits = Limits::default();
        let idle = Task {
            path: Path::new(&root),
            root,
            clock: Clock::new(&limits, Instant::now(), Duration::ZERO, None),
            limits,
            multi_pv: 1,
            table: Arc::new(Table::minimal()),
            hash_file: None,
            analysis: false,
            resumed: None,
            signals,
            nodes: Vec::new(),
            sink: Arc::new(|_| {}),
            tablebases: Tablebases::default(),
            style: Style::default(),
            first_move: None,
            learned_cutoffs: AtomicU64::new(0),
            on_end: None,
        };
        let mut pool = Pool {
            threads: Vec::new(),
            idle: Arc::new(idle),
            busy: Arc::default(),
            pawn_hits: Arc::default(),
            nodes: Arc::default(),
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

    /// Sets the size of each thread's pawn hash table.
    pub fn set_pawn_hash(&mut self, mib: usize) {
        self.pawn_hash_mib = mib;
        self.on_all(move |worker| worker.caches = crate::eval::Caches::new(mib));
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

    /// Does a search run?
    pub fn is_searching(&self) -> bool {
        self.busy.get()
    }

    /// Waits until no search runs.
    pub fn wait(&self) {
        self.busy.wait();
    }

    /// Hits and probes of the pawn hash tables in the last search.
    pub fn pawn_hits(&self) -> HitCount {
        *self.pawn_hits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nodes of the last search, on all threads.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Relaxed)
    }

    /// Starts a search on all threads and returns.
    pub fn start(&self, task: Task) {
        self.busy.set(true);
        // What a resumed search goes on from does not become old by that: its deep entries would give way to
        // shallow ones of the same positions, and it would have to find them again.
        if task.resumed.is_none() {
            task.table.new_search();
        }
        let task = Arc::new(task);
        let root_moves = root_moves(&task);
        let (outcomes, collected) = bounded(self.threads.len());
        *self.pawn_hits.lock().unwrap_or_else(PoisonError::into_inner) = (0, 0);
        for thread in self.threads.iter().skip(1) {
            let (task, root_moves, outcomes) = (Arc::clone(&task), root_moves.clone(), outcomes.clone());
            let (idle, pawn_hits) = (Arc::clone(&self.idle), Arc::clone(&self.pawn_hits));
            let _ = thread.jobs.send(Box::new(move |worker| {
                if let Some(outcome) = search_guarded(worker, task, root_moves) {
                    add_hits(&pawn_hits, worker);
                    let _ = outcomes.send(outcome);
                }
                worker.task = idle;
            }));
        }
        drop(outcomes);
        let (idle, busy, pawn_hits) =
            (Arc::clone(&self.idle), Arc::clone(&self.busy), Arc::clone(&self.pawn_hits));
        if let Some(first) = self.threads.first() {
            let nodes = Arc::clone(&self.nodes);
            let _ = first.jobs.send(Box::new(move |worker| {
                let finished = lead(worker, &task, root_moves, &collected);
                add_hits(&pawn_hits, worker);
                nodes.store(task.total_nodes(), Relaxed);
                worker.task = idle;
                let sink = Arc::clone(&task.sink);
                drop(task);
                sink(finished);
                busy.set(false);
            }));
        }
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
        job(worker);
    }
}

fn add_hits(total: &Mutex<HitCount>, worker: &Worker) {
    let (hits, probes) = worker.caches.pawn_hits();
    let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
    *total = (total.0 + hits, total.1 + probes);
}

fn root_moves(task: &Task) -> Vec<RootMove> {
    let wanted = &task.limits.search_moves;
    let legal = task.root.legal_moves();
    let chosen = legal.iter().filter(|m| wanted.is_empty() || wanted.contains(m));
    let mut chosen: Vec<RootMove> =
        chosen.map(|&m| RootMove::with_verdict(m, task.tablebases.verdict(m))).collect();
    // Stable: the others keep their order.
    chosen.sort_by_key(|root| (root.order(), Some(root.root_move()) != task.first_move));
    chosen
}

/// Searches; an internal error ends this search with a message instead of the program.
fn search_guarded(worker: &mut Worker, task: Arc<Task>, root_moves: Vec<RootMove>) -> Option<Outcome> {
    let sink = Arc::clone(&task.sink);
    worker.begin(task, root_moves);
    if worker.root_moves.is_empty() {
        return None;
    }
    let result = catch_unwind(AssertUnwindSafe(|| worker.deepen()));
    worker.task.learned_cutoffs.fetch_add(worker.learned_cutoffs, Relaxed);
    if result.is_err() {
        sink(Event::Message("internal error in a search thread; please report the game".to_owned()));
    }
    result.ok()
}

/// The first thread's part: searches, waits for the others and for permission, and chooses.
fn lead(
    worker: &mut Worker,
    task: &Arc<Task>,
    root_moves: Vec<RootMove>,
    others: &Receiver<Outcome>,
) -> Event {
    let fallback = root_moves.first().map(RootMove::root_move);
    let own = search_guarded(worker, Arc::clone(task), root_moves);
    if own.is_none() && fallback.is_none() {
        report_game_over(task);
    }
    let signals = &task.signals;
    while (task.limits.infinite || signals.pondering.load(Relaxed)) && !signals.stop.load(Relaxed) {
        std::thread::sleep(ANSWER_POLL);
    }
    let pondering = signals.pondering.load(Relaxed);
    signals.stop.store(true, Relaxed);
    if task.analysis
        && let Some(file) = &task.hash_file
    {
        file.settle();
    }
    let outcomes: Vec<Outcome> = own.into_iter().chain(others.iter()).collect();
    if outcomes.is_empty() {
        return Event::Finished { best: fallback, ponder: None };
    }
    let elected = &outcomes[elect(&outcomes)];
    let best = &elected.lines[0];
    // The answer is the first move of the last line printed.
    if elected.unreported {
        worker.report(&elected.lines, elected.depth.max(Depth(1)));
    }
    if let Some(on_end) = &task.on_end {
        on_end(&Ending {
            course: std::mem::take(&mut worker.course),
            line: best.pv.clone(),
            score: if best.has_score() { best.score } else { best.previous },
            bound: best.bound,
            depth: elected.depth,
            nodes: task.total_nodes(),
            pondering,
            learned_cutoffs: task.learned_cutoffs.load(Relaxed),
        });
    }
    let ponder = best.pv.get(1).copied().or_else(|| reply_in_table(task, best.root_move()));
    Event::Finished { best: Some(best.root_move()), ponder }
}

fn report_game_over(task: &Task) {
    let mated = task.root.in_check();
    (task.sink)(Event::Line(Line {
        depth: Depth::ZERO,
        seldepth: 0,
        multi_pv: 1,
        score: if mated { Score::mated_in(Ply::ROOT) } else { Score::ZERO },
        bound: Bound::Exact,
        nodes: 0,
        time: task.clock.elapsed(),
        hashfull: 0,
        tbhits: 0,
        pv: Vec::new(),
    }));
}

fn reply_in_table(task: &Task, m: Move) -> Option<Move> {
    let child = task.root.play(m);
    task.table.probe(child.key()).and_then(|hit| child.unpack(hit.best))
}
