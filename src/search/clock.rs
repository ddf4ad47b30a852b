//! Time management: a soft limit after which no iteration begins, scaled by the state of the search (`deepen.rs`), and
//! a hard limit at which the search stops. With a [`NodeRate`] both count nodes instead of time.

use std::{
    num::NonZeroU32,
    time::{Duration, Instant},
};

use super::{
    limits::{ClockTime, Limits},
    params::*,
};

/// Nodes per millisecond of clock time (`nodestime`, as in Stockfish), so that the speed of the machine has no
/// influence on a match.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NodeRate(pub NonZeroU32);

impl NodeRate {
    fn time_of(self, nodes: u64) -> Duration {
        Duration::from_secs_f64(nodes as f64 / (1_000.0 * f64::from(self.0.get())))
    }
}

/// The time left to a player under a [`NodeRate`]. The first `go` of a game sets it; from then on nodes are subtracted
/// and increments added, and at each repeated time control the time of the first `go`. The real clock is ignored.
#[derive(Copy, Clone, Debug, Default)]
pub struct NodeClock {
    left: Option<Duration>,
    /// The time of the first `go`.
    control: Duration,
    /// Moves to the time control at the last `go`.
    moves_to_go: Option<u32>,
    /// The increment of the last search, while that is not subtracted.
    increment: Option<Duration>,
}

impl NodeClock {
    /// Replaces the time left on the clock.
    pub fn apply_to(&mut self, clock: &mut ClockTime) {
        let left = match self.left {
            None => {
                self.control = clock.remaining;
                self.control
            }
            // The moves to the control grow where one has passed.
            Some(left) if clock.moves_to_go > self.moves_to_go => left.saturating_add(self.control),
            Some(left) => left,
        };
        clock.remaining = left;
        self.left = Some(left);
        self.moves_to_go = clock.moves_to_go;
        self.increment = Some(clock.increment);
    }

    /// Subtracts the nodes of the last search, once, if it had a clock.
    pub fn spend(&mut self, rate: NodeRate, nodes: u64) {
        if let (Some(left), Some(increment)) = (&mut self.left, self.increment.take()) {
            *left = left.saturating_sub(rate.time_of(nodes)).saturating_add(increment);
        }
    }
}

/// The time limits of one search.
#[derive(Copy, Clone, Debug)]
pub struct Clock {
    start: Instant,
    rate: Option<NodeRate>,
    soft: Option<Duration>,
    hard: Option<Duration>,
}

impl Clock {
    /// The limits of a search that began at `start`. `overhead` is reserved for the delay between engine and GUI.
    pub fn new(limits: &Limits, start: Instant, overhead: Duration, rate: Option<NodeRate>) -> Clock {
        let (soft, hard) = limits.clock.map(|clock| allot(clock, overhead)).unzip();
        // A large overhead, meant for games, must leave time for a short analysis.
        let least = |time: Duration| (time - overhead.min(time / 2)).max(Duration::from_millis(1));
        let hard = hard.into_iter().chain(limits.movetime.map(least)).min();
        Clock { start, rate, soft, hard }
    }

