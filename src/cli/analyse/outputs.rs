//! All outputs of an analysis. Each item is written to all of them, in the order of the input.

use std::{collections::HashSet, ffi::OsString, path::Path, time::Duration};

use super::{
    arguments::Analyse,
    claims::Claims,
    epd::EpdRecord,
    html::AnalysisPage,
    input,
    pool::Finding,
    puzzles::Puzzle,
    report::GameReport,
    sink::{Sink, Text, TextFile, TextFormat},
};
use crate::{
    cli::{CliError, counted, source},
    position::{Opening, Openings, Position},
    types::PositionKey,
    uci::Output,
};

/// Totals for the summary line.
#[derive(Default)]
pub struct Totals {
    /// Games, and positions that stand alone.
    pub items: u64,
    /// Positions analysed in this run.
    pub positions: usize,
    /// Searches of this run for marks.
    pub confirmations: usize,
    /// Results of searches that were taken from an earlier run.
    pub taken: usize,
    /// Nodes of all searches of this run.
    pub nodes: u64,
    /// Time that it took.
    pub time: Duration,
    /// Test positions.
    pub tasks: u64,
    /// Test positions solved.
    pub solved: u64,
    /// Points won.
    pub points: u64,
    /// Points available.
    pub most_points: u64,
    /// Puzzles found.
    pub puzzles: usize,
    /// Games and lines that could not be read.
    pub skipped: usize,
    /// Why a file could not be read to its end.
    pub unread: Option<CliError>,
}

impl Totals {
    /// How much was searched in this run.
    pub fn searches(&self) -> String {
        let positions = counted(self.positions, "position");
        match self.confirmations {
            0 => positions,
            count => format!("{positions}, {}", counted(count, "confirmation")),
        }
    }
}

/// The opening of a game.
#[derive(Default)]
pub struct NamedOpening {
    /// For each position with a name the number of moves that lead to it, in order.
    pub plies: Vec<usize>,
    /// The last name.
    pub name: Option<Opening>,
}

/// All outputs.
pub struct Outputs {
    sinks: Vec<Box<dyn Sink>>,
    openings: Openings,
    /// The positions of the puzzles so far: many games fall into the same trap.
    puzzles: HashSet<PositionKey>,
}

/// Maximum number of files named in a title.
const NAMED_FILES: usize = 3;

/// The title of the input: the names of its files without folders, or the position.
fn title(input: &[OsString]) -> String {
    let file = |name: &OsString| {
        Path::new(name).file_name().filter(|_| Path::new(name).is_file()).map(ToOwned::to_owned)
    };
    let names: Option<Vec<String>> =
        input.iter().map(|name| file(name).map(|name| name.to_string_lossy().into_owned())).collect();
    match names {
        None => input::text(input),
        Some(names) if names.len() > NAMED_FILES => format!("{} files", names.len()),
        Some(names) => names.join(", "),
    }
}

impl Outputs {
    /// Begins all outputs; what was in their files is gone.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn begin(
        mut claims: Claims,
        arguments: &Analyse,
        openings: Openings,
        output: &Output,
    ) -> Result<Outputs, CliError> {
        // First: SQLite may refuse its file, and the others are emptied when they begin.
        let database = claims.database("--sqlite")?;
        let mut sinks: Vec<Box<dyn Sink>> = Vec::new();
        if !claims.take_standard_output() {
            sinks.push(Box::new(Text::new(output.clone(), arguments)));
        }
        let puzzles = arguments.puzzles.as_deref().and_then(source::ending);
        let puzzles =
            if puzzles.as_deref() == Some("pgn") { TextFormat::PuzzlePgn } else { TextFormat::PuzzleEpd };
        for (option, format) in [
            ("--json", TextFormat::Json),
            ("--pgn", TextFormat::Pgn),
            ("--csv", TextFormat::Csv),
            ("--puzzles", puzzles),
        ] {
            if let Some(file) = claims.text(option, output)? {
                sinks.push(Box::new(TextFile::new(file, format)));
            }
        }
        if let Some(file) = claims.text("--html", output)? {
            sinks.push(Box::new(AnalysisPage::begin(file, &title(&arguments.input))?));
        }
        if let Some(database) = database {
            sinks.push(Box::new(database));
        }
        Ok(Outputs { sinks, openings, puzzles: HashSet::new() })
    }

    /// The opening of a game with these positions.
    pub fn opening(&self, positions: &[Position]) -> NamedOpening {
        let (plies, names): (Vec<_>, Vec<_>) = self.openings.all_named(positions).unzip();
        NamedOpening { plies, name: names.last().copied().cloned() }
    }

    /// Writes a searched position.
    pub fn position(
        &mut self,
        record: &EpdRecord,
        findings: &[Finding],
        totals: &mut Totals,
    ) -> Result<(), CliError> {
        let Some(finding) = findings.first() else { return Ok(()) };
        totals.items += 1;
        let result = record.result(finding);
        totals.tasks += u64::from(result.solved.is_some());
        totals.solved += u64::from(result.solved == Some(true));
        totals.points += u64::from(result.points.unwrap_or(0));
        totals.most_points += u64::from(record.most_points());
        self.sinks.iter_mut().try_for_each(|sink| sink.position(record, finding))
    }

    /// Writes an analysed game.
    pub fn game(&mut self, report: &GameReport, totals: &mut Totals) -> Result<(), CliError> {
        totals.items += 1;
        let mut puzzles: Vec<Puzzle<'_>> = Puzzle::all(report).collect();
        puzzles.retain(|puzzle| self.puzzles.insert(puzzle.position().key()));
        totals.puzzles += puzzles.len();
        self.sinks.iter_mut().try_for_each(|sink| sink.game(report, &puzzles))
    }

    /// Writes the end of each format, and the summary, and waits until the files are on the disk.
    pub fn finish(&mut self, totals: &Totals) -> Result<(), CliError> {
        self.sinks.iter_mut().try_for_each(|sink| sink.finish(totals))
    }
}
