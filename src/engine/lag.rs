//! What a move costs beyond its search: the way of the lines through pipes, the GUI's own work, a machine that
//! lets a process wait for its turn. The engine cannot see it, but the next clock that it is sent shows it.

use std::time::{Duration, Instant};

use crate::search::ClockTime;

/// A longer gap is no lag: the clock was set, or another game begins.
const LONGEST: Duration = Duration::from_secs(2);
/// At most this part of the time left is kept back because of what a single move once cost.
const MOST_KEPT: u32 = 3;
/// A new measurement counts so many parts of the usual lag.
const WEIGHT: u32 = 8;
/// What is left of the worst lag a move later.
const FADING: f64 = 0.97;

/// The lag of the moves so far. It belongs to machine and GUI and lasts from game to game.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct Lag {
    /// When the last search began, and what the clock would show if it cost no time at all.
    last: Option<(Instant, Duration)>,
    usual: Duration,
    worst: Duration,
}

impl Lag {
    /// A search on `clock` begins at `start`; the last one was answered at `answered`. Keeps back what a move may
    /// cost at worst, and gives what one costs as a rule, at least `overhead`.
    pub(super) fn begin(
        &mut self,
        clock: &mut ClockTime,
        start: Instant,
        answered: Option<Instant>,
        overhead: Duration,
    ) -> Duration {
        if let (Some((began, left)), Some(answered)) = (self.last, answered) {
            self.measure(left, answered.saturating_duration_since(began), clock.remaining);
        }
        self.last = Some((start, clock.remaining + clock.increment));
        let usual = overhead.max(self.usual);
        let kept = self.worst.min(clock.remaining / MOST_KEPT).saturating_sub(usual);
        clock.remaining -= kept;
        usual
    }

    /// The next clock does not follow from the last one: another game begins, or a search on another's time.
    pub(super) fn skip(&mut self) {
        self.last = None;
    }

    fn measure(&mut self, left: Duration, searched: Duration, remaining: Duration) {
        // More than there was: a time control, or another game.
        if remaining > left {
            return;
        }
        let lag = left.saturating_sub(searched).saturating_sub(remaining);
        if lag <= LONGEST {
            self.usual = self.usual * (WEIGHT - 1) / WEIGHT + lag / WEIGHT;
            self.worst = lag.max(self.worst.mul_f64(FADING));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OVERHEAD: Duration = Duration::from_millis(10);

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Plays moves that take 5 ms of search on a clock of 2 s + 20 ms, each of which costs `lag` more. Gives back the
    /// overhead and the time left that the last search was told, of how much.
    fn play(lag: &mut Lag, lags: &[u64]) -> (Duration, Duration, Duration) {
        let mut now = Instant::now();
        let (mut remaining, mut answered) = (ms(2000), None);
        let mut told = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        for &extra in lags.iter().chain(&[0]) {
            let mut clock = ClockTime { remaining, increment: ms(20), moves_to_go: None };
            let overhead = lag.begin(&mut clock, now, answered, OVERHEAD);
            told = (overhead, clock.remaining, remaining);
            answered = Some(now + ms(5));
            now += ms(500);
            remaining = remaining + ms(20) - ms(5) - ms(extra);
        }
        told
    }

    #[test]
    fn without_lag_nothing_is_kept_back() {
        let (overhead, told, remaining) = play(&mut Lag::default(), &[0, 1, 2, 0, 3]);
        assert_eq!((overhead, told), (OVERHEAD, remaining));
    }

    #[test]
    fn what_moves_cost_is_kept_for_the_next_ones() {
        let mut lag = Lag::default();
        let (overhead, ..) = play(&mut lag, &[40; 30]);
        assert!(overhead > ms(30) && overhead <= ms(40), "{overhead:?}");
        lag.skip();
        // One bad move in a good game: the reserve is there and fades.
        let mut lag = Lag::default();
        let (overhead, told, remaining) = play(&mut lag, &[1, 0, 200, 1]);
        assert!(overhead >= OVERHEAD && remaining - told > ms(150), "{overhead:?} {told:?} of {remaining:?}");
        lag.skip();
        let (_, told, remaining) = play(&mut lag, &[0; 60]);
        assert!(remaining - told < ms(40), "{told:?} of {remaining:?}");
    }

    #[test]
    fn another_clock_is_no_lag_and_most_of_the_time_stays() {
        let mut lag = Lag::default();
        play(&mut lag, &[1500]);
        let now = Instant::now();
        let begin = |lag: &mut Lag, remaining| {
            let mut clock = ClockTime { remaining, increment: Duration::ZERO, moves_to_go: None };
            lag.begin(&mut clock, now, Some(now), OVERHEAD);
            clock.remaining
        };
        // The reserve is a third of what is left at most.
        assert!(begin(&mut lag, ms(300)) >= ms(200));
        let mut fresh = Lag::default();
        for seconds in [60, 10, 300, 1] {
            assert_eq!(begin(&mut fresh, ms(seconds * 1000)), ms(seconds * 1000));
        }
        fresh.skip();
        assert_eq!(begin(&mut fresh, ms(100)), ms(100));
    }
}
