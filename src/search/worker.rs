//! One search thread: its line, its histories, its share of the common state.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use crossbeam::utils::CachePadded;
use shakmaty::{Color, Move};

use super::{
    clock::Clock,
    event::Sink,
    frame::Frame,
    history::{CaptureHistory, ContinuationHistory, CorrectionHistory, MoveIndex, PawnHistory, QuietHistory},
    limits::Limits,
    params::*,
    pv::PvTable,
    root::RootMove,
    tablebases::Tablebases,
};
use crate::{
    eval::{self, Caches},
    position::{Path, Position, Repetition},
    tt::Table,
    types::{Depth, MAX_PLY, PawnKey, Ply, Score},
};

/// Nodes between two looks at clock and stop flag.
const CHECK_INTERVAL: u64 = 512;
/// A first iteration of more nodes than this may be stopped.
const FIRST_ITERATION_NODES: u64 = 20_000;
/// Frames before the root, so that earlier plies can always be asked for.
const FRAME_OFFSET: usize = 6;

/// What the threads of one search share.
pub struct Task {
    pub root: Position,
    pub path: Path,
    pub limits: Limits,
    pub clock: Clock,
    pub multi_pv: usize,
    pub table: Arc<Table>,
    pub signals: Arc<Signals>,
    /// Nodes of each thread, written by it alone. Relaxed: a statistic.
    pub nodes: Vec<CachePadded<AtomicU64>>,
    pub sink: Arc<Sink>,
    pub tablebases: Tablebases,
}

impl Task {
    /// Nodes of all threads, as far as published.
    pub fn total_nodes(&self) -> u64 {
        self.nodes.iter().map(|nodes| nodes.load(Relaxed)).sum()
    }
}

/// Flags by which a search is steered from outside; they outlive it.
#[derive(Default)]
pub struct Signals {
    /// Relaxed: a late stop costs one batch of nodes.
    pub stop: AtomicBool,
    /// Relaxed: a late `ponderhit` costs one batch of nodes.
    pub pondering: AtomicBool,
}

/// What move ordering learned.
pub struct Histories {
    pub quiets: QuietHistory,
    pub captures: CaptureHistory,
    pub pawns: PawnHistory,
    pub continuation: ContinuationHistory,
    pub correction: CorrectionHistory,
}

/// The state of one search thread.
pub struct Worker {
    pub id: usize,
    pub caches: Caches,
    pub history: Histories,
    pub path: Path,
    pub pv: PvTable,
    pub root_moves: Vec<RootMove>,
    /// First root move of the line that is being searched (MultiPV).
    pub pv_index: usize,
    pub root_depth: Depth,
    pub seldepth: usize,
    pub nodes: u64,
    /// Null moves are not tried above this ply while a null-move cutoff is verified.
    pub null_move_from: usize,
    pub task: Arc<Task>,
    pub stopped: bool,
    /// The time for this move was used up while pondering: answer at `ponderhit`.
    pub enough: bool,
    next_check: u64,
    frames: Vec<Frame>,
    reductions: Box<[[i32; 64]; 64]>,
}

impl Worker {
    pub fn new(id: usize, pawn_hash_mib: usize, task: Arc<Task>) -> Worker {
        let mut reductions = Box::new([[0; 64]; 64]);
        for (depth, row) in reductions.iter_mut().enumerate().skip(1) {
            for (number, reduction) in row.iter_mut().enumerate().skip(1) {
                let product = (depth as f64).ln() * (number as f64).ln();
                *reduction = LMR_BASE + (f64::from(LMR_STEP) * product) as i32;
            }
        }
        Worker {
            id,
            caches: Caches::new(pawn_hash_mib),
            history: Histories {
                quiets: QuietHistory::new(),
                captures: CaptureHistory::new(),
                pawns: PawnHistory::new(),
                continuation: ContinuationHistory::new(),
                correction: CorrectionHistory::new(),
            },
            path: Path::default(),
            pv: PvTable::new(),
            root_moves: Vec::new(),
            pv_index: 0,
            root_depth: Depth::ZERO,
            seldepth: 0,
            nodes: 0,
            null_move_from: 0,
            task,
            stopped: false,
            enough: false,
            next_check: 0,
            frames: vec![Frame::default(); MAX_PLY + FRAME_OFFSET + 4],
            reductions,
        }
    }

    /// Forgets what belongs to a game.
    pub fn clear(&mut self) {
        self.caches.clear();
        self.history.quiets.clear();
        self.history.captures.clear();
        self.history.pawns.clear();
        self.history.continuation.clear();
        self.history.correction.clear();
    }

    /// Takes up a new task.
    pub fn begin(&mut self, task: Arc<Task>, root_moves: Vec<RootMove>) {
        self.path = task.path.clone();
        self.task = task;
        self.root_moves = root_moves;
        self.pv_index = 0;
        self.root_depth = Depth::ZERO;
        self.seldepth = 0;
        self.nodes = 0;
        self.next_check = 0;
        self.null_move_from = 0;
        self.stopped = false;
        self.enough = false;
        self.frames.fill(Frame::default());
        self.caches.reset_counters();
    }

    /// The frame of a ply.
    pub fn frame(&self, ply: Ply) -> &Frame {
        &self.frames[ply.index() + FRAME_OFFSET]
    }

