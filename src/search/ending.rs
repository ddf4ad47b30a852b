//! What a search tells the engine when it ends, before it reports its move.

use shakmaty::Move;

use crate::{
    learn::policy::Course,
    types::{Bound, Depth, Score},
};

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The iterations of the main thread.
    pub course: Course,
    /// The principal variation, the move to be played first.
    pub line: Vec<Move>,
    /// The score of that line.
    pub score: Score,
    /// What the score says.
    pub bound: Bound,
    /// By how much the root may be worth more than the line, because the memory preferred its first move.
    pub slack: i32,
    /// The last iteration that was finished.
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Was it stopped while it was still pondering?
    pub pondering: bool,
    /// How often a learned entry decided a node.
    pub learned_cutoffs: u64,
}

/// Called at the end of a search, on the main search thread, before the move is reported.
pub type OnEnd = dyn Fn(&Ending) + Send + Sync;
