//! One search thread: its line, its histories, its share of the common state.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use shakmaty::Move;

use super::{
    frame::Frame,
    history::{
        CaptureHistory, ContinuationHistory, CorrectionHistory, MoveIndex, PawnHistory, Promise, QuietHistory,
    },
    params::*,
    pv::PvTable,
    root::RootMove,
    task::Task,
};
use crate::{
    eval::{self, Caches},
    learn::policy::Course,
    position::{Path, Position, Repetition, is_noisy},
    tt::Hit,
    types::{Depth, MAX_PLY, Ply, Score},
};

/// Nodes between two looks at clock and stop flag.
const CHECK_INTERVAL: u64 = 512;
/// A first iteration of more nodes than this may be stopped.
const FIRST_ITERATION_NODES: u64 = 20_000;
/// Frames before the root, so that earlier plies can always be asked for.
const FRAME_OFFSET: usize = 6;

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
    /// What learning wants to know of this search.
    pub course: Course,
    pub learned_cutoffs: u64,
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
            course: Course::default(),
            learned_cutoffs: 0,
            null_move_from: 0,
            task,
            stopped: false,
            enough: false,
            next_check: 0,
            frames: vec![Frame::default(); MAX_PLY + FRAME_OFFSET + 4],
            reductions: base_reductions(),
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
        self.course = Course::default();
        self.learned_cutoffs = 0;
        self.next_check = 0;
        self.null_move_from = 0;
        self.stopped = false;
        self.enough = false;
        // Who resumes keeps the killers: gone on from a finished iteration, one thread searches the same tree.
        if self.task.resumed.is_none() {
            self.frames.fill(Frame::default());
        }
        self.caches.reset_counters();
        if cfg!(feature = "tune") {
            self.reductions = base_reductions();
        }
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

    /// Makes a move on the path and brings near what its node will ask for: the table's line, which is the
    /// furthest away, by a guess before anything else is done.
    pub fn make(&mut self, position: &Position, m: Move, ply: Ply) -> Position {
        self.task.table.prefetch(position.keys().guess(m, position.turn()));
        let child = position.play(m);
        self.caches.prefetch(&child);
        self.history.correction.prefetch(&child);
        let frame = self.frame_mut(ply);
        frame.moved = MoveIndex::new(position.turn(), m);
        frame.played = Some(m);
        self.path.push(&child);
        child
    }

    /// Passes.
    pub fn make_null(&mut self, position: &Position, ply: Ply) -> Option<Position> {
        let child = position.null_move()?;
        self.task.table.prefetch(child.key());
        let frame = self.frame_mut(ply);
        frame.moved = MoveIndex::default();
        frame.played = None;
        frame.number = 0;
        self.path.push_null(&child);
        Some(child)
    }

    /// Takes the last move back.
    pub fn unmake(&mut self) {
        self.path.pop();
    }

    /// Enters a node: counts it. Has the search been stopped? (Looks at clock and flags from time to time.)
    ///
    /// A node is one visit to a position, by the search or by quiescence, as Ethereal counts too. (To count moves
    /// made instead, as Stockfish does, gives some 4 % less: a move may be searched twice, shallow and deep.)
    pub fn enter(&mut self) -> bool {
        if self.nodes >= self.next_check && !self.stopped {
            self.check_limits();
        }
        self.nodes += u64::from(!self.stopped);
        self.stopped
    }

    /// Shows how much has been searched.
    pub fn show_counts(&self) {
        self.task.progress.count(self.id, self.nodes, self.learned_cutoffs, self.caches.pawn_hits());
    }

    fn check_limits(&mut self) {
        self.show_counts();
        let task = &self.task;
        let signals = &task.signals;
        self.next_check = self.nodes + CHECK_INTERVAL;
        let mut over = signals.stop.load(Relaxed) || task.over.load(Relaxed);
        if self.id == 0 {
            let total = task.progress.nodes();
            over |= !signals.pondering.load(Relaxed) && (self.enough || task.clock.is_over(total));
            if let Some(limit) = task.limits.nodes {
                over |= total >= limit;
                self.next_check = self.nodes + CHECK_INTERVAL.min(limit.saturating_sub(total)).max(1);
            }
        }
        // The first thread finishes its first iteration whatever happens, so that there is a move with a
        // score, unless the position explodes.
        if over && (self.id != 0 || self.root_depth > 1 || self.nodes > FIRST_ITERATION_NODES) {
            self.stopped = true;
        }
    }

    /// What a draw is worth in this position.
    pub fn draw_score(&self, position: &Position) -> Score {
        self.task.style.draw(position, &self.task.root)
    }

    /// A draw by rule at this node: its score.
    pub fn draw(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        if position.halfmoves() >= 100 {
            let mated = position.in_check() && !position.has_legal_move();
            self.path.rest_on_counter();
            return Some(if mated { Score::mated_in(ply) } else { self.draw_score(position) });
        }
        if let Some(Repetition::InSearch | Repetition::InGame) = self.path.repetition(ply) {
            self.path.rest_on_repetition(self.path.repeats_after());
            return Some(self.draw_score(position));
        }
        position.is_insufficient_material().then(|| self.draw_score(position))
    }

    /// Can the side to move repeat an earlier position with a draw? Then it has at least that.
    pub fn can_repeat(&mut self, position: &Position, ply: Ply) -> bool {
        let back = self.path.upcoming_repetition(position, ply);
        if let Some(back) = back {
            self.path.rest_on_repetition(back);
        }
        back.is_some()
    }

    /// The score of this node came from the table: it rests on what the stored one rested on.
    pub fn rest_on(&mut self, hit: Hit) {
        if let Some(taint) = hit.taint() {
            self.path.rest_on_taint(taint.reach());
        }
    }

    /// The result of a node is found. If it is not the score of a draw, some other line decided it, and what
    /// was met on the way is no part of it.
    pub fn settle(&mut self, score: Score) {
        if score.0.abs() != self.task.style.contempt.abs() {
            self.path.rest_on_nothing();
        }
    }

    /// The static evaluation as the table stores it.
    pub fn evaluate(&mut self, position: &Position) -> Score {
        let evaluation = eval::evaluate(position, &mut self.caches);
        match self.task.style.noise {
            None => evaluation,
            Some(noise) => noise.disturb(evaluation, position.key()),
        }
    }

    /// The evaluation as the search uses it: corrected by experience, and fading as the fifty-move
    /// counter grows.
    pub fn correct(&self, raw: Score, position: &Position, ply: Ply) -> Score {
        let correction = self.history.correction.get(position, self.moved_before(ply, 1));
        let halfmoves = position.halfmoves().min(100) as i32;
        Score((raw.0 + correction) * (200 - halfmoves) / 200).clamp_evaluation()
    }

    /// What the histories promise of the quiet moves of a node.
    pub fn promise(&self, position: &Position, ply: Ply) -> Promise<'_> {
        let history = &self.history;
        Promise {
            us: position.turn(),
            threats: self.frame(ply).threats,
            quiets: &history.quiets,
            structure: history.pawns.with(position.keys().pawns),
            follow: [1, 2, 4, 6].map(|back| history.continuation.after(self.moved_before(ply, back))),
        }
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

    /// The quiet move that led to `ply`, if it was one.
    fn quiet_reply(&self, ply: Ply) -> Option<Move> {
        self.frame_before(ply, 1).played.filter(|&m| !is_noisy(m))
    }

    /// The side to move at `ply` finds nothing: the quiet move that led here was good.
    pub fn reward_reply(&mut self, position: &Position, ply: Ply, bonus: i32) {
        let Some(m) = self.quiet_reply(ply) else { return };
        let them = !position.turn();
        let threats = self.frame_before(ply, 1).threats;
        self.history.quiets.update(them, threats, m, bonus);
        self.follow_reply(ply, bonus);
    }

    /// The side to move at `ply` refutes at once: the quiet move that led here was bad.
    pub fn blame_reply(&mut self, ply: Ply, malus: i32) {
        if self.quiet_reply(ply).is_some() {
            self.follow_reply(ply, -malus);
        }
    }

    fn follow_reply(&mut self, ply: Ply, bonus: i32) {
        let now = self.moved_before(ply, 1);
        for back in [1, 2] {
            let earlier = self.moved_before(ply, 1 + back);
            self.history.continuation.update(earlier, now, bonus);
        }
    }

    /// What the evaluations before and after the opponent's quiet move say about it.
    pub fn judge_reply(&mut self, position: &Position, ply: Ply, evaluation: Score) {
        let before = self.frame_before(ply, 1).evaluation;
        if before != Score::NONE
            && let Some(m) = self.quiet_reply(ply)
        {
            let loss = before.0 + evaluation.0;
            let bonus = (-loss * reply_step()).clamp(-reply_max(), reply_max());
            let threats = self.frame_before(ply, 1).threats;
            self.history.quiets.update(!position.turn(), threats, m, bonus);
        }
    }

    /// The base reduction of the `number`th move at `depth`, in 1024ths of a ply.
    pub fn base_reduction(&self, depth: Depth, number: usize) -> i32 {
        self.reductions[depth.get().clamp(0, 63) as usize][number.min(63)]
    }
}

fn base_reductions() -> Box<[[i32; 64]; 64]> {
    let logarithms: [f64; 64] = std::array::from_fn(|number| (number as f64).ln());
    let mut reductions = Box::new([[0; 64]; 64]);
    for (depth, row) in reductions.iter_mut().enumerate().skip(1) {
        for (number, reduction) in row.iter_mut().enumerate().skip(1) {
            let product = logarithms[depth] * logarithms[number];
            *reduction = lmr_base() + (f64::from(lmr_step()) * product) as i32;
        }
    }
    reductions
}
