//! `engram learn study`: lost games are searched again.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::json;
use shakmaty::san::SanPlus;

use super::LearnError;
use crate::{
    engine::{Finding, Study},
    learn::{LearnFile, Mode},
    position::Position,
    uci::{Output, translate},
};

/// How much to study.
#[derive(Debug, clap::Args)]
pub(super) struct StudyArguments {
    /// Nodes for each position.
    #[arg(long, value_name = "N", default_value_t = Study::DEFAULT_NODES, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// End after so many minutes; when all is studied if not given.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    minutes: Option<u64>,
    /// Study so many games; all if not given.
    #[arg(long, value_name = "G", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
}

/// Studies the lost games that the file tells of, the newest first.
///
/// # Errors
/// There is no file, or it cannot be written.
pub(super) fn study(
    path: &Path,
    arguments: &StudyArguments,
    json: bool,
    output: &Output,
) -> Result<(), LearnError> {
    lower_priority();
    let deadline = arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let goes_on = || !output.is_closed() && deadline.is_none_or(|deadline| Instant::now() < deadline);
    // Not made if it is missing.
    LearnFile::open(path, Mode::Read)?;
    let mut study = Study::open(path, arguments.nodes)?;
    let mut lost = study.lost_games(&goes_on);
    lost.truncate(arguments.games.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX)));
    let (mut games, mut held, mut positions, mut nodes) = (0, 0, 0, 0);
    let count = lost.len();
    for (number, game) in (1..).zip(&mut lost) {
        let studied = study.study(game, &goes_on)?;
        positions += studied.positions;
        nodes += studied.nodes;
        if !studied.is_finished {
            break;
        }
        games += 1;
        held += u64::from(studied.held.is_some());
        if !json {
            let side = game.side.fold_wb("White", "Black");
            let verdict =
                studied.held.map_or_else(|| "no move holds".to_owned(), |(root, found)| told(&root, &found));
            output.line(format_args!("game {number} of {count}, lost with {side}: {verdict}"));
        }
    }
    if json {
        output.line(json!({
            "lost": count, "games": games, "held": held, "positions": positions, "nodes": nodes,
        }));
    } else {
        output.line(format_args!(
            "{games} of {count} lost games studied, {positions} positions with {nodes} nodes; another move holds in {held}"
        ));
    }
    Ok(())
}

/// `Nf3 holds, cp 12 at depth 20, in FEN`.
fn told(root: &Position, found: &Finding) -> String {
    let san = found.best.map(|m| SanPlus::from_move(root.chess().clone(), m).to_string());
    let (score, depth) = (translate::score(found.score, found.bound), found.depth.get());
    format!("{} holds, {score} at depth {depth}, in {}", san.unwrap_or_default(), root.fen())
}

/// Whatever else the machine does comes first.
fn lower_priority() {
    #[cfg(unix)]
    let _ = rustix::process::nice(19);
}
