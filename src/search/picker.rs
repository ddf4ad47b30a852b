//! Moves in the order in which they should be searched, generated only when needed.
//!
//! The table's move comes before anything is generated; captures that do not lose material by promise of
//! victim and history; the killer; quiet moves by history; losing captures last.

use shakmaty::{Move, MoveList};

use super::{ranking::Ranking, worker::Worker};
use crate::{
    position::{CheckSquares, Position, is_noisy},
    types::{PackedMove, Ply},
};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    Table,
    Generate,
    Captures,
    Killer,
    GenerateQuiets,
    Quiets,
    LosingCaptures,
}

/// Which moves are wanted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// All moves.
    All,
    /// Captures and queen promotions.
    Noisy,
    /// Captures, queen promotions, and quiet moves that give check.
    NoisyAndChecks,
}

/// Hands out the moves of one node.
pub struct Picker {
    stage: Stage,
    want: Want,
    table_move: Option<Move>,
    killer: PackedMove,
    ply: Ply,
    /// A capture is good if its exchange wins at least this; by its own score if `None`.
    threshold: Option<i32>,
    noisy: Ranking,
    quiet: Ranking,
    losing: MoveList,
    next_losing: usize,
    skip_quiets: bool,
    /// History of the move handed out last, if it was computed to order it.
    history: Option<i32>,
}

impl Picker {
    pub fn new(want: Want, table_move: Option<Move>, killer: PackedMove, ply: Ply) -> Picker {
        Picker {
            stage: Stage::Table,
            want,
            table_move,
            killer,
            ply,
            threshold: None,
            noisy: Ranking::default(),
            quiet: Ranking::default(),
            losing: MoveList::new(),
            next_losing: 0,
            skip_quiets: false,
            history: None,
        }
    }

    /// Only captures whose exchange wins at least `threshold`, and the table's move.
    pub fn only_winning(&mut self, threshold: i32) {
        self.threshold = Some(threshold);
    }

    /// No more quiet moves from here on.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// The history score of the move handed out last, where ordering needed it (quiet moves after the
    /// killer).
    pub fn history(&self) -> Option<i32> {
        self.history
    }

    /// The next move.
    pub fn next(&mut self, worker: &Worker, position: &Position) -> Option<Move> {
        loop {
            match self.stage {
                Stage::Table => {
                    self.stage = Stage::Generate;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::Generate => {
                    self.generate(worker, position);
                    self.stage = Stage::Captures;
                }
                Stage::Captures => {
                    let Some((best, score)) = self.noisy.take_best() else {
                        self.stage = Stage::Killer;
                        continue;
                    };
                    if position.exchange_wins(best, self.threshold.unwrap_or(-score / 32)) {
                        return Some(best);
                    }
                    self.losing.push(best);
                }
                Stage::Killer => {
                    if self.want == Want::Noisy {
                        self.stage = Stage::LosingCaptures;
                        continue;
                    }
                    self.stage = Stage::GenerateQuiets;
                    if !self.skip_quiets
                        && !self.killer.is_none()
                        && let Some(killer) = position.unpack(self.killer).filter(|&m| !is_noisy(m))
                        && Some(killer) != self.table_move
                    {
                        return Some(killer);
                    }
                }
                Stage::GenerateQuiets => {
                    if !self.skip_quiets {
                        self.generate_quiets(worker, position);
                    }
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => {
                    if !self.skip_quiets
                        && let Some((best, score)) = self.quiet.take_best()
                    {
                        self.history = Some(score);
                        return Some(best);
                    }
                    self.history = None;
                    self.stage = Stage::LosingCaptures;
                }
                Stage::LosingCaptures => {
                    if self.threshold.is_some() {
                        return None;
                    }
                    let m = self.losing.get(self.next_losing).copied();
                    self.next_losing += 1;
                    return m;
                }
            }
        }
    }

    /// Generates and rates noisy moves; in check the quiet ones come along, not yet rated.
    // Out of line, as the next one, so that handing out a move needs no room for the rules' lists on the stack.
    #[inline(never)]
    fn generate(&mut self, worker: &Worker, position: &Position) {
        let us = position.turn();
        let table_move = self.table_move.map_or(PackedMove::NONE, PackedMove::pack);
        let (noisy, quiet) = (&mut self.noisy, &mut self.quiet);
        let mut rate = |m: Move| {
            if PackedMove::pack(m) != table_move {
                noisy.push(m, Position::exchange_gain(m) * 16 + worker.history.captures.get(us, m));
            }
        };
        if position.in_check() {
            for &m in &position.legal_moves() {
                if is_noisy(m) {
                    rate(m);
                } else {
                    quiet.push(m, 0);
                }
            }
        } else {
            position.noisy_moves(rate);
        }
    }

    #[inline(never)]
    fn generate_quiets(&mut self, worker: &Worker, position: &Position) {
        let table_move = self.table_move.map_or(PackedMove::NONE, PackedMove::pack);
        let killer = self.killer;
        let promise = worker.promise(position, self.ply);
        let is_new = |m| ![table_move, killer].contains(&PackedMove::pack(m));
        if position.in_check() {
            self.quiet.rate(is_new, |m| promise.of(m));
            return;
        }
        let quiet = &mut self.quiet;
        let rate = |m| {
            if is_new(m) {
                quiet.push(m, promise.of(m));
            }
        };
        if self.want == Want::NoisyAndChecks {
            position.quiet_checks(&CheckSquares::new(position), rate);
        } else {
            position.quiet_moves(rate);
        }
    }
}
