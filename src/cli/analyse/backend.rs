//! Where the positions are searched: by threads of this process (`pool.rs`), or on other machines (`remote.rs`).

use std::{ops::Range, sync::Arc};

use super::pool::{Arrival, MoveList, SearchBudget, SearchKind};

/// Where the positions are searched.
pub trait SearchBackend {
    /// How many items may be in progress at a time.
    fn window(&self) -> usize;

    /// What the search of an analysis may use.
    fn budget(&self) -> &SearchBudget;

    /// Sends the positions after `plies` moves to one worker, which searches them one after the other.
    fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind, budget: SearchBudget);

    /// What comes within a moment; `None` if a worker has failed, or none is left.
    fn receive(&mut self) -> Option<Arrival>;

    /// The work is done, or nobody will resume it.
    fn finish(self: Box<Self>);
}
