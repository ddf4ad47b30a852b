//! Principal variation search: the table of contents. Each step is a paragraph here or a small function in
//! a file of its own.

use shakmaty::Move;

use super::{frame::Frame, moves::bonus, params::*, worker::Worker};
use crate::{
    position::{Position, is_noisy},
    tt::{Hit, PathCheck, Record, ScoreWindow},
    types::{Bound, Depth, MAX_PLY, PackedMove, Ply, Score},
};

/// What kind of node is searched, known at compile time.
pub trait NodeKind {
    /// Is the window open?
    const PV: bool;
    /// Is this the root?
    const ROOT: bool;
}

/// The root of the tree.
pub struct Root;
/// A node with an open window.
pub struct Pv;
/// A node that is only asked whether it reaches beta.
pub struct NonPv;

impl NodeKind for Root {
    const PV: bool = true;
    const ROOT: bool = true;
}
impl NodeKind for Pv {
    const PV: bool = true;
    const ROOT: bool = false;
}
impl NodeKind for NonPv {
    const PV: bool = false;
    const ROOT: bool = false;
}

/// The scores that matter: at or below `alpha` and at or above `beta` they only bound.
#[derive(Copy, Clone, Debug)]
pub struct Window {
    pub alpha: Score,
    pub beta: Score,
}

impl Window {
    /// Asks only: is the score above `alpha`?
    pub fn null(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// As the opponent sees it.
    pub fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }
}

/// What a null-window node is expected to do.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Some move should reach beta.
    Cut,
    /// No move should raise alpha; also said of PV nodes.
    All,
}

impl Expect {
    /// What is expected of the children.
    pub fn flip(self) -> Expect {
        match self {
            Expect::Cut => Expect::All,
            Expect::All => Expect::Cut,
        }
    }
}

/// The facts about a node that its steps decide by.
pub struct Node<'a> {
    pub position: &'a Position,
    pub ply: Ply,
    pub depth: Depth,
    pub window: Window,
    pub expect: Expect,
    pub in_check: bool,
    /// The corrected static evaluation; [`Score::NONE`] in check.
    pub evaluation: Score,
    /// The best estimate of the score: the evaluation, moved into what the table knows.
    pub estimate: Score,
    /// Does the side to move stand better than at its last turn?
    pub improving: bool,
    pub was_pv: bool,
    pub table_move: Option<Move>,
    /// What the table knows about the score on this path.
    pub known: Option<ScoreWindow>,
    pub hit: Option<Hit>,
    pub excluded: PackedMove,
}

impl Node<'_> {
    /// Is the table's move a capture or promotion?
    pub fn table_move_is_noisy(&self) -> bool {
        self.table_move.is_some_and(is_noisy)
    }
}

