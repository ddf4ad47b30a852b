//! The formats of the results. (The page is in `html/`, the database in `sqlite.rs`.)

use super::{
    annotate,
    arguments::Analyse,
    epd::EpdRecord,
    output::{self, OutputFile},
    outputs::Totals,
    pool::Finding,
    puzzles::Puzzle,
    report::GameReport,
    rows,
};
use crate::{
    cli::{CliError, complain, counted},
    uci::Output,
};

/// A format in which results are written, one after another in the order of the input.
pub trait Sink {
    /// Writes a searched position.
    fn position(&mut self, _record: &EpdRecord, _finding: &Finding) -> Result<(), CliError> {
        Ok(())
    }

    /// Writes an analysed game, and the puzzles in it.
    fn game(&mut self, report: &GameReport, puzzles: &[Puzzle<'_>]) -> Result<(), CliError>;

    /// Writes the end, and waits until all of it is on the disk.
    fn finish(&mut self, totals: &Totals) -> Result<(), CliError>;
}

/// Text for people, and a summary, on the standard output.
pub struct Text {
    output: Output,
    /// Does the table of test positions still need its header?
    needs_head: bool,
    /// Are there several files?
    with_files: bool,
    with_puzzles: bool,
    /// Are all bad moves listed?
    all: bool,
    /// Is it one position, without a summary?
    is_single: bool,
}

impl Text {
    pub fn new(output: Output, arguments: &Analyse) -> Text {
        let (with_files, with_puzzles) = (arguments.input.len() > 1, arguments.puzzles.is_some());
        Text { output, needs_head: true, with_files, with_puzzles, all: arguments.all, is_single: false }
    }
}

impl Sink for Text {
    fn position(&mut self, record: &EpdRecord, finding: &Finding) -> Result<(), CliError> {
        self.is_single = record.file.is_empty();
        if self.is_single {
            self.output.line(output::position_text(&record.position, finding));
            return Ok(());
        }
        if std::mem::replace(&mut self.needs_head, false) {
            self.output.line(output::records_head());
        }
        self.output.line(output::record_text(record, finding));
        Ok(())
    }

    fn game(&mut self, report: &GameReport, _: &[Puzzle<'_>]) -> Result<(), CliError> {
        self.output.line(output::game_text(report, self.with_files, self.all));
        Ok(())
    }

    fn finish(&mut self, totals: &Totals) -> Result<(), CliError> {
        let Totals { nodes, skipped, tasks, solved, points, most_points, puzzles, taken, .. } = totals;
        if self.with_puzzles {
            self.output.line(counted(*puzzles, "puzzle"));
        }
        if *tasks > 0 {
            let share = 100.0 * *solved as f64 / *tasks as f64;
            self.output.line(format_args!("solved {solved} of {tasks} ({share:.1} %)"));
        }
        if *most_points > 0 {
            self.output.line(format_args!("points {points} of {most_points}"));
        }
        if !self.is_single {
            let seconds = totals.time.as_secs_f64();
            let nps = *nodes as f64 / seconds.max(1e-9);
            let taken = match taken {
                0 => String::new(),
                _ => format!(" (and {} of the interrupted run)", counted(*taken, "result")),
            };
            self.output.line(format_args!(
                "{}{taken}, {nodes} nodes in {seconds:.1} s, {nps:.0} nodes a second, {skipped} skipped",
                totals.searches()
            ));
        }
        Ok(())
    }
}

/// The format of a file of text.
#[derive(Copy, Clone, PartialEq, Eq)]
pub enum TextFormat {
    /// A line of JSON for each position and game.
    Json,
    /// The games, annotated.
    Pgn,
    /// A table with a row for each position and line.
    Csv,
    /// The puzzles as lines of EPD.
    PuzzleEpd,
    /// The puzzles as games.
    PuzzlePgn,
}

/// A file of text, to which each item adds its own.
pub struct TextFile {
    file: OutputFile,
    format: TextFormat,
    /// Was nothing written yet?
    is_empty: bool,
}

impl TextFile {
    pub fn new(file: OutputFile, format: TextFormat) -> TextFile {
        TextFile { file, format, is_empty: true }
    }

    fn write(&mut self, text: &str) -> Result<(), CliError> {
        if text.is_empty() {
            return Ok(());
        }
        self.is_empty = false;
        self.file.write(text)
    }
}

impl Sink for TextFile {
    fn position(&mut self, record: &EpdRecord, finding: &Finding) -> Result<(), CliError> {
        let text = match self.format {
            TextFormat::Json => output::record_json(record, finding),
            TextFormat::Csv => rows::csv(None, &[rows::of_record(record, finding)], self.is_empty)?,
            TextFormat::Pgn | TextFormat::PuzzleEpd | TextFormat::PuzzlePgn => String::new(),
        };
        self.write(&text)
    }

    fn game(&mut self, report: &GameReport, puzzles: &[Puzzle<'_>]) -> Result<(), CliError> {
        let text = match self.format {
            TextFormat::Json => output::game_json(report),
            TextFormat::Pgn => annotate::game_pgn(report),
            TextFormat::Csv => rows::csv(Some(report), &rows::of_game(report), self.is_empty)?,
            TextFormat::PuzzleEpd => puzzles.iter().map(|puzzle| puzzle.epd() + "\n").collect(),
            TextFormat::PuzzlePgn => puzzles.iter().map(Puzzle::pgn).collect(),
        };
        self.write(&text)
    }

    fn finish(&mut self, totals: &Totals) -> Result<(), CliError> {
        let is_without_games = self.format == TextFormat::Pgn && self.is_empty;
        if is_without_games && totals.items > 0 && totals.skipped == 0 {
            complain("there is no game for --pgn; positions go to --json, --csv, --sqlite and --html");
        }
        self.file.sync()
    }
}
