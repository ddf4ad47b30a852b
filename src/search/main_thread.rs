//! What a thread does in a search. All threads search; the main thread also waits until it may report its move (`go
//! infinite`, pondering), chooses the best thread, and reports the move.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::Ordering::{Acquire, Relaxed},
    },
    time::Duration,
};

use shakmaty::Move;

use super::{
    event::{Event, EventSink, PvInfo},
    progress::ThreadResult,
    root_move::RootMove,
    task::SearchTask,
    vote::{best_thread, unless_printed},
    worker::Worker,
};
use crate::{
    notice::Notice,
    types::{Bound, Depth, Ply, Score, SearchResult},
};

/// How often a finished search checks whether it may report its move (`go infinite`, pondering).
const ANSWER_POLL: Duration = Duration::from_millis(1);

/// The search of one thread. A panic ends the search with a message instead of ending the program.
pub fn run_thread(worker: &mut Worker, task: Arc<SearchTask>) -> Option<ThreadResult> {
    let sink = Arc::clone(&task.sink);
    worker.begin(task);
    if worker.root_moves.is_empty() {
        return None;
    }
    guarded(&*sink, || worker.deepen())
}

/// The value of `work`; none, with a message, if `work` panics.
fn guarded<T>(sink: &EventSink, work: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(work));
    if result.is_err() {
        sink(Event::Notice(Notice::SearchPanic));
    }
    result.ok()
}

/// The main thread's part of a search: a move is reported whatever happens.
pub fn run_main_thread(worker: &mut Worker, task: &Arc<SearchTask>) -> Event {
    let fallback = task.root_moves().first().map(RootMove::root_move);
    guarded(&*task.sink, || search_and_answer(worker, task, fallback)).unwrap_or_else(|| {
        task.over.store(true, Relaxed);
        Event::Finished { best: fallback, ponder: None, result: None }
    })
}

/// Searches, waits until it may report a move, and chooses among the results of all threads; without any it reports
/// `fallback`.
fn search_and_answer(worker: &mut Worker, task: &Arc<SearchTask>, fallback: Option<Move>) -> Event {
    let own = run_thread(worker, Arc::clone(task));
    if own.is_none() && fallback.is_none() {
        report_game_over(task);
    }
    // What limits the main thread limits the others.
    task.over.store(true, Relaxed);
    let signals = &task.signals;
    // Acquire: after a `ponderhit` and a `stop` the search is not seen to be stopped while it ponders.
    while (task.limits.infinite || signals.pondering.load(Relaxed)) && !signals.stop.load(Acquire) {
        std::thread::sleep(ANSWER_POLL);
    }
    let pondering = signals.pondering.load(Relaxed);
    if task.analysis
        && let Some(file) = &task.hash_file
    {
        file.flush_queue();
    }
    let is_reported = own.is_some() && !worker.stopped;
    let results: Vec<ThreadResult> = own.into_iter().chain(task.progress.results()).collect();
    if results.is_empty() {
        return Event::Finished { best: fallback, ponder: None, result: None };
    }
    let index = best_thread(&results);
    let chosen = unless_printed(&results[index], worker.printed.as_ref());
    let best = &chosen.lines[0];
    // The move played must be the first of the last line printed.
    if index > 0 || !is_reported {
        let reached = results.iter().map(|result| result.depth).max().unwrap_or(chosen.depth);
        worker.keep_root(chosen, reached);
        worker.report(chosen);
    }
    if best.tb_score.is_some() {
        // The score that is learned is that of the tables.
        worker.iterations.recovered();
    }
    let result = SearchResult {
        iterations: std::mem::take(&mut worker.iterations),
        line: best.pv.clone(),
        score: best.shown_score(),
        bound: best.bound,
        slack: task.preferences.slack(best.root_move(), chosen.depth),
        depth: chosen.depth,
        nodes: task.progress.nodes(),
        pondering,
        learned_cutoffs: task.progress.learned_cutoffs(),
        is_cursed: best.is_cursed(),
    };
    let expected =
        || worker.shown_line(best, 0).get(1).copied().or_else(|| reply_in_table(task, best.root_move()));
    let ponder = if worker.ends_in_draw(best) { None } else { expected() };
    Event::Finished { best: Some(best.root_move()), ponder, result: Some(Box::new(result)) }
}

fn report_game_over(task: &SearchTask) {
    let mated = task.root.in_check();
    (task.sink)(Event::Pv(PvInfo {
        depth: Depth::ZERO,
        seldepth: 0,
        multi_pv: 1,
        score: if mated { Score::mated_in(Ply::ROOT) } else { Score::ZERO },
        bound: Bound::Exact,
        is_drawn: !mated,
        nodes: 0,
        time: task.clock.elapsed(),
        hashfull: 0,
        tbhits: 0,
        pv: Vec::new(),
    }));
}

fn reply_in_table(task: &SearchTask, m: Move) -> Option<Move> {
    let child = task.root.play(m);
    task.table.probe(child.key()).and_then(|hit| child.unpack(hit.best))
}
