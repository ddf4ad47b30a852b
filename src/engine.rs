//! The engine without text: positions and limits in, [`Event`]s out.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::uci::UciMove;
use thiserror::Error;

use crate::{
    position::Position,
    search::{Event, Limits, Sink},
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
pub struct StopHandle {}

impl StopHandle {
    /// Ends the present search as soon as possible; nothing happens if there is none.
    pub fn stop(&self) {}
}

/// A complete engine: position, tables and search threads.
pub struct Engine {
    sink: Arc<Sink>,
    position: Position,
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
        Engine { sink, position: Position::default() }
    }

    /// A handle that stops searches from another thread, at once, also while this one is busy.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle {}
    }

    /// Sets the position to search: `start` and the moves played from it. Waits for a running search.
    ///
    /// # Errors
    /// The first illegal move; the position before stays.
    pub fn set_position(&mut self, start: Position, moves: &[UciMove]) -> Result<(), IllegalMove> {
        let mut position = start;
        for (index, &uci) in moves.iter().enumerate() {
            let m = uci.to_move(position.chess()).map_err(|_| IllegalMove {
                number: index + 1,
                uci,
                fen: position.fen(),
            })?;
            position = position.play(m);
        }
        self.position = position;
        Ok(())
    }

    /// The position set last.
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Forgets what belongs to the game: tables and histories. Waits for a running search.
    pub fn new_game(&mut self) {}

    /// Starts a search that began counting at `start` and returns at once. A search that still runs is
    /// stopped first, and its `Finished` comes before.
    pub fn go(&mut self, limits: Limits, start: Instant) {
        let _ = (limits, start);
        let best = self.position.legal_moves().first().copied();
        (self.sink)(Event::Finished { best, ponder: None });
    }

    /// Ends the present search as soon as possible.
    pub fn stop(&self) {}

    /// The expected move was played: the present search now runs on our own clock.
    pub fn ponder_hit(&self) {}

    /// Does a search run (its `Finished` not yet sent)?
    pub fn is_searching(&self) -> bool {
        false
    }

    /// Waits until no search runs.
    pub fn wait(&mut self) {}

    /// Sets the size of the transposition table in MiB; it is empty afterwards. Waits for a running search.
    ///
    /// # Errors
    /// No memory: a smaller table stays in use.
    pub fn set_hash(&mut self, _mib: usize) -> Result<(), OutOfMemory> {
        Ok(())
    }

    /// Empties the transposition table. Waits for a running search.
    pub fn clear_hash(&mut self) {}

    /// Sets the number of search threads. Waits for a running search.
    pub fn set_threads(&mut self, _threads: usize) {}

    /// Sets the size of each thread's pawn hash table in MiB. Waits for a running search.
    pub fn set_pawn_hash(&mut self, _mib: usize) {}

    /// Sets the number of lines to report; takes effect with the next search.
    pub fn set_multi_pv(&mut self, _lines: usize) {}

    /// Sets the time kept for transport, per move; takes effect with the next search.
    pub fn set_move_overhead(&mut self, _overhead: Duration) {}

    /// Should [`Engine::new_game`] keep the transposition table?
    pub fn set_never_clear_hash(&mut self, _keep: bool) {}

    /// Table use in per mille and pawn hash hits and probes of the last search.
    pub fn pawn_hash_hits(&self) -> (u64, u64) {
        (0, 0)
    }
}
