//! The squares that one side attacks.

use shakmaty::{Bitboard, Color, Role, attacks};

use super::state::Position;

/// The squares that one side attacks, with all its pieces and with the less valuable ones.
#[derive(Copy, Clone, Debug, Default)]
pub struct Threats {
    /// By any piece.
    pub all: Bitboard,
    by_pawns: Bitboard,
    /// By pawns, knights and bishops.
    by_minors: Bitboard,
    /// By these and rooks.
    by_rooks: Bitboard,
}

impl Threats {
    /// The squares attacked by pieces that are worth less than one of `role`.
    pub fn on(&self, role: Role) -> Bitboard {
        match role {
            Role::Pawn | Role::King => Bitboard::EMPTY,
            Role::Knight | Role::Bishop => self.by_pawns,
            Role::Rook => self.by_minors,
            Role::Queen => self.by_rooks,
        }
    }
}

impl Position {
    /// The squares that `color` attacks.
    pub fn threats_by(&self, color: Color) -> Threats {
        let board = self.board();
        let ours = board.by_color(color);
        let occupied = board.occupied();
        let by_pawns = pawn_attacks(board.pawns() & ours, color);
        let mut by_minors = by_pawns;
        for square in board.knights() & ours {
            by_minors |= attacks::knight_attacks(square);
        }
        for square in board.bishops() & ours {
            by_minors |= attacks::bishop_attacks(square, occupied);
        }
        let mut by_rooks = by_minors;
        for square in board.rooks() & ours {
            by_rooks |= attacks::rook_attacks(square, occupied);
        }
        let mut all = by_rooks;
        for square in board.queens() & ours {
            all |= attacks::queen_attacks(square, occupied);
        }
        for square in board.kings() & ours {
            all |= attacks::king_attacks(square);
        }
        Threats { all, by_pawns, by_minors, by_rooks }
    }
}

/// Every square that the pawns of `color` attack.
pub fn pawn_attacks(pawns: Bitboard, color: Color) -> Bitboard {
    let not_a = pawns & !Bitboard::from_file(shakmaty::File::A);
    let not_h = pawns & !Bitboard::from_file(shakmaty::File::H);
    match color {
        Color::White => not_a.shift(7) | not_h.shift(9),
        Color::Black => not_a.shift(-9) | not_h.shift(-7),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Square;

    use super::*;

    #[test]
    fn a_piece_is_threatened_by_those_worth_less() {
        let position = Position::from_fen("4k3/8/2p5/5n2/8/8/8/1r2K3 w - - 0 1").expect("legal");
        let threats = position.threats_by(Color::Black);
        let squares =
            |role| threats.on(role).into_iter().map(|square| square.to_string()).collect::<Vec<_>>();
        assert_eq!(squares(Role::Knight), ["b5", "d5"]);
        assert_eq!(squares(Role::Rook), ["e3", "g3", "d4", "h4", "b5", "d5", "d6", "h6", "e7", "g7"]);
        assert!(threats.on(Role::Queen).contains(Square::B8) && threats.on(Role::King).is_empty());
        assert!(threats.all.contains(Square::D8));
    }
}
