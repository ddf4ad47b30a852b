//! `engram book`: makes, shows, counts and merges Polyglot books.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use shakmaty::{Color, Move};

use super::{
    CliError, Completion, Side,
    analyse::variations::{self, Branch},
    check_output, complain,
    pgn::{self, Games},
    progress_bar, refused, source, write_file,
};
use crate::{
    book::{Book, BookEntry, BookLimits, Builder, Experience, merge, to_bytes},
    position::{Openings, Position},
    uci::{Output, counted, translate},
};

/// The book commands.
#[derive(Debug, Subcommand)]
pub enum BookTask {
    /// Make a book from the games of PGN files.
    ///
    /// Each move becomes an entry whose weight is twice its wins plus its draws; a move that only lost is left out. A game
    /// without a result counts as a draw. Variations are left out unless --variations is given.
    Make(Make),
    /// Show the entries of a book for a position.
    Show {
        /// A FEN or `startpos`, moves after it, or moves from the start alone; the start position if not given. A book may
        /// come before it.
        #[arg(value_name = "FEN | MOVES", num_args = 0..)]
        fen: Vec<String>,
        /// The book; the built-in one if none is given.
        #[arg(long, value_name = "BOOK")]
        book: Option<PathBuf>,
        /// The book is a copy that Engram learned in: read its last column as games and points.
        #[arg(long)]
        learned: bool,
    },
    /// Count a book's entries and positions, and check it.
    Stats {
        /// The book; the built-in one if not given.
        book: Option<PathBuf>,
    },
    /// Merge several books into one.
    ///
    /// In each position every book has the same influence, however large its weights are.
    Merge {
        /// The books to merge.
        #[arg(required = true, num_args = 2..)]
        books: Vec<PathBuf>,
        /// The file to write.
        #[arg(short, long, value_name = "BOOK")]
        output: PathBuf,
        /// Overwrite the file if it is there.
        #[arg(long)]
        force: bool,
    },
}

/// The arguments of `book make`.
#[derive(Debug, Args)]
pub struct Make {
    /// PGN files; `-` for the standard input.
    #[arg(required = true)]
    games: Vec<PathBuf>,
    /// The file to write.
    #[arg(short, long, value_name = "BOOK")]
    output: PathBuf,
    /// Moves played in fewer games are left out.
    #[arg(long, default_value_t = 1, value_name = "GAMES")]
    min_games: u32,
    /// Moves that scored less for the side that played them are left out, in percent.
    #[arg(long, default_value_t = 0.0, value_name = "PERCENT", value_parser = percent)]
    min_score: f64,
    /// Take this many plies from the beginning of each game.
    #[arg(long, default_value_t = 30, value_name = "PLIES")]
    depth: usize,
    /// Whose moves are taken.
    #[arg(long, value_enum, default_value_t = Side::Both)]
    color: Side,
    /// Take the moves of variations too, as of games without a result.
    #[arg(long)]
    variations: bool,
    /// Overwrite the file if it is there.
    #[arg(long)]
    force: bool,
}

fn percent(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "a number from 0 to 100".to_owned())?;
    if (0.0..=100.0).contains(&value) { Ok(value) } else { Err("a number from 0 to 100".to_owned()) }
}

/// Runs the command; partial if some games were skipped.
///
/// # Errors
/// A file that cannot be read or written.
pub fn run(task: BookTask, output: &Output) -> Result<Completion, CliError> {
    match task {
        BookTask::Make(make) => return self::make(&make, output),
        BookTask::Show { mut fen, mut book, learned } => {
            let is_book = |path: &Path| path.is_file() || path.extension().is_some_and(|ext| ext == "bin");
            if book.is_none() && fen.first().is_some_and(|first| is_book(Path::new(first))) {
                book = Some(fen.remove(0).into());
            }
            let fen = (!fen.is_empty()).then(|| fen.join(" "));
            show(&super::position(fen.as_deref(), false)?, &open(book.as_deref())?, learned, output);
        }
        BookTask::Stats { book } => stats(book.as_deref(), output)?,
        BookTask::Merge { books, output: file, force } => {
            check_output(&file, &books, force)?;
            let books = books.iter().map(|path| open(Some(path))).collect::<Result<Vec<Book>, _>>()?;
            let entries = merge(&books);
            write(&file, &entries, force, "all moves of these books have the weight 0")?;
            output.line(format_args!("{}: {}", file.display(), counted(entries.len(), "entry")));
        }
    }
    Ok(Completion::Complete)
}

fn open(path: Option<&Path>) -> Result<Book, CliError> {
    let Some(path) = path else { return Ok(Book::own()) };
    let book = Book::open(path)?;
    book.check(path)?;
    Ok(book)
}

