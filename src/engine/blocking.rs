//! Blocking searches of single positions.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, unbounded};
use shakmaty::{Move, uci::UciMove};

use super::{Engine, IllegalMove};
use crate::{
    notice::Notice,
    position::Position,
    search::{Event, Limits},
    types::{ScoredLine, SearchResult},
};

/// How often work that waits, for a search or for a file, asks whether it is still wanted.
pub(super) const POLL: Duration = Duration::from_millis(10);

/// An engine whose searches block the caller.
pub struct BlockingEngine {
    /// The engine.
    pub engine: Engine,
    events: Receiver<Event>,
    /// Nodes of each search.
    pub nodes: u64,
}

/// The end of one search.
#[derive(Default)]
pub struct Answer {
    /// Its move; none if the game is over.
    pub best: Option<Move>,
    /// What it found; none if the game is over.
    pub result: Option<SearchResult>,
    /// Its lines, best first.
    pub lines: Vec<ScoredLine>,
    /// Its messages to the user.
    pub notices: Vec<Notice>,
}

impl BlockingEngine {
    /// An engine that searches `nodes` nodes each time, and learns nothing.
    pub fn new(nodes: u64) -> BlockingEngine {
        let (sender, events) = unbounded();
        // Sending fails only if the receiver is gone, which is dropped together with the engine.
        let engine = Engine::new(Arc::new(move |event| drop(sender.send(event))));
        BlockingEngine { engine, events, nodes }
    }

    /// Searches the position after `moves`.
    ///
    /// # Errors
    /// The first illegal move; nothing is searched.
    pub fn search(&mut self, start: &Position, moves: &[UciMove]) -> Result<Answer, IllegalMove> {
        let limits = Limits { nodes: Some(self.nodes), ..Limits::default() };
        self.search_with(start, moves, limits, &|| true, |_| {})
    }

    /// The same under `limits`; ends within milliseconds when `goes_on` returns false. `watch` sees every event as it
    /// comes.
    ///
    /// # Errors
    /// The first illegal move; nothing is searched.
    pub fn search_with(
        &mut self,
        start: &Position,
        moves: &[UciMove],
        limits: Limits,
        goes_on: &dyn Fn() -> bool,
        mut watch: impl FnMut(&Event),
    ) -> Result<Answer, IllegalMove> {
        self.engine.set_position(start.clone(), moves)?;
        self.engine.go(limits, Instant::now());
        let mut answer = Answer::default();
        loop {
            if !goes_on() {
                self.engine.stop();
            }
            let event = match self.events.recv_timeout(POLL) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            watch(&event);
            match event {
                Event::Notice(notice) => answer.notices.push(notice),
                Event::Finished { best, result, .. } => {
                    answer.best = best;
                    answer.result = result.map(|result| *result);
                    break;
                }
                Event::Pv(line) => line.put_into(&mut answer.lines),
                Event::CurrentMove { .. } => {}
            }
        }
        self.engine.wait();
        Ok(answer)
    }
}
