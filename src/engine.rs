//! The engine without text: positions and limits in, [`Event`](crate::search::Event)s out.

mod opening;

use std::{
    path::{Path as FilePath, PathBuf},
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use crossbeam::utils::CachePadded;
use opening::{LastAnswer, Opening};
use shakmaty::{Move, uci::UciMove};
use thiserror::Error;

use crate::{
    book::{BookError, Choice},
    position::{Path, Position},
    search::{Clock, Event, Limits, Pool, Probing, Signals, Sink, Tablebases, Task},
    syzygy::{self, Tablebase},
    tt::Table,
    types::Depth,
};

/// A move list that does not fit its position.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("move {number} of the list, {uci}, is not legal in {fen}")]
pub struct IllegalMove {
    /// Place in the list, from 1.
    pub number: usize,
    /// The move as given.
    pub uci: UciMove,
    /// The position in which it was to be played.
    pub fen: String,
}

/// Memory for a table could not be had.
#[derive(Copy, Clone, Debug, Error, PartialEq, Eq)]
#[error("no memory for a hash table of {requested} MiB; {kept} MiB are in use")]
pub struct OutOfMemory {
    /// What was asked for, in MiB.
    pub requested: usize,
    /// What the engine goes on with, in MiB.
    pub kept: usize,
}

/// Stops a search from another thread.
#[derive(Clone)]
pub struct StopHandle(Arc<Signals>);

impl StopHandle {
    /// Ends the present search as soon as possible; nothing happens if there is none.
    pub fn stop(&self) {
        self.0.stop.store(true, Relaxed);
    }
}

/// A complete engine: position, tables and search threads.
pub struct Engine {
    sink: Arc<Sink>,
    root: Position,
    path: Path,
    table: Arc<Table>,
    pool: Pool,
    signals: Arc<Signals>,
    multi_pv: usize,
    move_overhead: Duration,
    never_clear_hash: bool,
    tables: Option<Arc<Tablebase>>,
    probe_rules: ProbeRules,
    opening: Opening,
}

/// When tablebases are asked, and by which rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProbeRules {
    /// Positions with as many men as the largest table are looked up from this depth on, in plies.
    pub min_depth: i32,
    /// Positions with more men are not looked up; 0 for none at all.
    pub max_men: usize,
    /// Does the fifty-move rule count?
    pub fifty: bool,
}

impl Default for ProbeRules {
    fn default() -> ProbeRules {
        ProbeRules { min_depth: 1, max_men: syzygy::MAX_MEN, fifty: true }
    }
}

impl Engine {
    /// Default size of the transposition table in MiB.
    pub const DEFAULT_HASH: usize = 16;
    /// Default size of each thread's pawn hash table in MiB.
    pub const DEFAULT_PAWN_HASH: usize = 4;
    /// Default time kept for transport, per move.
    pub const DEFAULT_MOVE_OVERHEAD: Duration = Duration::from_millis(10);

    /// An engine at the start position that reports to `sink`.
    pub fn new(sink: Arc<Sink>) -> Engine {
        let signals = Arc::<Signals>::default();
        let last = Arc::<Mutex<LastAnswer>>::default();
        let sink = with_last_answer(sink, Arc::clone(&last));
        let root = Position::default();
        Engine {
            sink,
            path: Path::new(&root),
            root,
            table: Arc::new(Table::new(Engine::DEFAULT_HASH).unwrap_or_else(Table::minimal)),
            pool: Pool::new(Arc::clone(&signals), Engine::DEFAULT_PAWN_HASH),
            signals,
            multi_pv: 1,
            move_overhead: Engine::DEFAULT_MOVE_OVERHEAD,
            never_clear_hash: false,
            tables: None,
            probe_rules: ProbeRules::default(),
            opening: Opening::new(last),
        }
    }

