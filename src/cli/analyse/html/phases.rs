//! Opening, middlegame and endgame as Lichess divides a game (`Divider.scala` of scalachess, whose rule and numbers
//! these are), so that the numbers by phase are comparable.

use shakmaty::{Bitboard, Color, Rank};

use crate::position::Position;

/// The middlegame begins when both sides together have no more pieces than this, kings and pawns not counted.
const MIDDLEGAME_PIECES: usize = 10;
/// The same for the endgame: for instance a queen and two minor pieces each.
const ENDGAME_PIECES: usize = 6;
/// Fewer pieces than this on a side's first rank: its pieces are developed.
const UNDEVELOPED: usize = 4;
/// Above this mixedness the armies of both sides are in contact.
const MIXED: i32 = 150;
/// Squares a1, b1, a2 and b2, to be shifted over the board.
const GROUP: u64 = 0x0303;

/// The plies at which middlegame and endgame begin, in this order; the number of positions where one never does.
/// Once begun a phase does not end before the next.
pub fn begins(positions: &[Position]) -> [usize; 2] {
    let first = |is: fn(&Position) -> bool| positions.iter().position(is).unwrap_or(positions.len());
    let endgame = first(|position| pieces(position) <= ENDGAME_PIECES);
    [first(is_middlegame).min(endgame), endgame]
}

fn pieces(position: &Position) -> usize {
    let board = position.board();
    (board.occupied() & !board.pawns() & !board.kings()).count()
}

fn is_middlegame(position: &Position) -> bool {
    let board = position.board();
    let at_home = |side: Color| (board.by_color(side) & side.fold_wb(Rank::First, Rank::Eighth)).count();
    pieces(position) <= MIDDLEGAME_PIECES
        || Color::ALL.into_iter().any(|side| at_home(side) < UNDEVELOPED)
        || mixedness(position) > MIXED
}

/// How much the pieces and pawns of both sides are mixed: the sum over all groups of two by two squares.
fn mixedness(position: &Position) -> i32 {
    let board = position.board();
    let group = |rank: i32, file: i32| {
        let squares = Bitboard(GROUP << (8 * (rank - 1) + file));
        let [white, black] = Color::ALL.map(|side| (board.by_color(side) & squares).count());
        group_mixedness(white, black, rank)
    };
    (1..=7).flat_map(|rank| (0..=6).map(move |file| group(rank, file))).sum()
}

/// The mixedness of a 2x2 group of squares with `white` and `black` pieces, whose lower `rank` is 1 to 7.
fn group_mixedness(white: usize, black: usize, rank: i32) -> i32 {
    // Groups that belong to one side.
    let alone = |count: usize, from_home: i32| match count {
        1 => 9 - from_home,
        2 if from_home > 2 => from_home,
        3 | 4 if from_home > 1 => from_home + 2,
        _ => 0,
    };
    match (white, black) {
        (count, 0) => alone(count, rank),
        (0, count) => alone(count, 8 - rank),
        (1, 1) => 5 + (rank - 3).abs(),
        (2, 1) => 4 + rank,
        (3, 1) => 5 + rank,
        (1, 2) => 10 - rank,
        (1, 3) => 11 - rank,
        (2, 2) => 7,
        _ => 0,
    }
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

    /// The numbers are those of a second implementation, written with python-chess.
    #[test]
    fn pieces_are_as_mixed_as_lichess_says() {
        for (mixed, is_middlegame, fen) in [
            (0, false, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
            (61, false, "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq - 0 3"),
            (97, false, "rnbqk2r/pp2ppbp/2pp1np1/8/3PP3/2N1BN2/PPPQ1PPP/R3KB1R w KQkq - 0 7"),
            (124, true, "8/5pk1/4p1p1/7p/3r3P/6P1/5PK1/3R4 w - - 0 40"),
            (141, true, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
            (148, false, "rn1qkb1r/pp3ppp/2p1pnb1/3pN3/2PPP2P/2N3P1/PP3P2/R1BQKB1R w KQkq - 0 1"),
            (154, true, "rn2kbnr/1pq2ppp/2p1p3/p1Pp1b2/3P4/PQN1P3/1P3PPP/R1B1KBNR b KQkq - 3 7"),
        ] {
            assert_eq!(mixedness(&position(fen)), mixed, "{fen}");
            assert_eq!(begins(&[position(fen)])[0] == 0, is_middlegame, "{fen}");
        }
    }
}
