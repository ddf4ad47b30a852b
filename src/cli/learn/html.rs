//! `engram learn html`: the file as a page to look at.

use std::{collections::BTreeMap, fmt::Write as _, io::Write, path::Path};

use serde_json::json;
use shakmaty::{Color, san::SanPlus};

use super::{LearnError, Opened, filter::Filter, text};
use crate::{
    cli::{
        analyse::pawns,
        page::{self, FIELD, escaped, small_board},
    },
    eval,
    files::NewFile,
    learn::{Origin, Record},
    position::Position,
    types::Score,
    uci::Output,
};

/// The bars of the chart of days: no more fit a phone.
const MOST_DAYS: usize = 60;

pub(super) fn html(
    file: &Opened,
    to: &Path,
    newest: usize,
    filter: &Filter,
    json: bool,
    output: &Output,
) -> Result<(), LearnError> {
    let failed = |doing| move |source| LearnError::Other { path: to.to_owned(), doing, source };
    let sieve = filter.sieve()?;
    let ring = file.ring();
    let records: Vec<(u64, Record)> = ring.iter().filter(|(_, record)| sieve.admits(record)).collect();
    let shown = &records[records.len().saturating_sub(newest)..];
    let mut target = NewFile::begin_new(to).map_err(failed("made"))?;
    let mut write = |text: &str| target.write_all(text.as_bytes()).map_err(failed("written"));
    write(&page::head(&file.file.path().display().to_string(), "what Engram learned"))?;
    write(FIELD)?;
    write(&overview(&records, shown.len()))?;
    write("<div class=\"moments records\">")?;
    for (sequence, record) in shown.iter().rev() {
        write(&card(*sequence, record))?;
    }
    write("</div>")?;
    write(page::FOOT)?;
    target.finish().map_err(failed("written"))?;
    let (path, count) = (to.display(), shown.len());
    if json {
        output.line(json!({ "page": path.to_string(), "shown": count, "records": records.len() }));
    } else {
        output.line(format_args!("{count} of {} records written to {path}", records.len()));
    }
    Ok(())
}

/// Counts by origin, as buttons that choose, and a chart of the days.
fn overview(records: &[(u64, Record)], shown: usize) -> String {
    let (Some((_, first)), Some((_, last))) = (records.first(), records.last()) else {
        return "<p class=\"facts\">Nothing has been learned yet.</p>".to_owned();
    };
    let (since, until) = (text::date(first.time), text::date(last.time));
    let mut html = format!(
        "<p class=\"facts\">{} positions, learned from {since} to {until} (UTC); the newest {shown} are shown. \
         An arrow is the move learned.</p>",
        records.len(),
    );
    html.push_str(&days(records));
    html.push_str("<div class=\"sieve\"><button class=\"now\" data-origin=\"\">all</button>");
    for (origin, _, name) in Origin::ALL {
        let count = records.iter().filter(|(_, record)| record.origin == origin).count();
        if count > 0 {
            let _ = write!(html, "<button data-origin=\"{name}\">{}: {count}</button>", kind(origin));
        }
    }
    html + "</div>"
}

/// How many records each day brought.
fn days(records: &[(u64, Record)]) -> String {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for (_, record) in records {
        *counts.entry(record.time / text::DAY).or_default() += 1;
    }
    // A single bar shows nothing.
    let Some((&last, _)) = counts.last_key_value().filter(|_| counts.len() > 1) else { return String::new() };
    let first = counts.keys().copied().find(|&day| last - day < MOST_DAYS as u32).unwrap_or(last);
    let most = counts.range(first..).map(|(_, &count)| count).max().unwrap_or(1);
    let width = last - first + 1;
    let mut svg = format!(
        "<svg class=\"days\" viewBox=\"0 0 {width} 100\" preserveAspectRatio=\"none\" role=\"img\" \
         aria-label=\"records of each day\">"
    );
    for (&day, &count) in counts.range(first..) {
        let height = (100 * count).div_ceil(most);
        let _ = write!(
            svg,
            "<rect x=\"{}.1\" y=\"{}\" width=\"0.8\" height=\"{height}\"><title>{}: {count}</title></rect>",
            day - first,
            100 - height,
            text::date(day * text::DAY).split(' ').next().unwrap_or_default(),
        );
    }
    svg + "</svg>"
}

fn kind(origin: Origin) -> &'static str {
    match origin {
        Origin::Drop => "score dropped",
        Origin::EveryRoot => "searched",
        Origin::Advice => "advice",
        Origin::Import => "imported game",
        Origin::Outcome => "outcome of a game",
    }
}

/// One record.
fn card(sequence: u64, record: &Record) -> String {
    let origin = record.origin.name();
    let (position, best) = match record.position_and_move() {
        Ok(found) => found,
        Err(misfit) => {
            let misfit = escaped(&misfit.to_string());
            return format!(
                "<article data-origin=\"{origin}\"><p class=\"bad\">Record {sequence} is damaged: {misfit}</p></article>"
            );
        }
    };
    let turn = position.turn();
    let learned = best.map_or_else(
        || "no move".to_owned(),
        |m| SanPlus::from_move(position.chess().clone(), m).to_string(),
    );
    let mut facts = vec![kind(record.origin).to_owned()];
    if record.flags.confirmed {
        facts.push("the game was lost".to_owned());
    }
    if record.flags.chess960 {
        facts.push("Chess960".to_owned());
    }
    if record.evaluation_id != 0 && record.evaluation_id != eval::fingerprint() {
        facts.push("by another evaluation".to_owned());
    }
    let depth = match (record.origin, record.depth) {
        (Origin::Advice, _) => String::new(),
        (_, depth) => format!(", depth {depth}, 2<sup>{}</sup> nodes", record.log2_nodes),
    };
    format!(
        "<article data-origin=\"{origin}\">{}<p class=\"what\"><b>{}</b> for {}</p><p>{}{depth}</p>\
         <p>{}</p><p class=\"facts\">{} UTC, ply {}, session {:08x}</p><p class=\"fen\">{}</p></article>",
        small_board(position.board(), best, turn == Color::Black),
        escaped(&learned),
        turn.fold_wb("White", "Black"),
        window(&position, record),
        facts.join(", "),
        text::date(record.time),
        record.game_ply,
        record.session,
        escaped(&position.fen()),
    )
}

/// What was learned of the score, for White.
fn window(position: &Position, record: &Record) -> String {
    let bound = |score: crate::learn::LearnedScore| (!score.is_none()).then(|| score.to_score());
    let (lower, upper) = (bound(record.lower), bound(record.upper));
    let (lower, upper) = match position.turn() {
        Color::White => (lower, upper),
        Color::Black => (upper.map(|score| Score(-score.0)), lower.map(|score| Score(-score.0))),
    };
    match (lower, upper) {
        (None, None) => "score unknown".to_owned(),
        (Some(lower), None) => format!("{} or more", pawns(lower)),
        (None, Some(upper)) => format!("{} or less", pawns(upper)),
        (Some(lower), Some(upper)) if lower == upper => pawns(lower),
        (Some(lower), Some(upper)) => format!("{} to {}", pawns(lower), pawns(upper)),
    }
}
