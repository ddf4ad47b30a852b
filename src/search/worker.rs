//! The state of one search thread, and the basic operations of a node: make a move, count the node, evaluate.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use shakmaty::{Color, Move};

use super::{
    history::{
        ButterflyHistory, CaptureHistory, ContinuationHistory, CorrectionHistory, MoveIndex, PawnHistory,
    },
    node_state::{NodeEval, NodeKind},
    params::*,
    progress::ThreadResult,
    pv::PvTable,
    root_move::RootMove,
    stack::StackEntry,
    task::SearchTask,
};
use crate::{
    eval::Evaluator,
    position::{Position, PositionPath},
    tt::{Hit, ScoreWindow},
    types::{Depth, Iterations, MAX_PLY, Ply, Score},
};

/// Nodes between two checks of the clock and the stop flag.
const CHECK_INTERVAL: u64 = 512;
/// The first iteration may be stopped only after this many nodes.
const FIRST_ITERATION_NODES: u64 = 20_000;
/// Stack entries before the root, so that the six plies before a node always have one.
const STACK_OFFSET: usize = 6;

/// The history tables of one thread.
pub struct Histories {
    pub butterfly: ButterflyHistory,
    pub captures: CaptureHistory,
    pub pawns: PawnHistory,
    pub continuation: ContinuationHistory,
    pub correction: CorrectionHistory,
}

impl Histories {
    fn new() -> Histories {
        Histories {
            butterfly: ButterflyHistory::new(),
            captures: CaptureHistory::new(),
            pawns: PawnHistory::new(),
            continuation: ContinuationHistory::new(),
            correction: CorrectionHistory::new(),
        }
    }
}

/// Called with each position that a search evaluates.
#[cfg(any(feature = "tune", test))]
pub type Observer = Arc<dyn Fn(&Position) + Send + Sync>;

/// The state of one search thread.
pub struct Worker {
    pub id: usize,
    pub evaluator: Evaluator,
    pub history: Histories,
    pub path: PositionPath,
    pub pv: PvTable,
    pub root_moves: Vec<RootMove>,
    /// What this search has found.
    pub found: ThreadResult,
    /// The last finished iteration that was printed, of this search or the one that it resumes.
    pub printed: Option<ThreadResult>,
    /// The line being searched (MultiPV), from 0. The root moves before this index begin better lines.
    pub pv_index: usize,
    pub root_depth: Depth,
    pub seldepth: usize,
    pub nodes: u64,
    /// The finished iterations, for the learning file.
    pub iterations: Iterations,
    pub learned_cutoffs: u64,
    pub tb_hits: u64,
    /// Null moves are not tried before this ply: 0, except while a null-move cutoff is verified.
    pub nmp_min_ply: usize,
    pub task: Arc<SearchTask>,
    pub stopped: bool,
    /// The time for this move was used up while pondering: the search ends at `ponderhit`.
    pub time_used_up: bool,
    /// Called with every position whose evaluation is computed, not looked up in the table.
    #[cfg(any(feature = "tune", test))]
    pub observer: Option<Observer>,
    next_check: u64,
    stack: Vec<StackEntry>,
    reductions: Box<[[i32; 64]; 64]>,
}

impl Worker {
    pub fn new(id: usize, evaluator: Evaluator, task: Arc<SearchTask>) -> Worker {
        Worker {
            id,
            evaluator,
            history: Histories::new(),
            path: PositionPath::default(),
            pv: PvTable::new(),
            root_moves: Vec::new(),
            found: ThreadResult::default(),
            printed: None,
            pv_index: 0,
            root_depth: Depth::ZERO,
            seldepth: 0,
            nodes: 0,
            iterations: Iterations::default(),
            learned_cutoffs: 0,
            tb_hits: 0,
            nmp_min_ply: 0,
            task,
            stopped: false,
            time_used_up: false,
            #[cfg(any(feature = "tune", test))]
            observer: None,
            next_check: 0,
            stack: vec![StackEntry::default(); MAX_PLY + STACK_OFFSET + 4],
            reductions: base_reductions(),
        }
    }

