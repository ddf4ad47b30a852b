//! Legal moves in two parts, as the search needs them: those that change material, and the quiet ones, which many nodes
//! never need.
//!
//! In check there are so few moves that [`Position::legal_moves`] is used; the functions here are for positions out of
//! check. There a piece may go anywhere unless it is pinned, and the king wherever it is not attacked. En passant and
//! castling, which are rare and full of special cases, are left to shakmaty.

use shakmaty::{Bitboard, CastlingSide, Color, Move, Position as _, Rank, Role, Square, attacks};

use super::{checks::blockers, state::Position};

/// Is the move a capture or a queen promotion?
#[inline]
pub fn is_noisy(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
}

/// Receives quiet moves as they are generated: one by one, as a closure does, or all squares of a piece at once.
pub trait TakeQuiets {
    /// Takes a move.
    fn take(&mut self, m: Move);

    /// Takes the moves of the piece on `from` to the squares of `to`.
    fn take_all(&mut self, role: Role, from: Square, to: Bitboard) {
        for to in to {
            self.take(Move::Normal { role, from, capture: None, to, promotion: None });
        }
    }
}

impl<F: FnMut(Move)> TakeQuiets for F {
    fn take(&mut self, m: Move) {
        self(m);
    }
}

impl Position {
    /// Passes the legal [noisy](is_noisy) moves of a side that is not in check to `add`.
    pub fn noisy_moves(&self, mut add: impl FnMut(Move)) {
        debug_assert!(!self.in_check());
        let board = self.board();
        let us = self.turn();
        let theirs = board.by_color(!us);
        let pins = Pins::new(self);
        self.piece_moves(theirs, &pins, &mut |role, from, to| {
            for to in to {
                add(Move::Normal { role, from, capture: board.role_at(to), to, promotion: None });
            }
        });

        let pawns = board.pawns() & board.by_color(us);
        let (west, east) = if us.is_white() { (7, 9) } else { (-9, -7) };
        let not_a = pawns & !Bitboard::from_file(shakmaty::File::A);
        let not_h = pawns & !Bitboard::from_file(shakmaty::File::H);
        for (from, step) in [(not_a, west), (not_h, east)] {
            for to in from.shift(step) & theirs {
                let from = origin(to, step);
                if pins.allow(from, to) {
                    let capture = board.role_at(to);
                    if to.rank() == Rank::First || to.rank() == Rank::Eighth {
                        for promotion in [Role::Queen, Role::Rook, Role::Bishop, Role::Knight] {
                            add(pawn_move(from, to, capture, Some(promotion)));
                        }
                    } else {
                        add(pawn_move(from, to, capture, None));
                    }
                }
            }
        }
        let push = forward(us);
        for to in pawns.shift(push) & !board.occupied() & Bitboard::BACKRANKS {
            let from = origin(to, push);
            if pins.allow(from, to) {
                add(pawn_move(from, to, None, Some(Role::Queen)));
            }
        }
        if self.chess().pseudo_legal_ep_square().is_some() {
            self.chess().en_passant_moves().iter().copied().for_each(add);
        }
    }

    /// Passes the legal moves of a side that is not in check which are not [noisy](is_noisy) to `quiets`.
    pub fn quiet_moves(&self, mut quiets: impl TakeQuiets) {
        debug_assert!(!self.in_check());
        let board = self.board();
        let us = self.turn();
        let empty = !board.occupied();
        let pins = Pins::new(self);
        self.piece_moves(empty, &pins, &mut |role, from, to| quiets.take_all(role, from, to));

        let pawns = board.pawns() & board.by_color(us);
        let push = forward(us);
        let (once, twice) = pushes(us, pawns, empty);
        for to in once {
            let from = origin(to, push);
            if !pins.allow(from, to) {
                continue;
            }
            if Bitboard::BACKRANKS.contains(to) {
                for promotion in [Role::Rook, Role::Bishop, Role::Knight] {
                    quiets.take(pawn_move(from, to, None, Some(promotion)));
                }
            } else {
                quiets.take_all(Role::Pawn, from, Bitboard::from_square(to));
            }
        }
        for to in twice {
            let from = origin(to, 2 * push);
            if pins.allow(from, to) {
                quiets.take_all(Role::Pawn, from, Bitboard::from_square(to));
            }
        }
        for side in CastlingSide::ALL {
            if self.chess().castles().has(us, side) {
                self.chess().castling_moves(side).iter().for_each(|&m| quiets.take(m));
            }
        }
    }

