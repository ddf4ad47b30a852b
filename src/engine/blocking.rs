//! Blocking searches of single positions.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, unbounded};
use shakmaty::{Move, uci::UciMove};

use super::{Engine, IllegalMove};
use crate::{
    position::Position,
    search::{Event, Limits, Notice},
    types::{ScoredLine, SearchResult},
};

/// How often work that waits, for a search or for a file, asks whether it is still wanted.
pub(super) const POLL: Duration = Duration::from_millis(2);

/// An engine with one thread whose searches block the caller.
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
    /// What it had to say to the user.
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
    pub fn search(&mut self, start: &Position, moves: &[UciMove]) -> Result<Answer, IllegalMove> {
        self.search_while(start, moves, &|| true)
    }

    /// As [`BlockingEngine::search`]; ends within milliseconds when `goes_on` returns false.
    pub fn search_while(
        &mut self,
        start: &Position,
        moves: &[UciMove],
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Answer, IllegalMove> {
        self.engine.set_position(start.clone(), moves)?;
        self.engine.go(Limits { nodes: Some(self.nodes), ..Limits::default() }, Instant::now());
        let mut answer = Answer::default();
        loop {
            if !goes_on() {
                self.engine.stop();
            }
            match self.events.recv_timeout(POLL) {
                Ok(Event::Notice(notice)) => answer.notices.push(notice),
                Ok(Event::Finished { best, result, .. }) => {
                    answer.best = best;
                    answer.result = result.map(|result| *result);
                    break;
                }
                Ok(Event::Pv(line)) => line.put_into(&mut answer.lines),
                Ok(Event::CurrentMove { .. }) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.engine.wait();
        Ok(answer)
    }
}
