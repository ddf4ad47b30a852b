//! Blocking searches of single positions.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, unbounded};
use shakmaty::{Move, uci::UciMove};

use super::{Engine, IllegalMove};
use crate::{
    learn::policy::{Iterations, SearchResult},
    position::Position,
    search::{Event, Limits, PvInfo},
    types::{Bound, Depth},
};

/// How often work that waits, for a search or for a file, asks whether it is still wanted.
pub(super) const POLL: Duration = Duration::from_millis(2);

/// An engine with one thread whose searches block the caller.
pub struct BlockingEngine {
    /// The engine.
    pub engine: Engine,
    events: Receiver<Event>,
    nodes: u64,
}

/// The reports of one search.
pub struct Answer {
    /// Its move; none if the game is over.
    pub best: Option<Move>,
    /// The last line reported; none if the game is over.
    pub line: Option<PvInfo>,
    /// Its iterations, for learning.
    pub iterations: Iterations,
    /// Its messages to the user.
    pub messages: Vec<String>,
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
        let mut answer =
            Answer { best: None, line: None, iterations: Iterations::default(), messages: Vec::new() };
        let mut finished: Option<Depth> = None;
        loop {
            if !goes_on() {
                self.engine.stop();
            }
            let event = match self.events.recv_timeout(POLL) {
                Ok(event) => event,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match event {
                Event::Pv(line) => {
                    match line.bound {
                        Bound::Exact if finished.is_none_or(|depth| depth < line.depth) => {
                            answer.iterations.finished(line.depth, line.score);
                            finished = Some(line.depth);
                        }
                        Bound::Exact | Bound::Lower => answer.iterations.recovered(),
                        Bound::Upper => answer.iterations.failed_low(line.depth, line.score),
                    }
                    answer.line = Some(line);
                }
                Event::Message(message) => answer.messages.push(message),
                Event::CurrentMove { .. } => {}
                Event::Finished { best, .. } => {
                    answer.best = best;
                    break;
                }
            }
        }
        self.engine.wait();
        Ok(answer)
    }
}

impl Answer {
    /// The result of the search, for learning; none if the game is over.
    pub fn result(self) -> Option<SearchResult> {
        let last = self.line?;
        Some(SearchResult {
            iterations: self.iterations,
            line: last.pv,
            score: last.score,
            bound: last.bound,
            slack: 0,
            depth: last.depth,
            nodes: last.nodes,
        })
    }
}
