//! Pawn structure: the terms that depend on the pawns alone and are kept in the pawn hash.

use shakmaty::{Bitboard, Role, Square, attacks};

use super::{
    geometry::{Black, CENTER_FILES, KING_SIDE, QUEEN_SIDE, Side, White, adjacent_files, count, rank_of},
    pawn_entry::ClassicalPawns,
    squares,
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Evaluates the pawns (black, white).
#[cold]
pub fn analyse<T: Tracer>(pawns: [Bitboard; 2], tracer: &mut T) -> ClassicalPawns {
    let mut entry = ClassicalPawns::new(pawns);
    let mut sum = ScoreSum::new(tracer);
    side::<White, T>(&mut entry, &mut sum);
    side::<Black, T>(&mut entry, &mut sum);
    entry.score = sum.total;
    entry
}

fn side<S: Side, T: Tracer>(entry: &mut ClassicalPawns, sum: &mut ScoreSum<T>) {
    for square in entry.pawns[S::ME] {
        pawn::<S, T>(square, entry, sum);
    }
    structure::<S, T>(entry, sum);
    passed::<S, T>(entry, sum);
}

/// One pawn: its neighbours, and the pawns in front of it.
fn pawn<S: Side, T: Tracer>(square: Square, entry: &mut ClassicalPawns, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let (ours, theirs) = (entry.pawns[S::ME], entry.pawns[S::YOU]);
    let rank = S::rank(square);
    let front = S::front(square);
    let neighbours = ours & adjacent_files(square);
    let phalanx = neighbours & rank_of(square);
    let support = ours & attacks::pawn_attacks(!S::US, square);
    let opposed = (theirs & front).any();
    let next = S::ahead(square);
    let blocker = theirs & Bitboard::from(next);
    let levers = theirs & attacks::pawn_attacks(S::US, square);
    let push_levers = theirs & attacks::pawn_attacks(S::US, next);
    let sentries = theirs & S::attack_span(square);
    let stoppers = sentries | (theirs & front);
    let behind_another = (ours & front).any();
    // Neighbours beside the pawn or behind it, which can still come to support it.
    let helpers = neighbours & !S::attack_span(square);

    entry.attack_span[S::ME] |= S::attack_span(square);
    sum.add::<S>(Term::Squares, squares::weight::<S>(Role::Pawn, square), 1);

    let o = usize::from(opposed);
    if neighbours.is_empty() {
        let file = square.to_usize() & 7;
        sum.add::<S>(Term::Isolated, &w.isolated[o][file.min(7 - file)], 1);
    } else if helpers.is_empty() && (push_levers | blocker).any() {
        sum.add::<S>(Term::Backward, &w.backward[o][rank], 1);
    }
    if behind_another {
        sum.add::<S>(Term::Doubled, &w.doubled[usize::from(support.any())], 1);
    }
    if phalanx.any() {
        sum.add::<S>(Term::Connected, &w.phalanx[o][rank], 1);
    }
    sum.add::<S>(Term::Connected, &w.supported[o][rank], count(support));
    if levers.any() {
        sum.add::<S>(Term::Lever, &w.lever[rank], 1);
        if levers.more_than_one() && support.is_empty() {
            sum.add::<S>(Term::Lever, &w.weak_lever, 1);
        }
    }
    if blocker.any() {
        sum.add::<S>(Term::Rammed, &w.rammed[rank], 1);
    }

    let guarded_twice = S::Them::double_pawn_attacks(theirs);
    // Passed: no enemy pawn ahead except those that it can take, or that its neighbours deal with.
    let free = stoppers == levers
        || (stoppers == push_levers && count(phalanx) >= count(push_levers))
        || (stoppers == blocker && rank >= 4 && (S::push(support) & !(theirs | guarded_twice)).any());
    if free && !behind_another {
        entry.passed |= Bitboard::from(square);
    } else if !opposed && !behind_another && rank < 6 && count(helpers) >= count(sentries) {
        sum.add::<S>(Term::Candidate, &w.candidate[rank], 1);
    }
}

/// The pawns as a whole: islands, majorities, holes.
fn structure<S: Side, T: Tracer>(entry: &ClassicalPawns, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let (ours, theirs) = (entry.pawns[S::ME], entry.pawns[S::YOU]);
    let files = entry.files[S::ME];
    sum.add::<S>(Term::Islands, &w.island, (files & !(files << 1)).count_ones() as i32);
    let wings = [QUEEN_SIDE, KING_SIDE];
    let majorities = wings.into_iter().filter(|&wing| count(ours & wing) > count(theirs & wing)).count();
    sum.add::<S>(Term::Islands, &w.majority, majorities as i32);
    let holes = CENTER_FILES & S::ranks(0b0000_1100) & !(entry.attack_span[S::ME] | ours);
    sum.add::<S>(Term::Islands, &w.hole, count(holes));
}

/// The terms of passed pawns that depend on pawns alone.
fn passed<S: Side, T: Tracer>(entry: &ClassicalPawns, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let passed = entry.passed & entry.pawns[S::ME];
    for square in passed {
        let rank = S::rank(square);
        let file = square.to_usize() & 7;
        sum.add::<S>(Term::Passed, &w.passed[rank], 1);
        sum.add::<S>(Term::Passed, &w.passed_file[file.min(7 - file)], 1);
        let beside = adjacent_files(square) & (rank_of(square) | ranks_around(square));
        if (passed & beside).any() {
            sum.add::<S>(Term::Passed, &w.passed_connected[rank], 1);
        }
        let near_files = 0b0001_1111_u16 << file >> 2;
        let others = u16::from(entry.files[S::YOU]) | u16::from(entry.files[S::ME]) & !(0b111 << file >> 1);
        if others != 0 && near_files & others == 0 {
            sum.add::<S>(Term::Passed, &w.passed_outside, 1);
        }
    }
}

/// The ranks next to a pawn's, on which a pawn that guards it or that it guards may stand.
fn ranks_around(square: Square) -> Bitboard {
    let rank = rank_of(square);
    White::push(rank) | Black::push(rank)
}
