//! Moves in the order in which they should be searched, generated only when needed.
//!
//! The table's move comes before anything is generated; captures that do not lose material by promise of
//! victim and history; the killer; quiet moves by history; losing captures last.

use arrayvec::ArrayVec;
use shakmaty::{Move, Role};

use super::worker::Worker;
use crate::{
    position::{CheckSquares, Position},
    types::{PackedMove, Ply},
};

#[derive(Copy, Clone, Debug)]
struct Scored {
    m: Move,
    score: i32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    Table,
    Generate,
    Captures,
    Killer,
    ScoreQuiets,
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

/// Captures and promotions to a queen change material at once.
pub fn is_noisy(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
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
    noisy: ArrayVec<Scored, 256>,
    quiet: ArrayVec<Scored, 256>,
    losing: ArrayVec<Move, 256>,
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
            noisy: ArrayVec::new(),
            quiet: ArrayVec::new(),
            losing: ArrayVec::new(),
            next_losing: 0,
            skip_quiets: false,
            history: None,
        }
    }

    /// Only captures whose exchange wins at least `threshold`.
    pub fn probcut(table_move: Option<Move>, threshold: i32, ply: Ply) -> Picker {
        Picker { threshold: Some(threshold), ..Picker::new(Want::Noisy, table_move, PackedMove::NONE, ply) }
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
                    let Some(best) = take_best(&mut self.noisy) else {
                        self.stage = Stage::Killer;
                        continue;
                    };
                    let threshold = self.threshold.unwrap_or(-best.score / 32);
                    if position.exchange_wins(best.m, threshold) {
                        return Some(best.m);
                    }
                    self.losing.push(best.m);
                }
                Stage::Killer => {
                    if self.threshold.is_some() {
                        return None;
                    }
                    self.stage = Stage::ScoreQuiets;
                    if self.want != Want::Noisy && !self.skip_quiets && !self.killer.is_none() {
                        let wanted = self.killer;
                        let found = self.quiet.iter().position(|scored| PackedMove::pack(scored.m) == wanted);
                        if let Some(index) = found {
                            return Some(self.quiet.swap_remove(index).m);
                        }
                    }
                }
                Stage::ScoreQuiets => {
                    if !self.skip_quiets {
                        let (ply, key) = (self.ply, position.keys().pawns);
                        for scored in &mut self.quiet {
                            scored.score = worker.quiet_score(position.turn(), key, ply, scored.m);
                        }
                    }
                    self.stage = Stage::Quiets;
                }
                Stage::Quiets => {
                    if !self.skip_quiets
                        && let Some(best) = take_best(&mut self.quiet)
                    {
                        self.history = Some(best.score);
                        return Some(best.m);
                    }
                    self.history = None;
                    self.stage = Stage::LosingCaptures;
                }
                Stage::LosingCaptures => {
                    let m = self.losing.get(self.next_losing).copied();
                    self.next_losing += 1;
                    return m;
                }
            }
        }
    }

    fn generate(&mut self, worker: &Worker, position: &Position) {
        let us = position.turn();
        let checks = (self.want == Want::NoisyAndChecks).then(|| CheckSquares::new(position));
        for m in position.legal_moves() {
            if Some(m) == self.table_move {
                continue;
            }
            if is_noisy(m) {
                let victim = m.capture().map_or(0, Position::exchange_value)
                    + m.promotion().map_or(0, Position::exchange_value);
                self.noisy.push(Scored { m, score: victim * 16 + worker.history.captures.get(us, m) });
            } else if self.want == Want::All || checks.as_ref().is_some_and(|checks| checks.gives_check(m)) {
                self.quiet.push(Scored { m, score: 0 });
            }
        }
    }
}

fn take_best(moves: &mut ArrayVec<Scored, 256>) -> Option<Scored> {
    let mut best = 0;
    for index in 1..moves.len() {
        if moves[index].score > moves[best].score {
            best = index;
        }
    }
    (best < moves.len()).then(|| moves.swap_remove(best))
}
