//! King and pawns: shelter, pawn storm, and the distances of all pawns from the king.

use shakmaty::{Bitboard, CastlingSide, Position as _, Square};

use super::{
    geometry::{Side, file_of, rank_of},
    pair::Pair,
    trace::{NoTrace, ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};
use crate::position::Position;

/// The terms of king and pawns: shelter and storm, and the squares of all pawns relative to the king. Also returns the
/// middlegame value of shelter and storm alone. For a king that may castle the best possible shelter counts.
#[cold]
pub fn shelter<S: Side, T: Tracer>(
    position: &Position,
    pawns: &[Bitboard; 2],
    tracer: &mut T,
) -> (Pair, i32) {
    let king = position.board().king_of(S::US).unwrap_or(Square::A1);
    let castles = position.chess().castles();
    let mut homes = CastlingSide::ALL
        .into_iter()
        .filter(|&side| castles.has(S::US, side))
        .map(|side| side.king_to(S::US))
        .peekable();
    let mut home = king;
    if homes.peek().is_some() {
        let middlegame = |king: Square| {
            let mut no_trace = NoTrace;
            let mut sum = ScoreSum::new(&mut no_trace);
            shelter_at::<S, NoTrace>(king, pawns, &mut sum);
            sum.own::<S>().mg()
        };
        let mut best = middlegame(king);
        for castled in homes {
            let found = middlegame(castled);
            if found > best {
                (home, best) = (castled, found);
            }
        }
    }

    let mut sum = ScoreSum::new(tracer);
    shelter_at::<S, T>(home, pawns, &mut sum);
    let middlegame = sum.own::<S>().mg();
    king_and_pawns::<S, T>(king, pawns, &mut sum);
    (sum.own::<S>(), middlegame)
}

/// Shelter and storm for a king on `king`.
fn shelter_at<S: Side, T: Tracer>(king: Square, pawns: &[Bitboard; 2], sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let not_behind = rank_of(king) | S::front_ranks(king);
    let rank_of_nearest = |pawns: Bitboard| pawns.into_iter().map(|pawn| S::rank(pawn)).min().unwrap_or(0);
    let middle = (king.to_u32() & 7).clamp(1, 6);
    for file in middle - 1..=middle + 1 {
        let squares = file_of(Square::new(file)) & not_behind;
        let own = rank_of_nearest(pawns[S::ME] & squares);
        let storm = rank_of_nearest(pawns[S::YOU] & squares);
        let folded = file.min(7 - file) as usize;
        sum.add::<S>(Term::Shelter, &w.shelter[folded][own], 1);
        let blocked = own > 0 && storm == own + 1;
        let weight = if blocked { &w.storm_blocked[storm] } else { &w.storm[folded][storm] };
        sum.add::<S>(Term::Shelter, weight, 1);
    }
    if (pawns[S::ME] & file_of(king)).is_empty() {
        sum.add::<S>(Term::Shelter, &w.king_open_file, 1);
    }
}

/// Every pawn by the files and ranks between it and the king, and the distance of the nearest own pawn.
fn king_and_pawns<S: Side, T: Tracer>(king: Square, pawns: &[Bitboard; 2], sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    for (side, table) in [(S::ME, &w.king_own_pawn), (S::YOU, &w.king_enemy_pawn)] {
        for pawn in pawns[side] {
            let apart = king.file().distance(pawn.file()) as usize;
            let ahead = 7 + S::rank(pawn) - S::rank(king);
            sum.add::<S>(Term::KingPawns, &table[apart][ahead], 1);
        }
    }
    if let Some(nearest) = pawns[S::ME].into_iter().map(|pawn| pawn.distance(king)).min() {
        sum.add::<S>(Term::KingPawns, &w.king_pawn_distance[nearest as usize], 1);
    }
}
