//! What a search reports.

use std::time::Duration;

use shakmaty::Move;

use crate::{
    notice::Notice,
    types::{Bound, Depth, Score, ScoredLine, SearchResult},
};

/// A report of the search. It carries values, no text: `uci/` and `cli/` turn it into lines.
#[derive(Clone, Debug)]
pub enum Event {
    /// A line was completed or its score was bounded.
    Pv(PvInfo),
    /// The main thread begins with a root move (reported only in long searches).
    CurrentMove {
        /// Depth of the iteration.
        depth: Depth,
        /// The move.
        root_move: Move,
        /// Its place in the order, from 1.
        number: usize,
    },
    /// Something the user should know.
    Notice(Notice),
    /// The search is over. Every `go` ends in exactly one.
    Finished {
        /// The move to play; none if the game is over here.
        best: Option<Move>,
        /// The reply expected, if one is known.
        ponder: Option<Move>,
        /// What was found; none if nothing was searched (a book move, no legal move).
        result: Option<Box<SearchResult>>,
    },
}

/// One principal variation with what was found about it.
#[derive(Clone, Debug)]
pub struct PvInfo {
    /// Depth of the iteration.
    pub depth: Depth,
    /// The deepest ply reached.
    pub seldepth: usize,
    /// Rank among the lines asked for, from 1.
    pub multi_pv: usize,
    /// Score for the side to move.
    pub score: Score,
    /// Whether the score is exact or only a bound.
    pub bound: Bound,
    /// Is the line a draw for certain, by the rules or by tablebases?
    pub is_drawn: bool,
    /// Nodes of all threads, quiescence included.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
    /// Use of the transposition table by this search, in per mille.
    pub hashfull: u32,
    /// Tablebase positions found.
    pub tbhits: u64,
    /// The moves, first the one to play.
    pub pv: Vec<Move>,
}

impl PvInfo {
    /// Takes the place of the line of its rank.
    pub fn put_into(self, lines: &mut Vec<ScoredLine>) {
        let index = self.multi_pv - 1;
        let found = ScoredLine { score: self.score, is_drawn: self.is_drawn, moves: self.pv };
        match lines.get_mut(index) {
            Some(place) => *place = found,
            None => lines.push(found),
        }
    }

    /// Nodes a second so far.
    pub fn nps(&self) -> u64 {
        let nanos = self.time.as_nanos().max(1);
        u64::try_from(u128::from(self.nodes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
    }
}

/// Where events go. Called from search threads.
pub type EventSink = dyn Fn(Event) + Send + Sync;
