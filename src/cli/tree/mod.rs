//! `engram tree`: an analysis that grows for hours, and is played from.

mod add;
mod book;
mod grow;
mod html;
mod pgn;
mod publish;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use shakmaty::{Color, Move};

use super::{CliError, Completion, Side, analyse::EpdRecord, complain, pgn as notation};
use crate::{
    position::Position,
    tree::{Access, Advice, ForSides, Tree},
    types::Score,
    uci::{Output, counted},
};

/// Roots of a tree that an error names.
const NAMED: usize = 5;

/// The arguments of `engram tree`.
#[derive(Debug, Args)]
pub struct TreeArguments {
    /// The tree, an SQLite database; also one that `engram analyse --sqlite` has written, which `add` makes a tree.
    #[arg(value_name = "TREE")]
    file: PathBuf,
    /// What to do.
    #[command(subcommand)]
    task: TreeTask,
}

#[derive(Debug, Subcommand)]
enum TreeTask {
    /// Add positions from which the tree is to grow, games with their variations, a book, or what a learning file holds.
    Add(add::AddArguments),
    /// Search the position that matters most, then the next one, and so on until a limit or Ctrl-C.
    ///
    /// For the side that the tree is for, only the best moves are followed; for its opponent, all plausible ones, those
    /// played in games first. Scores are backed up at once. If it is killed, only the searches under way are lost; several
    /// `grow` commands may share one tree. It runs at the lowest priority (not on Windows), so that other programs are not slowed down.
    Grow(grow::GrowArguments),
    /// Show the moves of a position (where the tree begins if none is given): scores, depth, searches below, and the line
    /// that is expected.
    Show(PositionArguments),
    /// Exclude a move: it no longer counts, whichever side plays it.
    Exclude(MoveArguments),
    /// Prefer a move: the other moves of its position no longer count. Several moves of a position may be preferred. Like
    /// any move of the tree, the engine plays it where the tree is deeper than its own search.
    Prefer(MoveArguments),
    /// Take back `exclude` or `prefer`.
    Allow(MoveArguments),
    /// Let the tree grow only below a position; without an argument, everywhere again.
    Focus(PositionArguments),
    /// Write a page for the browser: the board, the moves of each position, what is new.
    ///
    /// The page is one self-contained file. Moves are played by clicks, keys, or by typing them; a position that
    /// several lines reach is the same one.
    Html(html::HtmlArguments),
    /// Write the tree as one game with variations.
    ///
    /// The best moves are its main line, others that are nearly as good are variations, each with its score and depth.
    /// A position that several lines reach is followed once.
    Pgn(pgn::PgnArguments),
    /// Make an opening book in the Polyglot format.
    ///
    /// The best move of a position gets the weight 65,535, others less by what they lose. Only positions that were searched
    /// or have a preferred move are in it.
    Book(book::BookArguments),
    /// Put best move, score and depth of the positions into a learning file, for engines that do not use the tree.
    ///
    /// The positions nearest to a root come first, as many as the file has room for. What a human advised
    /// stays, and so does what a deeper search has found.
    Publish(publish::PublishArguments),
    /// Look for damage.
    Check,
}

#[derive(Debug, Args)]
struct PositionArguments {
    /// A FEN or `startpos`, moves after it (`startpos e4 c5`), or moves from the start alone.
    #[arg(value_name = "FEN | MOVES")]
    position: Vec<String>,
}

#[derive(Debug, Args)]
struct MoveArguments {
    /// The move, after the moves that lead to it: `e4 c5 Nf3` is the move Nf3; a FEN may come before them.
    #[arg(required = true, value_name = "FEN | MOVES")]
    position: Vec<String>,
}

impl Side {
    pub(super) fn sides(self) -> ForSides {
        ForSides { white: self != Side::Black, black: self != Side::White }
    }
}

/// What a move gives away, in printed centipawns: the best score less its own, where a proven result is worth as much
/// as it says.
fn lost(best: Score, score: Score) -> i32 {
    best.centipawns().saturating_sub(score.centipawns()).max(0)
}

/// Says that an output lacks moves of positions where none that is preferred was searched.
fn say_awaiting(tree: &Tree, positions: usize) {
    if positions > 0 {
        let (positions, file) = (counted(positions, "position"), tree.path().display());
        complain(format_args!(
            "no preferred move of {positions} was searched: run `engram tree {file} grow`"
        ));
    }
}

