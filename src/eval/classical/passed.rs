//! Passed pawns, second part: the terms that depend on kings and pieces.

use shakmaty::{Bitboard, Square, attacks};

use super::{
    context::Context,
    geometry::{Side, file_of},
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Our passed pawns.
#[inline]
pub fn score<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>) {
    let passed = context.pawns.passed & context.pawns.pawns[S::ME];
    if passed.is_empty() {
        return;
    }
    for square in passed {
        pawn::<S, T>(context, sum, square);
    }
    let pieces = context.pieces[S::YOU] & !context.board.pawns() & !context.board.kings();
    if pieces.is_empty() {
        unstoppable::<S, T>(context, sum, passed);
    }
}

#[inline]
fn pawn<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, square: Square) {
    let w = &WEIGHTS;
    let rank = S::rank(square);
    let next = S::ahead(square);
    // The kings' distances from the square in front of the pawn.
    let [own, enemy] = [S::ME, S::YOU].map(|side| context.king[side].distance(next) as usize);
    sum.add::<S>(Term::PassedKings, &w.passed_own_king[rank][own], 1);
    sum.add::<S>(Term::PassedKings, &w.passed_enemy_king[rank][enemy], 1);

    // Rooks belong behind passed pawns.
    let behind = S::Them::front(square);
    let mut path_is_watched = false;
    let mut pushed_from_behind = false;
    let heavy = context.board.rooks_and_queens() & file_of(square) & behind;
    if heavy.any() {
        let seen = attacks::rook_attacks(square, context.occupied) & heavy;
        pushed_from_behind = (seen & context.pieces[S::ME]).any();
        path_is_watched = (seen & context.pieces[S::YOU]).any();
        let rooks = seen & context.board.rooks();
        if (rooks & context.pieces[S::ME]).any() {
            sum.add::<S>(Term::PassedRook, &w.passed_rook_behind, 1);
        } else if (rooks & context.pieces[S::YOU]).any() {
            sum.add::<S>(Term::PassedRook, &w.passed_enemy_rook_behind, 1);
        }
    }

    let step = Bitboard::from(next);
    if (step & context.pieces[S::YOU]).any() {
        sum.add::<S>(Term::PassedPath, &w.passed_blocked[rank], 1);
    } else if (step & context.occupied).is_empty() {
        let path = S::front(square);
        if (path & context.occupied).is_empty() {
            sum.add::<S>(Term::PassedPath, &w.passed_free[rank], 1);
        }
        let dangers = context.attacked[S::YOU] | context.pieces[S::YOU];
        if !path_is_watched && (path & dangers).is_empty() {
            sum.add::<S>(Term::PassedPath, &w.passed_safe_path[rank], 1);
        } else if !path_is_watched && (step & dangers).is_empty() {
            sum.add::<S>(Term::PassedPath, &w.passed_safe_step[rank], 1);
        }
        if pushed_from_behind || (step & context.attacked[S::ME]).any() {
            sum.add::<S>(Term::PassedPath, &w.passed_supported[rank], 1);
        }
    }
}

/// Against a bare king with pawns at most: does a pawn with a free path outrun him?
fn unstoppable<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>, passed: Bitboard) {
    let tempo = i32::from(context.turn != S::US);
    let runs = passed.into_iter().filter_map(|square| {
        let path = S::front(square);
        let goal = (path & S::ranks(0b1000_0000)).first()?;
        let steps = (7 - S::rank(square) as i32).min(5);
        let caught = context.king[S::YOU].distance(goal) as i32 - tempo <= steps;
        let free = (path & context.occupied).is_empty();
        // On the seventh rank, with our king next to the promotion square, the pawn cannot be stopped.
        let escorted =
            S::rank(square) == 6 && context.king[S::ME].distance(goal) <= 1 && context.king[S::YOU] != goal;
        (free && (escorted || !caught)).then_some(steps)
    });
    if let Some(steps) = runs.min() {
        sum.add::<S>(Term::Unstoppable, &WEIGHTS.unstoppable[(steps + tempo) as usize], 1);
    }
}
