//! What a search tells the engine when it ends, before its move is announced.

use shakmaty::Move;

use crate::{
    learn::policy::Course,
    types::{Bound, Depth, Score},
};

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The iterations of the first thread.
    pub course: Course,
    /// The line to be played, its first move first.
    pub line: Vec<Move>,
    /// The score of that line.
    pub score: Score,
    /// What the score says.
    pub bound: Bound,
    /// The last iteration that was finished.
    pub depth: Depth,
    /// Moves made by all threads.
    pub nodes: u64,
    /// Was it stopped while it still ran on the opponent's time?
    pub pondering: bool,
    /// How often a learned entry decided a node.
    pub learned_cutoffs: u64,
}

/// Is told of the end of a search, on a search thread, before the move is announced.
pub type OnEnd = dyn Fn(&Ending) + Send + Sync;
