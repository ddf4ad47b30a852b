//! The command line: without a subcommand Engram speaks UCI, with one it carries that out and exits.
//!
//! The doc comments of [`CommandLine`] are the manual that `--help` prints.

pub mod analyse;
pub mod bench;
pub(crate) mod book;
mod common;
mod eval;
mod hash;
mod journal;
mod learn;
mod openings;
mod outcome;
mod page;
pub(crate) mod perft;
pub mod pgn;
mod prove;
mod session;
mod source;
mod tablebase;
mod tree;
#[cfg(any(feature = "tune", test))]
pub(crate) mod tune;
#[cfg(feature = "fleet")]
mod worker;

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use clap::{Command, CommandFactory, Parser, Subcommand};
use clap_mangen::Man;

use self::{
    common::{
        DAY, Side, check_output, check_player, complain, complain_once, date, day, in_parallel, inputs, json,
        lower_priority, minutes, pawns, position, progress_bar, refuse_input, say_if_interrupted,
        ticking_bar, value_name, write_file, write_records,
    },
    outcome::refused,
};
pub use self::{
    hash::HashTask,
    outcome::{CliError, Completion},
};
use crate::{
    eval::net::Network,
    position::PathHash,
    uci::{DebugLog, Interrupt, Output, Places, counted},
};

