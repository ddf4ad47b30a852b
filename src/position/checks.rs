//! Which moves give check, without making them.

use shakmaty::{Bitboard, Board, Move, Role, Square, attacks};

use super::state::Position;

/// The squares from which the side to move gives check, prepared once for all moves of a position.
#[derive(Clone, Debug)]
pub struct CheckSquares {
    king: Square,
    by_role: [Bitboard; 7],
    discoverers: Bitboard,
}

impl CheckSquares {
    /// Prepares the squares for the side to move.
    pub fn new(position: &Position) -> CheckSquares {
        let board = position.board();
        let us = position.turn();
        let king = board.king_of(!us).unwrap_or(Square::A1);
        let occupied = board.occupied();
        let bishop = attacks::bishop_attacks(king, occupied);
        let rook = attacks::rook_attacks(king, occupied);
        let pawn = attacks::pawn_attacks(!us, king);
        let knight = attacks::knight_attacks(king);
        let empty = Bitboard::EMPTY;

        let discoverers = blockers(board, king, board.by_color(us)) & board.by_color(us);
        CheckSquares { king, by_role: [empty, pawn, knight, bishop, rook, bishop | rook, empty], discoverers }
    }

    /// The squares on which a piece of `role` (after a promotion, the new one) that leaves `from` gives check.
    pub fn targets(&self, role: Role, from: Square) -> Bitboard {
        let direct = self.by_role[role as usize];
        if self.discoverers.contains(from) { direct | !attacks::ray(self.king, from) } else { direct }
    }

    /// Does the move give check? Castling and en passant never count as checks, nor does one by a promoted piece through
    /// the square that the pawn left.
    pub fn gives_check(&self, m: Move) -> bool {
        let Move::Normal { role, from, to, promotion, .. } = m else { return false };
        self.targets(promotion.unwrap_or(role), from).contains(to)
    }
}

/// The pieces of either colour that are the only one between `square` and a slider among `pieces`. If a king is on
/// `square`, those of its own side are pinned, the others can give discovered check.
#[inline]
pub fn blockers(board: &Board, square: Square, pieces: Bitboard) -> Bitboard {
    blockers_among(board, board.occupied(), square, pieces)
}

/// The same with pieces on `occupied` alone.
#[inline]
pub fn blockers_among(board: &Board, occupied: Bitboard, square: Square, pieces: Bitboard) -> Bitboard {
    let snipers = (attacks::rook_attacks(square, Bitboard::EMPTY) & board.rooks_and_queens()
        | attacks::bishop_attacks(square, Bitboard::EMPTY) & board.bishops_and_queens())
        & pieces;
    let mut found = Bitboard::EMPTY;
    for sniper in snipers {
        let between = attacks::between(square, sniper) & occupied;
        if !between.more_than_one() {
            found |= between;
        }
    }
    found
}
