//! How records look to a reader.

use serde_json::{Value, json};
use shakmaty::san::SanPlus;

use crate::{
    learn::{LearnedScore, Misfit, Record},
    uci::translate,
};

/// Seconds of a day.
pub(super) const DAY: u32 = 86_400;

/// The last year that a record's time reaches.
const LAST_YEAR: u32 = 2106;

/// Days since 1970 of a date such as 2026-01-31 (UTC).
pub(super) fn day(text: &str) -> Option<u32> {
    let mut fields = text.splitn(3, '-').map(|field| field.parse::<u32>().ok());
    let (year, month, date) = (fields.next()??, fields.next()??, fields.next()??);
    if !(1970..=LAST_YEAR).contains(&year) {
        return None;
    }
    let lengths = month_lengths(year);
    let before = lengths.get(..month.checked_sub(1)? as usize)?;
    let length = *lengths.get(before.len())?;
    let years: u32 = (1970..year).map(|year| month_lengths(year).iter().sum::<u32>()).sum();
    (1..=length).contains(&date).then(|| years + before.iter().sum::<u32>() + date - 1)
}

/// Year, month and day of the month, from days since 1970.
fn date_of(day: u32) -> (u32, u32, u32) {
    let mut left = day;
    let (mut year, mut month) = (1970, 1);
    loop {
        let length = month_lengths(year)[month as usize - 1];
        if left < length {
            return (year, month, left + 1);
        }
        left -= length;
        (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    }
}

/// Days of each month, in the Gregorian calendar.
fn month_lengths(year: u32) -> [u32; 12] {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    [31, 28 + u32::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

/// `2026-01-31 17:05`, UTC.
pub(super) fn date(time: u32) -> String {
    let (year, month, date) = date_of(time / DAY);
    let minutes = time % DAY / 60;
    format!("{year:04}-{month:02}-{date:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

/// `-20..15`, or one number where both bounds agree.
pub(super) fn window(lower: LearnedScore, upper: LearnedScore) -> String {
    match (lower.is_none(), upper.is_none()) {
        (true, true) => "?".to_owned(),
        (true, false) => format!("<= {upper}"),
        (false, true) => format!(">= {lower}"),
        (false, false) if lower == upper => lower.to_string(),
        (false, false) => format!("{lower}..{upper}"),
    }
}

/// One line for one record.
pub(super) fn row(sequence: u64, record: &Record) -> String {
    let (best, fen) = match record.position_and_move() {
        Ok((position, best)) => {
            let best = best.map_or_else(
                || "-".to_owned(),
                |m| SanPlus::from_move(position.chess().clone(), m).to_string(),
            );
            (best, position.fen())
        }
        Err(misfit) => ("-".to_owned(), format!("damaged: {misfit}")),
    };
    let confirmed = if record.flags.confirmed { "!" } else { "" };
    format!(
        "{sequence:>12}  {}  {:08x}  {:<7}  {best:<7} {:>15}  depth {:<3}  {fen}",
        date(record.time),
        record.session,
        format!("{}{confirmed}", record.origin.name()),
        window(record.lower, record.upper),
        record.depth,
    )
}

/// The same for a machine. Scores are centipawns, or words for mates and tablebase results, or null.
pub(super) fn value(sequence: u64, record: &Record) -> Value {
    let score = |score: LearnedScore| match (score.centipawns(), score.is_none()) {
        (Some(centipawns), _) => json!(centipawns),
        (None, true) => Value::Null,
        (None, false) => json!(score.to_string()),
    };
    let (fen, best, damage) = match record.position_and_move() {
        Ok((position, best)) => {
            let mode = translate::notation(&position, false);
            (Some(position.fen()), best.map(|m| m.to_uci(mode).to_string()), None::<Misfit>)
        }
        Err(misfit) => (None, None, Some(misfit)),
    };
    json!({
        "sequence": sequence,
        "key": format!("{:016x}", record.key.0),
        "fen": fen,
        "move": best,
        "lower": score(record.lower),
        "upper": score(record.upper),
        "depth": record.depth,
        "clock": record.halfmoves,
        "origin": record.origin.name(),
        "confirmed": record.flags.confirmed,
        "chess960": record.flags.chess960,
        "ply": record.game_ply,
        "since_root": record.since_root,
        "log2_nodes": record.log2_nodes,
        "evaluation": record.evaluation_id,
        "session": format!("{:08x}", record.session),
        "time": record.time,
        "damage": damage.map(|misfit| misfit.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_782_400), "2000-02-29 00:00");
        assert_eq!(date(u32::MAX), "2106-02-07 06:28");
        for number in 0..=u32::MAX / DAY {
            let text = date(number * DAY);
            assert_eq!(day(text.split(' ').next().unwrap()), Some(number), "{text}");
        }
        for wrong in
            ["", "2026", "2026-02-29", "2026-13-01", "2026-00-10", "1969-12-31", "x-y-z", "99999-1-1"]
        {
            assert_eq!(day(wrong), None, "{wrong}");
        }
    }
}