    /// Clears histories and caches for a new game.
    pub fn clear(&mut self) {
        self.evaluator.clear();
        self.history = Histories::new();
    }

    /// Begins a new search.
    pub fn begin(&mut self, task: Arc<SearchTask>) {
        self.path = task.path.clone();
        self.root_moves = task.root_moves();
        self.task = task;
        self.printed = None;
        self.pv_index = 0;
        self.root_depth = Depth::ZERO;
        self.seldepth = 0;
        self.nodes = 0;
        self.iterations = Iterations::default();
        self.learned_cutoffs = 0;
        self.tb_hits = 0;
        self.next_check = 0;
        self.nmp_min_ply = 0;
        self.stopped = false;
        self.time_used_up = false;
        // A resumed search keeps killers and history: so a single thread searches the same tree as without interruption.
        if self.task.resumed.is_none() {
            self.stack.fill(StackEntry::default());
            self.history.butterfly.age();
        }
        self.evaluator.reset_counters();
        if cfg!(feature = "tune") {
            self.reductions = base_reductions();
        }
    }

    /// The stack entry of a ply.
    pub fn stack(&self, ply: Ply) -> &StackEntry {
        &self.stack[ply.index() + STACK_OFFSET]
    }

    /// The stack entry of a ply, for changes.
    pub fn stack_mut(&mut self, ply: Ply) -> &mut StackEntry {
        &mut self.stack[ply.index() + STACK_OFFSET]
    }

    /// The stack entry `back` plies before `ply`, at most six; before the root they are empty.
    pub fn stack_before(&self, ply: Ply, back: usize) -> &StackEntry {
        &self.stack[(ply.index() + STACK_OFFSET).saturating_sub(back)]
    }

    /// The move made `back` plies before `ply`, as continuation history indexes it.
    pub fn move_before(&self, ply: Ply, back: usize) -> MoveIndex {
        self.stack_before(ply, back).move_index
    }

    /// Makes a move and prefetches the table entries that the child will need. The cluster of the transposition table
    /// takes longest to load, so it is prefetched first, by a key that is right for most moves.
    pub fn make(&mut self, position: &Position, m: Move, ply: Ply) -> Position {
        self.task.table.prefetch(position.keys().after_plain_move(m, position.turn()));
        let child = position.play(m);
        self.evaluator.prefetch(&child);
        self.history.correction.prefetch(&child);
        let entry = self.stack_mut(ply);
        entry.move_index = MoveIndex::new(position.turn(), m);
        entry.current_move = Some(m);
        self.path.push(&child);
        child
    }

    /// Makes a null move, if the resulting position is legal.
    pub fn make_null(&mut self, position: &Position, ply: Ply) -> Option<Position> {
        let child = position.null_move()?;
        self.task.table.prefetch(child.key());
        let entry = self.stack_mut(ply);
        entry.move_index = MoveIndex::default();
        entry.current_move = None;
        entry.move_count = 0;
        self.path.push_null(&child);
        Some(child)
    }

    /// Takes the last move back.
    pub fn unmake(&mut self) {
        self.path.pop();
    }

