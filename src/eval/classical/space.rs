//! Space: safe squares behind the own pawns in the centre; they count more, the more pieces share them.

use shakmaty::{Bitboard, Role};

use super::{
    context::Context,
    geometry::{CENTER_FILES, Side, count},
    pair::MIDDLEGAME,
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Our space. Only counted while many pieces are on the board.
#[inline]
pub fn score<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>) {
    if context.phase < MIDDLEGAME / 2 {
        return;
    }
    let pawns = context.pawns.pawns[S::ME];
    let camp: Bitboard = CENTER_FILES & S::ranks(0b0000_1110);
    let safe = camp & !pawns & !context.by::<S::Them>(Role::Pawn);
    let one_behind = S::Them::push(pawns);
    let behind = pawns | one_behind | S::Them::push(one_behind | S::Them::push(one_behind));
    let squares = count(safe) + count(safe & behind & !context.attacked[S::YOU]);
    let pieces = (count(context.pieces[S::ME]) - 4).max(0);
    sum.add::<S>(Term::Space, &WEIGHTS.space, squares * pieces / 16);
}
