//! Step 4 for entries from the learning file. They are statements about positions of earlier games, exact to
//! a few centipawns: they may end or narrow the search of a node, but never speak for the root (which is
//! searched so that the move played is one that this search stands for), for a node without one of its moves,
//! or for the verification of a null move.

use super::{
    node::{NodeKind, Window},
    worker::Worker,
};
use crate::{
    tt::{Hit, ScoreWindow},
    types::{Depth, Score},
};

impl Worker {
    /// May the score of this entry be used here?
    pub fn believes<N: NodeKind>(&self, hit: &Hit) -> bool {
        !hit.learned || (!N::ROOT && self.null_move_from == 0)
    }

    /// Counts an entry that decided a node, if it was learned.
    pub fn count_learned(&mut self, hit: Option<Hit>) {
        self.learned_cutoffs += u64::from(hit.is_some_and(|hit| hit.learned));
    }

    /// In a PV node: a learned window that decides is the answer (`Err`), another is intersected with the
    /// node's own and comes back, so that the result can be kept inside.
    ///
    /// Other entries are not used in PV nodes, since the line would be lost. Here the line leads into what
    /// is to be avoided, and a search to less depth would not see why.
    pub fn narrow(
        &mut self,
        hit: Option<Hit>,
        known: Option<ScoreWindow>,
        depth: Depth,
        window: &mut Window,
    ) -> Result<Option<ScoreWindow>, Score> {
        let (Some(hit), Some(known)) = (hit, known) else { return Ok(None) };
        if !hit.teaches(depth) {
            return Ok(None);
        }
        self.learned_cutoffs += 1;
        if let Some(score) = known.decides(window.alpha, window.beta) {
            return Err(score);
        }
        // Neither decides, so the windows overlap.
        window.alpha = window.alpha.max(known.lower);
        window.beta = window.beta.min(known.upper);
        Ok(Some(known))
    }
}
