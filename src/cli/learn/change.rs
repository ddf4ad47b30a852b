//! Tools that change single records.

use serde_json::json;

use super::{
    filter::Filter,
    opened::Opened,
    own_games::{GameFilter, OwnGames},
    text::Printer,
};
use crate::{
    cli::{CliError, counted},
    engine::study::study_tree,
    learn::{self, LearnedScore, Record, exchange},
};

pub(super) fn forget(
    file: &mut Opened,
    (filter, of_games): (&Filter, &GameFilter),
    yes: bool,
    out: Printer,
) -> Result<(), CliError> {
    let games = (!of_games.is_empty()).then(|| OwnGames::load(file)).transpose()?;
    let is_wanted = |record: &Record| {
        filter.matches(record) && games.as_ref().is_none_or(|games| of_games.matches_record(record, games))
    };
    let records: Vec<(u64, Record)> = file.ring().iter().filter(|(_, record)| is_wanted(record)).collect();
    out.records(&records);
    let mut forgotten = 0;
    if yes {
        let now = learn::now();
        let tombstones: Vec<_> = records.iter().map(|(_, record)| record.tombstone(now)).collect();
        // Records that another process wrote after the listing are newer, and stay.
        forgotten = file.file.merge(&file.ring, &tombstones)?.new;
    }
    let found = records.len();
    let text = match found {
        0 => "no record matches".to_owned(),
        _ if yes => format!("{} forgotten", counted(forgotten, "record")),
        _ => format!("{} would be forgotten; add --yes to do it", counted(found, "record")),
    };
    out.either(json!({ "found": found, "forgotten": forgotten }), text);
    let tree = study_tree(file.file.path());
    if yes && filter.is_empty() && tree.exists() {
        out.text(format_args!("{} stays, and is played from until you remove it too", tree.display()));
    }
    Ok(())
}

pub(super) fn advise(
    file: &mut Opened,
    fen: &str,
    best: &str,
    score: Option<LearnedScore>,
    out: Printer,
) -> Result<(), CliError> {
    let position = crate::cli::position(Some(fen), false)?;
    let mut record = exchange::advice(&position, best.split(',').map(str::trim), score)?;
    record.session = learn::session();
    record.time = file.time_of_advice(position.key());
    let present = file.ring().get(position.key());
    if let Some(before) = present.filter(Record::is_advice) {
        record = exchange::with_more_advice(&before, record)?;
    }
    let sequence = file.file.advise(&file.ring, &record)?;
    out.records(&[(sequence, record)]);
    Ok(())
}