    /// Is a move legal, given that the moving and the captured piece are on the board? Common moves are checked here,
    /// rare ones by shakmaty.
    pub(super) fn is_legal(&self, m: Move) -> bool {
        let Move::Normal { role, from, to, promotion: None, .. } = m else { return self.chess().is_legal(m) };
        let board = self.board();
        let us = self.turn();
        let (occupied, ours) = (board.occupied(), board.by_color(us));
        let reach = match role {
            Role::Pawn => {
                let (once, twice) = pushes(us, Bitboard::from_square(from), !occupied);
                let captures = attacks::pawn_attacks(us, from) & board.by_color(!us);
                // On the last rank the pawn would have to promote.
                (once | twice | captures) & !Bitboard::BACKRANKS
            }
            Role::King => {
                return (attacks::king_attacks(from) & !ours).contains(to) && self.is_safe(from, to);
            }
            _ => attacks::attacks(from, role.of(us), occupied),
        };
        if self.in_check() {
            // The move must also parry the check.
            return self.chess().is_legal(m);
        }
        (reach & !ours).contains(to) && Pins::new(self).allow(from, to)
    }

    /// Would the king on `from` be safe on `to`?
    fn is_safe(&self, from: Square, to: Square) -> bool {
        let without_king = self.board().occupied() ^ Bitboard::from_square(from);
        self.board().attacks_to(to, !self.turn(), without_king).is_empty()
    }

    /// Passes each piece other than pawns to `add`, with those `targets` to which it may move.
    fn piece_moves(&self, targets: Bitboard, pins: &Pins, add: &mut impl FnMut(Role, Square, Bitboard)) {
        let board = self.board();
        let us = self.turn();
        let ours = board.by_color(us);
        let occupied = board.occupied();
        // A pinned knight never moves along its pin.
        for from in board.knights() & ours & !pins.pinned {
            add(Role::Knight, from, attacks::knight_attacks(from) & targets);
        }
        for (role, pieces) in
            [(Role::Bishop, board.bishops()), (Role::Rook, board.rooks()), (Role::Queen, board.queens())]
        {
            for from in pieces & ours {
                let reach = match role {
                    Role::Bishop => attacks::bishop_attacks(from, occupied),
                    Role::Rook => attacks::rook_attacks(from, occupied),
                    _ => attacks::queen_attacks(from, occupied),
                };
                add(role, from, reach & targets & pins.line(from));
            }
        }
        let mut safe = Bitboard::EMPTY;
        for to in attacks::king_attacks(pins.king) & targets {
            if self.is_safe(pins.king, to) {
                safe.add(to);
            }
        }
        add(Role::King, pins.king, safe);
    }
}

/// The pieces that may move only along a line with their king.
struct Pins {
    king: Square,
    pinned: Bitboard,
}

impl Pins {
    fn new(position: &Position) -> Pins {
        let (board, us) = (position.board(), position.turn());
        let king = board.king_of(us).unwrap_or(Square::A1);
        Pins { king, pinned: blockers(board, king, board.by_color(!us)) & board.by_color(us) }
    }

    fn line(&self, from: Square) -> Bitboard {
        if self.pinned.contains(from) { attacks::ray(self.king, from) } else { Bitboard::FULL }
    }

    fn allow(&self, from: Square, to: Square) -> bool {
        !self.pinned.contains(from) || attacks::aligned(self.king, from, to)
    }
}

fn forward(color: Color) -> i32 {
    color.fold_wb(8, -8)
}

/// The squares that `pawns` reach by one step, and by two.
fn pushes(us: Color, pawns: Bitboard, empty: Bitboard) -> (Bitboard, Bitboard) {
    let once = pawns.shift(forward(us)) & empty;
    let third = Bitboard::from_rank(us.fold_wb(Rank::Third, Rank::Sixth));
    (once, (once & third).shift(forward(us)) & empty)
}

fn origin(to: Square, step: i32) -> Square {
    // Always on the board: `to` was reached by this step.
    Square::try_from(to as i32 - step).unwrap_or(to)
}

fn pawn_move(from: Square, to: Square, capture: Option<Role>, promotion: Option<Role>) -> Move {
    Move::Normal { role: Role::Pawn, from, capture, to, promotion }
}