    /// A handle that stops searches from another thread, at once, also while this one is busy.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.signals))
    }

    /// Sets the position to search: `start` and the moves played from it. It holds from the next `go` on.
    ///
    /// # Errors
    /// The first illegal move; the position before stays.
    pub fn set_position(&mut self, start: Position, moves: &[UciMove]) -> Result<(), IllegalMove> {
        let mut path = Path::new(&start);
        let start_key = start.key();
        let mut position = start;
        for (index, &uci) in moves.iter().enumerate() {
            let m = uci.to_move(position.chess()).map_err(|_| IllegalMove {
                number: index + 1,
                uci,
                fen: position.fen(),
            })?;
            position = position.play(m);
            path.push(&position);
        }
        path.trim();
        let followed = self.opening.follow(start_key, moves);
        self.complain_about_book(followed);
        self.root = position;
        self.path = path;
        Ok(())
    }

    /// The position set last.
    pub fn position(&self) -> &Position {
        &self.root
    }

    /// Forgets what belongs to the game: histories, and the table unless it is never to be cleared. Waits
    /// for a running search.
    pub fn new_game(&mut self) {
        self.pool.clear();
        self.conclude_game();
        if !self.never_clear_hash {
            self.clear_hash();
        }
    }

    /// Starts a search that began counting at `start` and returns at once. A search that still runs is
    /// stopped first, and its `Finished` comes before.
    pub fn go(&mut self, limits: Limits, start: Instant) {
        self.stop();
        self.wait();
        self.opening.answering(&self.root);
        if let Some(m) = self.book_move(&limits) {
            (self.sink)(Event::Finished { best: Some(m), ponder: None });
            return;
        }
        self.signals.stop.store(false, Relaxed);
        self.signals.pondering.store(limits.ponder, Relaxed);
        self.pool.start(Task {
            root: self.root.clone(),
            path: self.path.clone(),
            clock: Clock::new(&limits, start, self.move_overhead),
            limits,
            multi_pv: self.multi_pv,
            table: Arc::clone(&self.table),
            signals: Arc::clone(&self.signals),
            nodes: (0..self.pool.len()).map(|_| CachePadded::default()).collect(),
            sink: Arc::clone(&self.sink),
            tablebases: self.tablebases(),
        });
    }

    /// A book move, where it may answer in place of a search: not in analysis, and not while pondering.
    fn book_move(&mut self, limits: &Limits) -> Option<Move> {
        let analysis = limits.infinite || limits.ponder || limits.mate.is_some();
        if analysis || !limits.search_moves.is_empty() {
            return None;
        }
        self.opening.choose(&self.root)
    }

    /// Plays from the book, or does not.
    pub fn set_own_book(&mut self, on: bool) {
        self.opening.enabled = on;
    }

    /// Uses the Polyglot book in a file; the engine's own if there is no path.
    ///
    /// # Errors
    /// See [`BookError`]; the book before stays in use.
    pub fn set_book_file(&mut self, path: Option<&FilePath>) -> Result<(), BookError> {
        self.opening.set_file(path)
    }

    /// The book answers in the first so many plies of a game.
    pub fn set_book_depth(&mut self, plies: usize) {
        self.opening.depth = plies;
    }

    /// How a book move is chosen.
    pub fn set_book_choice(&mut self, choice: Choice) {
        self.opening.choice = choice;
    }

    /// Do the results of our games move the choice of book moves?
    pub fn set_book_learning(&mut self, on: bool) {
        self.opening.learning = on;
    }

    /// The user's data directory; without one nothing is learned about books.
    pub fn set_data_folder(&mut self, folder: Option<PathBuf>) {
        self.opening.set_data_folder(folder);
    }

    /// The present game is over: what it taught about the book is written down.
    pub fn conclude_game(&mut self) {
        let concluded = self.opening.conclude();
        self.complain_about_book(concluded);
    }

    fn complain_about_book(&self, result: std::io::Result<()>) {
        if let Err(error) = result {
            let text = format!(
                "the result of the last game is not in the book's copy ({error}); BookLearning turns it off"
            );
            (self.sink)(Event::Message(text));
        }
    }

    /// What the tables say about the root, and how the search may ask them.
    fn tablebases(&self) -> Tablebases {
        let Some(tables) = &self.tables else { return Tablebases::default() };
        let rules = self.probe_rules;
        let max_men = rules.max_men.min(tables.max_men());
        let few = self.root.board().occupied().count() <= max_men;
        let ranking = if few { tables.rank(&self.root, &self.path, rules.fifty) } else { None };
        for complaint in tables.take_complaints() {
            (self.sink)(Event::Message(complaint));
        }
        let tables = Arc::clone(tables);
        let probing = Probing { tables, max_men, min_depth: Depth(rules.min_depth), fifty: rules.fifty };
        Tablebases::new(Some(probing), ranking)
    }

    /// Ends the present search as soon as possible.
    pub fn stop(&self) {
        self.signals.stop.store(true, Relaxed);
    }

    /// The expected move was played: the present search now runs on our own clock.
    pub fn ponder_hit(&self) {
        self.signals.pondering.store(false, Relaxed);
    }

    /// Does a search run?
    pub fn is_searching(&self) -> bool {
        self.pool.is_searching()
    }

    /// Waits until no search runs.
    pub fn wait(&self) {
        self.pool.wait();
    }

    /// Sets the size of the transposition table in MiB; it is empty afterwards. Waits for a running search.
    ///
    /// # Errors
    /// No memory: an empty table of the size before stays in use.
    pub fn set_hash(&mut self, mib: usize) -> Result<(), OutOfMemory> {
        self.wait();
        let before = self.table.mib();
        // The old table goes first, so that both need not fit at once.
        self.table = Arc::new(Table::minimal());
        let table = Table::new(mib).or_else(|| Table::new(before)).unwrap_or_else(Table::minimal);
        table.clear(self.pool.len());
        let kept = table.mib();
        self.table = Arc::new(table);
        if kept < mib { Err(OutOfMemory { requested: mib, kept }) } else { Ok(()) }
    }

    /// Empties the transposition table. Waits for a running search.
    pub fn clear_hash(&mut self) {
        self.wait();
        self.table.clear(self.pool.len());
    }

    /// Keeps the table over [`Engine::new_game`].
    pub fn set_never_clear_hash(&mut self, keep: bool) {
        self.never_clear_hash = keep;
    }

    /// Sets the number of search threads. Waits for a running search.
    pub fn set_threads(&mut self, threads: usize) {
        self.pool.resize(threads);
    }

    /// Sets the size of each thread's pawn hash table in MiB. Waits for a running search.
    pub fn set_pawn_hash(&mut self, mib: usize) {
        self.pool.set_pawn_hash(mib);
    }

    /// Sets the number of lines to report; takes effect with the next search.
    pub fn set_multi_pv(&mut self, lines: usize) {
        self.multi_pv = lines.max(1);
    }

    /// Sets the time kept for transport, per move; takes effect with the next search.
    pub fn set_move_overhead(&mut self, overhead: Duration) {
        self.move_overhead = overhead;
    }

    /// Uses the Syzygy tables in the folders of `list` (separated as in the variable `PATH`) from the next
    /// search on; none if it is empty. What was found, and what could not be used, is told by messages.
    pub fn set_syzygy_path(&mut self, list: &str) {
        self.tables = None;
        let list = list.trim();
        if list.is_empty() || list == "<empty>" {
            return;
        }
        let (tables, complaints) = Tablebase::open(list);
        for complaint in complaints {
            (self.sink)(Event::Message(complaint));
        }
        let (files, men) = (tables.files(), tables.max_men());
        if files > 0 {
            (self.sink)(Event::Message(format!("found {files} tablebase files, up to {men} men")));
            self.tables = Some(Arc::new(tables));
        } else {
            (self.sink)(Event::Message("no tablebase files found; playing without".to_owned()));
        }
    }

    /// When tablebases are asked, and by which rules; takes effect with the next search.
    pub fn probe_rules_mut(&mut self) -> &mut ProbeRules {
        &mut self.probe_rules
    }

    /// Hits and probes of the pawn hash tables in the last search.
    pub fn pawn_hash_hits(&self) -> (u64, u64) {
        self.pool.pawn_hits()
    }
}

/// A sink that also keeps the last score of the first line and the answer.
fn with_last_answer(sink: Arc<Sink>, last: Arc<Mutex<LastAnswer>>) -> Arc<Sink> {
    Arc::new(move |event| {
        match &event {
            Event::Line(line) if line.multi_pv == 1 => {
                last.lock().unwrap_or_else(PoisonError::into_inner).score = Some(line.score);
            }
            Event::Finished { best, .. } => {
                last.lock().unwrap_or_else(PoisonError::into_inner).best = *best;
            }
            _ => {}
        }
        sink(event);
    })
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop();
        self.wait();
        self.conclude_game();
    }
}
