//! Export, import and merge.

use std::{collections::HashMap, path::Path};

use serde_json::json;

use super::{
    opened::Opened,
    text::{self, Printer},
};
use crate::{
    cli::{CliError, Completion, check_output, complain, counted, pgn::Lines, refused, source, write_file},
    learn::{self, CLOCK_ERROR, MAX_ADVICE, Merged, Record, exchange, record::CAPACITY},
    types::PositionKey,
};

pub(super) fn export(
    file: &Opened,
    to: Option<&Path>,
    force: bool,
    out: Printer,
) -> Result<Completion, CliError> {
    let (mut lines, mut damaged) = (Vec::new(), 0);
    for (sequence, record) in file.ring().iter() {
        match exchange::line(&record) {
            Ok(_) if out.json => lines.push(text::value(sequence, &record).to_string() + "\n"),
            Ok(line) => lines.push(line + "\n"),
            Err(_) => damaged += 1,
        }
    }
    let text = lines.concat();
    if let Some(path) = to {
        check_output(path, [file.file.path()], force)?;
        write_file(path, text.as_bytes(), force)?;
        out.output.line(format_args!("{} written to {}", counted(lines.len(), "record"), path.display()));
    } else if let Some(text) = text.strip_suffix('\n') {
        out.output.line(text);
    }
    if damaged > 0 {
        complain(format_args!("{} that contradict themselves were skipped", counted(damaged, "record")));
        return Ok(Completion::Partial);
    }
    Ok(Completion::Complete)
}

/// Imports the lines of a text. A line that cannot be used is reported and skipped.
pub(super) fn import(file: &mut Opened, from: &Path, out: Printer) -> Result<Completion, CliError> {
    let text = Lines::new(source::reader(from).map_err(refused(from, "read"))?);
    let (session, now) = (learn::session(), learn::now());
    let mut records: Vec<Record> = Vec::new();
    let mut outcome = Completion::Complete;
    // Advice given by this text: it is added to what was advised before, here or by an earlier line.
    let mut advice: HashMap<PositionKey, Record> = HashMap::new();
    let mut with_known = |new: Record| {
        if !new.is_advice() || (new.session, new.time) != (session, now) {
            return Ok(new);
        }
        let new = Record { time: file.time_of_advice(new.key), ..new };
        let before = advice.get(&new.key).cloned().or_else(|| file.ring().get(new.key));
        let record = match before.filter(Record::is_advice) {
            Some(before) => exchange::with_more_advice(&before, new)?,
            None => new,
        };
        advice.insert(record.key, record.clone());
        Ok(record)
    };
    for (number, line) in (1..).zip(text) {
        let line = line.map_err(refused(from, "read"))?;
        match exchange::parse_line(&line, session, now)
            .and_then(|record| record.map(&mut with_known).transpose())
        {
            Ok(record) => records.extend(record),
            Err(error) => {
                outcome = Completion::Partial;
                complain(format_args!("{}: line {number} is skipped: {error}", from.display()));
            }
        }
    }
    // Importing the same file again changes nothing.
    merge_records(file, records, out)?;
    Ok(outcome)
}

pub(super) fn merge(file: &mut Opened, source: &Opened, out: Printer) -> Result<(), CliError> {
    // Including tombstones: what was forgotten there is forgotten here.
    let records = source.ring().since(learn::BEFORE_FIRST).map(|(_, record)| record).collect();
    merge_records(file, records, out)
}

/// Merges records into the file and reports it.
fn merge_records(file: &mut Opened, mut records: Vec<Record>, out: Printer) -> Result<(), CliError> {
    let read = records.len();
    let latest = learn::now().saturating_add(CLOCK_ERROR);
    records.retain(|record| record.time <= latest);
    let future = read - records.len();
    // Advice that later advice of the same position replaces is named: it is the user's own.
    let overrules = |new: &&Record| {
        let here = file.ring().get(new.key).filter(|here| here.is_advice() && new.is_advice());
        let loses_a_move = |here: Record| here.advised().any(|m| new.advised().all(|other| other != m));
        here.is_some_and(loses_a_move) && file.ring().is_improved_by(new)
    };
    let overruled = records.iter().filter(overrules).count();
    let skipped = learn::keep_what_fits(&mut records, &file.ring());
    let Merged { new, known, forgotten, refused } = file.file.merge(&file.ring, &records)?;
    out.either(
        json!({ "new": new, "known": known, "forgotten": forgotten, "refused": refused, "future": future }),
        format_args!("{} added, {known} already known", counted(new, "record")),
    );
    if future > 0 {
        out.text(format_args!(
            "{} skipped: from more than a day ahead, and nothing learned until then could replace that; correct `time` \
             in an exported text",
            counted(future, "record")
        ));
    }
    if overruled > 0 {
        out.text(format_args!(
            "the advice for {} was earlier than the advice added, and counts no more; `engram learn advise` adds its \
             moves again",
            counted(overruled, "position")
        ));
    }
    if skipped > 0 {
        let older = counted(skipped, "older record");
        out.text(format_args!("{older} skipped: a learning file holds at most {CAPACITY}"));
    }
    if forgotten > 0 {
        out.text(format_args!(
            "{} skipped: forgotten here after it was learned; to get it back, import into a new file (`--file NEW`)",
            counted(forgotten, "record")
        ));
    }
    if refused > 0 {
        out.text(format_args!(
            "the advice for {} is refused: a learning file holds at most {MAX_ADVICE} pieces of advice; remove some with `engram learn forget`",
            counted(refused, "position")
        ));
    }
    Ok(())
}
