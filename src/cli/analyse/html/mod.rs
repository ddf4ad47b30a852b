//! The page that `--html` writes: a self-contained file that shows every game and position.
//!
//! A game is a block of JSON, which the page's script reads when the game is shown, so that a page of thousands of
//! games opens at once. Its row in the table of all games follows it, so that writing the page takes no more memory than
//! writing one game. A block that was cut off has no row.

mod clocks;
mod data;
mod phases;
mod variations;
mod words;

use maud::{PreEscaped, html};
use serde::Serialize;

use super::{
    epd::EpdRecord, output::OutputFile, outputs::Totals, pool::Finding, puzzles::Puzzle, report::GameReport,
    sink::Sink,
};
use crate::cli::{
    CliError, json,
    page::{self, Frame, embedded},
};

/// A page that is being written.
pub struct AnalysisPage {
    file: OutputFile,
    /// The text after the last block.
    end: String,
}

impl AnalysisPage {
    /// Begins a page in an empty file.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin(mut file: OutputFile, title: &str) -> Result<AnalysisPage, CliError> {
        let (start, end) = Frame {
            title,
            about: "analysed by Engram",
            style: page::ANALYSIS_STYLE,
            script: page::ANALYSIS_SCRIPT,
            header: html! {
                div #page data-title=(title) { p { "Opening …" } noscript { p { "This page needs JavaScript." } } }
                p #said .unseen aria-live="polite" {}
            },
            footer: concat!(
                "Analysed by Engram ",
                env!("CARGO_PKG_VERSION"),
                ". Scores are White's, in pawns; accuracy is counted as on Lichess."
            ),
        }
        .parts();
        file.write(&start)?;
        Ok(AnalysisPage { file, end })
    }

    fn write(&mut self, block: &impl Serialize, row: &impl Serialize) -> Result<(), CliError> {
        let [block, row] = [json(block), json(row)].map(|json| PreEscaped(embedded(&json)));
        let scripts = html! {
            script .block type="application/json" { (block) }
            script .row type="application/json" { (row) }
        };
        self.file.write(&scripts.into_string())
    }
}

impl Sink for AnalysisPage {
    fn position(&mut self, record: &EpdRecord, finding: &Finding) -> Result<(), CliError> {
        let (block, row) = data::position(record, finding);
        self.write(&block, &row)
    }

    fn game(&mut self, report: &GameReport, _: &[Puzzle<'_>]) -> Result<(), CliError> {
        let (block, row) = data::game(report);
        self.write(&block, &row)
    }

    fn finish(&mut self, _: &Totals) -> Result<(), CliError> {
        self.file.write(&self.end)?;
        self.file.sync()
    }
}
