//! Results as rows of a CSV table or a database.

use serde::Serialize;
use shakmaty::Color;

use super::{
    epd::{EpdRecord, SuiteResult},
    judge::MoveJudgement,
    output::one_decimal,
    pool::Finding,
    report::{GameReport, Judged},
    variations::{SearchedVariation, searched},
};
use crate::{
    cli::{CliError, pgn},
    position::Position,
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
    /// Of a position of a test suite.
    pub result: SuiteResult,
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
        result: SuiteResult::default(),
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
        result: record.result(finding),
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
    best: Option<String>,
    pv: Option<String>,
    solved: Option<bool>,
    solved_after_ms: Option<u64>,
    points: Option<u32>,
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
        let (fen, material) = (row.position.fen(), row.position.material_points());
        let castling = translate::notation(row.position, false);
        let lines = || (1..).zip(&finding.lines).filter(|(_, line)| !line.moves.is_empty());
        // A position without lines has a row as well.
        for ranked in lines().map(Some).chain(lines().next().is_none().then_some(None)) {
            let line = ranked.map(|(_, line)| line);
            let wdl = line.map(|line| line.wdl(material));
            let mate = line.and_then(|line| line.score.mate_moves());
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
                    rank: ranked.map(|(rank, _)| rank),
                    cp: line.filter(|_| mate.is_none()).map(|line| line.score.centipawns()),
                    mate,
                    win: wdl.map(|[win, ..]| win),
                    draw: wdl.map(|[_, draw, _]| draw),
                    loss: wdl.map(|[.., loss]| loss),
                    best: line.map(|line| pgn::san(row.position, line.moves[0]).0),
                    pv: line.map(|line| line.uci(castling).join(" ")),
                    solved: row.result.solved,
                    solved_after_ms: row.result.solved_after,
                    points: row.result.points,
                })
                .map_err(|error| CliError::Output(error.to_string()))?;
        }
    }
    let bytes = writer.into_inner().map_err(|error| CliError::Output(error.to_string()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