fn make(make: &Make, output: &Output) -> Result<Completion, CliError> {
    check_output(&make.output, &make.games, make.force)?;
    let mut builder = Builder::default();
    let (mut games, mut skipped, mut left_out) = (0_usize, 0_usize, 0_usize);
    let progress = progress_bar(None, "{spinner} {pos} games, {elapsed}");
    for path in &make.games {
        for game in Games::new(source::reader(path).map_err(refused(path, "read"))?) {
            match game.map_err(refused(path, "read"))? {
                Ok(game) => {
                    left_out += add(&mut builder, &game, make);
                    games += 1;
                    progress.inc(1);
                }
                Err(broken) => {
                    skipped += 1;
                    progress.suspend(|| complain(format_args!("{}: {broken}", path.display())));
                }
            }
        }
    }
    progress.finish_and_clear();
    let entries = builder.finish(BookLimits { min_games: make.min_games, min_score: make.min_score });
    write(&make.output, &entries, make.force, "no move of these games is within the limits")?;
    let path = make.output.display();
    let left_out = match left_out {
        0 => String::new(),
        count => format!(", {} left out (--variations takes them)", counted(count, "variation")),
    };
    output.line(format_args!(
        "{path}: {} from {}, {skipped} skipped{left_out}",
        counted(entries.len(), "entry"),
        counted(games, "game")
    ));
    Ok(if skipped > 0 { Completion::Partial } else { Completion::Complete })
}

/// Writes the entries of a book.
///
/// # Errors
/// There are none, the reason being `none`; or the file cannot be written.
pub(super) fn write(path: &Path, entries: &[BookEntry], force: bool, none: &str) -> Result<(), CliError> {
    if entries.is_empty() {
        return Err(CliError::Task(format!("{none}; no book was written")));
    }
    write_file(path, &to_bytes(entries), force)
}

/// Counts the moves of a game. Returns how many variations are left out.
fn add(builder: &mut Builder, game: &pgn::Game, make: &Make) -> usize {
    // A move that is played again in the same position is one of the same game.
    let mut counted = HashSet::new();
    let mut add_line = |start: &Position, moves: &[Move], winner: Option<Color>| {
        let mut position = start.clone();
        for &m in moves.iter().take(make.depth) {
            let side = position.turn();
            if *make.color.sides().get(side) && counted.insert((position.key(), m)) {
                let half_points = winner.map_or(1, |winner| if winner == side { 2 } else { 0 });
                builder.add(&position, m, half_points);
            }
            position = position.play(m);
        }
    };
    add_line(&game.start, &game.moves, game.outcome.winner());
    let list = variations::of_game(game, &game.positions());
    let branches = Branch::all(game, &list);
    if !make.variations {
        return branches.len();
    }
    branches.iter().for_each(|branch| add_line(&branch.start, &branch.moves, None));
    0
}

fn show(position: &Position, book: &Book, learned: bool, output: &Output) {
    let moves = book.moves(position);
    let openings = Openings::own();
    output.line(format_args!("{}\nkey {:016x}", position.fen(), position.key().0));
    if let Some(opening) = openings.at(position) {
        output.line(opening);
    }
    if moves.is_empty() {
        output.line("the book does not know this position");
        return;
    }
    let total: f64 = moves.iter().map(|m| f64::from(m.weight)).sum::<f64>().max(1.0);
    let mode = translate::notation(position, false);
    output.line(format_args!(
        "{:<8} {:<6} {:>6} {:>6}  {:<12} opening",
        "move", "uci", "weight", "share", "learn"
    ));
    for m in &moves {
        let (san, child) = pgn::san(position, m.book_move);
        let uci = m.book_move.to_uci(mode).to_string();
        let share = 100.0 * f64::from(m.weight) / total;
        let learn = if learned {
            let known = Experience::from_bits(m.learn);
            format!("{}, {} points", counted(known.games, "game"), f64::from(known.half_points) / 2.0)
        } else {
            m.learn.to_string()
        };
        let line = format!(
            "{san:<8} {uci:<6} {:>6} {share:>5.1}%  {learn:<12} {}",
            m.weight,
            openings.at(&child).map_or_else(String::new, ToString::to_string)
        );
        output.line(line.trim_end());
    }
}

fn stats(path: Option<&Path>, output: &Output) -> Result<(), CliError> {
    let book = open(path)?;
    let entries: Vec<BookEntry> = book.entries().collect();
    let moves: Vec<usize> = entries.chunk_by(|a, b| a.key == b.key).map(<[_]>::len).collect();
    let (positions, most) = (moves.len(), moves.into_iter().max().unwrap_or(0));
    let dead = entries.iter().filter(|entry| entry.weight == 0).count();
    let learned = entries.iter().filter(|entry| entry.learn != 0).count();
    let layers: Vec<usize> = book.layers(&Position::default()).map(|layer| layer.len()).collect();
    let name =
        path.map_or_else(|| "the book inside the program".to_owned(), |path| path.display().to_string());
    output.line(format_args!(
        "{name}: {}, {}\n\
         at most {} in a position, {dead} of weight 0, {learned} with a learn field\n\
         {} can be reached from the start, those at the ends of the lines included, the farthest in {}",
        counted(book.len(), "entry"),
        counted(positions, "position"),
        counted(most, "move"),
        counted(layers.iter().sum::<usize>(), "position"),
        counted(layers.len() - 1, "ply"),
    ));
    Ok(())
}
