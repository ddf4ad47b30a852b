//! The engine without text: positions and limits in, [`Event`]s out.

mod background_study;
pub mod blocking;
mod evaluation;
mod game;
mod hash_file;
mod learn_state;
mod learning;
mod opening;
mod records;
mod setters;
mod settings;
mod stop;
mod strength;
pub mod study;
mod tablebases;
mod tree;

use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{
            AtomicBool,
            Ordering::{Relaxed, Release},
        },
    },
    time::{Duration, Instant},
};

use shakmaty::{Color, Position as _, uci::UciMove};
use thiserror::Error;

use self::{
    evaluation::EvaluationChoice,
    game::{Game, Place},
    hash_file::NamedHashFile,
    learn_state::Learning,
    stop::Background,
    tree::PlayedTree,
};
pub use self::{
    evaluation::{EvalFileError, EvaluationKind},
    learn_state::LearnOptions,
    opening::OpeningBook,
    records::learned_entry,
    settings::EngineSettings,
    strength::{ELO_RANGE, FULL_SKILL, StrengthLimits},
};
use crate::{
    learn::game::Line,
    locks::locked,
    notice::Notice,
    position::{PathHash, Position, PositionPath},
    search::{
        Clock, Event, EventSink, Limits, NodeClock, NodeRate, Pool, SearchProgress, SearchTask, Signals,
        Strength,
    },
    syzygy::Tablebase,
    tt::Table,
};

/// A move list with an illegal move.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("move {number} of the list, {uci}, is not legal in {fen}")]
pub struct IllegalMove {
    /// Number of the move in the list, from 1.
    pub number: usize,
    /// The move as given.
    pub uci: UciMove,
    /// The position in which it was to be played.
    pub fen: String,
}

/// The memory for a table is not available.
#[derive(Copy, Clone, Debug, Error, PartialEq, Eq)]
#[error("not enough memory for a table of {requested} MiB; {kept} MiB are in use: set a smaller size")]
pub struct OutOfMemory {
    /// The requested size, in MiB.
    pub requested: usize,
    /// The size now in use, in MiB.
    pub kept: usize,
}

/// How long the engine waits at its end for a stopped study to write its tree.
const STUDY_TIMEOUT: Duration = Duration::from_millis(500);

/// A complete engine: position, tables and search threads.
pub struct Engine {
    sink: Arc<EventSink>,
    root: Position,
    path: PositionPath,
    game: Arc<Mutex<Game>>,
    table: Arc<Table>,
    pool: Pool,
    signals: Arc<Signals>,
    node_rate: Option<NodeRate>,
    node_clock: NodeClock,
    hash_file: NamedHashFile,
    learning: Learning,
    study: Option<Background>,
    path_hash: PathHash,
    evaluation: EvaluationChoice,
    tables: Option<Arc<Tablebase>>,
    tree: PlayedTree,
    strength_limits: StrengthLimits,
    /// Whose draws were searched with contempt last.
    contempt_side: Option<Color>,
    /// The settings that take effect with the next search.
    pub settings: EngineSettings,
    /// The opening book.
    pub book: OpeningBook,
}

impl Engine {
    /// Default size of the transposition table in MiB.
    pub const DEFAULT_HASH: usize = 16;
    /// Default size of a new hash file in MiB.
    pub const DEFAULT_HASH_FILE_SIZE: usize = 64;
    /// Default size of each thread's pawn hash table in MiB.
    pub const DEFAULT_PAWN_HASH: usize = 4;

    /// An engine at the start position that reports to `sink`.
    pub fn new(sink: Arc<EventSink>) -> Engine {
        let signals = Arc::<Signals>::default();
        let root = Position::default();
        let game = Arc::new(Mutex::new(Game::new(&root, Arc::clone(&sink))));
        let sink = game::sink(Arc::clone(&game), sink);
        Engine {
            sink,
            path: PositionPath::new(&root),
            root,
            table: Arc::new(Table::new(Engine::DEFAULT_HASH).unwrap_or_else(Table::minimal)),
            pool: Pool::new(Arc::clone(&signals), Engine::DEFAULT_PAWN_HASH),
            signals,
            node_rate: None,
            node_clock: NodeClock::default(),
            hash_file: NamedHashFile { mib: Engine::DEFAULT_HASH_FILE_SIZE, ..NamedHashFile::default() },
            game,
            learning: Learning::default(),
            study: None,
            path_hash: PathHash::default(),
            evaluation: EvaluationChoice::default(),
            tables: None,
            tree: PlayedTree::default(),
            contempt_side: None,
            strength_limits: StrengthLimits::default(),
            settings: EngineSettings::default(),
            book: OpeningBook::new(),
        }
    }

    /// Sets the position of the next `go`: `start` and the moves played from it. If the previous position was
    /// checkmate, that game is over and is learned from.
    ///
    /// # Errors
    /// The first illegal move; the previous position stays.
    pub fn set_position(&mut self, start: Position, moves: &[UciMove]) -> Result<(), IllegalMove> {
        let mut path = PositionPath::new(&start);
        let mode = start.chess().castles().mode();
        let mut line = Line { start: start.fen(), moves: Vec::new() };
        let mut positions = vec![start.clone()];
        let mut position = start;
        for (index, &uci) in moves.iter().enumerate() {
            let m = uci.to_move(position.chess()).map_err(|_| IllegalMove {
                number: index + 1,
                uci,
                fen: position.fen(),
            })?;
            position = position.play(m);
            path.push(&position);
            line.moves.push(m.to_uci(mode));
            positions.push(position.clone());
        }
        path.trim();
        self.game().set_position(Place { line, positions });
        self.root = position;
        self.path = path;
        Ok(())
    }

