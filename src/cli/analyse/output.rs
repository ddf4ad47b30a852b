//! Output formats: text and JSON lines. (Annotated PGN is in `annotate.rs`.)

use std::{
    fmt::Write as _,
    io::{BufWriter, Write},
    path::PathBuf,
};

use serde::Serialize;
use shakmaty::{CastlingMode, Color, Move};

use super::{
    epd::{EpdRecord, SuiteResult},
    judge::MoveJudgement,
    pool::Finding,
    report::{GameReport, Judged},
    variations::{SearchedVariation, searched},
};
use crate::{
    cli::{CliError, counted, json, pawns, pgn, refused},
    files::Claim,
    position::Position,
    protocol::ScoreValue,
    search::PvInfo,
    types::{Bound, Score, ScoredLine},
    uci::{Output, translate},
};

/// A file or the standard output.
pub enum OutputFile {
    /// The standard output.
    Standard(Output),
    /// A file.
    File(PathBuf, BufWriter<Claim>),
}

impl OutputFile {
    /// Writes a text, and a line end if it has none.
    pub fn write(&mut self, text: &str) -> Result<(), CliError> {
        match self {
            OutputFile::Standard(output) => output.line(text.strip_suffix('\n').unwrap_or(text)),
            OutputFile::File(path, file) => {
                let end = if text.ends_with('\n') { "" } else { "\n" };
                write!(file, "{text}{end}").and_then(|()| file.flush()).map_err(refused(path, "written"))?;
            }
        }
        Ok(())
    }

    /// Waits until all of it is on the disk.
    pub fn sync(&self) -> Result<(), CliError> {
        match self {
            OutputFile::Standard(_) => Ok(()),
            OutputFile::File(path, file) => file.get_ref().sync().map_err(refused(path, "written")),
        }
    }
}

#[derive(Serialize)]
struct LineJson {
    score: ScoreValue,
    /// Chances of win, draw and loss in per mille.
    wdl: [u16; 3],
    pv: Vec<String>,
}

/// A record. Scores are those of the side to move.
#[derive(Serialize)]
struct RecordJson<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    file: &'a str,
    id: &'a str,
    fen: String,
    depth: i32,
    nodes: u64,
    ms: u64,
    lines: Vec<LineJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solved_after_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    points: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    most_points: Option<u32>,
}

/// A game. Scores of moves are White's, those of `lines` the side to move's.
#[derive(Serialize)]
struct GameJson<'a> {
    file: &'a str,
    game: usize,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<&'a str>,
    white: &'a str,
    black: &'a str,
    result: String,
    opening: Option<String>,
    /// The start, unless it is the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    /// Is castling written as in Chess960, king takes rook? Left out if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    chess960: bool,
    accuracy: ByColor<Option<f64>>,
    moves: Vec<MoveJson<'a>>,
    /// Those that were searched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variations: Vec<VariationJson<'a>>,
}

/// A variation of a game.
#[derive(Serialize)]
struct VariationJson<'a> {
    variation: usize,
    parent: Option<usize>,
    ply: usize,
    moves: Vec<MoveJson<'a>>,
}

#[derive(Serialize)]
struct ByColor<T> {
    white: T,
    black: T,
}

#[derive(Serialize)]
struct MoveJson<'a> {
    san: &'a str,
    uci: &'a str,
    /// `null` after checkmate: a mate in 0 moves does not say whose it is.
    score: Option<ScoreValue>,
    chances_lost: f64,
    judgement: Option<&'static str>,
    lines: Vec<LineJson>,
}

fn score_json(score: Score) -> ScoreValue {
    translate::score(score, Bound::Exact).value
}

fn lines_json(position: &Position, finding: &Finding) -> Vec<LineJson> {
    let line = |line: &ScoredLine| LineJson {
        score: score_json(line.score),
        wdl: line.wdl(position.material_points()),
        pv: line.uci(translate::notation(position, false)),
    };
    finding.lines.iter().map(line).collect()
}

