//! Tools that only read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::{
    filter::Filter,
    opened::Opened,
    text::{self, Printer},
};
use crate::{
    cli::{CliError, pgn},
    learn::{MAX_ADVICE, Record, header::FORMAT, record::CAPACITY},
};

pub(super) fn list(file: &Opened, filter: &Filter, out: Printer) -> Result<(), CliError> {
    let filter = filter.compile()?;
    let ring = file.ring();
    let mut count = 0;
    out.text(text::HEADER);
    for (sequence, record) in ring.iter().filter(|(_, record)| filter.admits(record)) {
        if out.output.is_closed() {
            return Ok(());
        }
        count += 1;
        out.record(sequence, &record);
    }
    out.text(format_args!("{count} records"));
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

pub(super) fn stats(file: &Opened, out: Printer) {
    let output = out.output;
    let ring = file.ring();
    let mut origins = BTreeMap::new();
    let mut evaluations = BTreeMap::new();
    let mut sessions = BTreeSet::new();
    let (mut first, mut last, mut confirmed) = (u32::MAX, 0, 0);
    for (_, record) in ring.iter() {
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
            "capacity": CAPACITY, "sequence": ring.sequence(), "records": ring.len(), "origins": origins,
            "evaluations": evaluations, "sessions": sessions.len(), "confirmed": confirmed,
            "first": (!ring.is_empty()).then_some(first), "last": (!ring.is_empty()).then_some(last),
            "tombstones": report.tombstones, "replaced": report.replaced, "torn": report.torn,
            "stale": report.stale, "missing_bytes": report.missing_bytes,
        }));
        return;
    }
    output.line(format_args!("file         {path} (format {FORMAT}, id {:016x})", ring.file_id()));
    output.line(format_args!("records      {} of at most {CAPACITY}", ring.len()));
    for (origin, count) in &origins {
        output.line(format_args!("  {origin:<10} {count}"));
    }
    output.line(format_args!("advice       room for {} more", MAX_ADVICE.saturating_sub(ring.advice_len())));
    output.line(format_args!("confirmed    {confirmed} by the end of a game"));
    output.line(format_args!("sessions     {}", sessions.len()));
    for (evaluation, count) in &evaluations {
        output.line(format_args!("evaluation   {evaluation:04x}: {count}"));
    }
    if !ring.is_empty() {
        output.line(format_args!("learned      {} to {} (UTC)", text::date(first), text::date(last)));
    }
    output.line(format_args!("beside them  {} tombstones, {} replaced", report.tombstones, report.replaced));
    output.line(format_args!("ignored      {} torn, {} stale", report.torn, report.stale));
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
            "{records} records count, {} of them contradict themselves; {} tombstones, {} replaced, {} of unknown \
             kind, {} torn, {} stale, {} bytes missing at the end",
            damaged.len(),
            report.tombstones,
            report.replaced,
            report.unknown,
            report.torn,
            report.stale,
            report.missing_bytes
        ),
    );
    match damaged.first() {
        Some((sequence, misfit)) => Err(CliError::Task(format!(
            "{} of the records contradict themselves, the first one, number {sequence}: {misfit}",
            damaged.len()
        ))),
        None => Ok(()),
    }
}
