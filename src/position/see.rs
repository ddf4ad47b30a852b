//! Static exchange evaluation: what a capture wins or loses if both sides keep recapturing on one square with their
//! least valuable piece. A pinned piece does not recapture while its pinner stands (Stockfish's idea).

use shakmaty::{Bitboard, Color, Move, Role, Square, attacks};

use super::{checks::blockers_among, state::Position};
use crate::types::Score;

/// Exchange value of a piece in units of a score, by role (pawn 1 to king 6). The king's is larger than any exchange.
const VALUE: [i32; 7] =
    [0, centipawns(100), centipawns(320), centipawns(330), centipawns(500), centipawns(950), 20_000];

const fn centipawns(value: i32) -> i32 {
    Score::from_centipawns(value).0
}

impl Position {
    /// What a move wins before the reply, in units of a score: the captured piece, and the piece that it promotes to.
    /// (The pawn is not subtracted.)
    pub fn material_gain(m: Move) -> i32 {
        let value = |piece: Option<Role>| piece.map_or(0, |role| VALUE[role as usize]);
        value(m.capture()) + value(m.promotion())
    }

    /// Static exchange evaluation: does the exchange that `m` starts win at least `threshold` units of
    /// a score? Castling wins exactly 0.
    pub fn see_ge(&self, m: Move, threshold: i32) -> bool {
        let (from, to, mut on_square) = match m {
            Move::Normal { role, from, to, promotion, .. } => (from, to, promotion.unwrap_or(role)),
            Move::EnPassant { from, to } => (from, to, Role::Pawn),
            Move::Castle { .. } | Move::Put { .. } => return threshold <= 0,
        };
        let captured = m.capture().map_or(0, |role| VALUE[role as usize]);
        let promoted = m.promotion().map_or(0, |role| VALUE[role as usize] - VALUE[Role::Pawn as usize]);

        // By how much the side to move exceeds the threshold without a recapture. If that is negative, the answer is
        // no.
        let mut balance = captured + promoted - threshold;
        if balance < 0 {
            return false;
        }
        // The same if the moved piece is lost for nothing. If that is still enough, the answer is yes.
        balance -= VALUE[on_square as usize];
        if balance >= 0 {
            return true;
        }

        let board = self.board();
        let mut occupied = board.occupied().without(from).with(to);
        if let Move::EnPassant { .. } = m {
            occupied.discard(Square::from_coords(to.file(), from.rank()));
        }
        let diagonal = board.bishops_and_queens();
        let straight = board.rooks_and_queens();
        let mut attackers = attackers_of(self, to, occupied) & occupied;
        let us = self.turn();
        let mut side = !us;
        loop {
            let mut ours = attackers & board.by_color(side);
            if let Some(king) = board.king_of(side).filter(|_| ours.any()) {
                // A slider on `to` is captured: it pins nothing.
                let snipers = board.by_color(!side) & occupied.without(to);
                ours &= !blockers_among(board, occupied, king, snipers);
            }
            let Some((role, square)) = least_valuable(self, ours) else { break };
            if role == Role::King && (attackers & board.by_color(!side)).any() {
                // The king may not capture into check: this side has no move left.
                break;
            }
            occupied.discard(square);
            if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
                attackers |= attacks::bishop_attacks(to, occupied) & diagonal;
            }
            if matches!(role, Role::Rook | Role::Queen) {
                attackers |= attacks::rook_attacks(to, occupied) & straight;
            }
            attackers &= occupied;
            on_square = role;
            side = !side;
            // The balance is now that of the other side, which can stop if it wins even when the piece that has just
            // captured is lost.
            balance = -balance - 1 - VALUE[on_square as usize];
            if balance >= 0 {
                break;
            }
        }
        // `side` can no longer win the exchange.
        side != us
    }
}

fn attackers_of(position: &Position, square: Square, occupied: Bitboard) -> Bitboard {
    let board = position.board();
    (attacks::pawn_attacks(Color::White, square) & board.pawns() & board.black())
        | (attacks::pawn_attacks(Color::Black, square) & board.pawns() & board.white())
        | (attacks::knight_attacks(square) & board.knights())
        | (attacks::king_attacks(square) & board.kings())
        | (attacks::bishop_attacks(square, occupied) & board.bishops_and_queens())
        | (attacks::rook_attacks(square, occupied) & board.rooks_and_queens())
}

fn least_valuable(position: &Position, pieces: Bitboard) -> Option<(Role, Square)> {
    if pieces.is_empty() {
        return None;
    }
    Role::ALL
        .into_iter()
        .find_map(|role| (pieces & position.board().by_role(role)).first().map(|square| (role, square)))
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;

    use super::*;

    /// The largest threshold that the exchange still reaches, in centipawns.
    fn exchange(fen: &str, uci: &str) -> i32 {
        let position = Position::from_fen(fen).expect("legal");
        let m = uci.parse::<UciMove>().expect("uci").to_move(position.chess()).expect("legal");
        (-3000..3000).rev().find(|&t| position.see_ge(m, centipawns(t))).expect("bounded")
    }

    #[test]
    fn a_pawn_is_worth_in_exchanges_what_it_is_worth_in_scores() {
        let position = Position::from_fen("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1").expect("legal");
        let m = "e5d6".parse::<UciMove>().expect("uci").to_move(position.chess()).expect("legal");
        let pawn = Score::from_centipawns(100).0;
        assert_eq!(Position::material_gain(m), pawn);
        assert!(position.see_ge(m, pawn) && !position.see_ge(m, pawn + 1));
    }

    #[test]
    fn exchanges_count_out() {
        let cases = [
            ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
            ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", -220),
            ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", 100),
            ("4k3/8/3p4/4p3/8/4R3/8/4K3 w - - 0 1", "e3e5", -400),
            ("3qk3/8/8/8/3r4/8/8/3RK3 w - - 0 1", "d1d4", 0),
            ("4k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7a8q", 850),
            ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8q", 320 + 850),
            // A pinned knight may not recapture.
            ("4k3/3n4/8/1B2p3/8/5N2/8/4K3 w - - 0 1", "f3e5", 100),
            ("4k3/3n4/8/4p3/8/5N2/8/4K3 w - - 0 1", "f3e5", 100 - 320),
            // The king may recapture only if the square is no longer defended.
            ("8/8/3k4/4p3/8/8/4R3/4R1K1 w - - 0 1", "e2e5", 100),
            ("8/8/3k4/4p3/8/4R3/8/6K1 w - - 0 1", "e3e5", -400),
        ];
        for (fen, uci, expected) in cases {
            assert_eq!(exchange(fen, uci), expected, "{uci} in {fen}");
        }
    }
}
