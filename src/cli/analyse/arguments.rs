use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::Args;

use super::pool::MAX_THREADS;
use crate::files::is_standard_output;
#[cfg(feature = "fleet")]
use crate::fleet::ServerAddress;

/// The arguments of `engram analyse`.
#[derive(Debug, Args)]
pub struct Analyse {
    /// A FEN (quoted or not, its last fields optional) or `startpos`, moves after it, or moves from the start alone; or
    /// files of positions (.epd, .fen) or games (.pgn), also compressed (.gz, .bz2, .zst), folders of such files, or `-` for
    /// the standard input.
    #[arg(required = true, num_args = 1.., value_name = "FEN | MOVES | FILE | FOLDER | -")]
    pub(super) input: Vec<OsString>,
    /// Depth of each search in plies; 16 if no limit is given.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u64).range(1..=200))]
    pub(super) depth: Option<u64>,
    /// Nodes of each search; slightly more if several threads share one.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) nodes: Option<u64>,
    /// Time of each search in milliseconds.
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) movetime: Option<u64>,
    /// Number of best lines.
    #[arg(long, default_value_t = 1, value_name = "LINES", value_parser = clap::value_parser!(u64).range(1..=256))]
    pub(super) multipv: u64,
    /// Number of search threads, each on another position (all on one if there is only one). All cores if not given.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=MAX_THREADS as u64))]
    pub(super) threads: Option<u64>,
    /// Total size of the transposition tables in MiB, each of at least 16 if the total is; with --nodes no more than the searches can use.
    #[arg(long, default_value_t = 128, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=262_144))]
    pub(super) hash: u64,
    /// Folders of Syzygy tablebases, separated as in PATH.
    #[arg(long, value_name = "FOLDERS", default_value = "", hide_default_value = true)]
    pub(super) syzygy: String,
    /// Use this learning file in the searches. It is only read unless --write is given.
    #[arg(long, value_name = "FILE")]
    pub(super) learn: Option<PathBuf>,
    /// Add every analysed position, and those of its principal variation, to that file, which is created if it is
    /// missing. It holds 65,536 positions, then the oldest are replaced: use a separate file for many games.
    #[arg(long, requires = "learn")]
    pub(super) write: bool,
    /// A file of opening names, one a line: code, tab, name, tab, moves. May be given several times. The
    /// public list of Lichess, some 3,800 names, if not given.
    #[arg(long, value_name = "FILE")]
    pub(super) eco: Vec<PathBuf>,
    /// Write a line of JSON for each position or game; to the standard output if FILE is `-`.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Write the games with evaluations, judgements and better lines; `-` as above.
    #[arg(long, value_name = "FILE")]
    pub(super) pgn: Option<PathBuf>,
    /// Write a page for the browser, one self-contained file: tables of games and players, boards, the engine's
    /// lines, graph, accuracy and critical moments; `-` as above.
    #[arg(long, value_name = "FILE")]
    pub(super) html: Option<PathBuf>,
    /// Have the positions searched by the machines that run `engram worker` with this URL of a Redis or Valkey server,
    /// such as redis://HOST. With --nodes or --depth the results are the same as on this machine alone.
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "URL", conflicts_with_all = ["learn", "syzygy"])]
    pub(super) queue: Option<ServerAddress>,
    /// Keep the results on that server for half a year, and reuse earlier results with the same settings.
    #[cfg(feature = "fleet")]
    #[arg(long, requires = "queue")]
    pub(super) cache: bool,
    /// Write a row of CSV for each position and line; `-` as above.
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// Write an SQLite database with the tables games, positions and lines. `engram tree` makes a tree of it.
    #[arg(long, value_name = "FILE")]
    pub(super) sqlite: Option<PathBuf>,
    /// Write blunders with a single winning answer as puzzles, each checked by a deeper search: as PGN if the name ends
    /// in .pgn, otherwise as EPD; `-` as above.
    #[arg(long, value_name = "FILE")]
    pub(super) puzzles: Option<PathBuf>,
    /// Analyse the variations of the games too: on the page their positions have the engine's lines, in --pgn their moves
    /// have evaluations, and in --json, --csv and --sqlite they follow their game.
    #[arg(long)]
    pub(super) variations: bool,
    /// List all inaccuracies, mistakes and blunders of a game on the terminal, not only the worst six mistakes and blunders.
    #[arg(long)]
    pub(super) all: bool,
    /// Overwrite existing output files.
    #[arg(long)]
    pub(super) force: bool,
}

impl Analyse {
    /// The options that name an output, with their values; `-` for every name of the standard output.
    pub(super) fn outputs(&self) -> Vec<(&'static str, &Path)> {
        let options = [
            ("--json", &self.json),
            ("--pgn", &self.pgn),
            ("--html", &self.html),
            ("--csv", &self.csv),
            ("--sqlite", &self.sqlite),
            ("--puzzles", &self.puzzles),
        ];
        let standard = Path::new("-");
        let named = |path| if is_standard_output(path) { standard } else { path };
        options.into_iter().filter_map(|(option, path)| Some((option, named(path.as_deref()?)))).collect()
    }
}
