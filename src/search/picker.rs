//! The move picker: the moves of a node in the order in which they should be searched, generated only when needed.
//!
//! First the table's move, before anything is generated; then captures that do not lose material, by material gain and
//! history; the killer; quiet moves by history, checks and threats; losing captures last. Most cutoffs come from the
//! first few moves, so the later stages are often never generated, and no stage is ever sorted completely.

use shakmaty::{Bitboard, Move, MoveList, Role, Square};

use super::{history::QuietHistory, params::*, scored_moves::ScoredMoves, worker::Worker};
use crate::{
    position::{CheckSquares, Position, TakeQuiets, Threats, is_noisy},
    types::{PackedMove, Ply},
};

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    TtMove,
    GenerateCaptures,
    Captures,
    Killer,
    GenerateQuiets,
    Quiets,
    LosingCaptures,
}

/// Which moves are picked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum MoveKinds {
    /// All moves.
    All,
    /// Captures and queen promotions.
    Noisy,
    /// Captures, queen promotions, and quiet moves that give check.
    NoisyAndChecks,
}

/// Picks the moves of one node, one after another.
pub struct MovePicker {
    stage: Stage,
    kinds: MoveKinds,
    tt_move: Option<Move>,
    killer: PackedMove,
    ply: Ply,
    /// A capture is good if its exchange wins at least this; if `None`, the threshold depends on its score.
    threshold: Option<i32>,
    noisy: ScoredMoves,
    quiet: ScoredMoves,
    losing: MoveList,
    next_losing: usize,
    skip_quiets: bool,
    /// The ordering score of the move picked last, if it was computed.
    history: Option<i32>,
}

impl MovePicker {
    pub fn new(kinds: MoveKinds, tt_move: Option<Move>, killer: PackedMove, ply: Ply) -> MovePicker {
        MovePicker {
            stage: Stage::TtMove,
            kinds,
            tt_move,
            killer,
            ply,
            threshold: None,
            noisy: ScoredMoves::default(),
            quiet: ScoredMoves::default(),
            losing: MoveList::new(),
            next_losing: 0,
            skip_quiets: false,
            history: None,
        }
    }

    /// Picks only captures whose exchange wins at least `threshold`, and the table's move.
    pub fn only_winning(&mut self, threshold: i32) {
        self.threshold = Some(threshold);
    }

    /// Picks no more quiet moves from here on.
    pub fn skip_quiets(&mut self) {
        self.skip_quiets = true;
    }

    /// History plus bonus ([`QuietRater`]) of the move picked last, if ordering computed them (quiet moves after the
    /// killer). Pruning and reductions use the same sum.
    pub fn history(&self) -> Option<i32> {
        self.history
    }

