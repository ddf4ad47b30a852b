//! All outputs of an analysis. Each item is written to all of them, in the order of the input.

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::BufWriter,
    path::{Path, PathBuf},
    time::Duration,
};

#[cfg(feature = "sqlite")]
use super::sqlite::Database;
use super::{
    annotate,
    arguments::Analyse,
    html::AnalysisPage,
    input::{self, AnalysisInput, Item},
    output::{self, OutputFile},
    pool::Finding,
    puzzles::Puzzle,
    report::GameReport,
    rows::{self, PositionRow},
};
use crate::{
    cli::{CliError, Openings, journal::EarlierRun, refuse_input, refused, source},
    files::{self, Claim, Inputs},
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
    /// Why a file could not be read to its end.
    pub unread: Option<CliError>,
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

/// The outputs that the arguments name, opened and locked but not changed yet: those that were not there before are
/// removed again if the run is refused.
pub struct Claims(Vec<Destination>);

struct Destination {
    option: &'static str,
    path: PathBuf,
    /// The file; the standard output if there is none.
    file: Option<Claim>,
}

impl Claims {
    /// Opens the outputs, and refuses those that would overwrite the input, one another, the journal, or an existing
    /// file, unless the journal says that it is of an earlier run of this work.
    ///
    /// # Errors
    /// Which, and what to do.
    pub fn open(
        arguments: &Analyse,
        input: &AnalysisInput,
        journal: Option<&EarlierRun>,
    ) -> Result<Claims, CliError> {
        let mut claims = Claims(Vec::new());
        for (option, path) in arguments.outputs() {
            claims.add(option, path, journal)?;
        }
        let files: &[PathBuf] = if let AnalysisInput::Files(files) = input { files } else { &[] };
        if let Some(learn) = arguments.learn.as_deref().filter(|_| arguments.write) {
            refuse_input(learn, files)?;
        }
        let inputs = Inputs::new(files.iter().chain(&arguments.learn).chain(&arguments.eco));
        let refused = |path: &Path| {
            let path = path.to_owned();
            move |error| CliError::Refused(path, error)
        };
        if let Ok(standard) = files::standard_output() {
            inputs.exclude(standard.identity).map_err(refused(Path::new("the standard output")))?;
        }
        let is_resumed = journal.is_some_and(EarlierRun::is_there);
        for Destination { path, file, .. } in &claims.0 {
            let Some(file) = file else { continue };
            file.check(&inputs, arguments.force || is_resumed).map_err(refused(path))?;
        }
        Ok(claims)
    }

    fn add(
        &mut self,
        option: &'static str,
        path: &Path,
        journal: Option<&EarlierRun>,
    ) -> Result<(), CliError> {
        let task = |text: String| Err(CliError::Task(text));
        let is_standard = path == Path::new("-");
        if option == "--sqlite" && cfg!(not(feature = "sqlite")) {
            return task(
                "this program was built without SQLite; `cargo build --release --features sqlite` builds one with it"
                    .to_owned(),
            );
        }
        if option == "--sqlite" && is_standard {
            return task("a database cannot go to the standard output; name a file".to_owned());
        }
        let there = files::info_at(path).ok().map(|info| info.identity);
        let is_same = |earlier: &&Destination| match &earlier.file {
            Some(file) => there == Some(file.identity()),
            None => is_standard,
        };
        if let Some(Destination { option: other, .. }) = self.0.iter().find(is_same) {
            let path = path.display();
            return task(format!("{other} and {option} both name {path}; each wants its own"));
        }
        if there.is_some() && there == journal.map(EarlierRun::identity) {
            return task(format!(
                "{option} names the journal of this work, {}; name another file",
                path.display()
            ));
        }
        let open = || Claim::open(path, OpenOptions::new().write(true));
        let file = if is_standard { None } else { Some(open()) };
        let file = file.transpose().map_err(|error| CliError::Refused(path.to_owned(), error))?;
        self.0.push(Destination { option, path: path.to_owned(), file });
        Ok(())
    }

    /// Does one of them go to the standard output?
    fn take_standard_output(&self) -> bool {
        self.0.iter().any(|destination| destination.file.is_none())
    }

    /// Begins an output, if there is one.
    fn begin(&mut self, option: &str) -> Result<Option<(PathBuf, Option<Claim>)>, CliError> {
        let Some(index) = self.0.iter().position(|destination| destination.option == option) else {
            return Ok(None);
        };
        let Destination { path, file, .. } = self.0.swap_remove(index);
        let file = file.map(Claim::begin).transpose().map_err(refused(&path, "written"))?;
        Ok(Some((path, file)))
    }

    /// Begins a text, if there is one.
    fn text(&mut self, option: &str, output: &Output) -> Result<Option<OutputFile>, CliError> {
        let file = |(path, file): (PathBuf, Option<Claim>)| match file {
            Some(file) => OutputFile::File(path, BufWriter::new(file)),
            None => OutputFile::Standard(output.clone()),
        };
        Ok(self.begin(option)?.map(file))
    }
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
        let takes_standard = claims.take_standard_output();
        let mut text = |option| claims.text(option, output);
        let html =
            text("--html")?.map(|file| AnalysisPage::begin(file, &title(&arguments.input))).transpose()?;
        Ok(Outputs {
            text: (!takes_standard).then(|| output.clone()),
            json: text("--json")?,
            pgn: text("--pgn")?,
            html,
            csv: text("--csv")?,
            puzzles: text("--puzzles")?,
            puzzles_as_games: arguments
                .puzzles
                .as_deref()
                .is_some_and(|path| source::ending(path).as_deref() == Some("pgn")),
            #[cfg(feature = "sqlite")]
            database: match claims.begin("--sqlite")? {
                Some((path, Some(file))) => Some(Database::begin(path, file)?),
                _ => None,
            },
            openings,
            head_written: false,
            with_files: arguments.input.len() > 1,
            has_games: false,
            csv_begun: false,
            puzzle_count: 0,
        })
    }

    /// Is there a file for puzzles?
    pub fn wants_puzzles(&self) -> bool {
        self.puzzles.is_some()
    }

    /// Writes a finished item; `checks` are the findings of deeper searches, by ply.
    pub fn write(
        &mut self,
        item: Item,
        findings: Vec<Finding>,
        checks: Vec<(usize, Finding)>,
        totals: &mut Totals,
    ) -> Result<(), CliError> {
        totals.items += 1;
        totals.positions += findings.len() as u64;
        totals.nodes += findings.iter().map(|finding| finding.nodes).sum::<u64>();
        match item {
            Item::Position(record) => {
                let Some(finding) = findings.first() else { return Ok(()) };
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
                        text.line(output::record_text(&record, finding));
                    }
                }
                if let Some(json) = &mut self.json {
                    json.write(&output::record_json(&record, finding))?;
                }
                if let Some(html) = &mut self.html {
                    html.position(&record, finding)?;
                }
                self.write_rows(None, &[rows::of_record(&record, finding)])?;
            }
            Item::Game(game) => {
                self.has_games = true;
                let opening = self.openings.of(&game.start, &game.moves).cloned();
                let report = GameReport::new(game, opening, findings);
                if let Some(text) = &self.text {
                    text.line(output::game_text(&report, self.with_files));
                }
                if let Some(json) = &mut self.json {
                    json.write(&output::game_json(&report))?;
                }
                if let Some(pgn) = &mut self.pgn {
                    pgn.write(&annotate::game_pgn(&report))?;
                }
                if let Some(html) = &mut self.html {
                    html.game(&report, &self.openings)?;
                }
                self.write_rows(Some(&report), &rows::of_game(&report))?;
                self.write_puzzles(&report, checks)?;
            }
        }
        Ok(())
    }

    /// Writes the puzzles of a game, in its order.
    fn write_puzzles(
        &mut self,
        report: &GameReport,
        mut checks: Vec<(usize, Finding)>,
    ) -> Result<(), CliError> {
        let Some(file) = &mut self.puzzles else { return Ok(()) };
        checks.sort_unstable_by_key(|&(ply, _)| ply);
        for (ply, check) in checks {
            if let Some(puzzle) = Puzzle::confirmed(report, ply, &check) {
                self.puzzle_count += 1;
                file.write(&if self.puzzles_as_games { puzzle.pgn() } else { puzzle.epd() })?;
            }
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
