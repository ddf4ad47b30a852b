//! Threats: enemy men that are attacked by something cheaper, or not well enough defended.

use shakmaty::{Bitboard, Role, attacks};

use super::{
    context::Context,
    geometry::{Side, count},
    pair::Pair,
    trace::{Tally, Term, Tracer},
    weights::WEIGHTS,
};

/// What we threaten.
#[inline]
pub fn score<S: Side, T: Tracer>(context: &Context, tally: &mut Tally<T>) {
    let w = &WEIGHTS;
    let theirs = context.men[S::YOU] & !context.board.kings();
    let pieces = theirs & !context.board.pawns();
    let ours = context.attacked[S::ME];
    let guards = context.attacked[S::YOU];
    // Guarded so well that only a cheaper attacker is a threat.
    let strong = context.by::<S::Them>(Role::Pawn) | (context.twice[S::YOU] & !context.twice[S::ME]);
    let weak = theirs & !strong & ours;
    let targets = (pieces & strong) | weak;

    let by_minors = context.by::<S>(Role::Knight) | context.by::<S>(Role::Bishop);
    tally.add::<S>(Term::MinorThreat, sum(context, targets & by_minors, &w.threat_by_minor));
    tally.add::<S>(Term::RookThreat, sum(context, weak & context.by::<S>(Role::Rook), &w.threat_by_rook));
    if (weak & context.by::<S>(Role::King)).any() {
        tally.add::<S>(Term::KingThreat, w.threat_by_king);
    }
    let hanging = weak & (!guards | (pieces & context.twice[S::ME]));
    tally.add::<S>(Term::Hanging, w.hanging * count(hanging));
    tally.add::<S>(Term::Restriction, w.restriction * count(guards & !strong & ours));

    pawn_threats::<S, T>(context, tally, pieces);
    queen_hits::<S, T>(context, tally, strong);
}

/// Adds up the worth of `victims` by role.
#[inline]
fn sum(context: &Context, victims: Bitboard, worth: &[Pair; 6]) -> Pair {
    if victims.is_empty() {
        return Pair::ZERO;
    }
    [Role::Pawn, Role::Knight, Role::Bishop, Role::Rook, Role::Queen]
        .into_iter()
        .fold(Pair::ZERO, |sum, role| {
            sum + worth[role as usize - 1] * count(victims & context.board.by_role(role))
        })
}

/// Pieces attacked by safe pawns, now or after a safe step.
#[inline]
fn pawn_threats<S: Side, T: Tracer>(context: &Context, tally: &mut Tally<T>, pieces: Bitboard) {
    let w = &WEIGHTS;
    let pawns = context.pawns.pawns[S::ME];
    let safe = !context.attacked[S::YOU] | context.attacked[S::ME];
    let hit = S::pawn_attacks(pawns & safe) & pieces;
    tally.add::<S>(Term::PawnThreat, w.threat_by_pawn * count(hit));

    let once = S::push(pawns) & !context.occupied;
    let twice = S::push(once & S::ranks(0b0000_0100)) & !context.occupied;
    let steps = (once | twice) & safe & !context.by::<S::Them>(Role::Pawn);
    let hit = S::pawn_attacks(steps) & pieces & !hit;
    tally.add::<S>(Term::PushThreat, w.threat_by_push * count(hit));
}

/// Safe squares from which our pieces would attack their queen.
#[inline]
fn queen_hits<S: Side, T: Tracer>(context: &Context, tally: &mut Tally<T>, strong: Bitboard) {
    let w = &WEIGHTS;
    let Some(queen) = context.ours::<S::Them>(Role::Queen).single_square() else { return };
    let safe = context.area[S::ME] & !strong;
    let jumps = context.by::<S>(Role::Knight) & attacks::knight_attacks(queen) & safe;
    tally.add::<S>(Term::QueenHit, w.queen_hit_by_knight * count(jumps));
    let lines = (context.by::<S>(Role::Bishop) & attacks::bishop_attacks(queen, context.occupied))
        | (context.by::<S>(Role::Rook) & attacks::rook_attacks(queen, context.occupied));
    tally.add::<S>(Term::QueenHit, w.queen_hit_by_slider * count(lines & safe & context.twice[S::ME]).min(2));
}
