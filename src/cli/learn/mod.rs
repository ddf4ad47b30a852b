//! `engram learn`: the tools for the learning file.

mod change;
mod filter;
mod games;
mod html;
mod lessons;
mod opened;
mod own_games;
mod show;
mod study;
mod text;
mod trade;
mod why;

use std::path::{Path, PathBuf};

use clap::Subcommand;

use self::{filter::Filter, opened::Opened, own_games::GameFilter, text::Printer};
use super::{CliError, Completion, check_player, prove, say_if_interrupted, source};
use crate::{files::is_standard_output, learn::LearnedScore, uci::Output};

/// The arguments of `engram learn`.
#[derive(Debug, clap::Args)]
pub struct LearnArguments {
    /// The learning file; the one in the user's data directory if not given. Not for `prove`.
    #[arg(long, value_name = "PATH", global = true)]
    file: Option<PathBuf>,
    /// Answer in JSON: one value, or several with one per line. Not for `prove`.
    #[arg(long, global = true)]
    json: bool,
    /// What to do.
    #[command(subcommand)]
    tool: Tool,
}

/// The tools.
#[derive(Debug, Subcommand)]
enum Tool {
    /// List the records, oldest first.
    ///
    /// Scores are centipawns for the side to move, as in UCI, here, in `show` and in `why`. A position of a game is shown
    /// by the last moves before it.
    List {
        #[command(flatten)]
        filter: Filter,
        #[command(flatten)]
        games: GameFilter,
        /// Show positions as FEN.
        #[arg(long)]
        fen: bool,
    },
    /// Show what the engine plays differently now, since it lost.
    ///
    /// Each position of a lost game where the file may matter is searched twice with the same number of nodes, with the
    /// file and without it. If only the search with the file plays another move than the game, that is a lesson. The most
    /// costly mistakes come first. Then come all games by opponent and by opening: points, lessons, and how the next
    /// games in the openings of the lessons ended.
    Lessons(lessons::LessonArguments),
    /// Show the records of a position and of the positions after each of its moves.
    Show {
        /// A FEN or `startpos`, moves after it, or moves from the start alone.
        #[arg(value_name = "FEN | MOVES", num_args = 1.., required = true)]
        fen: Vec<String>,
    },
    /// Search a position with and without the file, and name the records that change the move.
    ///
    /// One thread, the same number of nodes each time; the file is only read.
    Why {
        /// A FEN or `startpos`, moves after it, or moves from the start alone.
        #[arg(value_name = "FEN | MOVES", num_args = 1.., required = true)]
        fen: Vec<String>,
        /// Nodes of each search.
        #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u64).range(1..))]
        nodes: u64,
    },
    /// Show statistics of the file.
    Stats {
        #[command(flatten)]
        games: GameFilter,
    },
    /// Check that every record is complete, and that its key, position and move are consistent.
    ///
    /// A power failure may leave torn records, which are ignored. Exit code 1 means that a record is inconsistent.
    Verify,
    /// Write all records as text, one line each.
    ///
    /// The text is EPD with operations of Engram's own; `import` reads it back without loss.
    Export {
        /// The file to write; the standard output if not given.
        #[arg(value_name = "PATH")]
        to: Option<PathBuf>,
        /// Overwrite the file if it is there.
        #[arg(long)]
        force: bool,
    },
    /// Write a page for the browser: the games from which something was learned, and all other records.
    ///
    /// For each game: day, colour, opening and result; for each position from which something was learned the move that
    /// was played, the scores before and after, and the move that a search plays now. Below are the records that belong
    /// to no game. The page is a self-contained file.
    Html(html::Page),
    /// Import a text written by `export`, EPD with best moves (`bm`) as advice, or a player's lost games.
    ///
    /// Games (PGN, with --player) are analysed: what is learned are the positions where the loser's score dropped.
    ///
    /// If two records of a position differ, advice wins; then a record that games use, over an unsearched opening or an
    /// unconfirmed drop; then the later one. Importing twice changes nothing. What you have forgotten since it was learned does not come back: import into a new file
    /// (`--file`) for that. In EPD the score comes from `ce` (centipawns) or `dm` (mate in moves), the depth from `acd`.
    /// Exit code 3 means that some lines or games could not be read; each is reported.
    Import {
        /// The text or the games; `-` for the standard input.
        #[arg(value_name = "PATH")]
        from: PathBuf,
        /// PATH is PGN: learn from the games that this player lost. Whole words of the name are enough.
        #[arg(long, value_name = "NAME")]
        player: Option<String>,
        /// Nodes for each position of a game.
        #[arg(long, default_value_t = 100_000, requires = "player", value_parser = clap::value_parser!(u64).range(1..))]
        nodes: u64,
    },
    /// Add the records of another learning file, which is only read.
    Merge {
        /// The other file.
        #[arg(value_name = "OTHER")]
        from: PathBuf,
    },
    /// Remove records: lists them, and removes them with --yes.
    Forget {
        #[command(flatten)]
        filter: Filter,
        #[command(flatten)]
        games: GameFilter,
        /// Remove all records.
        #[arg(long, conflicts_with_all = ["Filter", "GameFilter"])]
        all: bool,
        /// Remove the records, instead of only listing them.
        #[arg(long)]
        yes: bool,
    },
    /// Search the openings of games and lost games again.
    ///
    /// From the first positions of games, which recur most often, a tree is grown beside the file, and the engine plays from it;
    /// then the lost games, the newest first, are each searched backwards for the last position in which another move would
    /// have held. Results are saved at once: the command can be interrupted at any time, and resumes. Runs at the lowest
    /// priority, also while engines use the file.
    Study(study::StudyArguments),
    /// Tell the engine the best move of a position.
    ///
    /// The move is played unless the search proves it wrong. Advice is kept until it is removed (`forget --position
    /// FEN --yes`). With a score it also counts as a search of 100 plies, which searches of earlier positions use.
    Advise {
        /// The position, quoted.
        fen: String,
        /// The move, such as e2e4 or Nf3, or up to three, such as e4,d4: the engine chooses among them.
        #[arg(value_name = "MOVE")]
        best: String,
        /// The score for the side to move: centipawns (-35), +mate7 or -mate8 (plies).
        #[arg(allow_hyphen_values = true)]
        score: Option<LearnedScore>,
    },
    /// Measure what learning gains: games against an opponent, with and without.
    ///
    /// Each opening is played with both colours in every round by three Engrams: one that remembers nothing, one
    /// that keeps what it learned in earlier rounds, and one that gets as many records of the wrong positions
    /// (a placebo). The user's learning file is not touched.
    Prove(prove::ProveArguments),
}

