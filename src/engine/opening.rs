//! The opening book in a game: the choice of its moves, and the learning of results.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use shakmaty::{Color, KnownOutcome, Move, Position as _};

use super::{Engine, game::Game, stop::Background};
use crate::{
    book::{Book, BookEntry, BookError, EntryResult, LearnedBook, choose},
    files::{LeftLog, ProcessLog, left_logs},
    learn::{self, game::Line, record::game_ply},
    notice::{Failure, Notice},
    position::{Position, PositionPath},
    search::{Event, EventSink, Limits},
};

/// The folder of learned copies inside the user's data directory.
const COPIES: &str = "books";

/// The book, and how it is used.
pub struct OpeningBook {
    /// Are moves played from the book?
    pub enabled: bool,
    /// Number of plies from the start of a game during which the book is used.
    pub depth: usize,
    /// Is the move with the largest weight always played?
    pub best_move: bool,
    /// Do results of our games change the weights of moves?
    pub learning: bool,
    /// The user's data directory, below which copies of books are kept; without it there is no book learning.
    pub data_folder: Option<PathBuf>,
    book: Arc<Book>,
    file: Option<PathBuf>,
}

impl Engine {
    /// A book move to play without a search; none in analysis and while pondering.
    pub(super) fn book_move(&self, limits: &Limits) -> Option<Move> {
        let analysis = limits.infinite || limits.ponder || limits.mate.is_some();
        if analysis || self.strength_limits.analysis || !limits.search_moves.is_empty() {
            return None;
        }
        let mut game = self.game();
        let line = game.line().clone();
        let learns = !self.strength_limits.is_limited();
        self.book.choose(&self.root, &self.path, &line, &mut game, learns)
    }
}

impl OpeningBook {
    /// The built-in book.
    pub(super) fn new() -> OpeningBook {
        OpeningBook {
            enabled: false,
            depth: 20,
            best_move: false,
            learning: true,
            book: Arc::new(Book::own()),
            data_folder: None,
            file: None,
        }
    }

    /// Uses the Polyglot book at `path`; the built-in one if there is no path.
    ///
    /// # Errors
    /// See [`BookError`]; the previous book stays in use.
    pub fn set_file(&mut self, path: Option<&Path>) -> Result<(), BookError> {
        self.book = Arc::new(path.map_or_else(|| Ok(Book::own()), Book::open)?);
        self.file = path.map(Path::to_owned);
        Ok(())
    }

    /// The copy in which this book learns: named after the file and a checksum of its path, so that two files of the
    /// same name have different copies.
    fn learned(&self) -> Option<LearnedBook> {
        let folder = self.data_folder.as_ref().filter(|_| self.learning)?.join(COPIES);
        let name = match &self.file {
            None => "engram.bin".to_owned(),
            Some(file) => {
                let whole = file.canonicalize().unwrap_or_else(|_| file.clone());
                let sum = crc32fast::hash(whole.as_os_str().as_encoded_bytes());
                format!("{}-{sum:08x}.bin", file.file_stem().unwrap_or_default().to_string_lossy())
            }
        };
        Some(LearnedBook::at(&folder.join(name)))
    }

    /// The move to play at the end of `line` without searching, if the book has one; `game` notes it. A move that may draw by
    /// repetition or by the fifty-move rule, of which the book knows nothing, is left to the search. `learns`: may results
    /// count?
    pub(super) fn choose(
        &self,
        root: &Position,
        path: &PositionPath,
        line: &Line,
        game: &mut Game,
        learns: bool,
    ) -> Option<Move> {
        if !self.enabled || usize::from(game_ply(root)) >= self.depth {
            return None;
        }
        let mut path = path.clone();
        let mut moves = self.book.moves(root);
        moves.retain(|m| !path.is_near_draw(&root.play(m.book_move)));
        let learned = self.learned().filter(|_| learns);
        let experience =
            learned.as_ref().map(|learned| learned.experience(&self.book, &moves)).unwrap_or_default();
        game.count_in(learned.map(|learned| (Arc::clone(&self.book), learned)));
        let chosen = choose(&moves, &experience, self.best_move, fastrand::u64(..))?;
        let mut line = line.clone();
        line.moves.push(chosen.book_move.to_uci(root.chess().castles().mode()));
        let BookEntry { key, raw, .. } = self.book.get(chosen.index)?;
        game.followed().book_played(PlayedEntry { key, raw, line, color: root.turn() });
        Some(chosen.book_move)
    }
}

