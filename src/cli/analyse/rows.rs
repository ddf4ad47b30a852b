//! Results as rows of a CSV table or a database.

use serde::Serialize;
use shakmaty::Color;

use super::{
    epd::EpdRecord,
    judge::MoveJudgement,
    output::one_decimal,
    pool::{Finding, FoundLine},
    report::{GameReport, Judged},
    variations::{SearchedVariation, searched},
};
use crate::{
    cli::{CliError, pgn},
    position::Position,
    protocol::ScoreValue,
    types::Bound,
    uci::translate,
};

/// A position with its finding.
#[derive(Copy, Clone, Debug)]
pub struct PositionRow<'a> {
    /// The name of its file.
    pub file: &'a str,
    /// `id` of an EPD line.
    pub id: Option<&'a str>,
    /// Plies from the beginning of its game.
    pub ply: Option<usize>,
    /// The number of the variation in which it is.
    pub variation: Option<usize>,
    /// The number of the variation that this one leaves.
    pub parent: Option<usize>,
    /// The position.
    pub position: &'a Position,
    /// The move played there.
    pub played: Option<&'a Judged>,
    /// What was found.
    pub finding: &'a Finding,
}

/// A line. Score and chances are for the side to move.
#[derive(Debug)]
pub struct LineRow {
    /// From 1.
    pub rank: usize,
    /// Centipawns, where no mate was found.
    pub centipawns: Option<i32>,
    /// Moves to mate, negative if the side to move is mated.
    pub mate: Option<i32>,
    /// Chances of win, draw and loss in per mille.
    pub chances: [u16; 3],
    /// Its first move in standard notation.
    pub best: String,
    /// The moves in UCI notation, separated by blanks.
    pub pv: String,
}

/// The rows of a game and of its variations.
pub fn of_game(report: &GameReport) -> Vec<PositionRow<'_>> {
    let file = &report.game.file;
    let mut rows = of_line(file, (0, None, None), &report.positions, &report.findings, &report.moves);
    for SearchedVariation { number, parent, ply, line } in searched(&report.variations) {
        let place = (ply, Some(number), parent);
        rows.extend(of_line(file, place, &line.positions, &line.findings, &line.moves));
    }
    rows
}

/// The rows of a line: `place` is the ply of its first position, its number as a variation, and that of the one it leaves.
fn of_line<'a>(
    file: &'a str,
    (first, variation, parent): (usize, Option<usize>, Option<usize>),
    positions: &'a [Position],
    findings: &'a [Finding],
    moves: &'a [Judged],
) -> Vec<PositionRow<'a>> {
    let row = |(index, (position, finding))| PositionRow {
        file,
        id: None,
        ply: Some(first + index),
        variation,
        parent,
        position,
        played: moves.get(index),
        finding,
    };
    positions.iter().zip(findings).enumerate().map(row).collect()
}

/// The row of a position that stands alone.
pub fn of_record<'a>(record: &'a EpdRecord, finding: &'a Finding) -> PositionRow<'a> {
    let EpdRecord { file, id, position, .. } = record;
    PositionRow {
        file,
        id: Some(id),
        ply: None,
        variation: None,
        parent: None,
        position,
        played: None,
        finding,
    }
}

impl PositionRow<'_> {
    /// The lines, best first; none where the game is over.
    pub fn lines(&self) -> Vec<LineRow> {
        let lines = self.finding.lines.iter().enumerate().filter(|(_, line)| !line.moves.is_empty());
        lines.map(|(index, line)| line_row(self.position, index + 1, line)).collect()
    }
}

fn line_row(position: &Position, rank: usize, line: &FoundLine) -> LineRow {
    let (centipawns, mate) = match translate::score(line.score, Bound::Exact).value {
        ScoreValue::Centipawns(centipawns) => (Some(centipawns), None),
        ScoreValue::Mate(moves) => (None, Some(moves)),
    };
    LineRow {
        rank,
        centipawns,
        mate,
        chances: line.wdl(position),
        best: line.moves.first().map_or(String::new(), |&m| pgn::san(position, m).0),
        pv: line.uci(position).join(" "),
    }
}

/// A row of the CSV table: a position with one of its lines.
#[derive(Serialize)]
struct CsvRow<'a> {
    file: &'a str,
    game: Option<usize>,
    white: Option<&'a str>,
    black: Option<&'a str>,
    result: Option<String>,
    opening: Option<&'a str>,
    id: Option<&'a str>,
    ply: Option<usize>,
    variation: Option<usize>,
    parent: Option<usize>,
    fen: &'a str,
    played: Option<&'a str>,
    played_uci: Option<&'a str>,
    chances_lost: Option<f64>,
    judgement: Option<&'a str>,
    depth: i32,
    nodes: u64,
    ms: u64,
    rank: Option<usize>,
    cp: Option<i32>,
    mate: Option<i32>,
    win: Option<u16>,
    draw: Option<u16>,
    loss: Option<u16>,
    best: Option<&'a str>,
    pv: Option<&'a str>,
}

/// Rows as CSV (RFC 4180), with the names of the columns above them if they are the first. `game` is their game.
///
/// # Errors
/// None in practice: the text is written to memory.
pub fn csv(game: Option<&GameReport>, rows: &[PositionRow<'_>], is_first: bool) -> Result<String, CliError> {
    let mut writer = csv::WriterBuilder::new().has_headers(is_first).from_writer(Vec::new());
    let opening = game.and_then(GameReport::opening_name);
    let player = |color: Color| game.map(|report| report.game.player(color));
    for row in rows {
        let PositionRow { played, finding, .. } = *row;
        let (fen, lines) = (row.position.fen(), row.lines());
        // A position without lines has a row as well.
        for line in lines.iter().map(Some).chain(lines.is_empty().then_some(None)) {
            writer
                .serialize(CsvRow {
                    file: row.file,
                    game: game.map(|report| report.game.number),
                    white: player(Color::White),
                    black: player(Color::Black),
                    result: game.map(|report| report.game.outcome.to_string()),
                    opening: opening.as_deref(),
                    id: row.id,
                    ply: row.ply,
                    variation: row.variation,
                    parent: row.parent,
                    fen: &fen,
                    played: played.map(|m| m.san.as_str()),
                    played_uci: played.map(|m| m.uci.as_str()),
                    chances_lost: played.map(|m| one_decimal(m.loss)),
                    judgement: played.and_then(|m| m.judgement).map(MoveJudgement::word),
                    depth: finding.depth,
                    nodes: finding.nodes,
                    ms: finding.millis,
                    rank: line.map(|line| line.rank),
                    cp: line.and_then(|line| line.centipawns),
                    mate: line.and_then(|line| line.mate),
                    win: line.map(|line| line.chances[0]),
                    draw: line.map(|line| line.chances[1]),
                    loss: line.map(|line| line.chances[2]),
                    best: line.map(|line| line.best.as_str()),
                    pv: line.map(|line| line.pv.as_str()),
                })
                .map_err(|error| CliError::Output(error.to_string()))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| CliError::Output(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
