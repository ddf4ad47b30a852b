//! All outputs of an analysis. Each item is written to all of them, in the order of the input.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

#[cfg(feature = "sqlite")]
use super::sqlite::Database;
use super::{
    annotate,
    arguments::Analyse,
    epd::EpdRecord,
    html::AnalysisPage,
    input::{self, AnalysisInput},
    output::{self, OutputFile},
    pool::Finding,
    puzzles::Puzzle,
    report::GameReport,
    rows::{self, PositionRow},
};
use crate::{
    cli::{CliError, Openings, openings::Opening, refuse_to_overwrite, source},
    files,
    position::Position,
    uci::Output,
};

/// Totals for the summary line.
#[derive(Default)]
pub struct Totals {
    /// Games, and positions that stand alone.
    pub items: u64,
    /// Positions searched.
    pub positions: u64,
    /// Nodes of them all.
    pub nodes: u64,
    /// Test positions.
    pub tasks: u64,
    /// Test positions solved.
    pub solved: u64,
    /// Points won.
    pub points: u64,
    /// Points available.
    pub most_points: u64,
    /// Games and lines that could not be read.
    pub skipped: usize,
}

impl Totals {
    /// Counts an item.
    fn count(&mut self, findings: &[Finding]) {
        self.items += 1;
        self.positions += findings.len() as u64;
        self.nodes += findings.iter().map(|finding| finding.nodes).sum::<u64>();
    }
}

/// All outputs.
pub struct Outputs {
    /// The standard output, if no other format is written there.
    pub text: Option<Output>,
    json: Option<OutputFile>,
    pgn: Option<OutputFile>,
    html: Option<AnalysisPage>,
    csv: Option<OutputFile>,
    puzzles: Option<OutputFile>,
    /// Are puzzles written as PGN?
    puzzles_as_games: bool,
    #[cfg(feature = "sqlite")]
    database: Option<Database>,
    openings: Openings,
    head_written: bool,
    /// Are there several files?
    with_files: bool,
    /// Was a game written?
    has_games: bool,
    csv_begun: bool,
    puzzle_count: usize,
}

/// Refuses outputs that would overwrite the input, one another, or an existing file. `resumed`: existing files are
/// those of an earlier run of this work.
///
/// # Errors
/// Which, and what to do.
pub fn refuse(arguments: &Analyse, input: &AnalysisInput, resumed: bool) -> Result<(), CliError> {
    let outputs = arguments.outputs();
    if let Some(path) = &arguments.sqlite {
        if cfg!(not(feature = "sqlite")) {
            return Err(CliError::Task(
                "this program was built without SQLite; `cargo build --release --features sqlite` builds one with it"
                    .to_owned(),
            ));
        }
        if path == Path::new("-") {
            return Err(CliError::Task(
                "a database cannot go to the standard output; name a file".to_owned(),
            ));
        }
    }
    for (index, &(option, path)) in outputs.iter().enumerate() {
        let earlier = outputs[..index].iter().find(|&&(_, earlier)| is_same(earlier, path));
        if let Some((other, _)) = earlier {
            let path = path.display();
            return Err(CliError::Task(format!("{other} and {option} both name {path}; each wants its own")));
        }
        if path == Path::new("-") {
            continue;
        }
        let files: &[PathBuf] = if let AnalysisInput::Files(files) = input { files } else { &[] };
        let inputs = files.iter().chain(&arguments.learn).chain(&arguments.eco);
        if let Some(path) = inputs.into_iter().find(|input| is_same(input, path)) {
            let path = path.display();
            return Err(CliError::Task(format!("{option} names an input, {path}; name another file")));
        }
        refuse_to_overwrite(path, arguments.force || resumed)?;
    }
    Ok(())
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

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path| files::resolve(path).ok();
    one == other || (whole(one).is_some() && whole(one) == whole(other))
}

