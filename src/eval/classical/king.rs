//! King danger: the attack on the squares around the king, counted in units whose square is the penalty.

use shakmaty::{Role, attacks};

use super::{
    context::Context,
    geometry::{Side, count, king_flank},
    pair::Pair,
    trace::{ScoreSum, Term, Tracer},
    weights::WEIGHTS,
};

/// Danger units beyond this are not counted.
const DANGER_LIMIT: i32 = 900;
/// The middlegame penalty is the square of the units, divided by this.
const DANGER_DIVISOR: i32 = 300;
/// The endgame penalty is the units, divided by this.
const DANGER_ENDGAME_DIVISOR: i32 = 16;

/// The penalty for `units` of danger.
pub fn danger_penalty(units: Pair) -> Pair {
    let (mg, eg) = (units.mg().clamp(0, DANGER_LIMIT), units.eg().clamp(0, DANGER_LIMIT));
    Pair::new(mg * mg / DANGER_DIVISOR, eg / DANGER_ENDGAME_DIVISOR)
}

/// The attack on our king.
#[inline]
pub fn danger<S: Side, T: Tracer>(context: &Context, sum: &mut ScoreSum<T>) {
    let w = &WEIGHTS;
    let attack = &context.king_attack[S::YOU];
    let attackers: i32 = attack.attackers.iter().sum();
    let queens = context.ours::<S::Them>(Role::Queen);
    // A single attacker is no danger, unless it is a queen.
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

    // Checks look through our queen, which may have to move.
    let through = context.occupied & !context.ours::<S>(Role::Queen);
    let straight = attacks::rook_attacks(king, through);
    let diagonal = attacks::bishop_attacks(king, through);
    let checks = [
        attacks::knight_attacks(king) & context.by::<S::Them>(Role::Knight),
        diagonal & context.by::<S::Them>(Role::Bishop),
        straight & context.by::<S::Them>(Role::Rook),
        // A queen's check counts on squares that our queen does not defend.
        (straight | diagonal) & context.by::<S::Them>(Role::Queen) & !by_queen,
    ];
    let mut units = Pair::ZERO;
    let mut weigh = |weight: &Pair, times: i32| units += *weight * times;
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
