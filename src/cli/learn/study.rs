//! `engram learn study`: lost games are searched again.

use std::{
    num::NonZeroUsize,
    time::{Duration, Instant},
};

use serde_json::json;

use super::{opened::Opened, text::Printer};
use crate::{
    cli::{CliError, pgn},
    engine::Study,
    learn::policy::SearchResult,
    position::Position,
    uci::translate,
};

/// The arguments of `engram learn study`.
#[derive(Debug, clap::Args)]
pub(super) struct StudyArguments {
    /// Nodes for each position.
    #[arg(long, value_name = "N", default_value_t = Study::DEFAULT_NODES, value_parser = clap::value_parser!(u64).range(1..))]
    nodes: u64,
    /// Stop after this many minutes; when all is studied if not given.
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    minutes: Option<u64>,
    /// Number of games to study; all if not given.
    #[arg(long, value_name = "G")]
    games: Option<NonZeroUsize>,
}

/// Studies the lost games in the file, the newest first.
///
/// # Errors
/// The file cannot be written.
pub(super) fn study(file: Opened, arguments: &StudyArguments, out: Printer) -> Result<(), CliError> {
    lower_priority();
    let deadline = arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let goes_on = || !out.output.is_closed() && deadline.is_none_or(|deadline| Instant::now() < deadline);
    let mut study = Study::new(file.file, file.ring, arguments.nodes);
    let mut lost = study.lost_games(&goes_on);
    lost.truncate(arguments.games.map_or(usize::MAX, NonZeroUsize::get));
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
        let side = game.side.fold_wb("White", "Black");
        let verdict =
            studied.held.map_or_else(|| "no move holds".to_owned(), |(root, found)| describe(&root, &found));
        out.text(format_args!("game {number} of {count}, lost with {side}: {verdict}"));
    }
    out.either(
        json!({ "lost": count, "games": games, "held": held, "positions": positions, "nodes": nodes }),
        format_args!(
            "{games} of {count} lost games studied, {positions} positions with {nodes} nodes; another move holds in {held}"
        ),
    );
    Ok(())
}

/// `Nf3 holds, cp 12 at depth 20, in FEN`.
fn describe(root: &Position, found: &SearchResult) -> String {
    let san = found.line.first().map(|&m| pgn::san(root, m).0).unwrap_or_default();
    let (score, depth) = (translate::score(found.score, found.bound), found.depth.get());
    format!("{san} holds, {score} at depth {depth}, in {}", root.fen())
}

/// Lowers the priority of this process.
fn lower_priority() {
    #[cfg(unix)]
    let _ = rustix::process::nice(19);
}
