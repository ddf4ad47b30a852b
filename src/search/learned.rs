//! Scores from the learning file, steps 5 and 8 of the search.
//!
//! They were found by searches of the same positions in earlier games, and are used as windows of a few centipawns.
//! They may cut off a node or narrow its window, but not at the root, whose move must come from this search, nor where a
//! line returns to it; not in a node with an excluded move; and not in the verification of a null move, which must be
//! independent of them.

use super::{
    node_state::{NodeKind, Window},
    worker::Worker,
};
use crate::{
    position::Position,
    tt::{Hit, ScoreWindow},
    types::{Depth, Score},
};

impl Worker {
    /// May the score of this entry be used here? A learned score is not used where the line returns to the root: a known
    /// mate would become a mate after the detour.
    pub fn may_use_score<N: NodeKind>(&self, hit: &Hit, position: &Position) -> bool {
        !hit.learned || !N::ROOT && self.nmp_min_ply == 0 && position.key() != self.task.root.key()
    }

    /// Counts a cutoff by the table if the entry was learned.
    pub fn count_learned_cutoff(&mut self, hit: Hit) {
        self.learned_cutoffs += u64::from(hit.learned);
    }

    /// Step 8, in a PV node: a learned score outside the window is returned as the result (`Err`). Otherwise it narrows
    /// `window` and is returned, so that the result can be clamped to it.
    pub fn narrow_by_learned(
        &mut self,
        hit: Option<Hit>,
        tt_window: Option<ScoreWindow>,
        depth: Depth,
        window: &mut Window,
    ) -> Result<Option<ScoreWindow>, Score> {
        let (Some(hit), Some(learned)) = (hit, tt_window) else { return Ok(None) };
        if !hit.is_learned_to(depth) {
            return Ok(None);
        }
        if let Some(score) = learned.decides(window.alpha, window.beta) {
            self.learned_cutoffs += 1;
            return Err(score);
        }
        // No cutoff, so the two windows overlap.
        window.alpha = window.alpha.max(learned.lower);
        window.beta = window.beta.min(learned.upper);
        Ok(Some(learned))
    }
}
