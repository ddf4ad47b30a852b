//! `engram tree pgn`: the tree as one game with variations.

use std::{
    collections::{HashMap, HashSet},
    path::{Path, PathBuf},
};

use clap::Args;
use jiff::Timestamp;
use shakmaty::{Color, Move, Outcome};

use super::{lost, walk};
use crate::{
    cli::{
        CliError, check_output,
        pgn::{self, Comment, Game},
        write_file,
    },
    position::{
        Position,
        notation::{eval, start_tags},
    },
    tree::{MoveView, Tree},
    types::Score,
    uci::{Output, counted},
};

#[derive(Debug, Args)]
pub(super) struct PgnArguments {
    /// Where the game begins: a FEN or `startpos`, moves after it, or moves from the start alone; where the tree begins
    /// if not given.
    #[arg(value_name = "FEN | MOVES")]
    position: Vec<String>,
    /// Plies from the beginning to the ends of the lines.
    #[arg(long, default_value_t = 16, value_name = "PLIES", value_parser = clap::value_parser!(u16).range(1..=200))]
    depth: u16,
    /// A move that loses more than this against the best one is left out, in centipawns.
    #[arg(long, default_value_t = 30, value_name = "CP", value_parser = clap::value_parser!(i32).range(0..))]
    margin: i32,
    /// The file to write; the standard output if not given, or `-`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite the file if it is there.
    #[arg(long)]
    force: bool,
}

/// Writes the game.
///
/// # Errors
/// The tree cannot be read, the position is not in it, or the file cannot be written.
pub(super) fn run(tree: &Tree, arguments: &PgnArguments, output: &Output) -> Result<(), CliError> {
    let PgnArguments { position, depth, margin, output: to, force } = arguments;
    let to = to.as_deref().filter(|to| *to != Path::new("-"));
    if let Some(to) = to {
        check_output(to, [tree.path()], *force)?;
    }
    let start = walk(tree, position)?.last().clone();
    if tree.look(&start)?.is_none_or(|view| view.score.is_none()) {
        let (fen, file) = (start.fen(), tree.path().display());
        return Err(CliError::Task(format!(
            "{fen} was not searched in this tree; `engram tree {file} grow` searches it, or begin at a position before it"
        )));
    }
    let mut writer = LineWriter {
        tree,
        depth: usize::from(*depth),
        margin: *margin,
        start: &start,
        written: HashMap::from([(start.repetition_key().0, "the beginning".to_owned())]),
        awaiting: 0,
    };
    let (moves, comments) = writer.line(&start, &mut Vec::new(), None)?;
    let game = Game { start: start.clone(), moves, ..Game::default() };
    let text = pgn::write_game(&game, &tags(tree, &start), &comments);
    super::say_awaiting(tree, writer.awaiting);
    let Some(to) = to else {
        output.line(text.trim_end());
        return Ok(());
    };
    write_file(to, text.as_bytes(), *force)?;
    output.line(format_args!("{}: {}", to.display(), counted(writer.written.len(), "position")));
    Ok(())
}

fn tags(tree: &Tree, start: &Position) -> Vec<(String, String)> {
    let name = tree.path().file_name().unwrap_or_default().to_string_lossy();
    let day = Timestamp::now().strftime("%Y.%m.%d").to_string();
    let mut tags = vec![
        ("Event", format!("Tree {name}")),
        ("Site", "?".to_owned()),
        ("Date", day.clone()),
        ("Round", "?".to_owned()),
        ("White", "?".to_owned()),
        ("Black", "?".to_owned()),
        ("Result", Outcome::Unknown.to_string()),
        ("UTCDate", day),
        ("Annotator", "Engram".to_owned()),
    ];
    tags.extend(start_tags(start));
    let clean = |value: String| value.replace(char::is_control, " ");
    tags.into_iter().map(|(name, value)| (name.to_owned(), clean(value))).collect()
}

struct LineWriter<'a> {
    tree: &'a Tree,
    depth: usize,
    margin: i32,
    start: &'a Position,
    /// Each position that is followed, and the moves by which.
    written: HashMap<u64, String>,
    /// Positions where a line ends because no preferred move was searched.
    awaiting: usize,
}

