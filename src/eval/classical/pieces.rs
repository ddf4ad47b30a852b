//! Terms of single pieces: outposts, bad and trapped bishops, rooks and their files, queens in line.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::{
    context::Context,
    geometry::{CENTER, CENTER_FILES, Side, count, file_of},
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};
use crate::position::blockers;

/// A knight: outposts it holds or reaches, shelter behind a pawn.
#[inline]
pub fn knight<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, square: Square, reach: Bitboard) {
    minor::<S, T>(context, sum, square, reach, 0);
}

/// A bishop: outposts, own pawns on its colour, the long diagonal, the corner traps.
#[inline]
pub fn bishop<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, square: Square, reach: Bitboard) {
    let w = &WEIGHTS;
    minor::<S, T>(context, sum, square, reach, 1);

    let ours = context.pawns.pawns[S::ME];
    let colour = if square.is_light() { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES };
    let blocked = ours & S::Them::push(context.occupied) & CENTER_FILES;
    let fixed = count(ours & colour);
    sum.add::<S>(Term::BadBishop, &w.bishop_pawn, fixed);
    sum.add::<S>(Term::BadBishop, &w.bishop_blocked_center, fixed * count(blocked));
    let diagonals = attacks::bishop_attacks(square, Bitboard::EMPTY);
    sum.add::<S>(Term::BadBishop, &w.bishop_xray, count(diagonals & context.pawns.pawns[S::YOU]));

    let pawns = context.pawns.pawns[0] | context.pawns.pawns[1];
    if (attacks::bishop_attacks(square, pawns) & CENTER).more_than_one() {
        sum.add::<S>(Term::LongDiagonal, &w.long_diagonal, 1);
    }
    // A bishop that took an edge pawn on the seventh rank and was shut in by the next pawn.
    let trap = match (S::rank(square), square.to_u32() & 7) {
        (6, 0) | (7, 1) => Some((1, 5)),
        (6, 7) | (7, 6) => Some((6, 5)),
        _ => None,
    };
    if let Some((file, rank)) = trap {
        let rank = if S::US.is_white() { rank } else { 7 - rank };
        if context.pawns.pawns[S::YOU].contains(Square::new(rank * 8 + file)) {
            sum.add::<S>(Term::TrappedBishop, &w.trapped_bishop, 1);
        }
    }
}

/// The terms that knights and bishops have in common.
#[inline]
fn minor<S: Side, T: Tracer>(
    context: &Context,
    sum: &mut ScoreSum<T>,
    square: Square,
    reach: Bitboard,
    piece: usize,
) {
    let w = &WEIGHTS;
    let posts = S::ranks(0b0111_1000) & context.by::<S>(Role::Pawn) & !context.pawns.attack_span[S::YOU];
    if posts.contains(square) {
        sum.add::<S>(Term::Outpost, &w.outpost[piece], 1);
    } else if (posts & reach & !context.pieces[S::ME]).any() {
        sum.add::<S>(Term::Outpost, &w.reachable_outpost[piece], 1);
    }
    let pawns = context.pawns.pawns[0] | context.pawns.pawns[1];
    if S::rank(square) < 5 && pawns.contains(S::ahead(square)) {
        sum.add::<S>(Term::BehindPawn, &w.minor_behind_pawn[piece], 1);
    }
    sum.add::<S>(Term::Closed, &w.closed[piece], context.rams);
}

/// A rook: open files, the seventh rank, shut in by the own king.
#[inline]
pub fn rook<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, square: Square, safe: i32) {
    let w = &WEIGHTS;
    let file = square.to_u32() & 7;
    if context.pawns.is_half_open::<S>(file) {
        let open = context.pawns.is_half_open::<S::Them>(file);
        sum.add::<S>(Term::RookFile, &w.rook_file[usize::from(!open)], 1);
    } else {
        let stuck = context.pawns.pawns[S::ME] & S::Them::push(context.occupied);
        if (stuck & file_of(square)).any() {
            sum.add::<S>(Term::RookFile, &w.rook_file[2], 1);
        }
    }
    if safe <= 3 && !context.pawns.is_half_open::<S>(file) {
        let king = context.king[S::ME];
        let king_file = king.to_u32() & 7;
        let shut = S::rank(king) == 0 && S::rank(square) == 0 && (king_file < 4) == (file < king_file);
        if shut {
            let castles = context.castles[S::ME];
            sum.add::<S>(Term::TrappedRook, &w.trapped_rook, if castles { 1 } else { 2 });
        }
    }
    sum.add::<S>(Term::Closed, &w.closed[2], context.rams);
    let theirs = context.pawns.pawns[S::YOU];
    if S::rank(square) == 6 && (S::rank(context.king[S::YOU]) == 7 || (theirs & S::ranks(0b0100_0000)).any())
    {
        sum.add::<S>(Term::RookSeventh, &w.rook_seventh, 1);
    }
}

/// A queen: infiltration of the enemy camp; in line with an enemy rook or bishop, with one piece between.
#[inline]
pub fn queen<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, square: Square) {
    let w = &WEIGHTS;
    sum.add::<S>(Term::Closed, &w.closed[3], context.rams);
    if S::rank(square) >= 4 && !context.pawns.attack_span[S::YOU].contains(square) {
        sum.add::<S>(Term::Infiltration, &w.queen_infiltration, 1);
    }
    let sliders = context.pieces[S::YOU] & !context.board.queens();
    if blockers(context.board, square, sliders).any() {
        sum.add::<S>(Term::QueenPin, &w.queen_in_line, 1);
    }
}