/// Runs the command.
///
/// # Errors
/// The tree cannot be used, or the input cannot be read.
pub fn run(arguments: &TreeArguments, output: &Output) -> Result<Completion, CliError> {
    let TreeArguments { file, task } = arguments;
    let open = |access| Tree::open(file, access);
    match task {
        TreeTask::Add(add) => return add::run(file, add, output),
        TreeTask::Grow(grow) => return grow::run(&mut open(Access::Write)?, grow, output),
        TreeTask::Show(show) => show::run(&open(Access::Read)?, show, output)?,
        TreeTask::Exclude(m) => advise(&mut open(Access::Write)?, m, Some(Advice::Exclude), output)?,
        TreeTask::Prefer(m) => advise(&mut open(Access::Write)?, m, Some(Advice::Prefer), output)?,
        TreeTask::Allow(m) => advise(&mut open(Access::Write)?, m, None, output)?,
        TreeTask::Focus(PositionArguments { position }) => {
            let mut tree = open(Access::Write)?;
            let position = (!position.is_empty()).then(|| walk(&tree, position)).transpose()?;
            if !tree.focus(position.as_ref().map(Line::last))? {
                let file = tree.path().display();
                return Err(CliError::Task(format!(
                    "this position is not in the tree; `engram tree {file} add`, with the same words, adds it"
                )));
            }
            output.line(if position.is_some() {
                "the tree grows here alone"
            } else {
                "the tree grows everywhere"
            });
        }
        TreeTask::Html(html) => html::run(&open(Access::Read)?, html, output)?,
        TreeTask::Pgn(pgn) => pgn::run(&open(Access::Read)?, pgn, output)?,
        TreeTask::Book(book) => book::run(&open(Access::Read)?, book, output)?,
        TreeTask::Publish(publish) => publish::run(&open(Access::Read)?, publish, output)?,
        TreeTask::Check => {
            let tree = open(Access::Read)?;
            let faults = tree.check()?;
            faults.iter().for_each(|fault| output.line(fault));
            if !faults.is_empty() {
                return Err(CliError::Task(format!(
                    "{}: {}",
                    file.display(),
                    counted(faults.len(), "fault")
                )));
            }
            let size = tree.size()?;
            output.line(format_args!("{} is sound: {}", file.display(), counted(size.positions, "position")));
        }
    }
    Ok(Completion::Complete)
}

/// A position and the moves from it.
struct Line {
    moves: Vec<Move>,
    positions: Vec<Position>,
}

impl Line {
    fn last(&self) -> &Position {
        &self.positions[self.moves.len()]
    }
}

/// The names of sides: `White`, `Black`, or `White and Black`.
fn names(sides: &[Color]) -> String {
    let names: Vec<_> = sides.iter().map(|side| side.fold_wb("White", "Black")).collect();
    names.join(" and ")
}

/// The positions where a tree begins, with the sides that it is for.
fn roots(tree: &Tree) -> Result<Vec<(Position, Vec<Color>)>, CliError> {
    let roots = tree.roots()?;
    if roots.is_empty() {
        let file = tree.path().display();
        return Err(CliError::Task(format!(
            "{file} has nothing to grow from: `engram tree {file} add startpos`"
        )));
    }
    Ok(roots)
}

/// The position that words name: a FEN, `startpos`, moves, or moves after one of them; without words where the tree
/// begins, which is its only root or the usual start.
///
/// # Errors
/// There are no such moves; the tree has several roots, and none is named.
fn walk(tree: &Tree, words: &[String]) -> Result<Line, CliError> {
    let text = words.join(" ");
    if text.trim().is_empty() {
        let roots = tree.roots()?;
        let usual = Position::default();
        let start = match &roots[..] {
            [(root, _)] => root,
            roots if roots.is_empty() || roots.iter().any(|(root, _)| root.key() == usual.key()) => &usual,
            roots => {
                let fens: Vec<_> = roots.iter().take(NAMED).map(|(root, _)| root.fen()).collect();
                let more = if roots.len() > NAMED { "; …" } else { "" };
                let text =
                    format!("the tree has several roots; begin with one of them: {}{more}", fens.join("; "));
                return Err(CliError::Task(text));
            }
        };
        return Ok(Line { moves: Vec::new(), positions: vec![start.clone()] });
    }
    let record = EpdRecord::named(&text).map_err(CliError::Task)?;
    let (start, moves) = record.before.unwrap_or((record.position, Vec::new()));
    let positions = start.along(&moves);
    Ok(Line { moves, positions })
}

fn advise(
    tree: &mut Tree,
    arguments: &MoveArguments,
    advice: Option<Advice>,
    output: &Output,
) -> Result<(), CliError> {
    let line = walk(tree, &arguments.position)?;
    let Some((&m, before)) = line.moves.split_last() else {
        return Err(CliError::Task("name the move, after the moves that lead to it".to_owned()));
    };
    let (san, _) = notation::san(&line.positions[before.len()], m);
    if !tree.advise(&line.positions[before.len()], m, advice)? {
        let file = tree.path().display();
        return Err(CliError::Task(format!(
            "the position before {san} is not in the tree; `engram tree {file} add`, with the moves before it, adds it"
        )));
    }
    output.line(match advice {
        Some(Advice::Exclude) => format!("{san} is excluded"),
        Some(Advice::Prefer) => format!("{san} is preferred"),
        None => format!("{san} counts like any other move"),
    });
    Ok(())
}
