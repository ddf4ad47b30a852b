//! Principal variation search: the table of contents. Each step is a paragraph here or a small function in
//! a file of its own.
//!
//! The score of a node is the best of its moves' scores, each the negated score of the child (negamax). It is
//! fail-soft: a score outside the window is a bound, as tight as the search found it. Only the first move of a PV
//! node is searched with the full window; the others must first beat alpha with a null window. What is already known
//! is not searched again (5 to 8). The rest of the speed comes from heuristics: a whole node is pruned (13 to 15), a
//! move is skipped or searched less deeply (16 to 21). Each says where it does not apply: in check, in PV nodes, near
//! mates or in pawn endings.
//!
//! A number beside a step is its worth in Elo at bench 1080303, from games of 68 programs that each lack one step,
//! 5,000 nodes a move, 95 % bounds (`benches/notes/search.md` has all 67). Most other steps measure as zero when they
//! are removed alone, because another step takes over their work.

use super::{
    history_updates::bonus,
    moves::Best,
    node_state::{Expect, Node, NodeEval, NodeKind, Window},
    params::*,
    worker::Worker,
};
use crate::{
    position::{Position, is_noisy},
    tt::{Hit, NodeResult, ScoreWindow},
    types::{Bound, Depth, PackedMove, Ply, Score},
};

