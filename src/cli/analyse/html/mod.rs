//! The page that `--html` writes: a self-contained file that shows every game and position.
//!
//! A game is a block of JSON, which the page's script reads when the game is shown, so that a page of thousands of
//! games opens at once, and writing it takes no more memory than writing one. The data of the table of all games
//! comes last.

mod clocks;
mod data;
mod phases;
mod variations;
mod words;

use maud::{PreEscaped, html};

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
    title: String,
    /// The text after the last block.
    end: String,
    /// Rows of the tables, as JSON.
    positions: Vec<String>,
    games: Vec<String>,
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
                div #page { p { "Opening …" } noscript { p { "This page needs JavaScript." } } }
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
        Ok(AnalysisPage { file, title: title.to_owned(), end, positions: Vec::new(), games: Vec::new() })
    }

    /// Blocks are numbered from 1.
    fn next_block(&self) -> usize {
        self.games.len() + self.positions.len() + 1
    }

    fn write_block(&mut self, id: &str, json: String) -> Result<(), CliError> {
        let json = embedded(&json);
        self.file.write(&html! { script #(id) type="application/json" { (PreEscaped(json)) } }.into_string())
    }
}

impl Sink for AnalysisPage {
    fn position(&mut self, record: &EpdRecord, finding: &Finding) -> Result<(), CliError> {
        let block = self.next_block();
        let (data, row) = data::position(record, finding, block);
        self.positions.push(row);
        self.write_block(&format!("block{block}"), data)
    }

    fn game(&mut self, report: &GameReport, _: &[Puzzle<'_>]) -> Result<(), CliError> {
        let block = self.next_block();
        let (data, row) = data::game(report, block);
        self.games.push(row);
        self.write_block(&format!("block{block}"), data)
    }

    /// Writes the tables and the end.
    fn finish(&mut self, _: &Totals) -> Result<(), CliError> {
        // Row by row: with thousands of games, a second copy would be most of the memory used.
        let title = embedded(&json(&self.title));
        self.file.write(&format!("<script id=\"index\" type=\"application/json\">{{\"title\":{title}"))?;
        for (name, rows) in [("games", &self.games), ("positions", &self.positions)] {
            self.file.write(&format!(",\"{name}\":["))?;
            for (index, row) in rows.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                self.file.write(&format!("{comma}{}", embedded(row)))?;
            }
            self.file.write("]")?;
        }
        self.file.write("}</script>")?;
        self.file.write(&self.end)?;
        self.file.sync()
    }
}
