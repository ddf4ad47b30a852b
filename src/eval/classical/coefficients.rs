//! The evaluation as a function of its weights: how often each weight is in which sum for one position, and how the
//! sums become a score. The tuner takes its gradient.

pub use super::weights::{Field, fields};
use super::{
    Caches, assess, endgame,
    king::{DANGER_DIVISOR, DANGER_ENDGAME_DIVISOR, DANGER_LIMIT},
    material::counts,
    middlegame_scale,
    pair::{FULL_SCALE, MIDDLEGAME, Pair},
    trace::{Account, Tracer},
    weights::{WEIGHTS, index_of},
};
use crate::position::Position;

/// The number of sums that an evaluation forms: score, danger for Black's and for White's king, initiative.
pub const ACCOUNTS: usize = 4;

/// Danger units beyond this are not counted.
const LIMIT: f32 = DANGER_LIMIT as f32;

/// The built-in weights, as (middlegame, endgame), in the order of [`fields`].
pub fn present() -> Vec<[f32; 2]> {
    WEIGHTS.flat().iter().map(|pair| [pair.mg() as f32, pair.eg() as f32]).collect()
}

/// The part of a position's evaluation that does not depend on the weights.
#[derive(Clone, Debug, Default)]
pub struct Coefficients {
    /// For each sum its weights, as index in the flat list and sixteenths; each weight once.
    pub accounts: [Vec<(u16, i16)>; ACCOUNTS],
    /// The factors of the middlegame and the endgame value.
    pub shares: [f32; 2],
}

impl Tracer for Coefficients {
    fn enter(&mut self, account: Account, weight: &'static Pair, sixteenths: i32) {
        let account = match account {
            Account::Score => 0,
            Account::Danger(color) => 1 + color as usize,
            Account::Initiative => 3,
        };
        if sixteenths != 0 {
            self.accounts[account].push((index_of(weight) as u16, sixteenths as i16));
        }
    }
}

impl Coefficients {
    /// The coefficients of `position`; none where a known endgame has an evaluation of its own.
    pub fn of(position: &Position, caches: &mut Caches) -> Option<Coefficients> {
        if endgame::recognise(&counts(position)).is_some() {
            return None;
        }
        let mut found = Coefficients::default();
        let outcome = assess(position, caches, &mut found);
        let phase = outcome.phase as f32 / MIDDLEGAME as f32;
        let of_full = |scale: i32| scale as f32 / FULL_SCALE as f32;
        let mg = of_full(middlegame_scale(outcome.phase, outcome.scale));
        found.shares = [phase * mg, (1.0 - phase) * of_full(outcome.scale)];
        found.accounts.iter_mut().for_each(join);
        Some(found)
    }
}

/// Adds up the entries of each weight.
fn join(entries: &mut Vec<(u16, i16)>) {
    entries.sort_unstable_by_key(|entry| entry.0);
    entries.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    entries.retain(|entry| entry.1 != 0);
}

/// The penalty for `units` of danger, and its derivative.
pub fn danger(units: [f32; 2]) -> ([f32; 2], [f32; 2]) {
    let [mg, eg] = units.map(|units| units.clamp(0.0, LIMIT));
    let inside = units.map(|units| f32::from(u8::from(units > 0.0 && units < LIMIT)));
    let (divisor, endgame_divisor) = (DANGER_DIVISOR as f32, DANGER_ENDGAME_DIVISOR as f32);
    ([mg * mg / divisor, eg / endgame_divisor], [inside[0] * 2.0 * mg / divisor, inside[1] / endgame_divisor])
}