    /// The frame of a ply, to be changed.
    pub fn frame_mut(&mut self, ply: Ply) -> &mut Frame {
        &mut self.frames[ply.index() + FRAME_OFFSET]
    }

    /// The frame `back` plies nearer to the root (at most six; empty ones lie before the root).
    pub fn frame_before(&self, ply: Ply, back: usize) -> &Frame {
        &self.frames[(ply.index() + FRAME_OFFSET).saturating_sub(back)]
    }

    /// The move played `back` plies before `ply`.
    pub fn moved_before(&self, ply: Ply, back: usize) -> MoveIndex {
        self.frame_before(ply, back).moved
    }

    /// Makes a move on the path: counts the node and tells the table what comes.
    pub fn make(&mut self, position: &Position, m: Move, ply: Ply) -> Position {
        let child = position.play(m);
        self.task.table.prefetch(child.key());
        self.frame_mut(ply).moved = MoveIndex::new(position.turn(), m);
        self.path.push(&child);
        self.nodes += 1;
        child
    }

    /// Passes.
    pub fn make_null(&mut self, position: &Position, ply: Ply) -> Option<Position> {
        let child = position.null_move()?;
        self.task.table.prefetch(child.key());
        self.frame_mut(ply).moved = MoveIndex::default();
        self.path.push_null(&child);
        self.nodes += 1;
        Some(child)
    }

    /// Takes the last move back.
    pub fn unmake(&mut self) {
        self.path.pop();
    }

    /// Has the search been stopped? Looks at clock and flags from time to time.
    pub fn is_stopped(&mut self) -> bool {
        if self.nodes >= self.next_check && !self.stopped {
            self.check_limits();
        }
        self.stopped
    }

    fn check_limits(&mut self) {
        let task = &self.task;
        let signals = &task.signals;
        task.nodes[self.id].store(self.nodes, Relaxed);
        self.next_check = self.nodes + CHECK_INTERVAL;
        let mut over = signals.stop.load(Relaxed);
        if self.id == 0 {
            over |= !signals.pondering.load(Relaxed) && (self.enough || task.clock.is_over());
            if let Some(limit) = task.limits.nodes {
                let total = task.total_nodes();
                over |= total >= limit;
                self.next_check = self.nodes + CHECK_INTERVAL.min(limit.saturating_sub(total)).max(1);
            }
        }
        // The first iteration is finished whatever happens, so that there is a move with a score, unless
        // the position explodes.
        if over && (self.root_depth > 1 || self.nodes > FIRST_ITERATION_NODES) {
            self.stopped = true;
            if self.id == 0 {
                signals.stop.store(true, Relaxed);
            }
        }
    }

    /// A draw by rule at this node: its score.
    pub fn draw(&self, position: &Position, ply: Ply) -> Option<Score> {
        if position.halfmoves() >= 100 {
            let mated = position.in_check() && !position.has_legal_move();
            return Some(if mated { Score::mated_in(ply) } else { Score::ZERO });
        }
        if let Some(Repetition::InSearch | Repetition::InGame) = self.path.repetition(ply) {
            return Some(Score::ZERO);
        }
        position.is_insufficient_material().then_some(Score::ZERO)
    }

    /// The static evaluation as the table stores it.
    pub fn evaluate(&mut self, position: &Position) -> Score {
        eval::evaluate(position, &mut self.caches)
    }

    /// The evaluation as the search uses it: corrected by experience, and fading as the fifty-move
    /// counter grows.
    pub fn correct(&self, raw: Score, position: &Position, ply: Ply) -> Score {
        let correction = self.history.correction.get(position, self.moved_before(ply, 1));
        let halfmoves = position.halfmoves().min(100) as i32;
        Score((raw.0 + correction) * (200 - halfmoves) / 200).clamp_evaluation()
    }

    /// Promise of a quiet move: butterfly, pawn-structure and continuation history.
    pub fn quiet_score(&self, us: Color, pawns: PawnKey, ply: Ply, m: Move) -> i32 {
        let history = &self.history;
        let now = MoveIndex::new(us, m);
        let follow = |back| history.continuation.get(self.moved_before(ply, back), now);
        history.quiets.get(us, self.frame(ply).threats, m)
            + history.pawns.get(pawns, us, m)
            + follow(1)
            + follow(2)
            + follow(4) / 2
            + follow(6) / 2
    }

    /// Adds `bonus` to every history of a quiet move.
    pub fn reward_quiet(&mut self, position: &Position, ply: Ply, m: Move, bonus: i32) {
        let us = position.turn();
        let now = MoveIndex::new(us, m);
        let threats = self.frame(ply).threats;
        for (back, share) in [(1, 4), (2, 4), (4, 2), (6, 1)] {
            let earlier = self.moved_before(ply, back);
            self.history.continuation.update(earlier, now, bonus * share / 4);
        }
        self.history.quiets.update(us, threats, m, bonus);
        self.history.pawns.update(position.keys().pawns, us, m, bonus);
    }

    /// The base reduction of the `number`th move at `depth`, in 1024ths of a ply.
    pub fn base_reduction(&self, depth: Depth, number: usize) -> i32 {
        self.reductions[depth.get().clamp(0, 63) as usize][number.min(63)]
    }
}