impl Outputs {
    /// Opens the files that the arguments name, overwriting existing ones.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn open(arguments: &Analyse, output: &Output) -> Result<Outputs, CliError> {
        let open =
            |path: &Option<PathBuf>| path.as_ref().map(|path| OutputFile::open(path, output)).transpose();
        let openings =
            if arguments.eco.is_empty() { Openings::own() } else { Openings::read(&arguments.eco)? };
        let (json, pgn) = (open(&arguments.json)?, open(&arguments.pgn)?);
        let html = match &arguments.html {
            Some(path) => Some(AnalysisPage::begin(path, output, &title(&arguments.input))?),
            None => None,
        };
        let taken = arguments.outputs().iter().any(|(_, path)| *path == Path::new("-"));
        Ok(Outputs {
            text: (!taken).then(|| output.clone()),
            json,
            pgn,
            html,
            csv: open(&arguments.csv)?,
            puzzles: open(&arguments.puzzles)?,
            puzzles_as_games: arguments
                .puzzles
                .as_deref()
                .is_some_and(|path| source::ending(path).as_deref() == Some("pgn")),
            #[cfg(feature = "sqlite")]
            database: arguments.sqlite.as_deref().map(Database::create).transpose()?,
            openings,
            head_written: false,
            with_files: arguments.input.len() > 1,
            has_games: false,
            csv_begun: false,
            puzzle_count: 0,
        })
    }

    /// The last named position of a game: the number of moves that lead to it, and its name.
    pub fn opening(&self, positions: &[Position]) -> Option<(usize, Opening)> {
        self.openings.of(positions).map(|(book, opening)| (book, opening.clone()))
    }

    /// Writes a searched position.
    pub fn position(
        &mut self,
        record: &EpdRecord,
        findings: &[Finding],
        totals: &mut Totals,
    ) -> Result<(), CliError> {
        let Some(finding) = findings.first() else { return Ok(()) };
        totals.count(findings);
        let result = record.result(finding);
        totals.tasks += u64::from(result.solved.is_some());
        totals.solved += u64::from(result.solved == Some(true));
        totals.points += u64::from(result.points.unwrap_or(0));
        totals.most_points += u64::from(record.most_points());
        if let Some(text) = &self.text {
            if record.is_single {
                text.line(output::position_text(&record.position, finding));
            } else {
                if !self.head_written {
                    self.head_written = true;
                    text.line(output::records_head());
                }
                text.line(output::record_text(record, finding));
            }
        }
        if let Some(json) = &mut self.json {
            json.write(&output::record_json(record, finding))?;
        }
        if let Some(html) = &mut self.html {
            html.position(record, finding)?;
        }
        self.write_rows(None, &[rows::of_record(record, finding)])
    }

    /// Writes an analysed game.
    pub fn game(&mut self, report: &GameReport, totals: &mut Totals) -> Result<(), CliError> {
        self.has_games = true;
        totals.count(&report.findings);
        if let Some(text) = &self.text {
            text.line(output::game_text(report, self.with_files));
        }
        if let Some(json) = &mut self.json {
            json.write(&output::game_json(report))?;
        }
        if let Some(pgn) = &mut self.pgn {
            pgn.write(&annotate::game_pgn(report))?;
        }
        if let Some(html) = &mut self.html {
            html.game(report)?;
        }
        self.write_rows(Some(report), &rows::of_game(report))?;
        let Some(file) = &mut self.puzzles else { return Ok(()) };
        for puzzle in Puzzle::all(report) {
            self.puzzle_count += 1;
            file.write(&if self.puzzles_as_games { puzzle.pgn() } else { puzzle.epd() })?;
        }
        Ok(())
    }

    /// Writes rows to the CSV table and the database, if there are any.
    fn write_rows(&mut self, game: Option<&GameReport>, rows: &[PositionRow<'_>]) -> Result<(), CliError> {
        if let Some(csv) = self.csv.as_mut().filter(|_| !rows.is_empty()) {
            csv.write(&rows::csv(game, rows, !std::mem::replace(&mut self.csv_begun, true))?)?;
        }
        #[cfg(feature = "sqlite")]
        if let Some(database) = &mut self.database {
            database.add(game, rows)?;
        }
        Ok(())
    }

    /// Writes the end of each format, and the summary.
    pub fn finish(&mut self, totals: &Totals, time: Duration, single: bool) -> Result<(), CliError> {
        if let Some(html) = &mut self.html {
            html.finish()?;
        }
        #[cfg(feature = "sqlite")]
        if let Some(database) = &mut self.database {
            database.finish()?;
        }
        if self.pgn.is_some() && !self.has_games && totals.items > 0 && totals.skipped == 0 {
            eprintln!("there is no game for --pgn; positions go to --json and --html");
        }
        let Some(text) = &self.text else { return Ok(()) };
        if self.puzzles.is_some() {
            text.line(format_args!("{} puzzles", self.puzzle_count));
        }
        if totals.tasks > 0 {
            let share = 100.0 * totals.solved as f64 / totals.tasks as f64;
            text.line(format_args!("solved {} of {} ({share:.1} %)", totals.solved, totals.tasks));
        }
        if totals.most_points > 0 {
            text.line(format_args!("points {} of {}", totals.points, totals.most_points));
        }
        if !single {
            let Totals { positions, nodes, skipped, .. } = totals;
            let nps = *nodes as f64 / time.as_secs_f64().max(1e-9);
            text.line(format_args!(
                "{positions} positions, {nodes} nodes in {:.1} s, {nps:.0} nodes a second, {skipped} skipped",
                time.as_secs_f64(),
            ));
        }
        Ok(())
    }
}
