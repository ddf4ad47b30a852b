//! Where results go: text, JSON lines, PGN and a page, each item to all of them in the order of the input.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Analyse,
    html::AnalysisPage,
    input::{AnalysisInput, Item},
    openings::Openings,
    output::{self, OutputFile},
    pool::Finding,
    report::GameReport,
};
use crate::{
    cli::{CliError, book::refuse_to_overwrite},
    files,
    uci::Output,
};

/// What was done, for the last line.
#[derive(Default)]
pub struct Totals {
    /// Positions searched.
    pub positions: u64,
    /// Nodes of them all.
    pub nodes: u64,
    /// Positions that set a task.
    pub tasks: u64,
    /// Tasks solved.
    pub solved: u64,
    /// Points won.
    pub points: u64,
    /// Points there were to win.
    pub most_points: u64,
    /// Games and lines that could not be read.
    pub skipped: usize,
}

/// Where results go.
pub struct Outputs {
    /// The standard output, where no other format goes there.
    pub text: Option<Output>,
    json: Option<OutputFile>,
    pgn: Option<OutputFile>,
    html: Option<AnalysisPage>,
    openings: Openings,
    head_written: bool,
    has_games: bool,
}

/// Refuses outputs that would overwrite the input, one another, or what was there. `resumed`: what is there is of
/// an earlier run of this work.
///
/// # Errors
/// Which, and what to do.
pub fn refuse(arguments: &Analyse, input: &AnalysisInput, resumed: bool) -> Result<(), CliError> {
    let outputs = arguments.outputs();
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

/// So many files are named in a title.
const NAMED_FILES: usize = 3;

/// What the input is called: the names of its files, without their folders, or the position.
fn title(input: &[String]) -> String {
    let file = |name: &String| {
        Path::new(name).file_name().filter(|_| Path::new(name).is_file()).map(ToOwned::to_owned)
    };
    let names: Option<Vec<String>> =
        input.iter().map(|name| file(name).map(|name| name.to_string_lossy().into_owned())).collect();
    match names {
        None => input.join(" "),
        Some(names) if names.len() > NAMED_FILES => format!("{} files", names.len()),
        Some(names) => names.join(", "),
    }
}

fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path| files::resolve(path).ok();
    one == other || (whole(one).is_some() && whole(one) == whole(other))
}

impl Outputs {
    /// Opens what the arguments name; what is there is overwritten.
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
            openings,
            head_written: false,
            has_games: false,
        })
    }

    /// Writes a finished item.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&mut self, item: Item, findings: Vec<Finding>, totals: &mut Totals) -> Result<(), CliError> {
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
            }
            Item::Game(game) => {
                self.has_games = true;
                let opening = self.openings.of(&game.start, &game.moves).cloned();
                let report = GameReport::new(game, opening, findings);
                if let Some(text) = &self.text {
                    text.line(output::game_text(&report));
                }
                if let Some(json) = &mut self.json {
                    json.write(&output::game_json(&report))?;
                }
                if let Some(pgn) = &mut self.pgn {
                    pgn.write(&output::game_pgn(&report))?;
                }
                if let Some(html) = &mut self.html {
                    html.game(&report, &self.openings)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the end of each format, and the summary.
    ///
    /// # Errors
    /// What the system says.
    pub fn finish(&mut self, totals: &Totals, time: Duration, single: bool) -> Result<(), CliError> {
        if let Some(html) = &mut self.html {
            html.finish()?;
        }
        if self.pgn.is_some() && !self.has_games {
            eprintln!("there is no game for --pgn; positions go to --json and --html");
        }
        let Some(text) = &self.text else { return Ok(()) };
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