/// Runs a tool on the file that is named, or on the one in the user's data directory. Partial if games or lines were
/// skipped.
pub(super) fn run(
    arguments: &LearnArguments,
    default: Option<PathBuf>,
    output: &Output,
) -> Result<Completion, CliError> {
    let path = arguments.file.clone().or(default).ok_or_else(|| {
        let text = "the system names no directory for the user's data; name a file with --file";
        CliError::Task(text.to_owned())
    })?;
    let out = Printer { output, json: arguments.json };
    match &arguments.tool {
        Tool::List { filter, games, fen } => show::list(&Opened::read(&path)?, (filter, games), *fen, out),
        Tool::Lessons(arguments) => lessons::lessons(&Opened::read(&path)?, arguments, out),
        Tool::Show { fen } => show::show(&Opened::read(&path)?, &fen.join(" "), out),
        Tool::Why { fen, nodes } => why::why(&Opened::read(&path)?, &fen.join(" "), *nodes, out),
        Tool::Stats { games } => show::stats(&Opened::read(&path)?, games, out),
        Tool::Verify => show::verify(&Opened::read(&path)?, out),
        Tool::Export { to, force } => {
            let to = to.as_deref().filter(|to| *to != Path::new("-") && !is_standard_output(to));
            return trade::export(&Opened::read(&path)?, to, *force, out);
        }
        Tool::Html(page) => html::write(&Opened::read(&path)?, page, out),
        Tool::Import { from, player: Some(player), nodes } => {
            check_player([from], player)?;
            return games::import(&mut Opened::for_source(&path, from)?, from, player, *nodes, out);
        }
        Tool::Import { from, player: None, .. } if source::ending(from).as_deref() == Some("pgn") => {
            let path = from.display();
            let text = format!("{path} holds games; say whose lost games to learn from: --player NAME");
            Err(CliError::Task(text))
        }
        Tool::Import { from, player: None, .. } => {
            return trade::import(&mut Opened::for_source(&path, from)?, from, out);
        }
        Tool::Merge { from } => {
            let source = Opened::read(from)?;
            trade::merge(&mut Opened::write(&path)?, &source, out)
        }
        Tool::Forget { filter, games, all, yes } => {
            if filter.is_empty() && games.is_empty() && !all {
                let text = "say what to forget: --opening or another option that selects games, --below, --position, \
                            --origin, --day, --session, or --all";
                return Err(CliError::Task(text.to_owned()));
            }
            let mut file = if *yes { Opened::change(&path)? } else { Opened::read(&path)? };
            change::forget(&mut file, (filter, games), *yes, out)
        }
        Tool::Study(arguments) => {
            say_if_interrupted();
            study::study(Opened::change(&path)?, arguments, out)
        }
        Tool::Advise { fen, best, score } => {
            change::advise(&mut Opened::write(&path)?, fen, best, *score, out)
        }
        Tool::Prove(_) if arguments.file.is_some() || arguments.json => {
            let text = "--file and --json do not apply to prove: it uses files of its own; --out names the folder for its \
                        results";
            return Err(CliError::Task(text.to_owned()));
        }
        Tool::Prove(arguments) => prove::run(arguments, output),
    }?;
    Ok(Completion::Complete)
}