/// An entry of the book whose move was played.
pub(super) struct PlayedEntry {
    key: u64,
    raw: u16,
    /// The line that ends with the move.
    pub line: Line,
    /// The side that played it.
    color: Color,
}

/// How the book learns from the current game.
pub(super) struct BookGame {
    /// The book and the copy in which its results are counted.
    copy: Option<(Arc<Book>, LearnedBook)>,
    /// The result of the game if it ended now, in case the process is killed.
    log: Option<ProcessLog>,
    sink: Arc<EventSink>,
    /// The thread that writes results.
    writing: Option<Background>,
}

impl BookGame {
    /// Nothing is counted yet. `sink`: for what the thread has to say that writes results.
    pub fn new(sink: Arc<EventSink>) -> BookGame {
        BookGame { copy: None, log: None, sink, writing: None }
    }

    /// From now on results are counted in this copy of a book; so are those that killed processes have left. Returns whether
    /// it is another one; a book that was opened again is not while `in_use`.
    pub fn count_in(&mut self, copy: Option<(Arc<Book>, LearnedBook)>, in_use: bool) -> bool {
        let is_same = match (&self.copy, &copy) {
            (Some((of, known)), Some((book, learned))) => {
                known.path() == learned.path() && (in_use || Arc::ptr_eq(of, book))
            }
            (of, copy) => of.is_none() && copy.is_none(),
        };
        if is_same {
            return false;
        }
        let left = copy.as_ref().and_then(|(_, learned)| left_logs(learned.path()).ok()).unwrap_or_default();
        self.copy = copy;
        for LeftLog { lines, log, .. } in left {
            let results: Result<Vec<_>, _> = lines.iter().map(|line| serde_json::from_str(line)).collect();
            // One with a line that cannot be read stays: a newer version may have written it.
            if let Ok(mut results) = results {
                self.write(results.pop().unwrap_or_default(), Some(log));
            }
        }
        true
    }

    /// The game of the moves `played` stands so: `line` and its result if it ended now.
    pub fn stands(&mut self, played: &[PlayedEntry], line: &Line, result: Option<KnownOutcome>) {
        let Some((_, learned)) = &self.copy else { return };
        // The log is made with the first result, also if the game is over: the thread that counts it may be killed.
        if self.log.is_none() && result.is_some() {
            let made = ProcessLog::begin(learned.path(), learn::session());
            self.log = made.map_err(|error| log::debug!("no log of the book's game: {error}")).ok();
        }
        let results = results(played, line, result);
        if let Some(log) = &mut self.log
            && let Err(error) =
                serde_json::to_string(&results).map_err(Into::into).and_then(|line| log.write(&line))
        {
            log::debug!("the log of the book's game cannot be written: {error}");
        }
    }

    /// The game is over: its result is counted, if it is known, by a thread: the clock of the next game may be running,
    /// and the first result of a book writes a whole copy.
    pub fn end(&mut self, played: Vec<PlayedEntry>, line: &Line, result: Option<KnownOutcome>) {
        let log = self.log.take();
        self.write(results(&played, line, result), log);
    }

    /// Waits until all results are written.
    pub fn wait(&mut self) {
        if let Some(writing) = self.writing.take() {
            writing.join();
        }
    }

    /// Counts a result, and removes its log; if it cannot be written, the log stays for the next process.
    fn write(&mut self, results: Vec<EntryResult>, log: Option<ProcessLog>) {
        let Some((book, learned)) = self.copy.clone().filter(|_| !results.is_empty()) else {
            log.into_iter().for_each(ProcessLog::remove);
            return;
        };
        let sink = Arc::clone(&self.sink);
        let failed = |error: std::io::Error| Event::Notice(Notice::Failed(Failure::Book, error.to_string()));
        let write = move |_: &dyn Fn() -> bool| match learned.record(&book, &results) {
            Ok(()) => log.into_iter().for_each(ProcessLog::remove),
            Err(error) => sink(failed(error)),
        };
        match Background::start("book", self.writing.take(), write) {
            Ok(writing) => self.writing = Some(writing),
            Err(error) => (self.sink)(failed(error)),
        }
    }
}