impl Worker {
    /// Searches a position to `depth` and returns its score, fail-soft.
    pub fn search<N: NodeKind>(
        &mut self,
        position: &Position,
        ply: Ply,
        mut window: Window,
        mut depth: Depth,
        expect: Expect,
    ) -> Score {
        // Step 1. No depth left: only captures are searched on.
        if depth <= 0 {
            return self.quiesce::<N>(position, ply, window);
        }
        if N::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply.index() + 1);
        }
        if self.enter() {
            return Score::ZERO;
        }

        let in_check = position.in_check();
        let mut upcoming = false;
        if !N::ROOT {
            // Step 2. Draws by rule, those that the next move can bring about, and the end of the stack.
            if let Some(score) = self.draw(position, ply) {
                return score;
            }
            if ply.index() >= MAX_PLY - 1 {
                return if in_check { Score::ZERO } else { self.static_score(position, ply) };
            }
            let draw = self.draw_score(position);
            if window.alpha < draw && self.can_repeat(position, ply) {
                upcoming = true;
                window.alpha = draw;
                if window.alpha >= window.beta {
                    return window.alpha;
                }
            }
            // Step 3. Mate distance. Neither side can do better than the mates already found.
            window.alpha = window.alpha.max(Score::mated_in(ply));
            window.beta = window.beta.min(Score::mate_in(ply.next()));
            if window.alpha >= window.beta {
                return window.alpha;
            }
        }

        // Step 4. Table. A result of enough depth that decides the window is the answer.
        let excluded = self.frame(ply).excluded;
        let hit = if excluded.is_none() { self.look_up::<N>(position.key(), depth) } else { None };
        let known = hit.filter(|hit| self.believes::<N>(hit)).and_then(|hit| hit.window(&self.path, ply));
        if !N::PV
            && let (Some(hit), Some(known)) = (hit, known)
            && hit.depth.get() >= depth.get()
            && let Some(score) = known.decides(window.alpha, window.beta)
        {
            self.count_learned(Some(hit));
            if score >= window.beta
                && let Some(m) = position.unpack(hit.best)
                && !is_noisy(m)
            {
                self.frame_mut(ply).threats = position.attacked_by(!position.turn());
                self.reward_quiet(position, ply, m, bonus(depth) / 2);
            }
            self.rest_on(hit);
            self.settle(score);
            return score;
        }

        // Step 4a. Tablebases. Right after a capture or pawn move they know the result.
        let proven = match N::ROOT || !excluded.is_none() {
            true => None,
            false => self.probe_tables(position, ply, depth),
        };
        if let Some(proven) = proven
            && let Some(score) = proven.decides(window.alpha, window.beta)
        {
            self.remember_tables(position, ply, depth, proven);
            return score;
        }

        let mut taught = None;
        if N::PV
            && !N::ROOT
            && excluded.is_none()
            && let Some(score) = self.found_as_root(position, ply, depth)
        {
            return score;
        }
        if N::PV {
            taught = match self.narrow(hit, known, depth, &mut window) {
                Ok(taught) => taught,
                Err(score) => return score,
            };
        }
        let table_move = if N::ROOT {
            Some(self.root_moves[self.pv_index].root_move())
        } else {
            hit.and_then(|hit| position.unpack(hit.best))
        };
        let was_pv = N::PV || hit.is_some_and(|hit| hit.was_pv);

        // Step 5. Static evaluation: stored raw, used corrected.
        let raw = match hit.and_then(|hit| hit.evaluation) {
            _ if in_check => None,
            Some(stored) => Some(stored),
            None => Some(self.evaluate(position)),
        };
        if hit.is_none() && excluded.is_none() && raw.is_some() {
            let record = Record {
                best: PackedMove::NONE,
                evaluation: raw,
                window: ScoreWindow::OPEN,
                depth: Depth::ZERO,
                was_pv,
                path: PathCheck::new(&self.path, Depth::ZERO),
                ply,
            };
            self.task.table.store(position.key(), &record);
        }
        let evaluation = raw.map_or(Score::NONE, |raw| self.correct(raw, position, ply));
        let improving = self.is_improving(ply, evaluation);
        let estimate = match known {
            Some(known) if !in_check => {
                let clamped = known.clamp(evaluation);
                if clamped.is_decisive() { evaluation } else { clamped }
            }
            _ => evaluation,
        };
        {
            let double_extensions = self.frame_before(ply, 1).double_extensions;
            let frame = self.frame_mut(ply);
            frame.evaluation = evaluation;
            frame.was_pv = was_pv;
            frame.double_extensions = double_extensions;
        }
        *self.frame_mut(ply.next()) = Frame { killer: self.frame(ply.next()).killer, ..Frame::default() };

        if !in_check && excluded.is_none() {
            self.judge_reply(position, ply, evaluation);
        }

        // Step 6. Hindsight. The reduction that led here was too large or too small for what we see now.
        depth = self.hindsight::<N>(ply, depth, in_check, evaluation);

        // Step 7. Internal iterative reduction. Without a table move this node is ordered badly: it is
        // cheaper to search it shallower now and deeper when it returns. Where another path found a draw of
        // its own to this depth, this one is looked at too, but mostly to the same end: a ply less will do.
        if excluded.is_none() {
            let unordered =
                depth >= iir_min_depth() && table_move.is_none() && (N::PV || expect == Expect::Cut);
            let drawn_elsewhere = !N::PV
                && depth >= 2
                && known.is_none()
                && hit.is_some_and(|hit| hit.taint().is_some() && hit.depth >= depth)
                && !self.frame_before(ply, 1).drawn_elsewhere;
            self.frame_mut(ply).drawn_elsewhere = drawn_elsewhere;
            if unordered || drawn_elsewhere {
                depth -= 1;
            }
        }

        let mut node = Node {
            position,
            ply,
            depth,
            window,
            expect,
            in_check,
            evaluation,
            estimate,
            improving,
            was_pv,
            table_move,
            known,
            hit,
            excluded,
        };

        // Steps 8 to 11. Forward pruning of the whole node: razoring, reverse futility, null move, ProbCut.
        if !N::PV
            && !in_check
            && excluded.is_none()
            && let Some(score) = self.prune_node(&node)
        {
            if let (Some(hit), Some(_)) = (hit, known) {
                self.rest_on(hit);
            }
            self.settle(score);
            return score;
        }

        self.frame_mut(ply).threats = position.attacked_by(!position.turn());
        let mut best = self.search_moves::<N>(&mut node);
        if self.stopped {
            return Score::ZERO;
        }
        if upcoming {
            // Late move pruning may have skipped the move that repeats.
            best.score = best.score.max(self.draw_score(position));
        }

        // Step 20. No move: mate, stalemate, or nothing but the excluded one.
        if best.searched == 0 {
            return if !excluded.is_none() {
                window.alpha
            } else if in_check {
                Score::mated_in(ply)
            } else {
                self.draw_score(position)
            };
        }

        // Step 21. Remember what was found, inside what tablebases know and what had been learned.
        for certain in [proven, taught].into_iter().flatten() {
            best.score = certain.clamp(best.score);
        }
        let bound = Bound::of(best.score, window.alpha, window.beta);
        self.settle(best.score);
        if excluded.is_none() && !(N::ROOT && self.pv_index > 0) {
            let known = match bound {
                Bound::Lower => ScoreWindow::at_least(best.score),
                Bound::Upper => ScoreWindow::at_most(best.score),
                Bound::Exact => ScoreWindow::exactly(best.score),
            };
            let record = Record {
                best: best.m.map_or(PackedMove::NONE, PackedMove::pack),
                evaluation: raw,
                window: known,
                depth,
                was_pv,
                path: PathCheck::new(&self.path, depth),
                ply,
            };
            self.store(position.key(), &record);
        }
        if !N::ROOT && bound == Bound::Upper {
            self.reward_reply(position, ply, bonus(node.depth) * 3 / 4);
        }
        if excluded.is_none()
            && !in_check
            && !best.m.is_some_and(is_noisy)
            && !best.score.is_decisive()
            && match bound {
                Bound::Exact => true,
                Bound::Lower => best.score > evaluation,
                Bound::Upper => best.score < evaluation,
            }
        {
            let last = self.moved_before(ply, 1);
            self.history.correction.update(position, last, depth, best.score, evaluation);
        }
        best.score
    }

    /// The evaluation as a score, where the search cannot go on.
    fn static_score(&mut self, position: &Position, ply: Ply) -> Score {
        let raw = self.evaluate(position);
        self.correct(raw, position, ply)
    }

    fn is_improving(&self, ply: Ply, evaluation: Score) -> bool {
        if evaluation == Score::NONE {
            return false;
        }
        let before = |back| self.frame_before(ply, back).evaluation;
        match (before(2), before(4)) {
            (Score::NONE, Score::NONE) => true,
            (Score::NONE, earlier) => evaluation > earlier,
            (earlier, _) => evaluation > earlier,
        }
    }
}
