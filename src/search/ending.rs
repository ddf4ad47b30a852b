//! What a search tells the engine when it ends, before it reports its move.

use crate::learn::policy::SearchResult;

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Ending {
    /// What it found.
    pub result: SearchResult,
    /// Was it stopped while it was still pondering?
    pub pondering: bool,
    /// How often a learned entry caused a cutoff.
    pub learned_cutoffs: u64,
}

/// Called at the end of a search, on the main search thread, before the move is reported.
pub type OnEnd = dyn Fn(&Ending) + Send + Sync;