    /// The position set last.
    pub fn position(&self) -> &Position {
        &self.root
    }

    /// Begins a new game: learns from the end of the last one, and clears the histories, and the table unless
    /// [`EngineSettings::never_clear_hash`] is set and the strength is not limited. Waits for a running search.
    pub fn new_game(&mut self) {
        self.stop_study();
        self.wait();
        let mut game = self.game();
        game.end();
        game.book.wait();
        drop(game);
        self.game_begins();
        self.strength_limits.new_game();
        // At limited strength the scores in the table rest on the errors of the game before.
        if self.settings.never_clear_hash && !self.strength_limits.is_limited() {
            self.pool.clear();
        } else {
            self.clear_hash();
        }
        self.start_study();
    }

    /// Starts a search whose clock runs since `start`, and returns at once. A running search is stopped first, and its
    /// `Finished` is reported before. A thread that is still busy with it joins the new search late.
    pub fn go(&mut self, mut limits: Limits, start: Instant) {
        self.stop_study();
        self.stop();
        self.pool.wait_for_answer();
        let analysis = limits.clock.is_none() && (limits.infinite || self.strength_limits.analysis);
        let begins = self.game().go(analysis, limits.ponder);
        if begins {
            self.game_begins();
        }
        if let Some(m) = self.book_move(&limits) {
            (self.sink)(Event::Finished { best: Some(m), ponder: None, result: None });
            return;
        }
        if let Some(rate) = self.node_rate {
            self.node_clock.spend(rate, self.pool.nodes());
            if let Some(clock) = &mut limits.clock {
                self.node_clock.apply_to(clock);
            }
        }
        self.strength_limits.limit_nodes(&mut limits);
        self.signals.stop.store(false, Relaxed);
        self.signals.pondering.store(limits.ponder, Relaxed);
        self.search(limits, start, analysis);
    }

    /// Another game begins than the one before.
    fn game_begins(&mut self) {
        self.node_clock = NodeClock::default();
        self.hash_file.new_game();
        self.retry_tree();
    }

    fn search(&mut self, limits: Limits, start: Instant, analysis: bool) {
        let strength = self.strength_limits.strength();
        // With contempt the draw scores in the tables belong to the side at the root.
        if strength.contempt != 0 {
            let side = self.root.turn();
            if self.contempt_side.is_some_and(|before| before != side) {
                self.clear_hash();
            }
            self.contempt_side = Some(side);
        }
        let in_tree = self.look_into_tree(&limits, analysis);
        let mut input = self.begin_search(&limits, analysis, in_tree.is_known);
        if input.advised.is_empty()
            && let Some(preferences) = self.tree_preferences(in_tree)
        {
            input.preferences = preferences;
        }
        let mut path = self.path.clone();
        path.begin_search(self.path_hash);
        let tablebases = self.tablebases(!analysis && limits.mate.is_none());
        let hash_file = self.hash_file();
        let analysis = (analysis || limits.clock.is_none() && hash_file.is_some())
            && limits.mate.is_none()
            && strength == Strength::default();
        self.table.set_analysis(analysis);
        // The preferences were perhaps not known to the earlier search.
        let resumed = if analysis && input.preferences.is_empty() {
            self.resume(&limits, &path, hash_file.as_deref(), &tablebases)
        } else {
            None
        };
        self.pool.start(SearchTask {
            root: self.root.clone(),
            path,
            clock: Clock::new(&limits, start, self.settings.move_overhead, self.node_rate),
            limits,
            multi_pv: self.settings.multi_pv,
            table: Arc::clone(&self.table),
            hash_file,
            analysis,
            resumed,
            signals: Arc::clone(&self.signals),
            progress: Arc::new(SearchProgress::new(self.pool.len())),
            over: AtomicBool::new(false),
            sink: Arc::clone(&self.sink),
            preferences: input.preferences,
            first_move: input.first_move,
            tablebases,
            strength,
        });
    }

    /// The name of the opponent from the next search on; empty if it is not known. Against one of another name another game
    /// begins.
    pub fn set_opponent(&self, name: String) {
        self.game().opponent = name;
    }

    /// The game that is being played.
    fn game(&self) -> MutexGuard<'_, Game> {
        locked(&self.game)
    }

    fn say(&self, notice: Notice) {
        (self.sink)(Event::Notice(notice));
    }

    fn say_all(&self, notices: Vec<Notice>) {
        notices.into_iter().for_each(|notice| self.say(notice));
    }

    /// Ends the current search as soon as possible.
    pub fn stop(&self) {
        // Release: a `ponderhit` before it counts (`search_and_answer`).
        self.signals.stop.store(true, Release);
    }

    /// Was the current search, if there is one, told to stop?
    pub fn is_stopping(&self) -> bool {
        self.signals.stop.load(Relaxed)
    }

    /// The expected move was played: the current search continues on our own clock.
    pub fn ponder_hit(&self) {
        self.game().ponder_hit();
        self.signals.pondering.store(false, Relaxed);
    }

    /// Is a search running that has not reported its move?
    pub fn is_searching(&self) -> bool {
        self.pool.is_searching()
    }

    /// Waits until no search runs and all threads are idle.
    pub fn wait(&self) {
        self.pool.wait();
    }

    /// Hits and probes of the pawn hash tables in the last search.
    pub fn pawn_hash_hits(&self) -> (u64, u64) {
        self.pool.pawn_hits()
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop_study();
        self.stop();
        self.wait();
        let mut game = self.game();
        game.end();
        let notices = game.memory.close();
        game.book.wait();
        drop(game);
        self.say_all(notices);
        // Its tree is then in the file itself.
        if let Some(study) = self.study.take() {
            study.join_within(STUDY_TIMEOUT);
        }
    }
}
