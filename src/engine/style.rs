//! How the engine is told to play: limited strength, contempt, analysis.

use std::hash::{BuildHasher, Hasher, RandomState};

use super::Engine;
use crate::{
    search::{Limits, Noise, Style},
    types::Score,
};

/// The weakest and the strongest limit of strength, in Elo.
pub const ELO_RANGE: (u32, u32) = (1350, 2850);

/// Nodes of a move at the weakest and at the strongest limit; between them they grow exponentially.
const NODES: (f64, f64) = (250.0, 60_000.0);
/// Standard deviation of the errors of judgement at the weakest limit, in centipawns.
const WORST_NOISE: f64 = 240.0;

/// What the user asks for.
#[derive(Copy, Clone, Debug)]
pub(super) struct Manner {
    limited: bool,
    elo: u32,
    contempt: i32,
    analysis: bool,
    seed: u64,
}

impl Default for Manner {
    fn default() -> Manner {
        Manner { limited: false, elo: ELO_RANGE.0, contempt: 0, analysis: false, seed: seed() }
    }
}

impl Manner {
    /// Is the engine to play below its strength?
    pub(super) fn is_limited(&self) -> bool {
        self.limited && !self.analysis
    }

    /// Does analysis go on, in which nothing is played from the book?
    pub(super) fn is_analysis(&self) -> bool {
        self.analysis
    }

    /// Errors of other kinds in the next game.
    pub(super) fn new_game(&mut self) {
        self.seed = seed();
    }

    /// From 0 at the weakest limit to 1 at the strongest.
    fn strength(&self) -> f64 {
        f64::from(self.elo.clamp(ELO_RANGE.0, ELO_RANGE.1) - ELO_RANGE.0)
            / f64::from(ELO_RANGE.1 - ELO_RANGE.0)
    }

    /// The style of a search.
    pub(super) fn style(&self) -> Style {
        let noise = self.is_limited().then(|| {
            let share = (1.0 - self.strength()).powf(1.5);
            Noise { seed: self.seed, centipawns: (WORST_NOISE * share).round() as i32 }
        });
        let contempt = if self.analysis { 0 } else { Score::from_centipawns(self.contempt).0 };
        Style { contempt, noise }
    }

    /// Narrows the search, unless it is to go on until it is stopped.
    pub(super) fn narrow(&self, limits: &mut Limits) {
        if !self.is_limited() || limits.infinite {
            return;
        }
        let nodes = (NODES.0.ln() + self.strength() * (NODES.1 / NODES.0).ln()).exp() as u64;
        limits.nodes = Some(limits.nodes.map_or(nodes, |limit| limit.min(nodes)));
    }
}

impl Engine {
    /// Plays as strong as [`Engine::set_elo`] says, or as well as it can. Empties the table: its scores are
    /// those of another player. Waits for a running search.
    pub fn set_limit_strength(&mut self, on: bool) {
        if self.manner.limited != on {
            self.manner.limited = on;
            self.clear_hash();
        }
    }

    /// Sets the strength that is not to be passed, in Elo. Waits for a running search.
    pub fn set_elo(&mut self, elo: u32) {
        if self.manner.elo != elo {
            self.manner.elo = elo;
            self.clear_hash();
        }
    }

    /// Sets how much worse than even a draw is for the side to move at the root, in centipawns. Waits for a
    /// running search.
    pub fn set_contempt(&mut self, centipawns: i32) {
        if self.manner.contempt != centipawns {
            self.manner.contempt = centipawns;
            self.clear_hash();
        }
    }

    /// In analysis there is no book, no contempt and no limit of strength. Waits for a running search.
    pub fn set_analyse_mode(&mut self, on: bool) {
        let before = self.manner.style();
        self.manner.analysis = on;
        if self.manner.style() != before {
            self.clear_hash();
        }
    }
}

/// A number that differs from call to call.
fn seed() -> u64 {
    // The standard library seeds each of its hashers from the system.
    RandomState::new().build_hasher().finish()
}
