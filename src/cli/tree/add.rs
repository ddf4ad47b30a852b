//! `engram tree add`.

use std::{
    ffi::OsString,
    fs::File,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::Args;
use shakmaty::Color;

use super::Side;
use crate::{
    book::Book,
    cli::{
        CliError, Completion,
        analyse::{AnalysisInput, Item},
        complain, pgn,
    },
    learn::{LearnFile, Mode, Origin, Record, Ring, header::MAGIC, kept_games},
    position::Position,
    tree::{Added, ForSides, PlayedLine, Tree, TreeSearch},
    types::{Depth, ScoredLine},
    uci::{Output, counted},
};

/// Plies of a book that are taken.
const BOOK_PLIES: usize = 40;

#[derive(Debug, Args)]
pub(super) struct AddArguments {
    /// A FEN or `startpos`, optionally followed by moves; or files: positions (.epd, .fen), games (.pgn), Polyglot books
    /// and learning files (.bin); `-` for the standard input.
    #[arg(required = true, num_args = 1.., value_name = "FEN | FILE | -")]
    input: Vec<OsString>,
    /// Whose moves the tree is to find.
    #[arg(long = "for", value_enum, default_value_t = Side::Both, value_name = "SIDE")]
    side: Side,
    /// Only games of this player, and only for the player's side; what the player lost counts three times.
    #[arg(long, value_name = "NAME")]
    player: Option<String>,
    /// Plies of each game that are taken.
    #[arg(long, default_value_t = 24, value_name = "PLIES")]
    plies: usize,
}

/// What was added.
#[derive(Default)]
struct Count {
    games: usize,
    known: usize,
    others: usize,
    positions: u64,
    searches: usize,
    skipped: usize,
}

impl Count {
    fn add(&mut self, added: Added) {
        self.positions += added.positions;
    }
}

/// Adds the input; partial if some of it was skipped.
///
/// # Errors
/// A file cannot be read, or the tree cannot be written.
pub(super) fn run(
    tree: &mut Tree,
    arguments: &AddArguments,
    output: &Output,
) -> Result<Completion, CliError> {
    let mut count = Count::default();
    let (binary, text): (Vec<_>, Vec<_>) = arguments.input.iter().cloned().partition(|word| {
        let path = Path::new(word);
        path.is_file() && path.extension().is_some_and(|extension| extension == "bin")
    });
    for path in binary.iter().map(PathBuf::from) {
        if is_learning_file(&path) {
            add_learning_file(tree, &path, arguments, &mut count)?;
        } else {
            add_book(tree, &path, arguments.side.sides(), &mut count)?;
        }
    }
    if !text.is_empty() {
        add_items(tree, &AnalysisInput::open(&text, false)?, arguments, &mut count)?;
    }
    let Count { games, known, others, positions, searches, skipped } = count;
    let mut parts = Vec::new();
    parts.extend((games > 0).then(|| counted(games, "game")));
    parts.extend((known > 0).then(|| format!("{} known before", counted(known, "game"))));
    parts.extend((others > 0).then(|| format!("{} of other players", counted(others, "game"))));
    parts.extend((searches > 0).then(|| counted(searches, "search")));
    parts.extend((skipped > 0).then(|| format!("{skipped} skipped")));
    let size = tree.size()?;
    output.line(format_args!(
        "{} added{}; the tree has {}, {} searched",
        counted(positions, "position"),
        if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(", ")) },
        counted(size.positions, "position"),
        size.searched
    ));
    Ok(if skipped > 0 { Completion::Partial } else { Completion::Complete })
}

fn add_items(
    tree: &mut Tree,
    input: &AnalysisInput,
    arguments: &AddArguments,
    count: &mut Count,
) -> Result<(), CliError> {
    for item in input.items(&Arc::default()) {
        match item? {
            Ok(Item::Position(record)) => count.add(tree.add_root(&record.position, arguments.side.sides())?),
            Ok(Item::Game(game, ..)) => add_game(tree, &game, arguments, count)?,
            Ok(Item::Variation(_)) => {}
            Err(reason) => {
                count.skipped += 1;
                complain(reason);
            }
        }
    }
    Ok(())
}