impl Worker {
    /// Searches a position to `depth` and returns its score, fail-soft.
    pub fn search<N: NodeKind>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
        depth: Depth,
        expect: Expect,
    ) -> Score {
        // Step 1. Quiescence. At depth 0 only captures and evasions are searched further.
        if depth <= 0 {
            return self.quiesce::<N>(position, ply, window);
        }
        match self.search_node::<N>(position, ply, window, depth, expect) {
            Ok(score) | Err(score) => score,
        }
    }

    /// Steps 2 to 27. An error is the score of a node that returned before its moves were searched.
    #[inline(always)]
    fn search_node<N: NodeKind>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
        depth: Depth,
        expect: Expect,
    ) -> Result<Score, Score> {
        let mut node = self.prepare_node::<N>(position, ply, window, depth, expect)?;
        let Node { window, depth, in_check, static_eval, excluded, .. } = node;

        // Steps 13 to 15. Reverse futility, null move, ProbCut: the whole node is pruned.
        if !N::PV
            && !in_check
            && excluded.is_none()
            && let Some(score) = self.prune_node(&node)
        {
            self.drop_taint_unless_draw(score);
            return Err(score);
        }

        // Steps 16 to 23. The moves. For them a side whose static evaluation reaches beta counts as improving.
        node.improving |= !in_check && static_eval >= window.beta;
        self.stack_mut(ply).threats = position.threats_by(!position.turn());
        let mut best = self.search_moves::<N>(&mut node);
        if self.stopped {
            return Err(Score::ZERO);
        }
        if node.upcoming_repetition && best.score < self.draw_score(position) {
            // Late move pruning has skipped the move that repeats the position, and a singular search may have cleared the
            // taint.
            best.score = self.draw_score(position);
            self.has_upcoming_repetition(position, ply);
        }

        // Step 24. No move: checkmate, stalemate, or only the excluded move.
        if best.move_count == 0 {
            return Ok(match in_check {
                _ if !excluded.is_none() => window.alpha,
                true => Score::mated_in(ply),
                false => self.draw_score(position),
            });
        }

        // Step 25. The score is clamped to what the tablebases prove and what was learned.
        for certain in [node.tb_window, node.learned_window].into_iter().flatten() {
            best.score = certain.clamp(best.score);
        }
        // Steps 26 and 27. Transposition table and history tables.
        let score = best.score;
        self.store_node::<N>(&node, &best, depth);
        Ok(score)
    }

    /// Steps 2 to 12: what is known about a node before its moves are searched; its score as an error if no search is
    /// needed.
    #[inline(always)]
    fn prepare_node<'a, N: NodeKind>(
        &mut self,
        position: &'a Position,
        ply: Ply,
        mut window: Window,
        mut depth: Depth,
        expect: Expect,
    ) -> Result<Node<'a>, Score> {
        // Step 2. Count the node; return if the search is over. The score returned then is never used.
        if self.enter_node::<N>(ply) {
            return Err(Score::ZERO);
        }

        // Steps 3 and 4. Draws by rule, repetitions, mate distance.
        let upcoming_repetition = !N::ROOT && self.apply_rules(position, ply, &mut window)?;

        // Step 5. Transposition table. A result of sufficient depth that lies outside the window is returned, but not
        // in a PV node, whose line would be lost.
        let excluded = self.stack(ply).excluded;
        let tt_hit = if excluded.is_none() { self.probe_tt::<N>(position, ply, depth) } else { None };
        let tt_window = tt_hit
            .filter(|hit| self.may_use_score::<N>(hit, position))
            .and_then(|hit| hit.window(&self.path, ply));
        if !N::PV
            && let (Some(hit), Some(tt_window)) = (tt_hit, tt_window)
            && hit.depth.get() >= depth.get()
            && let Some(score) = tt_window.decides(window.alpha, window.beta)
        {
            return Err(self.tt_cutoff(position, ply, window, depth, hit, score));
        }

        // Step 6. Tablebases. Only right after a capture or pawn move, when the fifty-move counter is 0.
        let probes_tb = !N::ROOT && excluded.is_none();
        let tb_window = if probes_tb { self.probe_tablebases(position, ply, depth, window)? } else { None };

        let mut learned_window = None;
        if N::PV {
            // Step 7. Resumed score. In an analysis, a position that was the root of an earlier search at least as deep
            // takes its score from there: so what was found in the child is known in the parent.
            if !N::ROOT
                && excluded.is_none()
                && let Some(score) = self.resumed_score(position, ply, depth)
            {
                return Err(tb_window.map_or(score, |window| window.clamp(score)));
            }
            // Step 8. Learned score. A score from the learning file outside the window is returned, another narrows it.
            // This is for PV nodes, where step 5 does not apply: a game went wrong from this position, and this search
            // would not see why.
            learned_window = self.narrow_by_learned(tt_hit, tt_window, depth, &mut window)?;
        }
        let tt_move = if N::ROOT {
            Some(self.root_moves[self.pv_index].root_move())
        } else {
            tt_hit.and_then(|hit| position.unpack(hit.best))
        };
        let was_pv = N::PV || tt_hit.is_some_and(|hit| hit.was_pv);

        let in_check = position.in_check();
        // Step 9. Static evaluation. The table stores it uncorrected: correction history and fifty-move counter differ
        // from visit to visit.
        let NodeEval { raw_eval, static_eval, eval } = match in_check {
            true => NodeEval::IN_CHECK,
            false => self.evaluate_node(position, ply, tt_hit, tt_window),
        };
        if !in_check && tt_hit.is_none() && excluded.is_none() {
            self.store_raw_eval(position, ply, raw_eval, was_pv);
        }
        let improving = self.is_improving(ply, static_eval);
        self.prepare_stack(ply, static_eval);
        if !in_check && excluded.is_none() {
            self.update_eval_difference_history(position, ply, static_eval);
        }

        // Step 10. Hindsight. Corrects the reduction that led here by the change of the static evaluation.
        depth = self.hindsight(ply, depth, in_check, static_eval);

        // Steps 11 and 12. Reductions by a ply: no table move, or a draw on another path.
        if excluded.is_none() {
            depth = self.reduce_node::<N>(ply, depth, expect, tt_hit, tt_move.is_some(), tt_window.is_some());
        }

        Ok(Node {
            position,
            ply,
            depth,
            window,
            expect,
            in_check,
            raw_eval,
            static_eval,
            eval,
            improving,
            was_pv,
            upcoming_repetition,
            tt_hit,
            tt_move,
            tt_window,
            tb_window,
            learned_window,
            excluded,
        })
    }

    /// Prepares the stack entry of this node. The cutoffs of its children are counted from zero. Their killer stays: it
    /// refuted a move of a sibling of this node, whose position differs by one move.
    fn prepare_stack(&mut self, ply: Ply, static_eval: Score) {
        let double_extensions = self.stack_before(ply, 1).double_extensions;
        let entry = self.stack_mut(ply);
        entry.static_eval = static_eval;
        entry.double_extensions = double_extensions;
        self.stack_mut(ply.next()).cutoff_count = 0;
    }

    /// Steps 3 and 4: the score of this node by the rules, as an error. Otherwise narrows `window`, and returns whether
    /// the side to move can repeat an earlier position.
    fn apply_rules(&mut self, position: &Position, ply: Ply, window: &mut Window) -> Result<bool, Score> {
        // Step 3. Draws by rule, the maximum ply, and the upcoming repetition: a move that repeats an earlier position
        // makes the node worth at least a draw.
        if let Some(score) = self.terminal_score(position, ply) {
            return Err(score);
        }
        let mut upcoming_repetition = false;
        let draw = self.draw_score(position);
        // Not in a singular search: the move that repeats may be the excluded one.
        if window.alpha < draw
            && self.stack(ply).excluded.is_none()
            && self.has_upcoming_repetition(position, ply)
        {
            upcoming_repetition = true;
            window.alpha = draw;
            if window.alpha >= window.beta {
                return Err(window.alpha);
            }
        }
        // Step 4. Mate distance pruning. Neither side can do better than the mates already found.
        window.alpha = window.alpha.max(Score::mated_in(ply));
        window.beta = window.beta.min(Score::mate_in(ply.next()));
        if window.alpha >= window.beta {
            return Err(window.alpha);
        }
        Ok(upcoming_repetition)
    }

    /// Step 5: returns the table's score. A quiet table move that fails high gets a history bonus, so that it is tried
    /// early in similar positions.
    fn tt_cutoff(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
        depth: Depth,
        hit: Hit,
        score: Score,
    ) -> Score {
        self.count_learned_cutoff(hit);
        if score >= window.beta
            && let Some(m) = position.unpack(hit.best)
            && !is_noisy(m)
        {
            self.stack_mut(ply).threats = position.threats_by(!position.turn());
            self.update_quiet_history(position, ply, m, share_of(bonus(depth), tt_cutoff_bonus_share()));
        }
        self.inherit_taint(hit);
        self.drop_taint_unless_draw(score);
        score
    }

    /// Step 6: the score window from the tablebases, or the score as an error if it causes a cutoff.
    fn probe_tablebases(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
    ) -> Result<Option<ScoreWindow>, Score> {
        let draw = self.draw_score(position);
        let Some(tb_window) = self.task.tablebases.probe(position, depth, ply, draw) else { return Ok(None) };
        self.tb_hits += 1;
        match tb_window.decides(window.alpha, window.beta) {
            Some(score) => {
                self.store_tablebase_window(position, ply, depth, tb_window);
                Err(score)
            }
            None => Ok(Some(tb_window)),
        }
    }

    /// Steps 11 and 12: the depth after the reductions by a ply.
    fn reduce_node<N: NodeKind>(
        &mut self,
        ply: Ply,
        depth: Depth,
        expect: Expect,
        tt_hit: Option<Hit>,
        has_tt_move: bool,
        has_tt_window: bool,
    ) -> Depth {
        // Step 11. Internal iterative reduction. Without a table move the move ordering is poor. The shallower search
        // finds a table move for the next visit, which is searched at full depth.
        let unordered = depth >= iir_min_depth() && !has_tt_move && (N::PV || expect == Expect::Cut);
        // Step 12. Path reduction (our own). The table has a score of this depth, but it depends on a draw on another
        // path, so the node is searched again, mostly with the same result. Not at two nodes of a line in a row, or
        // short wins would be found late.
        let drawn_on_other_path = !N::PV
            && depth >= drawn_path_min_depth()
            && !has_tt_window
            && tt_hit.is_some_and(|hit| hit.taint().is_some() && hit.depth >= depth)
            && !self.stack_before(ply, 1).drawn_on_other_path;
        self.stack_mut(ply).drawn_on_other_path = drawn_on_other_path;
        if unordered || drawn_on_other_path { depth - 1 } else { depth }
    }

    /// Steps 26 and 27: stores the result of a searched node in the table and the histories. `depth` is the depth
    /// before a raised alpha reduced it (step 23).
    fn store_node<N: NodeKind>(&mut self, node: &Node, best: &Best, depth: Depth) {
        let &Node { position, ply, window, raw_eval, static_eval, excluded, .. } = node;
        let bound = Bound::of(best.score, window.alpha, window.beta);
        self.drop_taint_unless_draw(best.score);

        // Step 26. Transposition table. Not if the best move may be among those that were left out: with an excluded
        // move, in the further lines of MultiPV, and at a root whose moves are not all free.
        let is_whole = !N::ROOT || self.pv_index == 0 && self.task.is_free();
        if excluded.is_none() && is_whole {
            let window = match bound {
                Bound::Lower => ScoreWindow::at_least(best.score),
                Bound::Upper => ScoreWindow::at_most(best.score),
                Bound::Exact => ScoreWindow::exactly(best.score),
            };
            let result = NodeResult {
                best: best.m.map_or(PackedMove::NONE, PackedMove::pack),
                raw_eval,
                window,
                was_pv: node.was_pv,
                ..self.node_result(ply, depth)
            };
            self.store(position.key(), &result);
        }

        // Step 27. History of the previous move, and correction history: only if the bound shows in which direction the
        // static evaluation was wrong, and not if a capture is best, which a static evaluation does not see.
        if bound == Bound::Upper {
            self.bonus_for_previous_move(position, ply, node.depth);
        }
        if is_whole
            && excluded.is_none()
            && !node.in_check
            && !best.m.is_some_and(is_noisy)
            && !best.score.is_decisive()
            && match bound {
                Bound::Exact => true,
                Bound::Lower => best.score > static_eval,
                Bound::Upper => best.score < static_eval,
            }
        {
            let last = self.move_before(ply, 1);
            self.history.correction.update(position, last, depth, best.score, static_eval);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::worker::tests::{legal, worker_at};

    #[test]
    fn a_singular_search_is_not_answered_by_the_repetition_that_it_leaves_out() {
        let mut position = Position::default();
        let mut worker = worker_at(&position);
        for uci in ["b1c3", "g8f6", "g1f3", "f6g8"] {
            position = position.play(legal(&position, uci));
            worker.path.push(&position);
        }
        let ply = Ply(4);
        for (excluded, repeats) in
            [(PackedMove::NONE, true), (PackedMove::pack(legal(&position, "f3g1")), false)]
        {
            worker.stack_mut(ply).excluded = excluded;
            let mut window = Window { alpha: Score(-50), beta: Score(50) };
            assert_eq!(worker.apply_rules(&position, ply, &mut window), Ok(repeats));
        }
    }
}