/// A UCI chess engine that remembers.
///
/// Without a subcommand Engram speaks UCI, the Universal Chess Interface, on its standard streams: add the
/// program to a chess GUI, or type `help` for the commands.
#[derive(Debug, Parser)]
#[command(version, about)]
pub struct CommandLine {
    /// The subcommand.
    #[command(subcommand)]
    pub task: Option<Subtask>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Subtask {
    /// Search a fixed set of positions and count the nodes.
    ///
    /// One thread, 16 MiB of hash, each position as if from a new game: the number of nodes is the same on
    /// every machine and changes only if the search or the evaluation does. The last line is `N nodes M nps`.
    Bench {
        /// Depth of each search, in plies.
        #[arg(default_value_t = bench::DEFAULT_DEPTH, value_parser = clap::value_parser!(u64).range(1..=200))]
        depth: u64,
    },
    /// Count the positions that are DEPTH plies away.
    ///
    /// The standard test of move generation: transpositions count as often as they are reached.
    Perft {
        /// Depth in plies.
        #[arg(value_parser = clap::value_parser!(u64).range(0..=perft::MAX_DEPTH))]
        depth: u64,
        /// The position, also with moves after it (not with `--chess960`); the start position if not given.
        #[arg(long, value_name = "FEN")]
        fen: Option<String>,
        /// Print the count after each first move too.
        #[arg(long)]
        divide: bool,
        /// Write castling as in Chess960, king takes rook, and read `KQkq` as the outermost rooks.
        #[arg(long)]
        chess960: bool,
    },
    /// Explain the static evaluation of a position.
    Eval {
        /// A FEN or `startpos`, moves after it, or moves from the start alone; the start position if not given.
        #[arg(value_name = "FEN | MOVES", num_args = 0..)]
        fen: Vec<String>,
    },
    /// Maintain hash files, which the option HashFile creates.
    #[command(subcommand)]
    Hash(HashTask),
    /// Analyse a position, a test suite or games.
    ///
    /// A position is searched with all cores and its best lines are shown. A file of positions is searched
    /// several at once and checked against its `bm`, `am` and points (`c8`, `c9`). Games get an evaluation of
    /// each move, judgements (5, 10 or 15 percent of the winning chances given away: inaccuracy, mistake,
    /// blunder), better lines, accuracy and the name of the opening.
    ///
    /// An interrupted run resumes when the same command is given again, if a result goes to a file. Exit code 3
    /// means that some games or lines could not be read (each is reported), or that there was nothing to analyse.
    #[command(visible_alias = "analyze")]
    Analyse(analyse::Analyse),
    /// Search positions from a queue, as many at once as there are cores.
    ///
    /// For `--queue` of `engram analyse` and `engram tree grow`, on any number of machines: each takes tasks from a Redis
    /// or Valkey server and returns the results. A worker may be ended at any time; another one then does its tasks.
    #[cfg(feature = "fleet")]
    Worker(worker::WorkerArguments),
    /// Print the completions for a shell.
    ///
    /// For bash, after `mkdir -p ~/.local/share/bash-completion/completions`:
    /// `engram completions bash > ~/.local/share/bash-completion/completions/engram`.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the man pages.
    ///
    /// One page for the program and one for each subcommand, to be put into a folder `man1` of the MANPATH.
    /// Pages of the same name are replaced.
    Man {
        /// The folder to write them to, created if it is missing.
        folder: PathBuf,
    },
    /// Make, show, count and merge opening books in the Polyglot format.
    #[command(subcommand)]
    Book(book::BookTask),
    /// List the moves of a position with their tablebase results.
    ///
    /// Best first, each with its result for the side to move and the plies to the next capture, pawn move or mate
    /// (DTZ), this move included; negative if the opponent wins. Results take the fifty-move counter
    /// of the position into account: a win that comes too late is cursed, a loss that does is blessed, both are draws.
    Tablebase(tablebase::TablebaseArguments),
    /// Show and change the learning file.
    ///
    /// The file holds scores and moves of up to 65,536 positions from earlier games. The newest replace the
    /// oldest; advice stays. Engines may be using it.
    Learn(learn::LearnArguments),
    /// Grow an analysis tree for hours, explore it, and play from it.
    ///
    /// The position that matters most is searched next, and its score is backed up to the positions before it. The
    /// option `TreeFile` lets the engine play what the tree has found.
    Tree(tree::TreeArguments),
    /// Train the network, and compare evaluations.
    #[cfg(any(feature = "tune", test))]
    #[command(subcommand)]
    Tune(tune::TuneTask),
}

/// Writes the man pages of a command and of its subcommands. They have no date: the same source makes the same pages.
fn write_pages(command: &Command, folder: &Path) -> io::Result<()> {
    let page = Man::new(command.clone()).source(concat!("engram ", env!("CARGO_PKG_VERSION")));
    let mut text = Vec::new();
    page.render(&mut text)?;
    fs::write(folder.join(page.get_filename()), text)?;
    command.get_subcommands().try_for_each(|task| write_pages(task, folder))
}

/// The exit code where parts of the input could not be used or searches failed (1 is failure, 2 bad arguments).
pub const PARTIAL: u8 = 3;

/// Runs the command line. `places` are the default places of files.
///
/// # Errors
/// See [`CliError`].
pub fn run(arguments: CommandLine, debug_log: DebugLog, places: Places) -> Result<Completion, CliError> {
    let mut outcome = Completion::Complete;
    let output = Output::stdout();
    let interrupt = Interrupt::default();
    match arguments.task {
        None => session::run(&output, debug_log, places),
        Some(Subtask::Bench { depth }) => bench::print(depth, PathHash::default(), &output, &interrupt),
        Some(Subtask::Perft { depth, fen, divide, chess960 }) => {
            let position = position(fen.as_deref(), chess960)?;
            perft::print(&position, depth, divide, &output, &interrupt);
        }
        Some(Subtask::Eval { fen }) => {
            let fen = (!fen.is_empty()).then(|| fen.join(" "));
            let position = position(fen.as_deref(), false)?;
            output.line(eval::explanation(&position, Network::embedded()));
        }
        Some(Subtask::Hash(task)) => hash::run(task, &output)?,
        Some(Subtask::Analyse(arguments)) => outcome = analyse::run(&arguments, &output)?,
        #[cfg(feature = "fleet")]
        Some(Subtask::Worker(arguments)) => worker::run(&arguments)?,
        Some(Subtask::Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut CommandLine::command(), "engram", &mut text);
            output.line(String::from_utf8_lossy(&text).trim_end());
        }
        Some(Subtask::Man { folder }) => {
            // By itself a page does not have the argument that comes before the subcommand.
            let with_tree = |task: Command| {
                let name = format!("engram tree <TREE> {}", task.get_name());
                task.bin_name(name)
            };
            let mut pages = CommandLine::command()
                .disable_help_subcommand(true)
                .mut_subcommand("tree", |tree| tree.mut_subcommands(with_tree));
            pages.build();
            let written = fs::create_dir_all(&folder).and_then(|()| write_pages(&pages, &folder));
            written.map_err(refused(&folder, "written"))?;
        }
        Some(Subtask::Book(task)) => outcome = book::run(task, &output)?,
        Some(Subtask::Tablebase(arguments)) => tablebase::run(&arguments, &output)?,
        Some(Subtask::Learn(arguments)) => outcome = learn::run(&arguments, places.learn_file, &output)?,
        Some(Subtask::Tree(arguments)) => outcome = tree::run(&arguments, &output)?,
        #[cfg(any(feature = "tune", test))]
        Some(Subtask::Tune(task)) => tune::run(&task, &output, &Interrupt::by_signal())?,
    }
    match output.failure() {
        // A closed pipe is no failure: its reader has read enough.
        Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(CliError::Output(error.to_string())),
        _ => Ok(outcome),
    }
}
