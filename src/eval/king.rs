//! King safety: the pawns before the king and those that storm him, and the attack on the squares around
//! him, counted in units of danger whose square is the penalty.

use shakmaty::{Bitboard, CastlingSide, Position as _, Role, Square, attacks};

use super::{
    context::Context,
    geometry::{Side, count, file_of, rank_of},
    pair::Pair,
    trace::{Tally, Term, Tracer},
    weights::WEIGHTS,
};
use crate::position::Position;

/// Shelter, storm and distance to the own pawns: what king square, castling rights and pawns alone say.
/// A king that may castle has the best shelter that he can get.
#[cold]
pub fn shelter<S: Side>(position: &Position, pawns: &[Bitboard; 2]) -> Pair {
    let king = position.board().king_of(S::US).unwrap_or(Square::A1);
    let mut best = shelter_at::<S>(king, pawns);
    for side in CastlingSide::ALL {
        if position.chess().castles().has(S::US, side) {
            let castled = shelter_at::<S>(side.king_to(S::US), pawns);
            if castled.mg() > best.mg() {
                best = castled;
            }
        }
    }
    let nearest = pawns[S::ME].into_iter().map(|pawn| pawn.distance(king) as i32).min();
    best + WEIGHTS.king_pawn_distance * nearest.unwrap_or(0)
}

/// Shelter and storm for a king on `king`.
fn shelter_at<S: Side>(king: Square, pawns: &[Bitboard; 2]) -> Pair {
    let w = &WEIGHTS;
    let not_behind = rank_of(king) | S::front_ranks(king);
    let rank_of_nearest = |pawns: Bitboard| pawns.into_iter().map(|pawn| S::rank(pawn)).min().unwrap_or(0);
    let middle = (king.to_u32() & 7).clamp(1, 6);
    let mut score = Pair::ZERO;
    for file in middle - 1..=middle + 1 {
        let squares = file_of(Square::new(file)) & not_behind;
        let own = rank_of_nearest(pawns[S::ME] & squares);
        let storm = rank_of_nearest(pawns[S::YOU] & squares);
        let folded = file.min(7 - file) as usize;
        score += Pair::new(w.shelter[folded][own], 0);
        score += if own > 0 && storm == own + 1 {
            w.storm_blocked[storm]
        } else {
            Pair::new(w.storm[folded][storm], 0)
        };
    }
    if (pawns[S::ME] & file_of(king)).is_empty() {
        score += w.king_open_file;
    }
    score
}

/// The attack on our king.
#[inline]
pub fn danger<S: Side, T: Tracer>(context: &Context, tally: &mut Tally<T>) {
    let w = &WEIGHTS.danger;
    let shelter = context.shelter[S::ME];
    tally.add::<S>(Term::Shelter, shelter);

    let assault = context.assault[S::YOU];
    let queens = context.ours::<S::Them>(Role::Queen);
    // One attacker alone is no attack, unless it is the queen.
    if assault.attackers + count(queens).min(1) < 2 {
        return;
    }
    let king = context.king[S::ME];
    let attacked = context.attacked[S::YOU];
    let by_queen = context.by::<S>(Role::Queen);
    let poorly_defended =
        !context.twice[S::ME] & (!context.attacked[S::ME] | context.by::<S>(Role::King) | by_queen);
    let weak = attacked & poorly_defended;
    let safe = !context.men[S::YOU] & (!context.attacked[S::ME] | (weak & context.twice[S::YOU]));

    // Checks, looking through our queen, who cannot be relied on to stay.
    let through = context.occupied & !context.ours::<S>(Role::Queen);
    let straight = attacks::rook_attacks(king, through);
    let diagonal = attacks::bishop_attacks(king, through);
    let checks = [
        attacks::knight_attacks(king) & context.by::<S::Them>(Role::Knight),
        diagonal & context.by::<S::Them>(Role::Bishop),
        straight & context.by::<S::Them>(Role::Rook),
        // A queen's check counts where no rook gives it as well, and our queen does not object.
        (straight | diagonal) & context.by::<S::Them>(Role::Queen) & !by_queen,
    ];
    let mut units = 0;
    let mut unsafe_checks = Bitboard::EMPTY;
    for (checks, worth) in checks.into_iter().zip(w.safe_check) {
        let safe_ones = checks & safe;
        if safe_ones.more_than_one() {
            units += worth + worth * w.more_checks / 100;
        } else if safe_ones.any() {
            units += worth;
        } else {
            unsafe_checks |= checks & !context.men[S::YOU];
        }
    }

    units += assault.units * assault.attackers
        + assault.hits * w.hit
        + count(context.ring[S::ME] & weak) * w.weak
        + count(unsafe_checks) * w.unsafe_check
        + count(context.pinned[S::ME]) * w.pinned
        - shelter.mg() * w.shelter / 100
        - w.offset;
    if queens.is_empty() {
        units -= w.no_queen;
    }
    if (context.by::<S>(Role::Knight) & context.by::<S>(Role::King)).any() {
        units -= w.knight_guard;
    }
    if units > 0 {
        let units = units.min(w.limit);
        tally.add::<S>(
            Term::KingDanger,
            Pair::new(-(units * units / w.divisor), -(units / w.endgame_divisor)),
        );
    }
}
