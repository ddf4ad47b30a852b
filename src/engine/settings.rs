//! What takes effect with the next search.

use std::time::Duration;

use crate::search::ProbeRules;

/// Settings that take effect with the next search.
#[derive(Clone, Debug)]
pub struct EngineSettings {
    /// The number of lines to report; 0 counts as 1.
    pub multi_pv: usize,
    /// Time reserved for communication, per move.
    pub move_overhead: Duration,
    /// Is the table kept over [`Engine::new_game`](crate::engine::Engine::new_game)? Not at limited strength.
    pub never_clear_hash: bool,
    /// When tablebases are probed, and by which rules.
    pub probe_rules: ProbeRules,
    /// Are more messages sent about each search?
    pub debug: bool,
}

impl EngineSettings {
    /// Default time kept for communication, per move.
    pub const DEFAULT_MOVE_OVERHEAD: Duration = Duration::from_millis(10);
}

impl Default for EngineSettings {
    fn default() -> EngineSettings {
        EngineSettings {
            multi_pv: 1,
            move_overhead: EngineSettings::DEFAULT_MOVE_OVERHEAD,
            never_clear_hash: false,
            probe_rules: ProbeRules::default(),
            debug: false,
        }
    }
}