    /// Counts a node, and regularly checks the clock and the stop flag. Returns whether the search has been stopped.
    ///
    /// A node is one visit to a position, by the search or by quiescence, as in Ethereal. (Counting moves made instead,
    /// as Stockfish does, gives some 4 % less: a move may be searched twice, shallow and deep.)
    pub fn enter_node<N: NodeKind>(&mut self, ply: Ply) -> bool {
        if N::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply.index() + 1);
        }
        if self.nodes >= self.next_check && !self.stopped {
            self.check_limits();
        }
        self.nodes += u64::from(!self.stopped);
        self.stopped
    }

    /// Publishes the counters of this thread.
    pub fn show_counts(&self) {
        let Worker { id, nodes, learned_cutoffs, tb_hits, .. } = *self;
        self.task.progress.count(id, nodes, learned_cutoffs, tb_hits, self.evaluator.pawn_hits());
    }

    fn check_limits(&mut self) {
        self.show_counts();
        let task = &self.task;
        let signals = &task.signals;
        self.next_check = self.nodes + CHECK_INTERVAL;
        let mut over = signals.stop.load(Relaxed) || task.over.load(Relaxed);
        if self.id == 0 {
            // The nodes of all threads are summed only where they count.
            let counts_nodes = task.limits.nodes.is_some() || task.clock.counts_nodes();
            let total = if counts_nodes { task.progress.nodes() } else { self.nodes };
            over |= !signals.pondering.load(Relaxed) && (self.time_used_up || task.clock.is_over(total));
            if let Some(limit) = task.limits.nodes {
                over |= total >= limit;
                self.next_check = self.nodes + CHECK_INTERVAL.min(limit.saturating_sub(total)).max(1);
            }
        }
        // The main thread finishes its first iteration, so that there is a move with a score. The node limit is for
        // positions in which even that takes long (quiescence may explode with many queens).
        if over && (self.id != 0 || self.root_depth > 1 || self.nodes > FIRST_ITERATION_NODES) {
            self.stopped = true;
        }
    }

    /// The raw evaluation, as the table stores it.
    pub fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        #[cfg(any(feature = "tune", test))]
        if let Some(observer) = &self.observer {
            observer(position);
        }
        let raw_eval = self.evaluator.evaluate(position, ply);
        match self.task.strength.noise {
            None => raw_eval,
            Some(noise) => noise.disturb(raw_eval, position.key()),
        }
    }

    /// The static evaluation: the raw evaluation plus correction history, scaled towards zero as the fifty-move counter
    /// grows. Known draws, which are 0, and known wins against a bare king stay as they are: what lies between two positions
    /// on the way to the mate is less than a correction, or than a ply of the counter.
    pub fn correct(&self, raw_eval: Score, position: &Position, ply: Ply) -> Score {
        let has_bare_king = || Color::ALL.iter().any(|&side| position.board().by_color(side).count() == 1);
        if raw_eval == Score::ZERO || raw_eval.0.abs() >= Score::KNOWN_WIN.0 && has_bare_king() {
            return raw_eval;
        }
        let correction = self.history.correction.get(position, self.move_before(ply, 1));
        let halfmoves = position.halfmoves().min(100) as i32;
        let damping = fifty_move_damping();
        Score((raw_eval.0 + correction) * (damping - halfmoves) / damping).clamp_evaluation()
    }

    /// Evaluates a position, reusing the raw evaluation of `hit`. The bounds of its score (`tt_window`) improve the
    /// estimate, unless they make it a proven result or depend on a draw on this path: such a score may cause a cutoff,
    /// but is no evaluation.
    pub fn evaluate_node(
        &mut self,
        position: &Position,
        ply: Ply,
        hit: Option<Hit>,
        tt_window: Option<ScoreWindow>,
    ) -> NodeEval {
        let raw_eval = hit.and_then(|hit| hit.raw_eval).unwrap_or_else(|| self.evaluate(position, ply));
        let static_eval = self.correct(raw_eval, position, ply);
        let tt_window = tt_window.filter(|_| hit.is_none_or(|hit| hit.taint().is_none()));
        let clamped = tt_window.map(|window| window.clamp(static_eval));
        let eval = clamped.filter(|score| !score.is_decisive()).unwrap_or(static_eval);
        NodeEval { raw_eval: Some(raw_eval), static_eval, eval }
    }

    /// Is the static evaluation better than at the side's last turn out of check, two or four plies ago? Also true if
    /// it was in check both times; false in check.
    pub fn is_improving(&self, ply: Ply, static_eval: Score) -> bool {
        if static_eval == Score::NONE {
            return false;
        }
        let earlier = [2, 4].map(|back| self.stack_before(ply, back).static_eval);
        earlier.into_iter().find(|&eval| eval != Score::NONE).is_none_or(|eval| static_eval > eval)
    }

    /// The base reduction of a move at `depth`, by its place in the order, in 1024ths of a ply.
    pub fn base_reduction(&self, depth: Depth, move_count: usize) -> i32 {
        self.reductions[depth.get().clamp(0, 63) as usize][move_count.min(63)]
    }
}

