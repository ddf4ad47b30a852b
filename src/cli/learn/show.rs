//! Tools that only read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{
    filter::Filter,
    opened::Opened,
    own_games::{GameFilter, OwnGames},
    text::{self, Printer},
};
use crate::{
    cli::{CliError, counted, pgn},
    learn::{MAX_ADVICE, Record, header::FORMAT, record::CAPACITY},
};

pub(super) fn list(
    file: &Opened,
    (filter, of_games): (&Filter, &GameFilter),
    fen: bool,
    out: Printer,
) -> Result<(), CliError> {
    // They take longer to read than the records.
    let games = (!fen && !out.json || !of_games.is_empty()).then(|| OwnGames::load(file)).transpose()?;
    let ring = file.ring();
    let is_wanted = |record: &Record| {
        filter.matches(record) && games.as_ref().is_none_or(|games| of_games.matches_record(record, games))
    };
    let place = |record: &Record| {
        let (game, ply) = games.as_ref().filter(|_| !fen)?.of(record)?;
        Some(format!("{} ({})", game.line_to(ply)?, game.name()))
    };
    let mut count = 0;
    out.text(text::HEADER);
    for (sequence, record) in ring.iter().filter(|(_, record)| is_wanted(record)) {
        if out.output.is_closed() {
            return Ok(());
        }
        count += 1;
        match out.json {
            true => out.record(sequence, &record),
            false => out.output.line(text::row_at(sequence, &record, place(&record))),
        }
    }
    out.text(counted(count, "record"));
    Ok(())
}

pub(super) fn show(file: &Opened, fen: &str, out: Printer) -> Result<(), CliError> {
    let output = out.output;
    let position = crate::cli::position(Some(fen), false)?;
    let ring = file.ring();
    let known = |key| Some((ring.sequence_of(key)?, ring.get(key)?));
    let here = known(position.key());
    let mut after = Vec::new();
    for m in position.legal_moves() {
        if let Some((sequence, record)) = known(position.play(m).key()) {
            after.push((pgn::san(&position, m).0, sequence, record));
        }
    }
    if out.json {
        let after: Vec<_> = after
            .iter()
            .map(|(san, sequence, record)| json!({ "after": san, "record": text::value(*sequence, record) }))
            .collect();
        let here = here.map(|(sequence, record)| text::value(sequence, &record));
        output.line(json!({ "fen": position.fen(), "record": here, "moves": after }));
        return Ok(());
    }
    output.line(text::HEADER);
    match here {
        Some((sequence, record)) => output.line(text::row(sequence, &record)),
        None => output.line(format_args!("nothing is known of {}", position.fen())),
    }
    for (san, sequence, record) in after {
        output.line(format_args!("{}  after {san}", text::row(sequence, &record)));
    }
    Ok(())
}

pub(super) fn stats(file: &Opened, of_games: &GameFilter, out: Printer) -> Result<(), CliError> {
    let output = out.output;
    let games = (!of_games.is_empty()).then(|| OwnGames::load(file)).transpose()?;
    let is_wanted =
        |record: &Record| games.as_ref().is_none_or(|games| of_games.matches_record(record, games));
    let ring = file.ring();
    let mut origins = BTreeMap::new();
    let mut evaluations = BTreeMap::new();
    let mut sessions = BTreeSet::new();
    let (mut first, mut last, mut confirmed) = (u32::MAX, 0, 0);
    let mut count = 0;
    for (_, record) in ring.iter().filter(|(_, record)| is_wanted(record)) {
        count += 1;
        *origins.entry(record.origin.name()).or_insert(0) += 1;
        if text::depth(&record).is_some() {
            *evaluations.entry(record.evaluation_id).or_insert(0) += 1;
        }
        sessions.insert(record.session);
        (first, last) = (first.min(record.time), last.max(record.time));
        confirmed += usize::from(record.flags.confirmed);
    }
    let report = file.report;
    let path = file.file.path().display();
    if out.json {
        output.line(json!({
            "file": path.to_string(), "format": FORMAT, "id": format!("{:016x}", ring.file_id()),
            "capacity": CAPACITY, "sequence": ring.sequence(), "records": count, "origins": origins,
            "evaluations": evaluations, "sessions": sessions.len(), "confirmed": confirmed,
            "first": (count > 0).then_some(first), "last": (count > 0).then_some(last),
            "tombstones": report.tombstones, "replaced": report.replaced, "torn": report.torn,
            "stale": report.stale, "missing_bytes": report.missing_bytes,
        }));
        return Ok(());
    }
    output.line(format_args!("file         {path} (format {FORMAT}, id {:016x})", ring.file_id()));
    output.line(format_args!("records      {count} of at most {CAPACITY}"));
    for (origin, count) in &origins {
        output.line(format_args!("  {origin:<10} {count}"));
    }
    output.line(format_args!("advice       room for {} more", MAX_ADVICE.saturating_sub(ring.advice_len())));
    output.line(format_args!("confirmed    {confirmed} by the end of a game"));
    output.line(format_args!("sessions     {}", sessions.len()));
    for (evaluation, count) in &evaluations {
        output.line(format_args!("evaluation   {evaluation:04x}: {count}"));
    }
    if count > 0 {
        output.line(format_args!("learned      {} to {} (UTC)", text::date(first), text::date(last)));
    }
    output.line(format_args!(
        "beside them  {}, {} replaced",
        counted(report.tombstones, "tombstone"),
        report.replaced
    ));
    output.line(format_args!("ignored      {} torn, {} stale", report.torn, report.stale));
    Ok(())
}

pub(super) fn verify(file: &Opened, out: Printer) -> Result<(), CliError> {
    let ring = file.ring();
    let misfit = |(sequence, record): (u64, Record)| Some((sequence, record.position_and_move().err()?));
    let damaged: Vec<_> = ring.iter().filter_map(misfit).collect();
    let (report, records) = (file.report, ring.len());
    let named = damaged
        .iter()
        .map(|(sequence, misfit)| json!({ "sequence": sequence, "damage": misfit.to_string() }));
    out.either(
        json!({
            "records": records, "tombstones": report.tombstones, "replaced": report.replaced,
            "torn": report.torn, "stale": report.stale, "unknown": report.unknown,
            "missing_bytes": report.missing_bytes, "damaged": named.collect::<Vec<_>>(),
        }),
        format_args!(
            "{}, {} of them inconsistent; {}, {} replaced, {} of unknown \
             kind, {} torn, {} stale, {} bytes missing at the end",
            counted(records, "live record"),
            damaged.len(),
            counted(report.tombstones, "tombstone"),
            report.replaced,
            report.unknown,
            report.torn,
            report.stale,
            report.missing_bytes
        ),
    );
    match damaged.first() {
        Some((sequence, misfit)) => Err(CliError::Task(format!(
            "inconsistent: {}, the first one number {sequence}: {misfit}",
            counted(damaged.len(), "record")
        ))),
        None => Ok(()),
    }
}
