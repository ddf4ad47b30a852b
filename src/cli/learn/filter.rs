use clap::builder::{PossibleValuesParser, TypedValueParser as _};

use super::text::{DAY, day};
use crate::{
    cli::CliError,
    learn::{
        Origin, Record,
        reachability::{Reachable, Signature},
    },
    types::PositionKey,
    uci::translate::parse_fen,
};

/// Which records; all conditions given must hold.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Filter {
    /// Positions that can still be reached from this one (a few that cannot may be among them).
    #[arg(long, value_name = "FEN")]
    below: Option<String>,
    /// This position alone.
    #[arg(long, value_name = "FEN")]
    position: Option<String>,
    /// How they were learned.
    #[arg(long, value_name = "NAME", value_parser = origins())]
    origin: Option<Origin>,
    /// The day of learning (UTC).
    #[arg(long, value_name = "YYYY-MM-DD")]
    day: Option<String>,
    /// Those of one run of the engine: its session, the eight hexadecimal digits that `list` shows.
    #[arg(long, value_name = "HEX")]
    session: Option<String>,
}

/// The names of all filters on the command line.
pub(super) const NAMES: [&str; 5] = ["below", "position", "origin", "day", "session"];

fn origins() -> impl clap::builder::TypedValueParser<Value = Origin> {
    PossibleValuesParser::new(Origin::ALL.map(|(_, name)| name))
        .try_map(|name| Origin::from_name(&name).ok_or("no origin"))
}

/// A parsed filter.
pub(super) struct CompiledFilter {
    below: Option<Reachable>,
    key: Option<PositionKey>,
    origin: Option<Origin>,
    day: Option<u32>,
    session: Option<u32>,
}

impl Filter {
    /// Are there no conditions?
    pub(super) fn is_empty(&self) -> bool {
        let Filter { below, position, origin, day, session } = self;
        origin.is_none() && [below, position, day, session].into_iter().all(Option::is_none)
    }

    /// Parses the arguments.
    pub(super) fn compile(&self) -> Result<CompiledFilter, CliError> {
        let parse = |fen: &String| parse_fen(fen, false);
        let no = |text: &str, what: &str| {
            CliError::Task(format!("`{}` is no {what}", text.chars().take(40).collect::<String>()))
        };
        let session = |hex: &String| {
            let form = "session; write eight hexadecimal digits, as `engram learn list` shows them";
            u32::from_str_radix(hex, 16).map_err(|_| no(hex, form))
        };
        let on = |text: &String| day(text).ok_or_else(|| no(text, "day; write it as 2026-01-31"));
        let below = self.below.as_ref().map(parse).transpose()?;
        Ok(CompiledFilter {
            below: below.map(|position| Reachable::of(&position)),
            key: self.position.as_ref().map(parse).transpose()?.map(|position| position.key()),
            origin: self.origin,
            day: self.day.as_ref().map(on).transpose()?,
            session: self.session.as_ref().map(session).transpose()?,
        })
    }
}

impl CompiledFilter {
    /// Does the record pass?
    pub(super) fn matches(&self, record: &Record) -> bool {
        let below = |reach: &Reachable| reach.allows(&Signature::of_packed(&record.setup));
        self.below.as_ref().is_none_or(below)
            && self.key.is_none_or(|key| key == record.key)
            && self.origin.is_none_or(|origin| origin == record.origin)
            && self.day.is_none_or(|day| day == record.time / DAY)
            && self.session.is_none_or(|session| session == record.session)
    }
}
