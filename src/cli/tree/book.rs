//! `engram tree book`: the tree as a Polyglot book.

use std::path::PathBuf;

use clap::Args;

use super::{Side, lost};
use crate::{
    book::{BookEntry, raw_move},
    cli::{CliError, book, check_output},
    tree::{Nearest, Tree},
    uci::{Output, counted},
};

/// A move that loses so many centipawns against the best one has half its weight.
const HALF: f64 = 10.0;

#[derive(Debug, Args)]
pub(super) struct BookArguments {
    /// The file to write.
    #[arg(short, long, value_name = "BOOK")]
    output: PathBuf,
    /// Whose moves the book has.
    #[arg(long = "for", value_enum, default_value_t = Side::Both, value_name = "SIDE")]
    side: Side,
    /// A move that loses more than this against the best one is left out, in centipawns.
    #[arg(long, default_value_t = 30, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..))]
    margin: i32,
    /// Overwrite the file if it is there.
    #[arg(long)]
    force: bool,
}

/// Writes the book.
///
/// # Errors
/// The tree cannot be read or has no searched position for this side, or the book cannot be written.
pub(super) fn run(tree: &Tree, arguments: &BookArguments, output: &Output) -> Result<(), CliError> {
    let BookArguments { output: to, side, margin, force } = arguments;
    check_output(to, [tree.path()], *force)?;
    let sides = side.sides();
    let mut entries = Vec::new();
    let mut positions = 0_usize;
    let roots = super::roots(tree)?.into_iter().map(|(root, _)| root);
    let mut nearest = Nearest::new(tree, roots, usize::MAX);
    while let Some((position, view)) = nearest.next_position()? {
        if !sides.get(position.turn()) {
            continue;
        }
        let best = view.considered().next().filter(|_| view.score.is_some());
        let best = best.map(|(_, score)| score).into_iter();
        let lost = best.flat_map(|best| view.considered().map(move |(m, score)| (m, lost(best, score))));
        // What the user prefers is as good as the best move also before it was searched.
        let moves = lost.filter(|(_, lost)| lost <= margin).chain(view.awaited().map(|m| (m, 0)));
        let before = entries.len();
        entries.extend(moves.map(|(view, lost)| {
            let weight = f64::from(u16::MAX) * (-f64::from(lost) / HALF).exp2();
            BookEntry {
                key: position.key().0,
                raw: raw_move(view.m),
                weight: weight.round().max(1.0) as u16,
                learn: 0,
            }
        }));
        positions += usize::from(entries.len() > before);
    }
    entries.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.weight), entry.raw));
    book::write(to, &entries, *force, "the tree has no searched position for this side")?;
    output.line(format_args!(
        "{}: {} from {}",
        to.display(),
        counted(entries.len(), "entry"),
        counted(positions, "position")
    ));
    Ok(())
}
