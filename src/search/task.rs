//! What the threads of one search share: root, limits, tables and signals.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use shakmaty::Move;

use super::{
    clock::Clock,
    event::EventSink,
    limits::Limits,
    preference::{Preference, Preferences},
    progress::SearchProgress,
    resume::{ResultStore, Resumed},
    root_move::RootMove,
    strength::Strength,
    tablebases::Tablebases,
};
use crate::{
    position::{Position, PositionPath},
    tt::{Table, file::HashFile},
};

/// One search.
pub struct SearchTask {
    pub root: Position,
    pub path: PositionPath,
    pub limits: Limits,
    pub clock: Clock,
    pub multi_pv: usize,
    pub table: Arc<Table>,
    /// The hash file, a second level below the table.
    pub hash_file: Option<Arc<HashFile>>,
    /// Are finished iterations stored, and scores of earlier roots used?
    pub analysis: bool,
    /// The result of an earlier search with this root, from which this one resumes.
    pub resumed: Option<Resumed>,
    pub signals: Arc<Signals>,
    /// What each thread has found so far.
    pub progress: Arc<SearchProgress>,
    /// Is the search over? Then the other threads stop without result. Relaxed: seen late, it costs one batch of nodes.
    pub over: AtomicBool,
    pub sink: Arc<EventSink>,
    pub tablebases: Tablebases,
    pub strength: Strength,
    /// The preferences among the root moves by the learning file.
    pub preferences: Preferences,
    /// The root move to search first, by the learning file.
    pub first_move: Option<Move>,
}

impl SearchTask {
    /// The task of a thread between searches.
    pub fn idle(signals: Arc<Signals>) -> SearchTask {
        let root = Position::default();
        let limits = Limits::default();
        SearchTask {
            path: PositionPath::new(&root),
            root,
            clock: Clock::new(&limits, Instant::now(), Duration::ZERO, None),
            limits,
            multi_pv: 1,
            table: Arc::new(Table::minimal()),
            hash_file: None,
            analysis: false,
            resumed: None,
            signals,
            progress: Arc::default(),
            over: AtomicBool::new(false),
            sink: Arc::new(|_| {}),
            tablebases: Tablebases::default(),
            strength: Strength::default(),
            preferences: Preferences::default(),
            first_move: None,
        }
    }
}

impl SearchTask {
    /// May any root move be played, and does its score alone count? Neither `searchmoves` nor the learning file says
    /// otherwise.
    pub fn is_free(&self) -> bool {
        self.limits.search_moves.is_empty() && self.preferences.is_empty()
    }

    /// The moves to search, in the order in which to begin.
    pub fn root_moves(&self) -> Vec<RootMove> {
        let wanted = &self.limits.search_moves;
        let legal = self.root.legal_moves();
        let is_free = !legal.iter().any(|m| wanted.contains(m));
        let chosen = legal.iter().filter(|m| is_free || wanted.contains(m));
        let root_move = |&m: &Move| {
            let (rank, tb_score) = (self.tablebases.rank(m), self.tablebases.score(m));
            let preference = self.preferences.of(m);
            let is_advised = preference == Some(Preference::Advised);
            RootMove { is_advised, preference, rank, tb_score, ..RootMove::new(m) }
        };
        let mut chosen: Vec<RootMove> = chosen.map(root_move).collect();
        // The sort is stable: moves of equal rank keep their order.
        chosen.sort_by_key(|root| (root.order(), Some(root.root_move()) != self.first_move));
        chosen
    }

    /// Where results of earlier searches are.
    pub fn results(&self) -> ResultStore<'_> {
        ResultStore { table: &self.table, file: self.hash_file.as_deref() }
    }
}

/// Flags that control a search from outside; they outlive it.
#[derive(Default)]
pub struct Signals {
    /// Relaxed in the search: a late stop costs one batch of nodes. `Engine::stop` and the wait for the answer are a
    /// Release/Acquire pair, so that a `ponderhit` before it is seen.
    pub stop: AtomicBool,
    /// Relaxed: a late `ponderhit` costs one batch of nodes.
    pub pondering: AtomicBool,
}
