//! Local workers: each has its own engine and takes one batch of positions after the other.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Move, uci::UciMove};

use crate::{
    cli::CliError,
    engine::blocking::BlockingEngine,
    learn::policy::LearningMode,
    position::Position,
    search::{Event, Limits, PvInfo},
    types::{Depth, Score, ScoredLine},
};

/// Maximum number of search threads.
pub const MAX_THREADS: usize = 1024;
/// Maximum number of items that are searched or wait for an earlier one.
pub(super) const MAX_PENDING: usize = 2 * MAX_THREADS + 2;
/// Maximum length in plies to which tablebase moves extend a line.
const LINE_PLIES: usize = 40;

/// Nodes of the search that continues a line of a single move.
const CONTINUATION_NODES: u64 = 1000;

/// What a search found about a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finding {
    /// Depth of the last iteration, in plies.
    pub depth: i32,
    /// Nodes searched.
    pub nodes: u64,
    /// Time in milliseconds.
    pub millis: u64,
    /// The lines, best first; none where the game is over.
    pub lines: Vec<ScoredLine>,
    /// When the best move changed: milliseconds and the move, in order.
    pub changes: Vec<(u64, Move)>,
    /// The score of the first confirmation, if this is that of the second.
    pub first_confirmation: Option<Score>,
}

impl Finding {
    /// The score for the side to move; if the game is over, mate or draw.
    pub fn score(&self) -> Score {
        self.lines.first().map_or(Score::ZERO, |line| line.score)
    }

    /// The best move.
    pub fn best(&self) -> Option<Move> {
        self.lines.first().and_then(|line| line.moves.first().copied())
    }
}

/// A start and moves from it, some of whose positions are to be searched.
#[derive(Debug)]
pub struct MoveList {
    /// Its number in the input, from 0.
    pub item: usize,
    /// Where the moves begin.
    pub start: Position,
    /// The moves.
    pub moves: Vec<UciMove>,
    /// How many of them come before the first position that may be searched.
    pub lead: usize,
}

impl MoveList {
    /// The moves of a game.
    pub fn of_moves(item: usize, start: &Position, moves: &[Move]) -> MoveList {
        // Castling as king takes rook is understood in every position.
        let moves = moves.iter().map(|m| m.to_uci(CastlingMode::Chess960)).collect();
        MoveList { item, start: start.clone(), moves, lead: 0 }
    }

    /// The moves that lead to a position, of which only the last position is searched.
    pub fn up_to(item: usize, start: &Position, moves: &[Move]) -> MoveList {
        MoveList { lead: moves.len(), ..MoveList::of_moves(item, start, moves) }
    }
}

/// Positions of a move list that one worker searches, each given by the number of moves before it. The last comes
/// first, so that results about the end of the game are in the hash table for earlier positions.
struct PositionBatch {
    work: Arc<MoveList>,
    plies: Range<usize>,
    kind: SearchKind,
    budget: SearchBudget,
}

/// What a search is for.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum SearchKind {
    /// The analysis of the position.
    #[default]
    Analysis,
    /// A search with two lines of a position in which the best move was played, for what the second best is worth.
    SecondLine,
    /// The deeper search with two lines of a position before or after a move that deserves a mark.
    Confirmation,
    /// Another one, which then searches the best move alone, where the mark is that of a mistake or a blunder.
    SecondConfirmation,
}

impl SearchKind {
    /// Is it the analysis of the position?
    pub fn is_analysis(&self) -> bool {
        *self == SearchKind::Analysis
    }
}

/// A finding and where it belongs.
pub struct FoundAt {
    /// The item.
    pub item: usize,
    /// Number of moves before the position.
    pub ply: usize,
    /// What the search was for.
    pub kind: SearchKind,
    /// What was found.
    pub finding: Finding,
}

/// What comes back from the workers.
pub enum Arrival {
    /// Something was found.
    Found(FoundAt),
    /// `count` positions of an item could not be searched.
    #[cfg(feature = "fleet")]
    Failed { item: usize, count: usize, reason: String },
    /// Nothing yet.
    Nothing,
}