/// `base + step * ln(depth) * ln(move_count)`, for both up to 63.
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

#[cfg(test)]
pub(super) mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;
    use crate::{
        eval::Evaluation,
        position::PathHash,
        search::{
            node_state::{Expect, Node, Window},
            progress::SearchProgress,
        },
        tt::Table,
        types::PackedMove,
    };

    /// The position of a FEN, castling as in Chess960.
    pub(in crate::search) fn position(fen: &str) -> Position {
        let setup = fen.parse::<Fen>().expect(fen).into_setup();
        Position::from_setup(setup, CastlingMode::Chess960).expect(fen)
    }

    /// A legal move.
    pub(in crate::search) fn legal(position: &Position, uci: &str) -> Move {
        position.legal_move(uci).expect(uci)
    }

    /// A thread in a search of depth 8 of `root`, with an empty table.
    pub(in crate::search) fn worker_at(root: &Position) -> Worker {
        let task = Arc::new(SearchTask {
            path: PositionPath::new(root),
            root: root.clone(),
            progress: Arc::new(SearchProgress::new(1)),
            table: Arc::new(Table::new(1).expect("memory")),
            ..SearchTask::idle(Arc::default())
        });
        let mut worker = Worker::new(0, Evaluator::new(&Evaluation::default(), 1), Arc::clone(&task));
        worker.begin(task);
        worker.path.begin_search(PathHash::default());
        worker.root_depth = Depth(8);
        worker
    }

    /// A null-window node that is expected to fail high, one ply from the root, as steps 2 to 12 would describe it; the
    /// table knows nothing.
    pub(in crate::search) fn node<'a>(
        worker: &mut Worker,
        position: &'a Position,
        beta: Score,
        depth: i32,
    ) -> Node<'a> {
        let ply = Ply::ROOT.next();
        let NodeEval { raw_eval, static_eval, eval } = worker.evaluate_node(position, ply, None, None);
        Node {
            position,
            ply,
            depth: Depth(depth),
            window: Window::null(beta - 1),
            expect: Expect::Cut,
            in_check: false,
            raw_eval,
            static_eval,
            eval,
            improving: false,
            was_pv: false,
            upcoming_repetition: false,
            tt_hit: None,
            tt_move: None,
            tt_window: None,
            tb_window: None,
            learned_window: None,
            excluded: PackedMove::NONE,
        }
    }

    #[test]
    fn known_draws_and_wins_are_not_corrected() {
        let (position, ply) = (Position::default(), Ply(1));
        let mut worker = worker_at(&position);
        let last = worker.move_before(ply, 1);
        worker.history.correction.update(&position, last, Depth(20), Score(400), Score(0));
        assert!(worker.correct(Score(1), &position, ply) > Score(1));
        assert_eq!(worker.correct(Score::ZERO, &position, ply), Score::ZERO);
        let win = Score::KNOWN_WIN;
        assert!(worker.correct(win, &position, ply) > win, "the network's, not known");
        let bare = self::position("4k3/8/8/8/8/8/8/R3K3 w Q - 40 60");
        assert_eq!(worker.correct(win, &bare, ply), win);
        assert!(worker.correct(win - 1, &bare, ply) < win - 1, "not known either");
    }

    #[test]
    fn a_position_improves_on_the_last_turn_out_of_check() {
        let mut worker = worker_at(&Position::default());
        let ply = Ply(4);
        assert!(worker.is_improving(ply, Score(-5)) && !worker.is_improving(ply, Score::NONE));
        worker.stack_mut(Ply(0)).static_eval = Score(10);
        assert!(worker.is_improving(ply, Score(11)) && !worker.is_improving(ply, Score(10)));
        worker.stack_mut(Ply(2)).static_eval = Score(20);
        assert!(worker.is_improving(ply, Score(21)) && !worker.is_improving(ply, Score(20)));
    }
}
