//! Threats: enemy pieces that are attacked by a less valuable piece, or insufficiently defended.

use shakmaty::{Bitboard, Role, attacks};

use super::{
    context::Context,
    geometry::{Side, count},
    pair::Pair,
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Our threats.
#[inline]
pub fn score<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let theirs = context.pieces[S::YOU] & !context.board.kings();
    let pieces = theirs & !context.board.pawns();
    let ours = context.attacked[S::ME];
    let guards = context.attacked[S::YOU];
    // Defended so well that only a less valuable attacker is a threat.
    let strong = context.by::<S::Them>(Role::Pawn) | (context.twice[S::YOU] & !context.twice[S::ME]);
    let weak = theirs & !strong & ours;
    let targets = (pieces & strong) | weak;

    let by_minors = context.by::<S>(Role::Knight) | context.by::<S>(Role::Bishop);
    by_victim::<S, T>(context, sum, Term::MinorThreat, targets & by_minors, &w.threat_by_minor);
    let by_rooks = weak & context.by::<S>(Role::Rook);
    by_victim::<S, T>(context, sum, Term::RookThreat, by_rooks, &w.threat_by_rook);
    if (weak & context.by::<S>(Role::King)).any() {
        sum.add::<S>(Term::KingThreat, &w.threat_by_king, 1);
    }
    let hanging = weak & (!guards | (pieces & context.twice[S::ME]));
    by_victim::<S, T>(context, sum, Term::Hanging, hanging, &w.hanging);
    let only_by_queen = weak & context.by::<S::Them>(Role::Queen) & !context.twice[S::YOU];
    sum.add::<S>(Term::Hanging, &w.guarded_by_queen, count(only_by_queen));
    sum.add::<S>(Term::Restriction, &w.restriction, count(guards & !strong & ours));

    pawn_threats::<S, T>(context, sum, pieces);
    queen_hits::<S, T>(context, sum, strong);
}

/// Adds the weights of the threatened pieces `victims`, pawn to queen.
#[inline]
fn by_victim<S: Side, T: Tracer>(
    context: &Context,
    sum: &mut ScoreSum<T>,
    term: Term,
    victims: Bitboard,
    worth: &'static [Pair; 5],
) {
    if victims.any() {
        for (role, weight) in Role::ALL.into_iter().zip(worth) {
            sum.add::<S>(term, weight, count(victims & context.board.by_role(role)));
        }
    }
}

/// Pieces attacked by safe pawns, now or after a safe step.
#[inline]
fn pawn_threats<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, pieces: Bitboard) {
    let w = &WEIGHTS;
    let pawns = context.pawns.pawns[S::ME];
    let safe = !context.attacked[S::YOU] | context.attacked[S::ME];
    let hit = S::pawn_attacks(pawns & safe) & pieces;
    by_victim::<S, T>(context, sum, Term::PawnThreat, hit, &w.threat_by_pawn);

    let once = S::push(pawns) & !context.occupied;
    let twice = S::push(once & S::ranks(0b0000_0100)) & !context.occupied;
    let steps = (once | twice) & safe & !context.by::<S::Them>(Role::Pawn);
    let hit = S::pawn_attacks(steps) & pieces & !hit;
    by_victim::<S, T>(context, sum, Term::PushThreat, hit, &w.threat_by_push);
}

/// Safe squares from which our pieces would attack their queen.
#[inline]
fn queen_hits<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, strong: Bitboard) {
    let w = &WEIGHTS;
    let Some(queen) = context.ours::<S::Them>(Role::Queen).single_square() else { return };
    let safe = context.area[S::ME] & !strong;
    let jumps = context.by::<S>(Role::Knight) & attacks::knight_attacks(queen) & safe;
    sum.add::<S>(Term::QueenHit, &w.queen_hit_by_knight, count(jumps));
    let lines = (context.by::<S>(Role::Bishop) & attacks::bishop_attacks(queen, context.occupied))
        | (context.by::<S>(Role::Rook) & attacks::rook_attacks(queen, context.occupied));
    sum.add::<S>(Term::QueenHit, &w.queen_hit_by_slider, count(lines & safe & context.twice[S::ME]).min(2));
}