/// The limits and resources of the search of one position, on this machine or another. Without a limit it never ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchBudget {
    /// Depth in plies.
    pub depth: Option<i32>,
    /// Nodes.
    pub nodes: Option<u64>,
    /// Time in milliseconds.
    pub movetime: Option<u64>,
    /// Number of lines.
    pub multipv: usize,
    /// Hash in MiB.
    pub hash: usize,
    /// Is the best move then searched alone, with the same limits?
    pub check_best: bool,
}

impl SearchBudget {
    fn limits(&self) -> Limits {
        Limits {
            depth: self.depth.map(|plies| Depth(plies.clamp(1, Depth::MAX.get()))),
            nodes: self.nodes,
            movetime: self.movetime.map(Duration::from_millis),
            ..Limits::default()
        }
    }

    /// The budget of a search of this kind, if this one is that of the analysis.
    pub(super) fn of(&self, kind: SearchKind) -> SearchBudget {
        // How many plies deeper, or with which multiple of the nodes or the time.
        let (plies, factor) = match kind {
            SearchKind::Analysis => return self.clone(),
            SearchKind::SecondLine => (1, 2),
            SearchKind::Confirmation | SearchKind::SecondConfirmation => (4, 4),
        };
        SearchBudget {
            depth: self.depth.map(|depth| depth.saturating_add(plies)),
            nodes: self.nodes.map(|nodes| nodes.saturating_mul(factor)),
            movetime: self.movetime.map(|time| time.saturating_mul(factor)),
            multipv: self.multipv.max(2),
            hash: self.hash,
            check_best: kind == SearchKind::SecondConfirmation,
        }
    }
}

/// How every position is searched.
#[derive(Clone)]
pub struct SearchSettings {
    /// What each search may use.
    pub budget: SearchBudget,
    /// How many workers.
    pub workers: usize,
    /// Search threads of each.
    pub threads: usize,
    /// Folders of tablebases, separated as in `PATH`; empty for none.
    pub syzygy: String,
    /// The learning file, if one is used.
    pub learn: Option<PathBuf>,
    /// Is every position searched written into it?
    pub write: bool,
}

/// All workers.
pub struct Workers {
    jobs: Option<Sender<PositionBatch>>,
    answers: Receiver<FoundAt>,
    threads: Vec<JoinHandle<()>>,
    /// Does nobody want the rest any more?
    over: Arc<AtomicBool>,
    /// Has one of them panicked? What it was to search never comes.
    failed: Arc<AtomicBool>,
}

impl Workers {
    /// Starts the workers, fewer if the system gives no more threads. `watch` receives every event of every search.
    ///
    /// # Errors
    /// It gives no thread at all.
    pub fn start(
        settings: &SearchSettings,
        watch: Arc<dyn Fn(&Event) + Send + Sync>,
    ) -> Result<Workers, CliError> {
        let (jobs, inbox) = unbounded::<PositionBatch>();
        let (outbox, answers) = unbounded();
        let (over, failed) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let worker = || {
            let (settings, inbox, outbox) = (settings.clone(), inbox.clone(), outbox.clone());
            let (watch, over, failed) = (Arc::clone(&watch), Arc::clone(&over), Arc::clone(&failed));
            let work = move || {
                let Some(mut searcher) = Searcher::new(&settings, watch, over) else { return };
                for job in inbox {
                    searcher.blocking.engine.new_game();
                    for ply in job.plies.rev() {
                        let Some(finding) = searcher.search(&job.work, ply, &job.budget) else { return };
                        let answer = FoundAt { item: job.work.item, ply, kind: job.kind, finding };
                        if outbox.send(answer).is_err() {
                            return;
                        }
                    }
                }
            };
            // Relaxed: seen late, it costs a moment.
            let guarded = move || {
                failed.fetch_or(catch_unwind(AssertUnwindSafe(work)).is_err(), Relaxed);
            };
            thread::Builder::new().spawn(guarded)
        };
        let mut threads = Vec::new();
        for _ in 0..settings.workers {
            match worker() {
                Ok(thread) => threads.push(thread),
                Err(error) if threads.is_empty() => {
                    return Err(CliError::Task(format!("no thread can be started ({error})")));
                }
                Err(error) => {
                    eprintln!("{} workers, the system gives no more threads ({error})", threads.len());
                    break;
                }
            }
        }
        Ok(Workers { jobs: Some(jobs), answers, threads, over, failed })
    }

