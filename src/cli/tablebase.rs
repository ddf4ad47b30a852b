//! `engram tablebase`: every move of a position with its tablebase result.

use std::cmp::Reverse;

use clap::Args;
use serde::Serialize;
use shakmaty::Position as _;

use super::{CliError, complain_once, json, pgn};
use crate::{
    position::{Position, PositionPath},
    syzygy::{RankedMove, Tablebase, Wdl},
    uci::{Output, translate},
};

/// The arguments of `engram tablebase`.
#[derive(Debug, Args)]
pub struct TablebaseArguments {
    /// A FEN, quoted or not, also with moves after it.
    #[arg(value_name = "FEN", required = true, num_args = 1..)]
    fen: Vec<String>,
    /// Folders of Syzygy tablebases, separated as in PATH.
    #[arg(long, value_name = "FOLDERS")]
    syzygy: String,
    /// Write one line of JSON.
    #[arg(long)]
    json: bool,
}

/// A position. Results are for the side to move.
#[derive(Serialize)]
struct PositionJson {
    fen: String,
    result: &'static str,
    wdl: i32,
    dtz: Option<i32>,
    moves: Vec<RankedMoveJson>,
}

#[derive(Serialize)]
struct RankedMoveJson {
    san: String,
    uci: String,
    result: &'static str,
    wdl: i32,
    dtz: Option<i32>,
}

/// Lists the moves, the best first.
///
/// # Errors
/// No position, no tables, or no table of this position.
pub fn run(arguments: &TablebaseArguments, output: &Output) -> Result<(), CliError> {
    let position = super::position(Some(&arguments.fen.join(" ")), false)?;
    let tables = open(&arguments.syzygy)?;
    let answer = look_up(&position, &tables, &arguments.syzygy)?;
    if arguments.json {
        output.line(json(&answer));
        return Ok(());
    }
    let dtz = |dtz: Option<i32>| dtz.map_or_else(|| "-".to_owned(), |plies| plies.to_string());
    output.line(format_args!("{}\n{}, DTZ {}", answer.fen, answer.result, dtz(answer.dtz)));
    if answer.moves.is_empty() {
        return Ok(());
    }
    output.line(format_args!("{:<8} {:<6} {:<12} {:>5}", "move", "uci", "result", "DTZ"));
    for RankedMoveJson { san, uci, result, dtz: plies, .. } in answer.moves {
        output.line(format_args!("{san:<8} {uci:<6} {result:<12} {:>5}", dtz(plies)));
    }
    Ok(())
}

/// Opens the tables in `folders`, which are separated as in `PATH`, and reports those that cannot be used.
///
/// # Errors
/// There is none that can be used.
pub(super) fn open(folders: &str) -> Result<Tablebase, CliError> {
    let (tables, complaints) = Tablebase::open(folders);
    if tables.files() == 0 {
        let none = || format!("no tablebases in {folders}: they hold no .rtbw file (in lower case)");
        return Err(CliError::Task(complaints.into_iter().next().unwrap_or_else(none)));
    }
    complaints.into_iter().for_each(complain_once);
    Ok(tables)
}

fn look_up(position: &Position, tables: &Tablebase, folders: &str) -> Result<PositionJson, CliError> {
    let fen = position.fen();
    if !position.has_legal_move() {
        let (result, wdl) = if position.in_check() { ("checkmate", -2) } else { ("stalemate", 0) };
        return Ok(PositionJson { fen, result, wdl, dtz: Some(0), moves: Vec::new() });
    }
    let (pieces, most) = (position.board().occupied().count(), tables.max_pieces());
    if pieces > most {
        return Err(CliError::Task(format!(
            "the position has {pieces} pieces, the tables in {folders} know up to {most}"
        )));
    }
    if position.chess().castles().any() {
        let text = "tablebases do not know castling; write `-` for the castling rights of the position";
        return Err(CliError::Task(text.to_owned()));
    }
    let Some(mut ranking) = tables.rank(position, &PositionPath::new(position), true, false) else {
        let damaged = tables.take_messages();
        let why = damaged.first().map_or("a table that it needs is missing; fetch it", String::as_str);
        return Err(CliError::Task(format!("the tables in {folders} do not know this position: {why}")));
    };
    let by_distance = ranking.by_distance;
    let dtz = |ranked: &RankedMove| by_distance.then_some(ranked.distance);
    let best = ranking.best().map(|best| (best.result(), dtz(best)));
    ranking.ranked_moves.sort_by_key(|ranked| Reverse((ranked.rank, -ranked.distance)));
    let mode = translate::notation(position, false);
    let row = |ranked: &RankedMove| RankedMoveJson {
        san: pgn::san(position, ranked.root_move).0,
        uci: ranked.root_move.to_uci(mode).to_string(),
        result: word(ranked.result()),
        wdl: ranked.result() as i32,
        dtz: dtz(ranked),
    };
    let moves = ranking.ranked_moves.iter().map(row).collect();
    let (result, dtz) = best.unwrap_or((Wdl::Draw, None));
    Ok(PositionJson { fen, result: word(result), wdl: result as i32, dtz, moves })
}

fn word(result: Wdl) -> &'static str {
    match result {
        Wdl::Win => "win",
        Wdl::CursedWin => "cursed win",
        Wdl::Draw => "draw",
        Wdl::BlessedLoss => "blessed loss",
        Wdl::Loss => "loss",
    }
}
