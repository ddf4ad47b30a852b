//! One pass over the pieces: attack maps, mobility, pressure on the enemy king, and the terms that need a single
//! piece's attacks.
//!
//! Mobility counts the squares of the mobility area: not attacked by enemy pawns, and not occupied by the own king or
//! by own pawns that cannot or should not move. A pinned piece has only the line of its pin.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::{
    context::Context,
    geometry::{Side, count},
    pair::Pair,
    pieces, squares,
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Fills in the attack maps of our knights, bishops and rooks and scores them one by one.
#[inline]
pub fn score_minors_and_rooks<S: Side, T: Tracer>(context: &mut Context, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    for square in context.ours::<S>(Role::Knight) {
        let reach = register::<S>(context, Role::Knight, square, attacks::knight_attacks(square));
        let safe = count(reach & context.area[S::ME]);
        credit::<S, T>(context, sum, Role::Knight, square, &w.knight_mobility, safe);
        pieces::knight::<S, T>(context, sum, square, reach);
    }
    for square in context.ours::<S>(Role::Bishop) {
        let through = context.occupied ^ context.board.queens();
        let reach = register::<S>(context, Role::Bishop, square, attacks::bishop_attacks(square, through));
        let safe = count(reach & context.area[S::ME]);
        credit::<S, T>(context, sum, Role::Bishop, square, &w.bishop_mobility, safe);
        pieces::bishop::<S, T>(context, sum, square, reach);
    }
    for square in context.ours::<S>(Role::Rook) {
        let through = context.occupied ^ context.board.queens() ^ context.ours::<S>(Role::Rook);
        let reach = register::<S>(context, Role::Rook, square, attacks::rook_attacks(square, through));
        let safe = count(reach & context.area[S::ME]);
        credit::<S, T>(context, sum, Role::Rook, square, &w.rook_mobility, safe);
        pieces::rook::<S, T>(context, sum, square, safe);
    }
}

/// The same for our queens and king. Called after both sides' [`score_minors_and_rooks`], because squares attacked by
/// lesser pieces do not count as mobility of a queen.
#[inline]
pub fn score_queens_and_king<S: Side, T: Tracer>(context: &mut Context, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let guarded = context.by::<S::Them>(Role::Knight)
        | context.by::<S::Them>(Role::Bishop)
        | context.by::<S::Them>(Role::Rook);
    for square in context.ours::<S>(Role::Queen) {
        let reach =
            register::<S>(context, Role::Queen, square, attacks::queen_attacks(square, context.occupied));
        let safe = count(reach & context.area[S::ME] & !guarded);
        credit::<S, T>(context, sum, Role::Queen, square, &w.queen_mobility, safe);
        pieces::queen::<S, T>(context, sum, square);
    }
    sum.add::<S>(Term::Squares, squares::weight::<S>(Role::King, context.king[S::ME]), 1);
    sum.add::<S>(Term::Pinned, &w.pinned, count(context.pinned[S::ME] & !context.board.pawns()));
}

/// Enters one piece's attacks into the maps. Returns those that a pin allows.
#[inline]
fn register<S: Side>(context: &mut Context, role: Role, square: Square, mut reach: Bitboard) -> Bitboard {
    if context.pinned[S::ME].contains(square) {
        reach &= attacks::ray(context.king[S::ME], square);
    }
    context.by_role[S::ME][role as usize - 1] |= reach;
    context.twice[S::ME] |= context.attacked[S::ME] & reach;
    context.attacked[S::ME] |= reach;
    if reach.intersects(context.ring[S::YOU]) {
        let attack = &mut context.king_attack[S::ME];
        attack.attackers[role as usize - 2] += 1;
        attack.hits += count(reach & attacks::king_attacks(context.king[S::YOU]));
    }
    reach
}

/// The terms of every piece: square, mobility, distance from both kings.
#[inline]
fn credit<S: Side, T: Tracer>(
    context: &Context,
    sum: &mut ScoreSum<T>,
    role: Role,
    square: Square,
    table: &'static [Pair],
    safe: i32,
) {
    let w = &WEIGHTS;
    let piece = role as usize - 2;
    let [own_view, enemy_view] = context.views[S::ME];
    sum.add::<S>(Term::Squares, &w.squares_own_king[piece][own_view.index(square)], 1);
    sum.add::<S>(Term::Squares, &w.squares_enemy_king[piece][enemy_view.index(square)], 1);
    sum.add::<S>(Term::Mobility, &table[(safe as usize).min(table.len() - 1)], 1);
    let [own, enemy] = [S::ME, S::YOU].map(|side| context.king[side].distance(square) as usize);
    sum.add::<S>(Term::Tropism, &w.own_king_distance[piece][own], 1);
    sum.add::<S>(Term::Tropism, &w.enemy_king_distance[piece][enemy], 1);
}
