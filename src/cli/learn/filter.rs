use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use crate::{
    cli::{CliError, DAY, day, position},
    files::read_session,
    learn::{
        Origin, Record,
        reachability::{Reachable, Signature},
    },
    types::PositionKey,
};

/// Which records; all conditions given must hold.
#[derive(Debug, Default, PartialEq, clap::Args)]
pub(super) struct Filter {
    /// Positions that can still be reached from this one, in quotes ("e4 e5"; a few that cannot may be among them).
    #[arg(long, value_name = "FEN | MOVES", value_parser = reachable)]
    below: Option<Reachable>,
    /// This position alone, in quotes ("e4 e5").
    #[arg(long, value_name = "FEN | MOVES", value_parser = key)]
    position: Option<PositionKey>,
    /// How they were learned.
    #[arg(long, value_name = "NAME", value_parser = origins())]
    origin: Option<Origin>,
    /// The day of learning (UTC); for what a study found, that of the game.
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    day: Option<i64>,
    /// Those of one run of the engine, and of the study of its games: its session, the eight hexadecimal digits that
    /// `list` shows.
    #[arg(long, value_name = "HEX", value_parser = session)]
    session: Option<u32>,
}

fn origins() -> impl clap::builder::TypedValueParser<Value = Origin> {
    PossibleValuesParser::new(Origin::ALL.map(|(_, name)| name))
        .try_map(|name| Origin::from_name(&name).ok_or("no origin"))
}

fn reachable(text: &str) -> Result<Reachable, CliError> {
    Ok(Reachable::of(&position(Some(text), false)?))
}

fn key(text: &str) -> Result<PositionKey, CliError> {
    Ok(position(Some(text), false)?.key())
}

fn session(hex: &str) -> Result<u32, String> {
    read_session(hex)
        .ok_or_else(|| "write eight hexadecimal digits, as `engram learn list` shows them".to_owned())
}

impl Filter {
    /// Are there no conditions?
    pub(super) fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Does the record pass?
    pub(super) fn matches(&self, record: &Record) -> bool {
        let below = |reach: Reachable| reach.allows(&Signature::of_packed(&record.setup));
        self.below.is_none_or(below)
            && self.position.is_none_or(|key| key == record.key)
            && self.origin.is_none_or(|origin| origin == record.origin)
            && self.day.is_none_or(|day| day == i64::from(record.time / DAY))
            && self.session.is_none_or(|session| session == record.session)
    }
}
