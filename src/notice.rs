//! What the search and the engine tell the user besides the results of searches.

use std::path::PathBuf;

use shakmaty::uci::UciMove;

use crate::types::{Depth, Score};

/// Something the user should know. `uci/` puts it into words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A search thread panicked.
    SearchPanic,
    /// The system gives no search thread.
    NoThread,
    /// The analysis goes on from an earlier one that reached this depth.
    Resumed(Depth),
    /// Tablebases were found.
    Tablebases {
        /// The number of files.
        files: usize,
        /// The most pieces of a position in them.
        pieces: usize,
    },
    /// A tree was opened.
    Tree {
        /// The file.
        path: PathBuf,
        /// The number of searches in it.
        searches: u64,
    },
    /// What the tree would play.
    TreeMove {
        /// The move, and the line that is expected.
        line: Vec<UciMove>,
        /// Its score, backed up.
        score: Score,
        /// The depth behind it.
        depth: Depth,
    },
    /// No tablebases were found.
    NoTablebases,
    /// A hash file was made.
    NewHashFile {
        /// The file.
        path: PathBuf,
        /// Its size in MiB.
        mib: u64,
    },
    /// A hash file was opened.
    HashFile {
        /// The file.
        path: PathBuf,
        /// Its size in MiB.
        mib: u64,
        /// How full it is, in per mille.
        fill: u32,
        /// How many games or sessions it has seen.
        generation: u32,
    },
    /// The hash file is no longer at its path.
    HashFileGone {
        /// The path.
        path: PathBuf,
        /// Is another file there?
        replaced: bool,
    },
    /// The hash file is not used with contempt or at limited strength.
    HashFileUnused,
    /// Nothing is learned or used while the strength is limited.
    LimitedMemory,
    /// The learning file was opened.
    Learning {
        /// The file.
        path: PathBuf,
        /// Is every root learned?
        all: bool,
        /// The number of records.
        records: usize,
    },
    /// The number of records in the learning file has changed.
    Records {
        /// The number now.
        now: usize,
        /// The number reported last.
        before: usize,
    },
    /// So many records were made of games whose engines could not write them.
    LeftGames(usize),
    /// Records of positions that can still occur.
    InReach {
        /// Their number.
        records: usize,
        /// Those that were not in the table.
        new: usize,
    },
    /// These moves were advised in this position.
    Advised(Vec<UciMove>),
    /// None of the advised moves is played.
    AdviceOverruled {
        /// The advised moves.
        advised: Vec<UciMove>,
        /// The move played.
        best: UciMove,
    },
    /// How often learned entries cut off in this search.
    LearnedCutoffs(u64),
    /// The score fell, and the position is learned.
    ScoreFell {
        /// During the search; otherwise since the last move.
        inside: bool,
        /// Does the record wait for the lock of the file?
        waits: bool,
    },
    /// The log of the game cannot be written.
    NoGameLog(String),
    /// So many records could not be written before the file was closed.
    NotWritten {
        /// Their number.
        records: usize,
        /// The file.
        path: PathBuf,
    },
    /// What was studied between games.
    Studied {
        /// Positions of openings.
        openings: u64,
        /// Lost games.
        games: u32,
        /// Those in which another move holds.
        held: u32,
    },
    /// Something failed; the sentence of the part that knows why.
    Failed(Failure, String),
}

/// What failed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A file of another part, which says itself what follows.
    Other,
    /// The hash file: the transposition table is not kept in a file.
    HashFile,
    /// The tree: it is not played from.
    Tree,
    /// The learning file: nothing is learned.
    Learning,
    /// A study could not begin.
    Study,
    /// A study broke off.
    StudyBrokeOff,
    /// The result of a game is not in the copy of the book.
    Book,
}