    /// The next move.
    pub fn next(&mut self, worker: &Worker, position: &Position) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::GenerateCaptures;
                    if self.tt_move.is_some() {
                        return self.tt_move;
                    }
                }
                Stage::GenerateCaptures => {
                    self.generate_captures(worker, position);
                    self.stage = Stage::Captures;
                }
                Stage::Captures => match self.next_capture(position) {
                    None if self.kinds == MoveKinds::Noisy => self.stage = Stage::LosingCaptures,
                    None => self.stage = Stage::Killer,
                    capture => return capture,
                },
                Stage::Killer => {
                    self.stage = Stage::GenerateQuiets;
                    if let Some(killer) = self.legal_killer(position) {
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

    /// The next capture whose exchange wins enough. Captures before it that lose are kept for the end.
    #[inline(always)]
    fn next_capture(&mut self, position: &Position) -> Option<Move> {
        while let Some((best, score)) = self.noisy.take_best() {
            if position.see_ge(best, self.threshold.unwrap_or(-score / good_capture_div())) {
                return Some(best);
            }
            self.losing.push(best);
        }
        None
    }

    /// The killer, if it is a legal quiet move here and not the table's move.
    #[inline(always)]
    fn legal_killer(&self, position: &Position) -> Option<Move> {
        if self.skip_quiets || self.killer.is_none() {
            return None;
        }
        position.unpack(self.killer).filter(|&m| !is_noisy(m) && Some(m) != self.tt_move)
    }

    /// Generates and scores noisy moves. In check it also generates the quiet ones, not scored yet.
    // Never inlined, like the next one: otherwise every pick would need stack space for shakmaty's move lists.
    #[inline(never)]
    fn generate_captures(&mut self, worker: &Worker, position: &Position) {
        let us = position.turn();
        let tt_move = self.tt_move.map_or(PackedMove::NONE, PackedMove::pack);
        let (noisy, quiet) = (&mut self.noisy, &mut self.quiet);
        let mut push = |m: Move| {
            if PackedMove::pack(m) != tt_move {
                noisy.push(
                    m,
                    Position::material_gain(m) * capture_gain_factor() + worker.history.captures.get(us, m),
                );
            }
        };
        if position.in_check() {
            for &m in &position.legal_moves() {
                if is_noisy(m) {
                    push(m);
                } else {
                    quiet.push(m, 0);
                }
            }
        } else {
            position.noisy_moves(push);
        }
    }

    #[inline(never)]
    fn generate_quiets(&mut self, worker: &Worker, position: &Position) {
        let tt_move = self.tt_move.map_or(PackedMove::NONE, PackedMove::pack);
        let killer = self.killer;
        let history = worker.quiet_history(position, self.ply);
        let is_new = |m| ![tt_move, killer].contains(&PackedMove::pack(m));
        if position.in_check() {
            self.quiet.rescore(is_new, |m| history.score(m));
            return;
        }
        let quiet = &mut self.quiet;
        let checks = CheckSquares::new(position);
        if self.kinds == MoveKinds::NoisyAndChecks {
            position.quiet_checks(&checks, |m| {
                if is_new(m) {
                    quiet.push(m, history.score(m));
                }
            });
            return;
        }
        let threats = worker.stack(self.ply).threats;
        position.quiet_moves(QuietRater {
            position,
            history,
            checks,
            threats,
            known: [tt_move, killer],
            quiet,
        });
    }
}

/// Scores quiet moves as they are generated; what is common to all moves of a piece is looked up once. The score is the
/// history, plus a bonus if the move gives check or leaves an attack by a piece of lower value, less a malus if it goes
/// where a piece of lower value attacks it. (Stockfish's idea.)
struct QuietRater<'a> {
    position: &'a Position,
    history: QuietHistory<'a>,
    checks: CheckSquares,
    threats: Threats,
    /// Moves that were picked already.
    known: [PackedMove; 2],
    quiet: &'a mut ScoredMoves,
}

impl QuietRater<'_> {
    fn check_bonus(&self, m: Move, gives_check: bool) -> i32 {
        if gives_check && self.position.see_ge(m, check_exchange()) { check_bonus() } else { 0 }
    }
}

impl TakeQuiets for QuietRater<'_> {
    /// Takes promotions and castling, which get no bonus or malus for threats.
    fn take(&mut self, m: Move) {
        if !self.known.contains(&PackedMove::pack(m)) {
            let bonus = self.check_bonus(m, self.checks.gives_check(m));
            self.quiet.push(m, self.history.score(m) + bonus);
        }
    }

    fn take_all(&mut self, role: Role, from: Square, mut to: Bitboard) {
        for known in self.known {
            if known.from() == from && known.promotion().is_none() {
                to.discard(known.to());
            }
        }
        let history = self.history.of_piece(role, from);
        let checking = self.checks.targets(role, from);
        let threatened = self.threats.on(role);
        let danger = match role {
            Role::Knight | Role::Bishop => threatened_minor(),
            Role::Rook => threatened_rook(),
            Role::Queen => threatened_queen(),
            Role::Pawn | Role::King => 0,
        };
        let escape = if threatened.contains(from) { danger } else { 0 };
        for to in to {
            let m = Move::Normal { role, from, capture: None, to, promotion: None };
            let bonus = if threatened.contains(to) { -danger } else { escape };
            let bonus = bonus + self.check_bonus(m, checking.contains(to));
            self.quiet.push(m, history.score(to) + bonus);
        }
    }
}
