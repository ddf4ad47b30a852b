//! King safety: the pawns before the king and those that storm him, and the attack on the squares around
//! him, counted in units of danger whose square is the penalty.

use shakmaty::{Bitboard, CastlingSide, Position as _, Role, Square, attacks};

use super::{
    context::Context,
    geometry::{Side, count, file_of, king_flank, rank_of},
    pair::Pair,
    trace::{Account, NoTrace, ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};
use crate::position::Position;

/// What king square, castling rights and pawns alone say: shelter and storm, of which the middlegame value is
/// given besides, and where all pawns stand as the king sees them. A king that may castle has the best shelter
/// that he can get.
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

/// Every pawn by the files and ranks between it and the king, and the nearest own one by its distance.
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

/// Danger units of more than this count no more.
pub const DANGER_LIMIT: i32 = 900;
/// The middlegame penalty is the square of the units, divided by this.
pub const DANGER_DIVISOR: i32 = 300;
/// The endgame penalty is the units, divided by this.
pub const DANGER_ENDGAME_DIVISOR: i32 = 16;

/// The penalty for `units` of danger.
pub fn danger_penalty(units: Pair) -> Pair {
    let (mg, eg) = (units.mg().clamp(0, DANGER_LIMIT), units.eg().clamp(0, DANGER_LIMIT));
    Pair::new(mg * mg / DANGER_DIVISOR, eg / DANGER_ENDGAME_DIVISOR)
}

/// The attack on our king.
#[inline]
pub fn danger<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let account = Account::Danger(S::US);
    let attack = &context.king_attack[S::YOU];
    let attackers: i32 = attack.attackers.iter().sum();
    let queens = context.ours::<S::Them>(Role::Queen);
    // One attacker alone is no attack, unless it is the queen.
    if attackers + count(queens).min(1) < 2 {
        return;
    }
    let king = context.king[S::ME];
    let attacked = context.attacked[S::YOU];
    let by_queen = context.by::<S>(Role::Queen);
    let poorly_defended =
        !context.twice[S::ME] & (!context.attacked[S::ME] | context.by::<S>(Role::King) | by_queen);
    let weak = attacked & poorly_defended;
    let safe = !context.pieces[S::YOU] & (!context.attacked[S::ME] | (weak & context.twice[S::YOU]));

    // Checks, looking through our queen, who cannot be relied on to stay.
    let through = context.occupied & !context.ours::<S>(Role::Queen);
    let straight = attacks::rook_attacks(king, through);
    let diagonal = attacks::bishop_attacks(king, through);
    let checks = [
        attacks::knight_attacks(king) & context.by::<S::Them>(Role::Knight),
        diagonal & context.by::<S::Them>(Role::Bishop),
        straight & context.by::<S::Them>(Role::Rook),
        // A queen's check counts where our queen does not object.
        (straight | diagonal) & context.by::<S::Them>(Role::Queen) & !by_queen,
    ];
    let mut units = Pair::ZERO;
    let mut weigh = |weight: &'static Pair, times: i32| units += sum.weigh(account, weight, times);
    for (role, checks) in checks.into_iter().enumerate() {
        let safe_ones = checks & safe;
        if safe_ones.more_than_one() {
            weigh(&w.danger_safe_checks[role], 1);
        } else if safe_ones.any() {
            weigh(&w.danger_safe_check[role], 1);
        } else {
            weigh(&w.danger_unsafe_check[role], count(checks & !context.pieces[S::YOU]));
        }
    }
    for (weight, n) in w.danger_attacker.iter().zip(attack.attackers) {
        weigh(weight, n.min(8) * attackers.min(8));
    }
    let flank = king_flank(king) & S::ranks(0b0001_1111);
    let on_flank = count(flank & attacked) + count(flank & attacked & context.twice[S::YOU]);
    let pawns = context.pawns.pawns[0] | context.pawns.pawns[1];
    let guarded = (context.by::<S>(Role::Knight) & context.by::<S>(Role::King)).any();
    weigh(&w.danger_hit, attack.hits);
    weigh(&w.danger_weak, count(context.ring[S::ME] & weak));
    weigh(&w.danger_pinned, count(context.pinned[S::ME]));
    weigh(&w.danger_no_queen, i32::from(queens.is_empty()));
    weigh(&w.danger_knight_guard, i32::from(guarded));
    weigh(&w.danger_shelter, context.shelter[S::ME] / 16);
    weigh(&w.danger_flank_attack, on_flank);
    weigh(&w.danger_flank_defence, count(flank & context.attacked[S::ME]));
    weigh(&w.danger_pawnless_flank, i32::from((pawns & king_flank(king)).is_empty()));
    weigh(&w.danger_offset, 1);
    sum.add_value::<S>(Term::KingDanger, -danger_penalty(units));
}
