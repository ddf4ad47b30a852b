//! What the user sets: tables, threads, time, evaluation and strength. (What belongs to books, tablebases, hash files and
//! learning is set where it is used.)

use std::{path::Path, sync::Arc};

use super::{
    Engine, OutOfMemory, StrengthLimits,
    evaluation::{EvalFileError, EvaluationChoice, EvaluationKind, read_network},
};
#[cfg(any(feature = "tune", test))]
use crate::search::Observer;
use crate::{
    eval::net::Network,
    position::PathHash,
    search::{NodeClock, NodeRate},
    syzygy::Tablebase,
    tt::Table,
};

impl Engine {
    /// Sets the size of the transposition table in MiB; it is empty afterwards, unless it has that size. 0 counts as 1.
    /// Waits for a running search.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the memory is not available; then it names the size in use.
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

    /// Empties the transposition table and the histories. Waits for a running search.
    pub fn clear_hash(&mut self) {
        self.pool.clear();
        self.table.clear(self.pool.len());
        self.contempt_side = None;
    }

    /// Sets which part of the path must match before a stored score is used. If it changes, the table is emptied:
    /// path checks of another mode mean nothing. A hash file of another mode is closed untouched. Waits for a running
    /// search.
    pub fn set_path_hash(&mut self, mode: PathHash) {
        if mode != self.path_hash {
            self.clear_hash();
            self.path_hash = mode;
            self.hash_file.reopen();
        }
    }

    /// Sets the number of search threads and says how many there are: fewer if the system gives no more. 0 counts as 1; the
    /// UCI option allows 1 to 1,024. Waits for a running search.
    pub fn set_threads(&mut self, threads: usize) -> usize {
        self.pool.resize(threads);
        self.pool.len()
    }

    /// Sets the size of each thread's pawn hash table in MiB; they are empty afterwards. Waits for a running
    /// search.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the memory is not available; then it names the size in use.
    pub fn set_pawn_hash(&mut self, mib: usize) -> Result<(), OutOfMemory> {
        let kept = self.pool.set_pawn_hash(mib);
        if kept < mib { Err(OutOfMemory { requested: mib, kept }) } else { Ok(()) }
    }

    /// Shows `observer` every position that a search evaluates from now on. Waits for a running search.
    #[cfg(any(feature = "tune", test))]
    pub fn observe(&mut self, observer: &Observer) {
        self.pool.observe(observer);
    }

    /// Counts time in nodes at this rate; `None`: by the clock. Takes effect with the next search; the time
    /// left is then that of its `go`.
    pub fn set_node_rate(&mut self, rate: Option<NodeRate>) {
        self.node_rate = rate;
        self.node_clock = NodeClock::default();
    }

    /// Changes how the engine plays. The table is emptied if scores depend on the change. Waits for a running
    /// search.
    pub fn set_strength(&mut self, change: impl FnOnce(&mut StrengthLimits)) {
        let before = self.strength_limits;
        change(&mut self.strength_limits);
        let player =
            |limits: &StrengthLimits| (limits.is_limited().then(|| limits.limit()), limits.strength());
        if player(&self.strength_limits) != player(&before) {
            self.clear_hash();
        }
    }

    /// The network: that of the file set last, or the one inside the program.
    pub fn network(&self) -> Arc<Network> {
        self.evaluation.network()
    }

    /// Takes over the evaluation and the tablebases of another engine.
    pub(super) fn evaluate_as(&mut self, evaluation: EvaluationChoice, tables: Option<Arc<Tablebase>>) {
        self.evaluation = evaluation;
        self.tables = tables;
        self.renew_evaluation();
    }

    /// Sets the kind of evaluation. The table is emptied: its scores come from the other one. Waits for a running
    /// search.
    pub fn set_evaluation(&mut self, kind: EvaluationKind) {
        if kind != self.evaluation.kind {
            self.evaluation.kind = kind;
            self.renew_evaluation();
        }
    }

    /// Sets the network from a file, or the one inside the program. Waits for a running search.
    ///
    /// # Errors
    /// The file cannot be read or is not a network for this engine: the network before stays.
    pub fn set_eval_file(&mut self, file: Option<&Path>) -> Result<(), EvalFileError> {
        let before = self.evaluation_id();
        self.evaluation.network = file.map(read_network).transpose()?;
        // Some GUIs send every option, unchanged ones too.
        if self.evaluation_id() != before {
            self.renew_evaluation();
        }
        Ok(())
    }

    fn renew_evaluation(&mut self) {
        self.wait();
        // The scores of the game so far rest on the old evaluation: it is learned from before the change.
        self.close_learning();
        self.pool.set_evaluation(self.evaluation.evaluation());
        self.clear_hash();
        self.hash_file.reopen();
    }
}
