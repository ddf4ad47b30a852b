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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        search::{
            node_state::{NonPvNode, RootNode},
            worker::tests::{legal, worker_at},
        },
        tt::{Learned, NodeResult},
        types::PackedMove,
    };

    const LEARNED: ScoreWindow = ScoreWindow { lower: Score(-120), upper: Score(-80) };

    /// What the table says of a position whose record is of depth 9.
    fn hit(worker: &Worker, position: &Position) -> Option<Hit> {
        let key = position.key();
        let best = PackedMove::NONE;
        let learned = Learned { key, best, window: LEARNED, depth: Depth(9), halfmoves: 0 };
        worker.task.table.insert_learned([learned]);
        worker.task.table.probe(key).filter(|hit| hit.learned)
    }

    #[test]
    fn a_learned_score_is_used_neither_at_the_root_nor_to_verify_a_null_move() {
        let root = Position::default();
        let child = root.play(legal(&root, "e2e4"));
        let mut worker = worker_at(&root);
        let [at_root, below] = [&root, &child].map(|position| hit(&worker, position).expect("learned"));
        assert!(worker.may_use_score::<NonPvNode>(&below, &child));
        assert!(!worker.may_use_score::<RootNode>(&below, &child));
        assert!(!worker.may_use_score::<NonPvNode>(&at_root, &root), "the line returns to the root");
        worker.nmp_min_ply = 4;
        assert!(!worker.may_use_score::<NonPvNode>(&below, &child));
        // Nothing of this is asked of what a search has found.
        worker.store(root.key(), &NodeResult { depth: Depth(10), ..NodeResult::default() });
        let searched = worker.task.table.probe(root.key()).expect("stored");
        assert!(worker.may_use_score::<RootNode>(&searched, &root));
    }

    #[test]
    fn a_learned_score_outside_the_window_is_the_result_and_another_narrows_it() {
        let root = Position::default();
        let mut worker = worker_at(&root);
        let hit = hit(&worker, &root);
        let mut narrowed = |depth, alpha, beta| {
            let mut window = Window { alpha: Score(alpha), beta: Score(beta) };
            let result = worker.narrow_by_learned(hit, Some(LEARNED), Depth(depth), &mut window);
            (result, [window.alpha.0, window.beta.0])
        };
        assert_eq!(narrowed(9, -500, 500), (Ok(Some(LEARNED)), [-120, -80]));
        assert_eq!(narrowed(9, -100, 500), (Ok(Some(LEARNED)), [-100, -80]));
        assert_eq!(narrowed(10, -500, 500), (Ok(None), [-500, 500]), "it is too shallow");
        assert_eq!(narrowed(9, -50, 50).0, Err(LEARNED.upper));
        assert_eq!(narrowed(9, -500, -150).0, Err(LEARNED.lower));
        assert_eq!(worker.learned_cutoffs, 2);
    }
}
