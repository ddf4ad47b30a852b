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

use super::{backend::SearchBackend, searcher::Searcher};
use crate::{
    cli::{CliError, complain},
    position::Position,
    processor::cores,
    search::{Event, Limits},
    types::{Depth, Score, ScoredLine},
};

/// How long a result is waited for at a time.
const WAIT: Duration = Duration::from_millis(500);
/// Maximum number of search threads.
pub const MAX_THREADS: usize = 1024;
/// Maximum number of items that are searched or wait for an earlier one.
pub(super) const MAX_PENDING: usize = 2 * MAX_THREADS + 2;

/// The number of search threads: as many as there are cores if not given.
pub fn threads(asked: Option<u64>) -> usize {
    asked.map_or(cores().min(MAX_THREADS), |threads| threads as usize)
}

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
    /// When the announced mate changed: milliseconds and moves to it, negative if the side to move is mated, 0 for none.
    pub mates: Vec<(u64, i32)>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    pub(super) fn limits(&self) -> Limits {
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
#[derive(Clone, Default)]
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
    /// That of an analysis.
    budget: SearchBudget,
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
                    let count = threads.len();
                    complain(format_args!("{count} workers, the system gives no more threads ({error})"));
                    break;
                }
            }
        }
        Ok(Workers { jobs: Some(jobs), answers, budget: settings.budget.clone(), threads, over, failed })
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

impl SearchBackend for Workers {
    fn window(&self) -> usize {
        2 * self.threads.len() + 2
    }

    fn budget(&self) -> &SearchBudget {
        &self.budget
    }

    fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind, budget: SearchBudget) {
        if let Some(jobs) = &self.jobs {
            // Fails only when every worker has died; `receive` reports that.
            let _ = jobs.send(PositionBatch { work: Arc::clone(work), plies, kind, budget });
        }
    }

    fn receive(&mut self) -> Option<Arrival> {
        match self.receive_within(WAIT) {
            Ok(found) => Some(Arrival::Found(found)),
            Err(RecvTimeoutError::Timeout) => Some(Arrival::Nothing),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }

    /// Dropped engines flush their learning files.
    fn finish(self: Box<Self>) {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_for_a_worker_that_panicked() {
        let budget = SearchBudget { depth: Some(1), multipv: 1, hash: 1, ..SearchBudget::default() };
        let settings =
            SearchSettings { budget: budget.clone(), workers: 2, threads: 1, ..SearchSettings::default() };
        let mut workers = Workers::start(&settings, Arc::new(|_| panic!("on purpose"))).expect("threads");
        let start = MoveList::of_moves(0, &Position::default(), &[]);
        workers.send(&Arc::new(start), 0..1, SearchKind::Analysis, budget);
        let mut received = (0..600).map(|_| workers.receive_within(Duration::from_millis(100)));
        assert!(received.any(|found| matches!(found, Err(RecvTimeoutError::Disconnected))));
    }
}
