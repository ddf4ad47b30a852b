//! `engram learn study`: the tree of openings grows, and lost games are searched again.

use std::time::{Duration, Instant};

use serde_json::json;

use super::{opened::Opened, text::Printer};
use crate::{
    cli::{CliError, lower_priority, minutes, pgn},
    engine::study::Study,
    position::Position,
    types::{Bound, SearchResult},
    uci::{counted, translate},
};

/// The arguments of `engram learn study`.
#[derive(Debug, clap::Args)]
pub(super) struct StudyArguments {
    /// Nodes for each position of a lost game; an opening gets four times as many, in twenty searches.
    #[arg(long, value_name = "N", default_value_t = Study::DEFAULT_NODES, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Stop after this many minutes; when all is studied if not given.
    #[arg(long, value_name = "M", value_parser = minutes)]
    minutes: Option<u64>,
    /// Number of openings to study, before the games; all if not given.
    #[arg(long, value_name = "O")]
    openings: Option<usize>,
    /// Number of lost games to study; all if not given.
    #[arg(long, value_name = "G")]
    games: Option<usize>,
}

/// Studies the openings in the file, then the lost games, the newest first.
///
/// # Errors
/// The file cannot be written.
pub(super) fn study(file: Opened, arguments: &StudyArguments, out: Printer) -> Result<(), CliError> {
    lower_priority();
    let deadline = arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let goes_on = || !out.output.is_closed() && deadline.is_none_or(|deadline| Instant::now() < deadline);
    let path = file.file.path().to_owned();
    let mut study = Study::new(file.file, file.ring, arguments.nodes);
    let (mut openings, mut games, mut held, mut positions, mut nodes) = (0, 0, 0, 0, 0);
    let mut left = if arguments.openings == Some(0) { Vec::new() } else { study.openings()? };
    left.truncate(arguments.openings.unwrap_or(usize::MAX));
    for (number, opening) in (1..).zip(&left) {
        let studied = study.study_opening(opening, &goes_on)?;
        positions += studied.positions;
        nodes += studied.nodes;
        if !studied.is_finished {
            break;
        }
        openings += 1;
        let found = study.in_tree(opening)?;
        if let Some((best, score)) = found.as_ref().and_then(|view| view.considered().next()) {
            let (score, depth) = (translate::score(score, Bound::Exact), best.depth.get());
            let (san, count) = (pgn::san(opening, best.m).0, left.len());
            out.text(format_args!(
                "opening {number} of {count}: {san} is best, {score} at depth {depth}, in {}",
                opening.fen()
            ));
        }
    }
    let mut lost = study.lost_games(&goes_on);
    lost.truncate(arguments.games.unwrap_or(usize::MAX));
    let count = lost.len();
    for (number, game) in (1..).zip(&mut lost) {
        let studied = study.study(game, &goes_on)?;
        positions += studied.positions;
        nodes += studied.nodes;
        if !studied.is_finished {
            break;
        }
        games += 1;
        held += u64::from(studied.found.is_some());
        let side = game.side.fold_wb("White", "Black");
        let verdict = studied.found.map_or_else(|| "no move holds".to_owned(), |found| describe(&found));
        out.text(format_args!("game {number} of {count}, lost as {side}: {verdict}"));
    }
    let text = if left.is_empty() && count == 0 {
        format!(
            "nothing to study in {}: no lost games or openings are left (or --games, --openings exclude them)",
            path.display()
        )
    } else {
        format!(
            "{openings} of {} openings and {games} of {count} lost games studied ({}, {nodes} nodes); a better move was \
             found in {held} of the games",
            left.len(),
            counted(positions, "position")
        )
    };
    out.either(
        json!({
            "openings": openings, "lost": count, "games": games, "held": held, "positions": positions, "nodes": nodes,
        }),
        text,
    );
    Ok(())
}

/// `Nf3 holds, cp 12 at depth 20, in FEN`.
fn describe((root, found): &(Position, SearchResult)) -> String {
    let san = found.line.first().map(|&m| pgn::san(root, m).0).unwrap_or_default();
    let (score, depth) = (translate::score(found.score, found.bound), found.depth.get());
    format!("{san} holds, {score} at depth {depth}, in {}", root.fen())
}