/// A move of a line.
struct Step {
    before: Position,
    m: Move,
    comment: Comment,
    /// Moves that are written as variations beside it.
    others: Vec<Move>,
}

impl LineWriter<'_> {
    /// The line from `position` with its variations as comments; `path` are the moves that lead there. It begins with
    /// `first` if that is given, and then has no variations beside it.
    ///
    /// All moves of a line are chosen before its variations, so that these never take positions away from it.
    fn line(
        &mut self,
        position: &Position,
        path: &mut Vec<Move>,
        first: Option<Move>,
    ) -> Result<(Vec<Move>, Vec<Comment>), CliError> {
        let before = path.len();
        let steps = self.steps(position, path, first)?;
        path.truncate(before);
        let mut comments = vec![Comment::new()];
        for step in &steps {
            let mut comment = step.comment.clone();
            for &other in &step.others {
                let (moves, inner) = self.line(&step.before, path, Some(other))?;
                let game = Game { start: step.before.clone(), moves, ..Game::default() };
                comment.push(format!("({})", pgn::movetext(&game, &inner).join(" ")));
            }
            comments.push(comment);
            path.push(step.m);
        }
        path.truncate(before);
        Ok((steps.iter().map(|step| step.m).collect(), comments))
    }

    fn steps(
        &mut self,
        position: &Position,
        path: &mut Vec<Move>,
        mut first: Option<Move>,
    ) -> Result<Vec<Step>, CliError> {
        let on_path = self.start.along(path);
        let mut seen: HashSet<u64> = on_path.iter().map(|position| position.repetition_key().0).collect();
        let mut steps = Vec::new();
        let mut at = position.clone();
        while path.len() < self.depth {
            let Some(view) = self.tree.look(&at)? else { break };
            let forced = first.take();
            let best = view.considered().next();
            let wanted = match forced {
                Some(m) => {
                    view.moves.iter().find(|view| view.m == m).and_then(|view| Some((view, view.score?)))
                }
                None => best,
            };
            let Some((chosen, score)) = wanted else {
                self.awaiting += usize::from(view.awaited().next().is_some());
                break;
            };
            let (_, best) = best.unwrap_or((chosen, score));
            let others = match forced {
                Some(_) => Vec::new(),
                None => {
                    let near =
                        view.considered().skip(1).filter(|&(_, score)| lost(best, score) <= self.margin);
                    near.map(|(view, _)| view.m).collect()
                }
            };
            let after = at.play(chosen.m);
            path.push(chosen.m);
            let key = after.repetition_key().0;
            let mut comment = vec![scored(chosen, score, at.turn())];
            let is_end = if !seen.insert(key) {
                comment.push("{a repetition}".to_owned());
                true
            } else if let Some(known) = self.written.get(&key) {
                comment.push(format!("{{see {known}}}"));
                true
            } else {
                self.written.insert(key, pgn::line(self.start, path));
                false
            };
            let is_leaf = !chosen.is_searched;
            steps.push(Step { before: at.clone(), m: chosen.m, comment, others });
            if !is_end && is_leaf {
                self.add_searched_line(&at, chosen.m, path, &mut steps)?;
            }
            if is_end || is_leaf {
                break;
            }
            at = after;
        }
        Ok(steps)
    }

    /// Adds the line of the search behind a move whose position the tree does not have.
    fn add_searched_line(
        &self,
        position: &Position,
        m: Move,
        path: &mut Vec<Move>,
        steps: &mut Vec<Step>,
    ) -> Result<(), CliError> {
        let line = self.tree.expected(position, &[m])?;
        let mut before = position.play(m);
        for &m in line.iter().skip(1).take(self.depth.saturating_sub(path.len())) {
            let after = before.play(m);
            steps.push(Step { before, m, comment: Comment::new(), others: Vec::new() });
            path.push(m);
            before = after;
        }
        Ok(())
    }
}

/// White's score after a move, and the depth behind it.
fn scored(view: &MoveView, score: Score, turn: Color) -> String {
    format!("{{[%eval {}] depth {}}}", eval(score.relative_to(turn)), view.depth.get())
}
