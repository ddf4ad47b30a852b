//! How long to think: a soft limit that the course of the search scales, and a hard one that it never
//! passes.

use std::time::{Duration, Instant};

use super::limits::{ClockTime, Limits};

/// Moves that a game without a time control is assumed to last yet.
const HORIZON: f64 = 26.0;
/// Share of the increment that the soft limit spends.
const INCREMENT_SHARE: f64 = 0.75;
/// The hard limit in soft limits.
const HARD_FACTOR: f64 = 4.5;
/// The soft and the hard limit are at most these shares of the time left: when little is left, the machine's
/// hiccups are longer than a move.
const SOFT_SHARE: f64 = 0.2;
const HARD_SHARE: f64 = 0.4;

/// The time limits of one search.
#[derive(Copy, Clone, Debug)]
pub struct Clock {
    start: Instant,
    soft: Option<Duration>,
    hard: Option<Duration>,
}

impl Clock {
    /// Limits for a search that began at `start`, keeping `overhead` for transport.
    pub fn new(limits: &Limits, start: Instant, overhead: Duration) -> Clock {
        if let Some(movetime) = limits.movetime {
            let time = movetime.saturating_sub(overhead).max(Duration::from_millis(1));
            return Clock { start, soft: None, hard: Some(time) };
        }
        let Some(clock) = limits.clock else { return Clock { start, soft: None, hard: None } };
        let (soft, hard) = allot(clock, overhead);
        Clock { start, soft: Some(soft), hard: Some(hard) }
    }

    /// Time since the search began.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Must the search stop at once?
    pub fn is_over(&self) -> bool {
        self.hard.is_some_and(|hard| self.elapsed() >= hard)
    }

    /// Should no further iteration begin? `scale` is how much longer or shorter than usual this move
    /// deserves.
    pub fn is_enough(&self, scale: f64) -> bool {
        let Some(soft) = self.soft else { return false };
        let scaled = soft.mul_f64(scale.clamp(0.05, 10.0));
        self.elapsed() >= self.hard.map_or(scaled, |hard| scaled.min(hard))
    }

    /// Does the clock of a game run?
    pub fn is_game(&self) -> bool {
        self.soft.is_some()
    }
}

fn allot(clock: ClockTime, overhead: Duration) -> (Duration, Duration) {
    let left = clock.remaining.saturating_sub(overhead).as_secs_f64().max(0.001);
    let increment = clock.increment.as_secs_f64();
    let moves = clock.moves_to_go.map_or(HORIZON, |moves| f64::from(moves.max(1)).min(HORIZON));
    // What the increments of the coming moves bring may be spent, what transport costs may not.
    let budget = left + (increment - overhead.as_secs_f64()) * (moves - 1.0);
    let last_move = clock.moves_to_go == Some(1);
    let (soft_share, hard_share) = if last_move { (0.7, 0.85) } else { (SOFT_SHARE, HARD_SHARE) };
    let soft = (budget / moves).max(increment * INCREMENT_SHARE).min(left * soft_share);
    let hard = (soft * HARD_FACTOR).min(left * hard_share);
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
}
