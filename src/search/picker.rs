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

/// Picks the moves of one node, one after another.
pub struct MovePicker {
    stage: Stage,
    tt_move: Option<Move>,
    killer: PackedMove,
    ply: Ply,
    /// Only captures whose exchange wins at least this are picked. If `None`, all moves are; a capture is good if its
    /// exchange wins at least what its score asks.
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
    /// Picks all moves.
    pub fn new(tt_move: Option<Move>, killer: PackedMove, ply: Ply) -> MovePicker {
        MovePicker {
            stage: Stage::TtMove,
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

    /// Picks only captures and queen promotions whose exchange wins at least `threshold`, and the table's move.
    pub fn winning(threshold: i32, tt_move: Option<Move>, ply: Ply) -> MovePicker {
        MovePicker { threshold: Some(threshold), ..MovePicker::new(tt_move, PackedMove::NONE, ply) }
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
                    None if self.threshold.is_some() => return None,
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
        let known = [self.tt_move.map_or(PackedMove::NONE, PackedMove::pack), self.killer];
        let history = worker.quiet_history(position, self.ply);
        if position.in_check() {
            self.quiet.rescore(|m| !known.contains(&PackedMove::pack(m)), |m| history.score(m));
            return;
        }
        position.quiet_moves(QuietRater {
            position,
            history,
            checks: CheckSquares::new(position),
            threats: worker.stack(self.ply).threats,
            known,
            quiet: &mut self.quiet,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::worker::tests::{position, worker_at};

    /// Positions of random games, many with promotions, en passant, castling, checks and pins.
    fn positions(random: &mut fastrand::Rng) -> Vec<Position> {
        const STARTS: [&str; 6] = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "nqbrkrbn/pppppppp/8/8/8/8/PPPPPPPP/NQBRKRBN w FDfd - 0 1",
            "4k3/PPP3pP/8/2pP1pP1/1pP2pPp/8/p1p2p1P/4K3 w - - 0 1",
            "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        ];
        let mut positions = Vec::new();
        for start in STARTS.into_iter().cycle().take(30) {
            let mut position = position(start);
            for _ in 0..40 {
                let legal = position.legal_moves();
                let Some(&m) = random.choice(legal.iter()) else { break };
                positions.push(position.clone());
                position = position.play(m);
            }
        }
        positions
    }

    /// Histories in which moves of this position have values of every size.
    fn fill_histories(worker: &mut Worker, position: &Position, random: &mut fastrand::Rng) {
        let us = position.turn();
        let threats = position.threats_by(!us);
        worker.stack_mut(Ply::ROOT).threats = threats;
        for &m in &position.legal_moves() {
            let bonus = random.i32(-history_max()..=history_max());
            worker.history.captures.update(us, m, bonus);
            worker.history.butterfly.update(us, threats.all, m, bonus);
        }
    }

    fn sorted(moves: impl IntoIterator<Item = Move>) -> Vec<u16> {
        let mut bits: Vec<_> = moves.into_iter().map(|m| PackedMove::pack(m).bits()).collect();
        bits.sort_unstable();
        bits
    }

    /// The table's moves and killers to try: none, a legal one, and a killer of another position.
    fn hints(position: &Position, random: &mut fastrand::Rng) -> [(Option<Move>, PackedMove); 5] {
        let legal = position.legal_moves();
        let mut any = || *random.choice(legal.iter()).expect("a move");
        let (tt_move, killer) = (any(), PackedMove::pack(any()));
        let foreign = PackedMove::from_bits(random.u16(1..));
        [
            (None, PackedMove::NONE),
            (Some(tt_move), PackedMove::NONE),
            (Some(tt_move), killer),
            (Some(tt_move), PackedMove::pack(tt_move)),
            (None, foreign),
        ]
    }

    #[test]
    fn each_legal_move_is_picked_exactly_once_wherever_quiet_moves_are_skipped() {
        let mut random = fastrand::Rng::with_seed(54);
        let mut worker = worker_at(&Position::default());
        for position in positions(&mut random) {
            fill_histories(&mut worker, &position, &mut random);
            let legal = position.legal_moves();
            for (tt_move, killer) in hints(&position, &mut random) {
                for skip_after in [usize::MAX, random.usize(0..=legal.len())] {
                    let mut picker = MovePicker::new(tt_move, killer, Ply::ROOT);
                    let mut picked = Vec::new();
                    if skip_after == 0 {
                        picker.skip_quiets();
                    }
                    while let Some(m) = picker.next(&worker, &position) {
                        let late = picked.len() >= skip_after && Some(m) != tt_move;
                        assert!(is_noisy(m) || !late, "{m:?} after the skip in {}", position.fen());
                        picked.push(m);
                        if picked.len() == skip_after {
                            picker.skip_quiets();
                        }
                    }
                    if tt_move.is_some() {
                        assert_eq!(picked.first().copied(), tt_move);
                    }
                    // A quiet move is missing only after a skip.
                    let skipped = |m: &Move| skip_after < legal.len() && !is_noisy(*m) && !picked.contains(m);
                    let expected = sorted(legal.iter().copied().filter(|m| !skipped(m)));
                    assert_eq!(sorted(picked.clone()), expected, "{tt_move:?} {killer:?} {}", position.fen());
                }
            }
        }
    }

    #[test]
    fn captures_are_picked_exactly_once_if_nothing_else_is_wanted() {
        let mut random = fastrand::Rng::with_seed(55);
        let mut worker = worker_at(&Position::default());
        for position in positions(&mut random).into_iter().filter(|position| !position.in_check()) {
            fill_histories(&mut worker, &position, &mut random);
            let legal = position.legal_moves();
            for (tt_move, _) in hints(&position, &mut random) {
                for threshold in [-100, 0, 100] {
                    let mut picker = MovePicker::winning(threshold, tt_move, Ply::ROOT);
                    let picked: Vec<_> = std::iter::from_fn(|| picker.next(&worker, &position)).collect();
                    let expected = legal
                        .iter()
                        .copied()
                        .filter(|&m| Some(m) == tt_move || is_noisy(m) && position.see_ge(m, threshold));
                    assert_eq!(sorted(picked), sorted(expected), "{}", position.fen());
                }
            }
        }
    }
}