/// The result for each entry played on `line`; none without a result.
fn results(played: &[PlayedEntry], line: &Line, result: Option<KnownOutcome>) -> Vec<EntryResult> {
    let Some(result) = result else { return Vec::new() };
    let points = |color: Color| result.winner().map_or(1, |winner| 2 * u16::from(winner == color));
    let on_line = played.iter().filter(|played| line.continues(&played.line));
    let result =
        |&PlayedEntry { key, raw, color, .. }: &_| EntryResult { key, raw, half_points: points(color) };
    on_line.map(result).collect()
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;

    use super::*;
    use crate::book::to_bytes;

    /// The line of these moves, the position after them and its path.
    fn line(moves: &str) -> (Line, Position, PositionPath) {
        let mut position = Position::default();
        let mut path = PositionPath::new(&position);
        let mut line = Line { start: position.fen(), moves: Vec::new() };
        for uci in moves.split_whitespace().map(|uci| uci.parse::<UciMove>().expect("a move")) {
            position = position.play(uci.to_move(position.chess()).expect("legal"));
            path.push(&position);
            line.moves.push(uci);
        }
        (line, position, path)
    }

    #[test]
    fn the_depth_counts_from_the_start_of_the_game() {
        let third = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 3";
        let position = Position::from_fen(third).expect("legal");
        let line = Line { start: third.to_owned(), moves: Vec::new() };
        for (depth, is_used) in [(4, false), (5, true)] {
            let book = OpeningBook { enabled: true, depth, ..OpeningBook::new() };
            let mut game = Game::new(&position, Arc::new(|_| {}));
            let path = PositionPath::new(&position);
            assert_eq!(book.choose(&position, &path, &line, &mut game, true).is_some(), is_used, "{depth}");
        }
    }

    #[test]
    fn no_move_that_repeats_a_position_is_played() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("nf3.bin");
        let entry = BookEntry { key: Position::default().key().0, raw: 0o0625, weight: 1, learn: 0 };
        std::fs::write(&file, to_bytes(&[entry])).expect("a file");
        let mut book = OpeningBook { enabled: true, ..OpeningBook::new() };
        book.set_file(Some(&file)).expect("a book");
        let mut game = Game::new(&Position::default(), Arc::new(|_| {}));
        for (moves, is_played) in [("", true), ("g1f3 g8f6 f3g1 f6g8", false), ("g1h3 g8h6 h3g1 h6g8", true)]
        {
            let (line, position, path) = line(moves);
            let chosen = book.choose(&position, &path, &line, &mut game, true);
            assert_eq!(chosen.is_some(), is_played, "{moves}");
        }
    }

    #[test]
    fn the_entries_on_the_line_of_the_game_count_once() {
        let mut book = OpeningBook::new();
        (book.enabled, book.best_move) = (true, true);
        let mut game = Game::new(&Position::default(), Arc::new(|_| {}));
        for moves in ["", "e2e4 c7c5", "e2e4 e7e5", "", "e2e4 e7e5"] {
            let (line, position, path) = line(moves);
            assert!(book.choose(&position, &path, &line, &mut game, true).is_some(), "{moves}");
        }
        let played = &game.followed().book_moves;
        let counted = |moves: &str, winner| {
            let results = results(played, &line(moves).0, Some(KnownOutcome::Decisive { winner }));
            results.into_iter().map(|result| result.half_points).collect::<Vec<_>>()
        };
        assert_eq!(counted("e2e4 e7e5 g1f3 b8c6", Color::White), [2, 2]);
        assert_eq!(counted("e2e4 e7e5 g1f3 b8c6", Color::Black), [0, 0]);
        assert_eq!(counted("e2e4 e7e5 f2f4", Color::White), [2], "another move was played there");
        assert!(counted("d2d4", Color::White).is_empty());
        assert!(results(played, &line("e2e4 e7e5").0, None).is_empty());
    }
}
