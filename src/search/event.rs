//! What a search and the engine report.

use std::{path::PathBuf, time::Duration};

use shakmaty::{Move, uci::UciMove};

use crate::types::{Bound, Depth, Score, ScoredLine, SearchResult};

/// A report of the search. It carries values, no text: `uci/` and `cli/` turn it into lines.
#[derive(Clone, Debug)]
pub enum Event {
    /// A line was completed or its score was bounded.
    Pv(PvInfo),
    /// The main thread begins with a root move (reported only in long searches).
    CurrentMove {
        /// Depth of the iteration.
        depth: Depth,
        /// The move.
        root_move: Move,
        /// Its place in the order, from 1.
        number: usize,
    },
    /// Something the user should know.
    Notice(Notice),
    /// The search is over. Every `go` ends in exactly one.
    Finished {
        /// The move to play; none if the game is over here.
        best: Option<Move>,
        /// The reply expected, if one is known.
        ponder: Option<Move>,
        /// What was found; none if nothing was searched (a book move, no legal move).
        result: Option<Box<SearchResult>>,
    },
}

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
        session: u32,
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

/// One principal variation with what was found about it.
#[derive(Clone, Debug)]
pub struct PvInfo {
    /// Depth of the iteration.
    pub depth: Depth,
    /// The deepest ply reached.
    pub seldepth: usize,
    /// Rank among the lines asked for, from 1.
    pub multi_pv: usize,
    /// Score for the side to move.
    pub score: Score,
    /// Whether the score is exact or only a bound.
    pub bound: Bound,
    /// Is the line a draw for certain, by the rules or by tablebases?
    pub is_drawn: bool,
    /// Nodes of all threads, quiescence included.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
    /// Use of the transposition table by this search, in per mille.
    pub hashfull: u32,
    /// Tablebase positions found.
    pub tbhits: u64,
    /// The moves, first the one to play.
    pub pv: Vec<Move>,
}

impl PvInfo {
    /// Takes the place of the line of its rank.
    pub fn put_into(self, lines: &mut Vec<ScoredLine>) {
        let index = self.multi_pv - 1;
        let found = ScoredLine { score: self.score, is_drawn: self.is_drawn, moves: self.pv };
        match lines.get_mut(index) {
            Some(place) => *place = found,
            None => lines.push(found),
        }
    }

    /// Nodes a second so far.
    pub fn nps(&self) -> u64 {
        let nanos = self.time.as_nanos().max(1);
        u64::try_from(u128::from(self.nodes) * 1_000_000_000 / nanos).unwrap_or(u64::MAX)
    }
}

/// Where events go. Called from search threads.
pub type EventSink = dyn Fn(Event) + Send + Sync;
