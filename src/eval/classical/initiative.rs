//! Initiative: the winning chances of the side that is better. Pawns on both wings, passed pawns and outflanking kings
//! make an endgame advantage count more; few pawns on one wing, less.

use super::{
    context::Context,
    geometry::{Black, KING_SIDE, QUEEN_SIDE, Side, White, count},
    pair::Pair,
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Corrects the endgame value of the sum so far, which at most becomes zero or doubles, so that the evaluation has no
/// jumps.
#[inline]
pub fn score<T: Tracer>(context: &Context, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let pawns = context.pawns.pawns[0] | context.pawns.pawns[1];
    let [black, white] = context.king;
    let outflanking = white.file().distance(black.file()) as i32 - white.rank().distance(black.rank()) as i32;
    let both_wings = (pawns & QUEEN_SIDE).any() && (pawns & KING_SIDE).any();
    let infiltration = White::rank(white) > 3 || Black::rank(black) > 3;

    let mut complexity = Pair::ZERO;
    for (weight, times) in [
        (&w.initiative_passed, count(context.pawns.passed)),
        (&w.initiative_pawn, count(pawns)),
        (&w.initiative_outflanking, outflanking),
        (&w.initiative_both_wings, i32::from(both_wings)),
        (&w.initiative_infiltration, i32::from(infiltration)),
        (&w.initiative_pawn_ending, i32::from(context.phase == 0)),
        (&w.initiative_offset, 1),
    ] {
        complexity += *weight * times;
    }
    let eg = sum.total.eg();
    sum.add_neutral(Term::Initiative, Pair::new(0, eg.signum() * complexity.eg().clamp(-eg.abs(), eg.abs())));
}
