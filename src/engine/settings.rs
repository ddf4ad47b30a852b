//! What the user sets: the table, threads, time and learning. (Books, tablebases, hash files and strength limits set theirs
//! where they are used.)

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::{
    Engine, OutOfMemory,
    learning::{Learning, Present},
};
#[cfg(feature = "fleet")]
use crate::fleet::FleetError;
#[cfg(feature = "tune")]
use crate::search::Observer;
use crate::{
    learn::policy::Mode,
    position::PathHash,
    search::{NodeBank, NodeRate},
    tt::Table,
    types::Depth,
};

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

    /// Keeps the table over [`Engine::new_game`].
    pub fn set_never_clear_hash(&mut self, keep: bool) {
        self.never_clear_hash = keep;
    }

    /// Sets which part of the path must fit before a stored score is believed. If it changes, the table is
    /// emptied: what other modes keep of a path means nothing to this one. A hash file of another mode is
    /// closed untouched. Waits for a running search.
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

    /// Sets the number of lines to report; takes effect with the next search.
    pub fn set_multi_pv(&mut self, lines: usize) {
        self.multi_pv = lines.max(1);
    }

    /// Sets the time kept for transport, per move; takes effect with the next search.
    pub fn set_move_overhead(&mut self, overhead: Duration) {
        self.move_overhead = overhead;
    }

    /// Counts time in nodes at this rate; `None`: by the clock. Takes effect with the next game.
    pub fn set_node_rate(&mut self, rate: Option<NodeRate>) {
        self.node_rate = rate;
        self.node_bank = NodeBank::default();
    }

    /// Sets what is learned; at first nothing is. Waits for a running search.
    pub fn set_learning(&mut self, mode: Mode) {
        self.change_learning(|learning, present| learning.set_mode(mode, present));
    }

    /// Sets the learning file, none for the default one. It is opened by the next search. Waits for a running
    /// search.
    pub fn set_learn_file(&mut self, file: Option<PathBuf>) {
        self.change_learning(|learning, present| learning.set_file(file, present));
    }

    /// Sets where the learning file is if none was named. Without either nothing is learned. Waits for a
    /// running search.
    pub fn set_default_learn_file(&mut self, file: PathBuf) {
        self.change_learning(|learning, present| learning.set_default_file(file, present));
    }

    /// Uses the learning file without writing to it. Waits for a running search.
    pub fn set_learn_read_only(&mut self, read_only: bool) {
        self.change_learning(|learning, present| learning.set_read_only(read_only, present));
    }

    /// Shares the learning file through a server, none to share it no longer. Waits for a running search.
    ///
    /// # Errors
    /// The address of the server cannot be read; what was set before stays.
    #[cfg(feature = "fleet")]
    pub fn set_learn_share(&mut self, address: &str) -> Result<(), FleetError> {
        let server = if address.is_empty() { None } else { Some(address.parse()?) };
        self.change_learning(|learning, present| learning.set_server(server, present));
        Ok(())
    }

    /// Changes an option of learning. Waits for a running search.
    pub(super) fn change_learning(&mut self, change: impl FnOnce(&mut Learning, &Present<'_>)) {
        self.wait();
        let last = (!self.guessed).then_some((&self.root, &self.line));
        change(&mut self.learning, &Present { last, table: &self.table });
    }

    /// Says more of each search, or does not.
    pub fn set_debug(&mut self, on: bool) {
        self.learning.debug = on;
    }

    /// Sets by how much the score must fall, in printed centipawns; takes effect with the next search.
    pub fn set_learn_drop(&mut self, centipawns: i32) {
        self.learning.rules.drop = centipawns;
    }

    /// Sets the depth from which a search teaches; takes effect with the next search.
    pub fn set_learn_min_depth(&mut self, depth: Depth) {
        self.learning.rules.min_depth = depth;
    }

    /// Sets how much wider than found a learned window is believed, in printed centipawns; takes effect with
    /// the next search.
    pub fn set_learn_fuzz(&mut self, centipawns: i32) {
        self.learning.fuzz = centipawns;
    }
}
