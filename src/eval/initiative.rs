//! Initiative: how much the side that is better has to play for. Pawns on both wings, passed pawns and
//! kings that get past each other make an endgame advantage count more; few pawns on one wing, less.

use super::{
    context::Context,
    geometry::{Black, KING_SIDE, QUEEN_SIDE, Side, White, count},
    pair::Pair,
    trace::{Tally, Term, Tracer},
    weights::WEIGHTS,
};

/// Corrects the endgame value of the sum so far; never turns it round.
#[inline]
pub fn score<T: Tracer>(context: &Context, tally: &mut Tally<T>) {
    let w = &WEIGHTS;
    let pawns = context.pawns.pawns[0] | context.pawns.pawns[1];
    let [black, white] = context.king;
    let outflanking = white.file().distance(black.file()) as i32 - white.rank().distance(black.rank()) as i32;
    let both_wings = (pawns & QUEEN_SIDE).any() && (pawns & KING_SIDE).any();
    let infiltration = White::rank(white) > 3 || Black::rank(black) > 3;

    let complexity = w.initiative_passed * count(context.pawns.passed)
        + w.initiative_pawn * count(pawns)
        + w.initiative_outflanking * outflanking
        + w.initiative_both_wings * i32::from(both_wings)
        + w.initiative_infiltration * i32::from(infiltration)
        + w.initiative_pawn_ending * i32::from(context.phase == 0)
        + w.initiative_offset;
    let eg = tally.total.eg();
    tally.add_neutral(Term::Initiative, Pair::new(0, eg.signum() * complexity.max(-eg.abs())));
}
