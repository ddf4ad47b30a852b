//! Time used for moves, from the comments of a game: `[%clk 0:09:58]`, the time left on the clock after the move, or
//! `[%emt 0:00:02]`, the time that the move took. What a clock says of a move is known only with the time for each move,
//! from the tag `TimeControl`.

use crate::cli::pgn::{Annotation, Game};

/// Seconds by which a clock may seem to run backwards because it is rounded.
const ROUNDED: f64 = 2.0;

/// Seconds used for each move, `None` where unknown.
pub fn seconds_used(game: &Game) -> Vec<Option<f64>> {
    let tag = game.tag("TimeControl").unwrap_or_default();
    let control = time_control(tag);
    let base = control.map(|(base, _)| base);
    // So much for each move, as in games by correspondence.
    let is_for_each = tag.starts_with("1/") && !tag.contains(':');
    // The clocks of the side to move and of the other one.
    let mut clocks = [base, base];
    let mut used = Vec::with_capacity(game.annotations.len());
    for (index, said) in game.annotations.iter().enumerate() {
        let clock = command(said, "[%clk ");
        let before = if is_for_each { base } else { clocks[0] };
        // Where the clocks start later, a first move takes no time and gets no increment.
        let is_first = index < 2 && clock == base;
        let increment = control.map(|(_, increment)| if is_first { 0.0 } else { increment });
        let by_clock = before.zip(clock).zip(increment);
        let by_clock = by_clock.map(|((before, after), increment)| before + increment - after);
        // Time was added, as at the end of a period: nobody knows how much the move took. Clocks may be rounded.
        let by_clock = by_clock.filter(|&used| used > -ROUNDED).map(|used| used.max(0.0));
        used.push(command(said, "[%emt ").or(by_clock));
        clocks = [clocks[1], clock];
    }
    used
}

/// Seconds on the clock after each move, `None` where unknown.
pub fn seconds_left(game: &Game) -> Vec<Option<f64>> {
    game.annotations.iter().map(|said| command(said, "[%clk ")).collect()
}

/// Seconds at the start and for each move: `180+2`, `600`; the first of several periods (`40/7200:3600`). `None` of a text that
/// says it in another way.
fn time_control(tag: &str) -> Option<(f64, f64)> {
    let period = tag.split(':').next().unwrap_or_default();
    let period = period.rsplit('/').next().unwrap_or_default();
    let (base, increment) = period.split_once('+').unwrap_or((period, "0"));
    Some((base.parse().ok()?, increment.parse().ok()?))
}

/// The time in a command such as `[%clk 1:02:03.4]`, in seconds.
fn command(said: &[Annotation], name: &str) -> Option<f64> {
    said.iter().find_map(|annotation| {
        let Annotation::Comment(text) = annotation else { return None };
        let (_, rest) = text.split_once(name)?;
        let (time, _) = rest.split_once(']')?;
        let parts: Option<Vec<f64>> = time.trim().split(':').map(|part| part.parse().ok()).collect();
        let seconds = parts?.into_iter().fold(0.0, |sum, part| 60.0 * sum + part);
        (seconds.is_finite() && seconds >= 0.0).then_some(seconds)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::pgn::Games;

    fn used(text: &str) -> Vec<Option<f64>> {
        seconds_used(&Games::new(text.as_bytes()).next().unwrap().unwrap().unwrap())
    }

    #[test]
    fn clocks_are_subtracted() {
        let text = "[TimeControl \"180+2\"]\n\n1. e4 {[%clk 0:03:00]} e5 {x [%clk 0:02:58]} 2. Nf3 \
                    {[%eval 0.2] [%clk 0:02:30.5]} Nc6 {[%clk 0:03:05]} *\n";
        assert_eq!(used(text), [Some(0.0), Some(4.0), Some(31.5), None]);
        let late = "[TimeControl \"900+10\"]\n\n1. e4 {[%clk 0:15:00]} e5 {[%clk 0:15:00]} 2. Nf3 {[%clk 0:15:00]} *\n";
        assert_eq!(used(late), [Some(0.0), Some(0.0), Some(10.0)]);
        let game = Games::new(text.as_bytes()).next().unwrap().unwrap().unwrap();
        assert_eq!(seconds_left(&game), [Some(180.0), Some(178.0), Some(150.5), Some(185.0)]);
    }

    #[test]
    fn without_a_known_time_for_each_move_clocks_tell_nothing() {
        let moves = "1. e4 {[%clk 1:30:00]} e5 {[%emt 4]} 2. Nf3 {[%clk 1:27:05]} *\n";
        assert_eq!(used(moves), [None, Some(4.0), None]);
        for tag in ["90 min + 30 sec / move", "5400+", "-", "?"] {
            assert_eq!(
                used(&format!("[TimeControl \"{tag}\"]\n\n{moves}")),
                [None, Some(4.0), None],
                "{tag}"
            );
        }
        let known = format!("[TimeControl \"5400+30\"]\n\n{moves}");
        assert_eq!(used(&known), [Some(0.0), Some(4.0), Some(205.0)]);
    }

    #[test]
    fn a_clock_that_gained_time_tells_nothing() {
        let text = "[TimeControl \"1/60+30:1800+30\"]\n\n1. e4 {[%clk 0:31:10]} e5 {[%clk 0:01:31]} 2. Nf3 \
                    {[%clk 0:31:00]} *\n";
        assert_eq!(used(text), [None, Some(0.0), Some(40.0)]);
    }

    #[test]
    fn each_move_of_a_daily_game_has_a_clock_of_its_own() {
        let text = "[TimeControl \"1/86400\"]\n\n1. e4 {[%clk 23:00:00]} e5 {[%clk 23:59:00]} 2. Nf3 \
                    {[%clk 22:00:00]} Nc6 {[%clk 23:30:00]} *\n";
        assert_eq!(used(text), [Some(3600.0), Some(60.0), Some(7200.0), Some(1800.0)]);
    }

    #[test]
    fn what_a_move_took_is_believed() {
        assert_eq!(used("1. e4 {[%emt 0:01:02]} e5 {[%emt 3]} *\n"), [Some(62.0), Some(3.0)]);
        assert_eq!(used("1. e4 {[%emt -1]} e5 {[%clk a:b]} 2. Nf3 {[%clk} *\n"), [None, None, None]);
    }

    #[test]
    fn time_controls_are_read() {
        assert_eq!(time_control("180+2"), Some((180.0, 2.0)));
        assert_eq!(time_control("40/7200:3600"), Some((7200.0, 0.0)));
        assert_eq!(time_control("40/5400+30:1800+30"), Some((5400.0, 30.0)));
        assert_eq!(time_control("-"), None);
    }
}
