//! `engram tree show`.

use super::{Line, PositionArguments, roots, walk};
use crate::{
    cli::{CliError, date, pawns, pgn},
    position::Openings,
    tree::{Advice, MoveView, Tree},
    uci::{Output, counted},
};

/// Shows a position.
///
/// # Errors
/// The tree cannot be read; the position is not in it.
pub(super) fn run(tree: &Tree, arguments: &PositionArguments, output: &Output) -> Result<(), CliError> {
    let line = walk(tree, &arguments.position)?;
    let position = line.last();
    let Some(view) = tree.look(position)? else {
        if arguments.position.is_empty() {
            roots(tree)?;
        }
        let (fen, file) = (position.fen(), tree.path().display());
        return Err(CliError::Task(format!(
            "{fen} is not in the tree; `engram tree {file} add`, with the same words, adds it"
        )));
    };
    output.line(position.fen());
    if let Some(opening) = Openings::own().at(position) {
        output.line(opening);
    }
    let searches: u64 = view.moves.iter().map(|m| m.searches).sum();
    let own = view.own.map_or_else(String::new, |own| format!(", {} by its own search", pawns(own)));
    match view.score {
        Some(score) => output.line(format_args!(
            "{} at depth {}{own}; {} below; best move or score changed {} (UTC)",
            pawns(score),
            view.depth.get(),
            counted(searches, "search"),
            date(view.changed)
        )),
        None if !position.has_legal_move() => {
            output.line(if position.in_check() { "checkmate" } else { "stalemate" })
        }
        None => output.line("not searched yet"),
    }
    if view.moves.is_empty() {
        return Ok(());
    }
    output.line(format_args!(
        "{:<8} {:>7} {:>6} {:>9} {:>14}  expected",
        "move", "score", "depth", "searches", "games won lost"
    ));
    for m in &view.moves {
        output.line(row(tree, &line, m)?);
    }
    Ok(())
}

/// The row of a move.
fn row(tree: &Tree, line: &Line, view: &MoveView) -> Result<String, CliError> {
    let position = line.last();
    let (san, child) = pgn::san(position, view.m);
    let seen = line.positions.iter().any(|before| before.repetition_key() == child.repetition_key());
    let score = match view.score {
        // A draw on this path, whatever the position is worth.
        _ if seen => "repeats".to_owned(),
        Some(score) => pawns(score),
        None => "-".to_owned(),
    };
    let [games, white, black] = view.games;
    let (won, lost) = position.turn().fold_wb((white, black), (black, white));
    let games = if games > 0 { format!("{games} +{won} -{lost}") } else { String::new() };
    let expected = match view.score {
        Some(_) => pgn::line(&child, &tree.expected(position, &[view.m])?[1..]),
        None => String::new(),
    };
    let note = match view.advice {
        Some(Advice::Exclude) => "excluded ",
        Some(Advice::Prefer) => "preferred ",
        None if view.closes_cycle => "leads back ",
        None => "",
    };
    let depth = view.score.map_or(String::new(), |_| view.depth.get().to_string());
    let text = format!("{san:<8} {score:>7} {depth:>6} {:>9} {games:>14}  {note}{expected}", view.searches);
    Ok(text.trim_end().to_owned())
}