    /// Do nodes count instead of time?
    pub fn counts_nodes(&self) -> bool {
        self.rate.is_some()
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Time spent after `nodes`, real or counted.
    pub fn spent(&self, nodes: u64) -> Duration {
        self.rate.map_or_else(|| self.elapsed(), |rate| rate.time_of(nodes))
    }

    /// Must the search stop at once, after `nodes`?
    pub fn is_over(&self, nodes: u64) -> bool {
        self.hard.is_some_and(|hard| self.spent(nodes) >= hard)
    }

    /// Should no further iteration begin, after `nodes`? `scale` is how much longer or shorter than usual
    /// this move deserves.
    pub fn is_enough(&self, nodes: u64, scale: f64) -> bool {
        let Some(soft) = self.soft else { return false };
        let scaled = soft.mul_f64(scale.clamp(thousandths(time_scale_min()), thousandths(time_scale_max())));
        self.spent(nodes) >= self.hard.map_or(scaled, |hard| scaled.min(hard))
    }

    /// Does the clock of a game run?
    pub fn is_game(&self) -> bool {
        self.soft.is_some()
    }
}

/// The soft and the hard limit of a move, in real or counted time.
fn allot(clock: ClockTime, overhead: Duration) -> (Duration, Duration) {
    let left = clock.remaining.saturating_sub(overhead).as_secs_f64().max(0.001);
    let increment = clock.increment.as_secs_f64();
    let horizon = f64::from(time_horizon());
    let moves = clock.moves_to_go.map_or(horizon, |moves| f64::from(moves.max(1)).min(horizon));
    // The increments of the coming moves may be spent, except for their overhead.
    let coming = increment - overhead.as_secs_f64();
    // A large overhead must not reserve the whole clock, or the engine moves at once with seconds left.
    let budget = (left + coming * (moves - 1.0)).max(left * thousandths(time_budget_min()));
    let last_move = clock.moves_to_go == Some(1);
    let (soft_max, hard_max) = if last_move {
        (time_last_move_soft_max(), time_last_move_hard_max())
    } else {
        (time_soft_max(), time_hard_max())
    };
    let soft = (budget / moves).max(increment * thousandths(time_increment()));
    let soft = soft.min(left * thousandths(soft_max));
    let hard = (soft * thousandths(time_hard_factor())).min(left * thousandths(hard_max));
    (Duration::from_secs_f64(soft), Duration::from_secs_f64(hard))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_clock_is_ever_overdrawn() {
        for remaining in [0, 1, 5, 10, 20, 100, 1_000, 60_000, 3_600_000] {
            for increment in [0, 10, 1_000, 60_000] {
                for moves_to_go in [None, Some(0), Some(1), Some(2), Some(40)] {
                    let clock = ClockTime {
                        remaining: Duration::from_millis(remaining),
                        increment: Duration::from_millis(increment),
                        moves_to_go,
                    };
                    let (soft, hard) = allot(clock, Duration::from_millis(10));
                    let left = Duration::from_millis(remaining.saturating_sub(10).max(1));
                    assert!(soft <= hard && hard <= left, "{clock:?}: {soft:?} {hard:?}");
                }
            }
        }
    }

    #[test]
    fn fewer_moves_to_go_and_a_longer_increment_allow_more_time() {
        let soft = |increment, moves_to_go| {
            let (remaining, increment) = (Duration::from_secs(60), Duration::from_millis(increment));
            allot(ClockTime { remaining, increment, moves_to_go }, Duration::ZERO).0
        };
        assert!(soft(0, None) < soft(0, Some(10)) && soft(0, Some(10)) < soft(0, Some(2)));
        assert!(soft(0, None) < soft(1_000, None));
    }

    #[test]
    fn every_move_pays_for_its_overhead() {
        let soft = |increment, moves_to_go, overhead| {
            let (remaining, increment) = (Duration::from_secs(60), Duration::from_millis(increment));
            allot(ClockTime { remaining, increment, moves_to_go }, Duration::from_millis(overhead)).0
        };
        for (increment, moves_to_go) in [(0, None), (1_000, None), (0, Some(10))] {
            let paid = soft(increment, moves_to_go, 0).saturating_sub(soft(increment, moves_to_go, 500));
            assert_eq!((paid.as_secs_f64() * 1e6).round(), 500_000.0, "{increment} {moves_to_go:?}");
        }
    }

    #[test]
    fn a_large_overhead_leaves_time_to_think() {
        for overhead in [100, 300, 500] {
            let clock = |remaining| ClockTime {
                remaining: Duration::from_millis(remaining),
                increment: Duration::ZERO,
                moves_to_go: None,
            };
            let soft = |remaining| allot(clock(remaining), Duration::from_millis(overhead)).0.as_millis();
            assert!(soft(9_000) >= 80 && soft(2 * overhead) > 0, "{overhead}");
        }
    }

    #[test]
    fn the_overhead_is_reserved_on_the_clock_of_a_game() {
        let second =
            ClockTime { remaining: Duration::from_secs(1), increment: Duration::ZERO, moves_to_go: Some(1) };
        let limits = Limits { clock: Some(second), ..Limits::default() };
        let rate = NodeRate(NonZeroU32::new(100).expect("not zero"));
        let is_over = |overhead, nodes| {
            Clock::new(&limits, Instant::now(), Duration::from_millis(overhead), Some(rate)).is_over(nodes)
        };
        // Half a second are 50,000 nodes, of which a part is kept back.
        assert!(is_over(500, 50_000) && !is_over(500, 25_000) && !is_over(0, 50_000));
    }

    #[test]
    fn the_node_clock_pays_for_nodes_and_ignores_the_clock() {
        let rate = NodeRate(NonZeroU32::new(100).expect("not zero"));
        let mut nodes_left = NodeClock::default();
        let mut go = |remaining, nodes| {
            let mut clock = ClockTime {
                remaining: Duration::from_millis(remaining),
                increment: Duration::from_millis(10),
                moves_to_go: None,
            };
            nodes_left.apply_to(&mut clock);
            nodes_left.spend(rate, nodes);
            // A search without a clock costs nothing.
            nodes_left.spend(rate, 10_000_000);
            clock.remaining.as_millis()
        };
        assert_eq!(go(1_000, 5_000), 1_000);
        assert_eq!(go(3, 200_000), 960);
        assert_eq!(go(900, 0), 10);
    }

    #[test]
    fn the_node_clock_gets_more_time_at_each_control() {
        let rate = NodeRate(NonZeroU32::new(100).expect("not zero"));
        let mut nodes_left = NodeClock::default();
        let mut go = |moves_to_go| {
            let (remaining, increment) = (Duration::from_secs(1), Duration::ZERO);
            let mut clock = ClockTime { remaining, increment, moves_to_go: Some(moves_to_go) };
            nodes_left.apply_to(&mut clock);
            nodes_left.spend(rate, 40_000);
            clock.remaining.as_millis()
        };
        assert_eq!([2, 1, 2, 1, 2].map(&mut go), [1_000, 600, 1_200, 800, 1_400]);
    }

    #[test]
    fn a_time_for_the_move_does_not_stop_the_clock_of_the_game() {
        let rate = NodeRate(NonZeroU32::new(100).expect("not zero"));
        let ends = |clock: Option<u64>, movetime| {
            let clock = clock.map(|remaining| ClockTime {
                remaining: Duration::from_millis(remaining),
                increment: Duration::ZERO,
                moves_to_go: None,
            });
            let limits =
                Limits { clock, movetime: Some(Duration::from_millis(movetime)), ..Limits::default() };
            let clock = Clock::new(&limits, Instant::now(), Duration::ZERO, Some(rate));
            (clock.is_game(), clock.is_over(30_000), clock.is_over(150_000))
        };
        assert_eq!(ends(None, 1_500), (false, false, true));
        assert_eq!(ends(Some(300), 1_500), (true, true, true));
        assert_eq!(ends(Some(300_000), 1_500), (true, false, true));
    }

    #[test]
    fn the_node_clock_never_overflows() {
        let mut nodes_left = NodeClock::default();
        for _ in 0..3_000 {
            let most = Duration::from_millis(i64::MAX as u64);
            nodes_left.apply_to(&mut ClockTime { remaining: most, increment: most, moves_to_go: None });
            nodes_left.spend(NodeRate(NonZeroU32::MIN), 1);
        }
    }
}