fn add_game(
    tree: &mut Tree,
    game: &pgn::Game,
    arguments: &AddArguments,
    count: &mut Count,
) -> Result<(), CliError> {
    let mut sides = arguments.side.sides();
    if let Some(name) = &arguments.player {
        let plays = |color| game.player(color).to_lowercase().contains(&name.to_lowercase());
        sides =
            ForSides { white: sides.white && plays(Color::White), black: sides.black && plays(Color::Black) };
        if !sides.white && !sides.black {
            count.others += 1;
            return Ok(());
        }
    }
    let mut identity = DefaultHasher::new();
    (&game.tags, game.start.fen(), game.moves.iter().map(|m| m.to_string()).collect::<Vec<_>>())
        .hash(&mut identity);
    let moves = &game.moves[..game.moves.len().min(arguments.plies)];
    let line = PlayedLine { start: &game.start, moves, outcome: game.outcome };
    let added = tree.add_line(&line, sides, Some(identity.finish()))?;
    count.add(added);
    if added.was_known {
        count.known += 1
    } else {
        count.games += 1
    }
    Ok(())
}

fn is_learning_file(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut magic)).is_ok() && magic == MAGIC
}

/// Adds the games that are kept beside a learning file, and its searches.
fn add_learning_file(
    tree: &mut Tree,
    path: &Path,
    arguments: &AddArguments,
    count: &mut Count,
) -> Result<(), CliError> {
    let (_, ring, _): (_, Ring, _) = LearnFile::open(path, Mode::Read)?.recover()?;
    for (_, record) in ring.iter() {
        if let Some((position, search)) = search_of(&record) {
            count.searches += usize::from(tree.add_search(&position, &search)?);
        }
    }
    let games = kept_games::path(path);
    if games.is_file() {
        add_items(tree, &AnalysisInput::open(&[games.into_os_string()], false)?, arguments, count)?;
    }
    Ok(())
}

/// The search that a record comes from, if its score is exact.
fn search_of(record: &Record) -> Option<(Position, TreeSearch)> {
    let is_search =
        matches!(record.origin, Origin::EveryRoot | Origin::Study | Origin::Import | Origin::Opening);
    let is_exact = record.lower == record.upper && !record.lower.is_none();
    let (position, best) = record.position_and_move().ok()?;
    let best = best.filter(|_| is_search && is_exact && record.depth > 0)?;
    let line = ScoredLine { score: record.lower.to_score(), is_drawn: false, moves: vec![best] };
    let search = TreeSearch {
        depth: Depth(i32::from(record.depth)),
        nodes: 1 << record.log2_nodes.min(62),
        millis: 0,
        evaluation_id: record.evaluation_id,
        lines: vec![line],
    };
    Some((position, search))
}

/// Adds the lines of a Polyglot book, from the start position.
fn add_book(tree: &mut Tree, path: &Path, sides: ForSides, count: &mut Count) -> Result<(), CliError> {
    let book = Book::open(path)?;
    book.check(path)?;
    let start = Position::default();
    if book.moves(&start).is_empty() {
        let reason = "the book does not know the start position: nothing of it was added";
        return Err(CliError::Task(format!("{}: {reason}", path.display())));
    }
    count.add(tree.add_root(&start, sides)?);
    let mut seen = std::collections::HashSet::from([start.key().0]);
    let mut layer = vec![start];
    for _ in 0..BOOK_PLIES {
        let mut next = Vec::new();
        for position in layer {
            for m in book.moves(&position).iter().filter(|m| m.weight > 0) {
                count.add(tree.add_move(&position, m.book_move)?);
                let child = position.play(m.book_move);
                if seen.insert(child.key().0) {
                    next.push(child);
                }
            }
        }
        layer = next;
    }
    Ok(())
}