    /// Sends the positions after `plies` moves to one worker, which searches them one after the other.
    pub fn send(&self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind, budget: SearchBudget) {
        if let Some(jobs) = &self.jobs {
            // Fails only when every worker has died; `receive` reports that.
            let _ = jobs.send(PositionBatch { work: Arc::clone(work), plies, kind, budget });
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// The next answer.
    ///
    /// # Errors
    /// None came in time; or a worker has panicked, or none is left.
    pub fn receive_within(&self, timeout: Duration) -> Result<FoundAt, RecvTimeoutError> {
        let failed = self.failed.load(Relaxed);
        let timeout_or = |error| if failed { RecvTimeoutError::Disconnected } else { error };
        self.answers.recv_timeout(timeout).map_err(timeout_or)
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        // Relaxed: a worker that sees it late searches a moment longer.
        self.over.store(true, Relaxed);
        self.jobs = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

struct Searcher {
    blocking: BlockingEngine,
    watch: Arc<dyn Fn(&Event) + Send + Sync>,
    over: Arc<AtomicBool>,
}

impl Searcher {
    /// A searcher; `None` if the system gives it no thread.
    fn new(
        settings: &SearchSettings,
        watch: Arc<dyn Fn(&Event) + Send + Sync>,
        over: Arc<AtomicBool>,
    ) -> Option<Searcher> {
        let mut blocking = BlockingEngine::new(0);
        let engine = &mut blocking.engine;
        if engine.set_threads(settings.threads) == 0 {
            return None;
        }
        // If memory is short, a smaller table is used.
        let _ = engine.set_hash(settings.budget.hash);
        engine.settings.move_overhead = Duration::ZERO;
        engine.set_syzygy_path(&settings.syzygy);
        if let Some(file) = &settings.learn {
            // Lets it resume from an earlier analysis of the same positions.
            engine.set_strength(|strength| strength.analysis = true);
            engine.set_learning(|learning| {
                learning.read_only = !settings.write;
                learning.file = Some(file.clone());
                learning.rules.mode = if settings.write { LearningMode::All } else { LearningMode::Drop };
            });
            engine.prepare_learning();
        }
        Some(Searcher { blocking, watch, over })
    }

    /// Searches a position; `None` if nobody wants to know any more.
    fn search(&mut self, work: &MoveList, ply: usize, budget: &SearchBudget) -> Option<Finding> {
        let moves = &work.moves[..work.lead + ply];
        self.blocking.engine.settings.multi_pv = budget.multipv;
        let watch = Arc::clone(&self.watch);
        let mut finding = self.result(&work.start, moves, budget.limits(), &*watch)?;
        if budget.check_best {
            self.check_best(work, moves, budget.limits(), &mut finding)?;
        }
        for line in finding.lines.iter_mut().filter(|line| !line.moves.is_empty()) {
            line.moves = self.blocking.engine.with_tablebase_moves(&line.moves, line.score, LINE_PLIES);
        }
        // A score from the table may come with no more than a move.
        if let Some(ScoredLine { moves: line, .. }) =
            finding.lines.first_mut().filter(|line| line.moves.len() == 1)
        {
            self.blocking.engine.settings.multi_pv = 1;
            let moves = [moves, &[line[0].to_uci(CastlingMode::Chess960)]].concat();
            let limits = Limits { nodes: Some(CONTINUATION_NODES), ..Limits::default() };
            // Of another position: nobody watches it.
            let next = self.result(&work.start, &moves, limits, &|_| {})?;
            line.extend(next.lines.into_iter().next().into_iter().flat_map(|next| next.moves));
        }
        Some(finding)
    }

    /// Searches the best move alone. If it is worth less then, that is its score, and no other line has a better one.
    fn check_best(
        &mut self,
        work: &MoveList,
        moves: &[UciMove],
        limits: Limits,
        finding: &mut Finding,
    ) -> Option<()> {
        let is_certain = |line: &ScoredLine| line.is_drawn || line.score.is_decisive();
        let Some(best) = finding.best().filter(|_| !finding.lines.iter().take(1).any(is_certain)) else {
            return Some(());
        };
        // To the same depth it is in the table.
        let depth = limits.depth.map(|depth| depth + 1);
        let limits = Limits { depth, search_moves: vec![best], ..limits };
        let alone = self.result(&work.start, moves, limits, &|_| {})?;
        finding.nodes += alone.nodes;
        finding.millis += alone.millis;
        if let Some(checked) = alone.lines.first() {
            finding.lines.iter_mut().for_each(|line| line.score = line.score.min(checked.score));
        }
        Some(())
    }

    /// The result of one search, whose events `watch` receives.
    fn result(
        &mut self,
        start: &Position,
        moves: &[UciMove],
        limits: Limits,
        watch: &dyn Fn(&Event),
    ) -> Option<Finding> {
        let mut finding = Finding::default();
        let goes_on = || !self.over.load(Relaxed);
        let answer = self.blocking.search_with(start, moves, limits, &goes_on, |event| {
            watch(event);
            if let Event::Pv(line) = event {
                note(&mut finding, line);
            }
        });
        // The moves were legal when they were read.
        finding.lines = answer.map(|answer| answer.lines).unwrap_or_default();
        goes_on().then_some(finding)
    }
}

fn note(finding: &mut Finding, line: &PvInfo) {
    let millis = u64::try_from(line.time.as_millis()).unwrap_or(u64::MAX);
    finding.depth = line.depth.get();
    finding.nodes = line.nodes;
    finding.millis = millis;
    if let (1, Some(&m)) = (line.multi_pv, line.pv.first())
        && finding.changes.last().is_none_or(|&(_, last)| last != m)
    {
        finding.changes.push((millis, m));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_best_move_that_was_checked_is_worth_no_more_than_it_seemed() {
        let budget = SearchBudget {
            depth: None,
            nodes: Some(60),
            movetime: None,
            multipv: 2,
            hash: 1,
            check_best: false,
        };
        let settings = SearchSettings {
            budget: budget.clone(),
            workers: 1,
            threads: 1,
            syzygy: String::new(),
            learn: None,
            write: false,
        };
        let searched = |check_best: bool| -> Vec<Finding> {
            let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 f3g5 d7d5 e4d5 f6d5 g5f7 e8f7 d1f3 f7e6 b1c3";
            let moves = moves.split(' ').map(|m| m.parse().expect("a move")).collect();
            let work = MoveList { item: 0, start: Position::default(), moves, lead: 0 };
            let mut searcher = Searcher::new(&settings, Arc::new(|_| ()), Arc::default()).expect("a thread");
            let budget = SearchBudget { check_best, ..budget.clone() };
            let mut search = |ply| {
                searcher.blocking.engine.new_game();
                searcher.search(&work, ply, &budget).expect("nobody stops it")
            };
            (0..16).map(&mut search).collect()
        };
        let (plain, checked) = (searched(false), searched(true));
        for (plain, checked) in plain.iter().zip(&checked) {
            assert!(checked.score() <= plain.score() && checked.nodes > plain.nodes);
            assert!(checked.lines.is_sorted_by(|one, next| one.score >= next.score));
        }
        assert!(plain.iter().zip(&checked).any(|(plain, checked)| checked.score() < plain.score()));
    }

    #[test]
    fn nobody_waits_for_a_worker_that_panicked() {
        let budget = SearchBudget {
            depth: Some(1),
            nodes: None,
            movetime: None,
            multipv: 1,
            hash: 1,
            check_best: false,
        };
        let settings = SearchSettings {
            budget: budget.clone(),
            workers: 2,
            threads: 1,
            syzygy: String::new(),
            learn: None,
            write: false,
        };
        let workers = Workers::start(&settings, Arc::new(|_| panic!("on purpose"))).expect("threads");
        let start = MoveList::of_moves(0, &Position::default(), &[]);
        workers.send(&Arc::new(start), 0..1, SearchKind::Analysis, budget);
        let mut received = (0..600).map(|_| workers.receive_within(Duration::from_millis(100)));
        assert!(received.any(|found| matches!(found, Err(RecvTimeoutError::Disconnected))));
    }
}
