//! What the user sets: tables, threads, time and strength. (What belongs to books, tablebases, hash files, networks and
//! learning is set where it is used.)

use std::{sync::Arc, time::Duration};

use super::{Engine, OutOfMemory, StrengthLimits};
#[cfg(feature = "tune")]
use crate::search::Observer;
use crate::{
    position::PathHash,
    search::{NodeClock, NodeRate},
    syzygy,
    tt::Table,
};

/// What takes effect with the next search, and changes nothing before.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The number of lines to report, at least 1.
    pub multi_pv: usize,
    /// Time kept for communication, per move.
    pub move_overhead: Duration,
    /// Is the table kept over [`Engine::new_game`]?
    pub never_clear_hash: bool,
    /// When tablebases are probed, and by which rules.
    pub probe_rules: ProbeRules,
    /// Are more messages sent about each search?
    pub debug: bool,
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            multi_pv: 1,
            move_overhead: Engine::DEFAULT_MOVE_OVERHEAD,
            never_clear_hash: false,
            probe_rules: ProbeRules::default(),
            debug: false,
        }
    }
}

/// When tablebases are probed, and by which rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProbeRules {
    /// Positions with as many pieces as the largest table are looked up from this depth on, in plies.
    pub min_depth: i32,
    /// Positions with more pieces are not looked up; 0 for none at all.
    pub max_pieces: usize,
    /// Does the fifty-move rule count?
    pub fifty: bool,
}

impl Default for ProbeRules {
    fn default() -> ProbeRules {
        ProbeRules { min_depth: 1, max_pieces: syzygy::MAX_PIECES, fifty: true }
    }
}

impl Engine {
    /// Sets the size of the transposition table in MiB; it is empty afterwards, unless it has that size. Waits
    /// for a running search.
    ///
    /// # Errors
    /// No memory: an empty table of the size before stays in use.
    pub fn set_hash(&mut self, mib: usize) -> Result<(), OutOfMemory> {
        self.wait();
        let before = self.table.mib();
        if before == mib {
            return Ok(());
        }
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

    /// Sets which part of the path must match before a stored score is used. If it changes, the table is emptied:
    /// path checks of another mode mean nothing. A hash file of another mode is closed untouched. Waits for a running
    /// search.
    pub fn set_path_hash(&mut self, mode: PathHash) {
        if mode != self.path_hash {
            self.clear_hash();
            self.path_hash = mode;
            self.persistent.reopen();
        }
    }

    /// Sets the number of search threads and says how many there are: fewer if the system gives no more. Waits
    /// for a running search.
    pub fn set_threads(&mut self, threads: usize) -> usize {
        self.pool.resize(threads);
        self.pool.len()
    }

    /// Sets the size of each thread's pawn hash table in MiB; they are empty afterwards. Waits for a running
    /// search.
    ///
    /// # Errors
    /// No memory: smaller ones are in use.
    pub fn set_pawn_hash(&mut self, mib: usize) -> Result<(), OutOfMemory> {
        let kept = self.pool.set_pawn_hash(mib);
        if kept < mib { Err(OutOfMemory { requested: mib, kept }) } else { Ok(()) }
    }

    /// Shows `observer` every position that a search evaluates from now on. Waits for a running search.
    #[cfg(feature = "tune")]
    pub fn observe(&mut self, observer: &Observer) {
        self.pool.observe(observer);
    }

    /// Counts time in nodes at this rate; `None`: by the clock. Takes effect with the next game.
    pub fn set_node_rate(&mut self, rate: Option<NodeRate>) {
        self.node_rate = rate;
        self.node_clock = NodeClock::default();
    }

    /// Changes how the engine plays. The table is emptied if that is another player now, whose scores are others. Waits
    /// for a running search.
    pub fn set_strength(&mut self, change: impl FnOnce(&mut StrengthLimits)) {
        let before = self.strength_limits;
        change(&mut self.strength_limits);
        let player = |limits: &StrengthLimits| {
            let StrengthLimits { limited, elo, skill, contempt, .. } = *limits;
            (limited, elo, skill, contempt, limits.strength())
        };
        if player(&self.strength_limits) != player(&before) {
            self.clear_hash();
        }
    }
}
