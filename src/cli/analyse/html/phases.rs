//! Opening, middlegame and endgame.

use shakmaty::{Color, Role};

use crate::position::Position;

/// Men but kings and pawns of both sides together, at most: the middlegame has begun.
const MIDDLEGAME_PIECES: usize = 10;
/// The same of the endgame: for instance a queen and two pieces each, without the rooks.
const ENDGAME_PIECES: usize = 6;
/// Fewer men than this on a side's first rank: its pieces are developed.
const UNDEVELOPED: usize = 4;

/// The plies at which middlegame and endgame begin, in this order; the number of positions where one never does.
/// Once begun a phase does not end before the next.
pub fn begins(positions: &[Position]) -> [usize; 2] {
    let first = |is: fn(&Position) -> bool| positions.iter().position(is).unwrap_or(positions.len());
    let endgame = first(|position| pieces(position) <= ENDGAME_PIECES);
    [first(is_developed).min(endgame), endgame]
}

fn pieces(position: &Position) -> usize {
    let board = position.board();
    (board.occupied() & !board.pawns() & !board.kings()).count()
}

fn is_developed(position: &Position) -> bool {
    let board = position.board();
    let at_home = |side: Color| {
        let rank = side.fold_wb(shakmaty::Rank::First, shakmaty::Rank::Eighth);
        (board.by_color(side) & rank & !board.by_role(Role::Pawn)).count()
    };
    pieces(position) <= MIDDLEGAME_PIECES
        || [Color::White, Color::Black].into_iter().any(|side| at_home(side) < UNDEVELOPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        crate::uci::translate::parse_fen(fen, false).unwrap()
    }

    #[test]
    fn phases_follow_each_other() {
        let opening = position("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
        let middlegame = position("r4rk1/1bqnbppp/p2ppn2/1p6/3NPP2/P1NBB3/1PP3PP/R2Q1R1K w - - 0 13");
        let endgame = position("8/5pk1/4p1p1/7p/3r3P/6P1/5PK1/3R4 w - - 0 40");
        assert_eq!(begins(&[opening.clone(), middlegame.clone(), endgame.clone()]), [1, 2]);
        assert_eq!(begins(&[opening.clone(), opening.clone()]), [2, 2]);
        assert_eq!(begins(&[opening.clone(), endgame.clone()]), [1, 1], "straight into the endgame");
        assert_eq!(begins(&[endgame, opening, middlegame]), [0, 0]);
    }
}
