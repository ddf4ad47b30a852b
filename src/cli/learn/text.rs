//! Records as text and JSON.

use std::fmt::Display;

use serde_json::{Value, json};
use shakmaty::{Color, Move};

pub(super) use crate::cli::date;
use crate::{
    cli::pgn,
    learn::{LearnedScore, Origin, Record, RecordError, game::GameEnd, games::player},
    position::Position,
    uci::{Output, translate},
};

/// Prints the answer of a tool, as JSON or as text.
#[derive(Copy, Clone)]
pub(super) struct Printer<'a> {
    pub(super) output: &'a Output,
    pub(super) json: bool,
}

impl Printer<'_> {
    /// Prints one of the two forms.
    pub(super) fn either(self, json: Value, text: impl Display) {
        if self.json { self.output.line(json) } else { self.output.line(text) }
    }

    /// Prints a line that is no part of the JSON.
    pub(super) fn text(self, line: impl Display) {
        if !self.json {
            self.output.line(line);
        }
    }

    /// Prints a record as JSON, or as a line of the table.
    pub(super) fn record(self, sequence: u64, record: &Record) {
        if self.json {
            self.output.line(value(sequence, record));
        } else {
            self.output.line(row(sequence, record));
        }
    }

    /// Prints records, as a table with its header if there are any.
    pub(super) fn records(self, records: &[(u64, Record)]) {
        if !records.is_empty() {
            self.text(HEADER);
        }
        records.iter().for_each(|(sequence, record)| self.record(*sequence, record));
    }
}

/// `White lost`; `None` if no decided game is known.
pub(super) fn result(record: &Record, turn: Color) -> Option<String> {
    let (side, outcome) = player(record, turn)?;
    let verb = match outcome? {
        GameEnd::Won => "won",
        GameEnd::Lost => "lost",
    };
    Some(format!("{} {verb}", side.fold_wb("White", "Black")))
}

/// The depth of the search that made the record; `None` for advice and results of games.
pub(super) fn depth(record: &Record) -> Option<u8> {
    let searched = !matches!(record.origin, Origin::Advice | Origin::Outcome);
    searched.then_some(record.depth)
}

/// `-20..15`, or one number if both bounds agree.
pub(super) fn window(lower: LearnedScore, upper: LearnedScore) -> String {
    match (lower.is_none(), upper.is_none()) {
        (true, true) => "?".to_owned(),
        (true, false) => format!("<= {upper}"),
        (false, true) => format!(">= {lower}"),
        (false, false) if lower == upper => lower.to_string(),
        (false, false) => format!("{lower}..{upper}"),
    }
}

/// The columns of [`row`]. All scores in texts, JSON and pages are for the side to move.
pub(super) const HEADER: &str = "      number  learned (UTC)     session   origin   game        move       cp, side to move  depth  position";

/// The moves of a record: all that are advised, or the best one.
pub(super) fn moves(record: &Record, position: &Position, best: Option<Move>) -> Vec<Move> {
    let advised: Vec<Move> = record.advised().filter_map(|m| position.unpack(m)).collect();
    if advised.is_empty() { best.into_iter().collect() } else { advised }
}

/// One line for one record, with its position as FEN.
pub(super) fn row(sequence: u64, record: &Record) -> String {
    row_at(sequence, record, None)
}

/// One line for one record, with what is given in the place of its position.
pub(super) fn row_at(sequence: u64, record: &Record, place: Option<String>) -> String {
    let (best, game, fen) = match record.position_and_move() {
        Ok((position, best)) => {
            let names = moves(record, &position, best).into_iter().map(|m| pgn::san(&position, m).0);
            (names.collect::<Vec<_>>().join(","), result(record, position.turn()), position.fen())
        }
        Err(misfit) => (String::new(), None, format!("damaged: {misfit}")),
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    format!(
        "{sequence:>12}  {}  {:08x}  {:<7}  {:<10}  {:<7}  {:>18}  {:>5}  {}",
        date(record.time),
        record.session,
        record.origin.name(),
        or_dash(game),
        or_dash(Some(best).filter(|best| !best.is_empty())),
        window(record.lower, record.upper),
        or_dash(depth(record).map(|depth| depth.to_string())),
        place.unwrap_or(fen),
    )
}

/// A record as JSON. Scores are centipawns for the side to move, strings for mates and tablebase results, or null.
/// Fields of searches are null in records without one. Advice may have several moves.
pub(super) fn value(sequence: u64, record: &Record) -> Value {
    let score = |score: LearnedScore| match (score.centipawns(), score.is_none()) {
        (Some(centipawns), _) => json!(centipawns),
        (None, true) => Value::Null,
        (None, false) => json!(score.to_string()),
    };
    let searched = depth(record).is_some();
    let (fen, moves, damage) = match record.position_and_move() {
        Ok((position, best)) => {
            let mode = translate::notation(&position, false);
            let names = moves(record, &position, best).into_iter().map(|m| m.to_uci(mode).to_string());
            (Some(position.fen()), names.collect(), None::<RecordError>)
        }
        Err(misfit) => (None, Vec::new(), Some(misfit)),
    };
    json!({
        "sequence": sequence,
        "key": format!("{:016x}", record.key.0),
        "fen": fen,
        "move": moves.first(),
        "moves": moves,
        "lower": score(record.lower),
        "upper": score(record.upper),
        "depth": depth(record),
        "clock": record.halfmoves,
        "origin": record.origin.name(),
        "confirmed": record.flags.confirmed,
        "game": record.position().ok().and_then(|position| result(record, position.turn())),
        "chess960": record.flags.chess960,
        "ply": record.game_ply,
        "since_root": searched.then_some(record.since_root),
        "log2_nodes": searched.then_some(record.log2_nodes),
        "evaluation": searched.then_some(record.evaluation_id),
        "session": format!("{:08x}", record.session),
        "time": record.time,
        "damage": damage.map(|misfit| misfit.to_string()),
    })
}
