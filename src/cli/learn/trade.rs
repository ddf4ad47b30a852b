//! Export, import and merge.

use std::{
    io::{BufRead, Write},
    path::Path,
};

use serde_json::json;

use super::{
    opened::Opened,
    text::{self, Printer},
};
use crate::{
    cli::{CliError, refused, source},
    files::NewFile,
    learn::{self, MAX_ADVICE, Record, Taken, exchange, record::CAPACITY},
};

pub(super) fn export(file: &Opened, to: Option<&Path>, out: Printer) -> Result<(), CliError> {
    let output = out.output;
    let ring = file.ring();
    let (mut written, mut damaged) = (0, 0);
    let mut target = to.map(|path| NewFile::begin_new(path).map_err(refused(path, "made"))).transpose()?;
    for (sequence, record) in ring.iter() {
        let line = match exchange::line(&record) {
            Ok(_) if out.json => text::value(sequence, &record).to_string(),
            Ok(line) => line,
            Err(_) => {
                damaged += 1;
                continue;
            }
        };
        match (&mut target, to) {
            (Some(target), Some(path)) => writeln!(target, "{line}").map_err(refused(path, "written"))?,
            _ if output.is_closed() => return Ok(()),
            _ => output.line(line),
        }
        written += 1;
    }
    if let (Some(target), Some(path)) = (target, to) {
        target.finish().map_err(refused(path, "written"))?;
        output.line(format_args!("{written} records written to {}", path.display()));
    }
    if damaged > 0 {
        log::warn!("{damaged} records that contradict themselves were left out");
    }
    Ok(())
}

pub(super) fn import(file: &mut Opened, from: &Path, out: Printer) -> Result<(), CliError> {
    let text = source::reader(from).map_err(refused(from, "read"))?;
    let (session, now) = (learn::session(), learn::now());
    let mut records: Vec<Record> = Vec::new();
    let (mut wrong, mut same) = (Vec::new(), 0);
    for (number, line) in (1..).zip(text.split(b'\n')) {
        let line = line.map_err(refused(from, "read"))?;
        match exchange::parse_line(
            String::from_utf8_lossy(&line).trim_start_matches('\u{feff}'),
            session,
            now,
        ) {
            Ok(Some(record)) if file.has_same_advice(&record) => same += 1,
            Ok(record) => records.extend(record),
            Err(error) => wrong.push((number, error)),
        }
    }
    // Invalid lines do not prevent the import of the others; importing the same file again changes nothing.
    let live_advice = file.ring().advice_len();
    let lines = records.len();
    let left_out = learn::keep_what_fits(&mut records, live_advice);
    let replaced = lines - records.len() - left_out;
    let taken = file.file.take_in(&file.ring, &records)?;
    report(Taken { known: taken.known + same + replaced, ..taken }, out);
    if left_out > 0 {
        out.text(format_args!("{left_out} older records left out: a file holds {CAPACITY}"));
    }
    let count = wrong.len();
    match wrong.into_iter().next() {
        Some((number, error)) => Err(CliError::Task(format!(
            "{count} lines of {} were left out, the first one is line {number}: {error}",
            from.display()
        ))),
        None => Ok(()),
    }
}

pub(super) fn merge(file: &mut Opened, source: &Opened, out: Printer) -> Result<(), CliError> {
    // Including tombstones: what was forgotten there is forgotten here.
    let records: Vec<Record> = source.ring().since(learn::BEFORE_FIRST).map(|(_, record)| record).collect();
    let taken = file.file.take_in(&file.ring, &records)?;
    report(taken, out);
    Ok(())
}

fn report(taken: Taken, out: Printer) {
    let Taken { new, known, refused } = taken;
    out.either(
        json!({ "new": new, "known": known, "refused": refused }),
        format_args!("{new} records taken in, {known} already known"),
    );
    if refused > 0 {
        out.text(format_args!(
            "{refused} pieces of advice refused: a file holds at most {MAX_ADVICE}; remove some with `engram learn forget`"
        ));
    }
}
