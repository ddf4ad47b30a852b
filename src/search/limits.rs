//! What a search may spend and which moves it may consider.

use std::time::Duration;

use shakmaty::Move;

use crate::types::Depth;

/// The limits of one search. With none set it runs until it is stopped.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The clock of the side to move.
    pub clock: Option<ClockTime>,
    /// Stop after the iteration to this depth in plies, 1 to 245.
    pub depth: Option<Depth>,
    /// Stop after this many nodes, over all threads.
    pub nodes: Option<u64>,
    /// Stop when a mate in this many moves, or a shorter one, is found.
    pub mate: Option<u32>,
    /// Use this much time, less the move overhead, and at least half of it; with a clock at most this much.
    pub movetime: Option<Duration>,
    /// Do not report the best move before `stop`, even if nothing is left to search.
    pub infinite: bool,
    /// The search runs on the opponent's time until `ponderhit`.
    pub ponder: bool,
    /// Consider only these root moves; empty for all.
    pub search_moves: Vec<Move>,
}

/// The clock of the side to move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ClockTime {
    /// Time left; zero if the flag has fallen or is about to.
    pub remaining: Duration,
    /// Time added after each move.
    pub increment: Duration,
    /// Moves to the next time control; none for the rest of the game.
    pub moves_to_go: Option<u32>,
}
