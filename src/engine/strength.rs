//! The user's settings for limited strength, contempt and analysis.

use crate::{
    search::{EvalNoise, Limits, Strength},
    types::Score,
};

/// The weakest and the strongest limit of strength, in Elo.
pub const ELO_RANGE: (u32, u32) = (1350, 2850);

/// The level of `Skill Level` at which the engine plays as well as it can, as in Stockfish.
pub const FULL_SKILL: u32 = 20;

/// Elo, and the share of strength (between the [`NODES`]) that plays at this Elo. Measured in games against Stockfish
/// 15.1 with its own `UCI_Elo`, 20,000 nodes a move for it; `benches/notes/tools.md` has the results.
const CURVE: [(f64, f64); 6] =
    [(1350.0, 0.105), (1500.0, 0.147), (1900.0, 0.342), (2300.0, 0.635), (2700.0, 0.69), (2850.0, 0.75)];
/// Nodes of a move at share 0 and at share 1; they grow exponentially.
const NODES: (f64, f64) = (250.0, 60_000.0);
/// Standard deviation of the evaluation errors at share 0, in internal units; there are none from share 1 on.
const WORST_NOISE: f64 = 240.0;

/// The user's limits of strength.
#[derive(Copy, Clone, Debug)]
pub struct StrengthLimits {
    /// Is the strength limited to [`StrengthLimits::elo`]?
    pub limited: bool,
    /// The limit, in Elo.
    pub elo: u32,
    /// The skill level, 0 to [`FULL_SKILL`]; a limit in Elo takes precedence.
    pub skill: u32,
    /// How much worse than an even position a draw is for the side to move at the root, in centipawns.
    pub contempt: i32,
    /// In analysis there is no book, no contempt and no limit of strength.
    pub analysis: bool,
    seed: u64,
}

impl Default for StrengthLimits {
    fn default() -> StrengthLimits {
        StrengthLimits {
            limited: false,
            elo: ELO_RANGE.0,
            skill: FULL_SKILL,
            contempt: 0,
            analysis: false,
            seed: fastrand::u64(..),
        }
    }
}

impl StrengthLimits {
    /// Is the strength limited?
    pub(super) fn is_limited(&self) -> bool {
        (self.limited || self.skill < FULL_SKILL) && !self.analysis
    }

    /// The limit of strength in Elo: as set, otherwise by the skill level, in equal steps.
    pub(super) fn limit(&self) -> u32 {
        let (low, high) = ELO_RANGE;
        if self.limited { self.elo } else { low + (high - low) * self.skill / (FULL_SKILL - 1) }
    }

    /// Chooses new evaluation errors for a new game.
    pub(super) fn new_game(&mut self) {
        self.seed = fastrand::u64(..);
    }

    /// The share of strength, interpolated between the measured levels.
    fn share(&self) -> f64 {
        let elo = f64::from(self.limit().clamp(ELO_RANGE.0, ELO_RANGE.1));
        let above = CURVE.iter().position(|&(level, _)| elo <= level).unwrap_or(CURVE.len() - 1).max(1);
        let ((low, from), (high, to)) = (CURVE[above - 1], CURVE[above]);
        from + (to - from) * (elo - low) / (high - low)
    }

    /// Contempt and evaluation errors of a search.
    pub(super) fn strength(&self) -> Strength {
        let noise = self.is_limited().then(|| {
            let share = (1.0 - self.share()).max(0.0).powf(1.5);
            EvalNoise { seed: self.seed, deviation: (WORST_NOISE * share).round() as i32 }
        });
        let contempt = if self.analysis { 0 } else { Score::from_centipawns(self.contempt).0 };
        Strength { contempt, noise }
    }

    /// Limits the nodes of a search, unless it has to run until it is stopped.
    pub(super) fn limit_nodes(&self, limits: &mut Limits) {
        if !self.is_limited() || limits.infinite {
            return;
        }
        let nodes = (NODES.0.ln() + self.share() * (NODES.1 / NODES.0).ln()).exp() as u64;
        limits.nodes = Some(limits.nodes.map_or(nodes, |limit| limit.min(nodes)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{engine::blocking::BlockingEngine, position::Position};

    #[test]
    fn a_table_with_the_errors_of_the_last_game_is_never_kept() {
        let is_kept = |limited| {
            let (mut player, start) = (BlockingEngine::new(500), Position::default());
            player.engine.settings.never_clear_hash = true;
            player.engine.set_strength(|limits| limits.limited = limited);
            player.search(&start, &[]).expect("legal");
            player.engine.new_game();
            player.engine.table.probe(start.key()).is_some()
        };
        assert_eq!([false, true].map(is_kept), [true, false]);
    }

    #[test]
    fn a_higher_limit_is_more_nodes_and_smaller_errors() {
        let at = |elo| {
            let strength_limits = StrengthLimits { limited: true, elo, ..StrengthLimits::default() };
            let mut limits = Limits::default();
            strength_limits.limit_nodes(&mut limits);
            (limits.nodes.expect("a limit"), strength_limits.strength().noise.expect("errors").deviation)
        };
        let skilled = |skill| StrengthLimits { skill, ..StrengthLimits::default() };
        assert!(!skilled(FULL_SKILL).is_limited() && skilled(FULL_SKILL - 1).is_limited());
        assert_eq!([0, FULL_SKILL - 1].map(|skill| skilled(skill).limit()), [ELO_RANGE.0, ELO_RANGE.1]);
        let levels: Vec<(u64, i32)> = (ELO_RANGE.0..=ELO_RANGE.1).step_by(50).map(at).collect();
        assert!(levels.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 >= pair[1].1), "{levels:?}");
        let (weakest, strongest) = (levels[0], levels[levels.len() - 1]);
        assert!(weakest.0 as f64 > NODES.0 && weakest.1 > 100 && strongest.1 < weakest.1 / 4, "{levels:?}");
    }
}
