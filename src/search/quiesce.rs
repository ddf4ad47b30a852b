//! Quiescence search: captures (and, in check, every evasion) until the position is calm enough for the
//! evaluation to be believed. Its first ply tries quiet checks too: many a combination ends in one.

use super::{
    node::{NodeKind, NonPv, Pv, Window},
    params::*,
    picker::{Picker, Want},
    worker::Worker,
};
use crate::{
    position::{Position, is_noisy},
    tt::{PathCheck, Record, ScoreWindow},
    types::{Bound, Depth, MAX_PLY, PackedMove, Ply, Score},
};

impl Worker {
    /// The score of a position after the captures worth making, fail-soft.
    pub fn quiesce<N: NodeKind>(&mut self, position: &Position, ply: Ply, window: Window) -> Score {
        if N::PV {
            self.quiesce_in::<Pv>(position, ply, window, true)
        } else {
            self.quiesce_in::<NonPv>(position, ply, window, true)
        }
    }

    fn quiesce_in<N: NodeKind>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
        checks: bool,
    ) -> Score {
        let Window { mut alpha, beta } = window;
        if N::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply.index() + 1);
        }
        if self.enter() {
            return Score::ZERO;
        }
        if let Some(score) = self.draw(position, ply) {
            return score;
        }
        let in_check = position.in_check();
        if ply.index() >= MAX_PLY - 1 {
            return if in_check { Score::ZERO } else { self.stand_pat(position, ply).1 };
        }

        // The table knows enough: any stored depth will do.
        let hit = self.task.table.probe(position.key());
        let known = hit.filter(|hit| self.believes::<N>(hit)).and_then(|hit| hit.window(&self.path, ply));
        if let (Some(hit), Some(known)) = (hit, known) {
            // Even where it decides nothing, standing pat starts from it.
            self.rest_on(hit);
            if !N::PV
                && let Some(score) = known.decides(alpha, beta)
            {
                self.count_learned(Some(hit));
                self.settle(score);
                return score;
            }
        }
        let was_pv = N::PV || hit.is_some_and(|hit| hit.was_pv);

        // Standing pat: nobody has to capture.
        let mut raw = None;
        let mut best = -Score::INFINITE;
        let mut futility = -Score::INFINITE;
        if !in_check {
            let evaluation = match hit.and_then(|hit| hit.evaluation) {
                Some(stored) => (stored, self.correct(stored, position, ply)),
                None => self.stand_pat(position, ply),
            };
            raw = Some(evaluation.0);
            best = match known {
                Some(known) if !known.clamp(evaluation.1).is_decisive() => known.clamp(evaluation.1),
                _ => evaluation.1,
            };
            if best >= beta {
                if hit.is_none() {
                    let calm = Calm { evaluation: raw, score: best, best: PackedMove::NONE, was_pv };
                    self.remember(position, ply, window, calm);
                }
                return best;
            }
            alpha = alpha.max(best);
            futility = best + qs_futility_margin();
        }

        let table_move = hit.and_then(|hit| position.unpack(hit.best)).filter(|&m| in_check || is_noisy(m));
        let want = if in_check {
            Want::All
        } else if checks {
            Want::NoisyAndChecks
        } else {
            Want::Noisy
        };
        let mut picker = Picker::new(want, table_move, PackedMove::NONE, ply);
        if !in_check {
            picker.only_winning(qs_exchange());
        }
        let mut best_move = PackedMove::NONE;
        let mut searched = 0;
        while let Some(m) = picker.next(self, position) {
            searched += 1;
            if !best.is_loss() {
                if in_check {
                    // One quiet evasion that is not mate is enough to see that there are some.
                    if !is_noisy(m) && searched > 2 {
                        picker.skip_quiets();
                        continue;
                    }
                } else if is_noisy(m) {
                    if searched > qs_max_moves() as usize && m.promotion().is_none() {
                        continue;
                    }
                    // Even winning the man would not reach alpha.
                    let gain = Position::exchange_gain(m);
                    if futility + gain <= alpha {
                        best = best.max(futility + gain);
                        continue;
                    }
                    if futility <= alpha && !position.exchange_wins(m, 1) {
                        best = best.max(futility);
                        continue;
                    }
                }
                let doubtful = in_check || !is_noisy(m) || Some(m) == table_move;
                let threshold = if in_check { qs_evasion_exchange() } else { qs_exchange() };
                if doubtful && !position.exchange_wins(m, threshold) {
                    continue;
                }
            }
            let child = self.make(position, m, ply);
            let score = -self.quiesce_in::<N>(&child, ply.next(), Window { alpha, beta }.flip(), false);
            self.unmake();
            if self.stopped {
                return Score::ZERO;
            }
            if score > best {
                best = score;
                if score > alpha {
                    alpha = score;
                    best_move = PackedMove::pack(m);
                    if N::PV {
                        self.pv.extend(ply, m);
                    }
                    if score >= beta {
                        self.path.rest_on_last_child();
                        break;
                    }
                }
            }
        }
        if in_check && searched == 0 {
            return Score::mated_in(ply);
        }
        if best >= beta && !best.is_decisive() {
            best = Score((best.0 + beta.0) / 2);
        }
        self.settle(best);
        let calm = Calm { evaluation: raw, score: best, best: best_move, was_pv };
        self.remember(position, ply, window, calm);
        best
    }

    fn stand_pat(&mut self, position: &Position, ply: Ply) -> (Score, Score) {
        let raw = self.evaluate(position);
        (raw, self.correct(raw, position, ply))
    }

    fn remember(&self, position: &Position, ply: Ply, window: Window, calm: Calm) {
        let Calm { evaluation, score, best, was_pv } = calm;
        // The captures searched here are a selection: what they reach is a lower bound or an upper one,
        // never exact.
        let window = match Bound::of(score, window.alpha, window.beta) {
            Bound::Lower => ScoreWindow::at_least(score),
            Bound::Upper | Bound::Exact => ScoreWindow::at_most(score),
        };
        let path = PathCheck::new(&self.path, Depth::ZERO);
        let record = Record { best, evaluation, window, depth: Depth::ZERO, was_pv, path, ply };
        self.task.table.store(position.key(), &record);
    }
}

/// What quiescence found about a position.
struct Calm {
    evaluation: Option<Score>,
    score: Score,
    best: PackedMove,
    was_pv: bool,
}