fn moves_json<'a>(moves: &'a [Judged], positions: &[Position], findings: &[Finding]) -> Vec<MoveJson<'a>> {
    let lines = |index: usize| {
        findings.get(index).map_or_else(Vec::new, |finding| lines_json(&positions[index], finding))
    };
    let one = |(index, m): (usize, &'a Judged)| MoveJson {
        san: &m.san,
        uci: &m.uci,
        score: (m.score.mate_plies() != Some(0)).then(|| score_json(m.score)),
        chances_lost: one_decimal(m.loss),
        judgement: m.judgement.map(MoveJudgement::word),
        lines: lines(index),
    };
    moves.iter().enumerate().map(one).collect()
}

fn variation_json(one: SearchedVariation<'_>) -> VariationJson<'_> {
    let SearchedVariation { number, parent, ply, line } = one;
    let moves = moves_json(&line.moves, &line.positions, &line.findings);
    VariationJson { variation: number, parent, ply, moves }
}

/// Rounds to one decimal, for machine-readable outputs.
pub fn one_decimal(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// A record as one line of JSON.
pub fn record_json(record: &EpdRecord, finding: &Finding) -> String {
    let SuiteResult { solved, solved_after, points } = record.result(finding);
    json(&RecordJson {
        file: &record.file,
        id: &record.id,
        fen: record.position.fen(),
        depth: finding.depth,
        nodes: finding.nodes,
        ms: finding.millis,
        lines: lines_json(&record.position, finding),
        solved,
        solved_after_ms: solved_after,
        points,
        most_points: points.map(|_| record.most_points()),
    })
}

/// A game as one line of JSON.
pub fn game_json(report: &GameReport) -> String {
    let game = &report.game;
    let accuracy = |side| report.accuracy(side).map(one_decimal);
    let chess960 = translate::notation(&game.start, false).is_chess960();
    let fen = game.start.fen();
    json(&GameJson {
        file: &game.file,
        game: game.number,
        line: game.line,
        event: game.tag("Event"),
        date: game.date(),
        white: game.player(Color::White),
        black: game.player(Color::Black),
        result: game.outcome.to_string(),
        opening: report.opening_name(),
        fen: (chess960 || fen != Position::default().fen()).then_some(fen),
        chess960,
        accuracy: ByColor { white: accuracy(Color::White), black: accuracy(Color::Black) },
        moves: moves_json(&report.moves, &report.positions, &report.findings),
        variations: searched(&report.variations).into_iter().map(variation_json).collect(),
    })
}

/// Moves of a line that are shown while a search goes on.
const GROWING_MOVES: usize = 10;

/// The header of the table whose rows are made by [`record_text`].
pub fn records_head() -> String {
    format!(
        "{:<28} {:<6} {:<8} {:>13} {:>5} {:>11} {:>9} {:>6}",
        "position", "", "move", "score", "depth", "nodes", "found ms", "points"
    )
}

/// A record as a line of the table.
pub fn record_text(record: &EpdRecord, finding: &Finding) -> String {
    let result = record.result(finding);
    let id: String = record.id.chars().take(28).collect();
    let solved = match result.solved {
        Some(true) => "ok",
        Some(false) => "failed",
        None => "",
    };
    let m = finding.best().map_or_else(|| "-".to_owned(), |m| pgn::san(&record.position, m).0);
    let found = result.solved_after.map_or(String::new(), |ms| ms.to_string());
    let points = result.points.map_or(String::new(), |points| points.to_string());
    let wanted = if result.solved == Some(false) { solution(record) } else { String::new() };
    let row = format!(
        "{id:<28} {solved:<6} {m:<8} {:>13} {:>5} {:>11} {found:>9} {points:>6}  {wanted}",
        pawns(finding.score()),
        finding.depth,
        finding.nodes,
    );
    row.trim_end().to_owned()
}

/// `bm Ra8+ Re8+`, `am Qa8` or `bm #3`.
fn solution(record: &EpdRecord) -> String {
    let named = |name: &str, moves: &[Move]| {
        let moves: Vec<String> = moves.iter().map(|&m| pgn::san(&record.position, m).0).collect();
        (!moves.is_empty()).then(|| format!("{name} {}", moves.join(" ")))
    };
    let mate = record.mate.map(|moves| format!("bm #{moves}"));
    let parts = [named("bm", &record.best), named("am", &record.avoid), mate];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The header of the lines made by [`growing_text`].
pub fn growing_head() -> String {
    format!("{:>5} {:>13} {:>9} {:>13} {:>11}  line", "depth", "score", "seconds", "nodes", "nodes/s")
}

/// An iteration of a search as a line of a table that grows while it goes on.
pub fn growing_text(position: &Position, line: &PvInfo) -> String {
    let moves = &line.pv[..line.pv.len().min(GROWING_MOVES)];
    format!(
        "{:>5} {:>13} {:>9.1} {:>13} {:>11}  {}",
        line.depth.get(),
        pawns(line.score),
        line.time.as_secs_f64(),
        line.nodes,
        line.nps(),
        pgn::line(position, moves),
    )
}

/// A single position: every line.
pub fn position_text(position: &Position, finding: &Finding) -> String {
    let mut text = format!("{}\n", position.fen());
    if finding.lines.iter().all(|line| line.moves.is_empty()) {
        return text + if position.in_check() { "checkmate" } else { "stalemate" };
    }
    let _ = writeln!(
        text,
        "depth {}, {} nodes, {} ms; scores for the side to move, chances of win/draw/loss in percent",
        finding.depth, finding.nodes, finding.millis
    );
    let mode: CastlingMode = translate::notation(position, false);
    for line in &finding.lines {
        let first = line.moves.first().map_or(String::new(), |m| m.to_uci(mode).to_string());
        let [win, draw, loss] = line.wdl(position.material_points()).map(|chance| f64::from(chance) / 10.0);
        let _ = writeln!(
            text,
            "{:>14} {:>18}  {first:<6} {}",
            pawns(line.score),
            format!("{win:.1}/{draw:.1}/{loss:.1}"),
            pgn::line(position, &line.moves),
        );
    }
    text
}

/// A game in a few lines: names, opening, accuracy, and the critical moments, or `all` bad moves. `with_file`: there are
/// several files.
pub fn game_text(report: &GameReport, with_file: bool, all: bool) -> String {
    let game = &report.game;
    let (white, black) = (game.player(Color::White), game.player(Color::Black));
    let mut text = if with_file { format!("{}: ", game.file) } else { String::new() };
    let _ = write!(text, "game {}: {white} - {black} {}", game.number, game.outcome);
    if let Some(opening) = report.opening_name() {
        let _ = write!(text, ", {opening}");
    }
    text.push('\n');
    for side in Color::ALL {
        let Some(accuracy) = report.accuracy(side) else { continue };
        let count = |judgement: MoveJudgement| counted(report.count(side, judgement), judgement.word());
        let _ = writeln!(
            text,
            "  {:<24} accuracy {accuracy:>5.1} %, {}, {}, {}",
            game.player(side),
            count(MoveJudgement::Inaccuracy),
            count(MoveJudgement::Mistake),
            count(MoveJudgement::Blunder),
        );
    }
    for index in if all { report.bad() } else { report.critical() } {
        let m = &report.moves[index];
        let position = &report.positions[index];
        let before = pawns(report.findings[index].score().relative_to(position.turn()));
        let line = report.other_line(index).map_or(&[][..], |line| &line.moves[..line.moves.len().min(6)]);
        let _ = writeln!(
            text,
            "  {}{} ({before} to {}); better {}",
            pgn::line(position, &game.moves[index..=index]),
            m.judgement.map_or("", MoveJudgement::glyph),
            pawns(m.score),
            pgn::line(position, line),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::types::Depth;

    #[test]
    fn a_line_that_grows_is_below_its_head_and_in_moves_for_people() {
        let position = Position::default();
        let pv = ["e4", "e5", "Nf3"].iter().scan(position.clone(), |position, san| {
            let m = pgn::read_move(san, position)?;
            *position = position.play(m);
            Some(m)
        });
        let line = PvInfo {
            depth: Depth(12),
            seldepth: 20,
            multi_pv: 1,
            score: Score::from_centipawns(35),
            bound: Bound::Exact,
            is_drawn: false,
            nodes: 1_500_000,
            time: Duration::from_millis(1500),
            hashfull: 0,
            tbhits: 0,
            pv: pv.collect(),
        };
        let (head, text) = (growing_head(), growing_text(&position, &line));
        assert_eq!(
            text.split_whitespace().collect::<Vec<_>>().join(" "),
            "12 +0.35 1.5 1500000 1000000 1. e4 e5 2. Nf3"
        );
        assert_eq!(head.find("line"), text.find("1. e4"));
    }
}
