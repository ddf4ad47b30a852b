//! The opening book in a game: the choice of its moves, and the learning of results.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use shakmaty::{Color, Move, Position as _};

use super::stop::Background;
use crate::{
    book::{Book, BookError, Choice, LearnedBook, choose},
    learn::game::Line,
    locks::locked,
    position::Position,
    search::{Event, EventSink},
    types::Score,
};

/// The folder of learned copies inside the user's data directory.
const COPIES: &str = "books";
/// A last score of at least this many centipawns counts as a win if the game was not played to its end.
const WON: i32 = 350;
/// A last score of at most this many centipawns either way counts as a draw, after [`DRAWN_PLIES`].
const DRAWN: i32 = 40;
/// After this many plies an even last score counts as a draw.
const DRAWN_PLIES: usize = 80;

/// The book, how it is used, and the game that is being played with it.
pub struct OpeningBook {
    /// Are moves played from the book?
    pub enabled: bool,
    /// Number of plies from the start of a game during which the book is used.
    pub depth: usize,
    /// How one of several moves is chosen.
    pub choice: Choice,
    /// Do results of our games change the weights of moves?
    pub learning: bool,
    /// The user's data directory, below which copies of books are kept; without it there is no book learning.
    pub data_folder: Option<PathBuf>,
    book: Arc<Book>,
    file: Option<PathBuf>,
    game: BookGame,
    last: Arc<Mutex<LastAnswer>>,
    sink: Arc<EventSink>,
    /// The thread that writes results.
    writing: Option<Background>,
}

/// The last move of the engine, as reported by the search threads.
#[derive(Default)]
pub(super) struct LastAnswer {
    /// Score of the first line, for the side to move, in internal units.
    pub score: Option<Score>,
    /// The move.
    pub best: Option<Move>,
}

impl LastAnswer {
    /// A sink that also keeps the last score of the first line and the move, and the place where it keeps them.
    pub(super) fn kept_from(sink: Arc<EventSink>) -> (Arc<EventSink>, Arc<Mutex<LastAnswer>>) {
        let last = Arc::<Mutex<LastAnswer>>::default();
        let kept = Arc::clone(&last);
        let keeping = move |event| {
            match &event {
                Event::Pv(line) if line.multi_pv == 1 => locked(&kept).score = Some(line.score),
                Event::Finished { best, .. } => locked(&kept).best = *best,
                _ => {}
            }
            sink(event);
        };
        (Arc::new(keeping), last)
    }
}

/// An entry of the book whose move was played.
struct PlayedEntry {
    index: usize,
    /// Plies of the game before the move.
    ply: usize,
    /// The side that played it.
    color: Color,
}

/// What is known of the current game.
#[derive(Default)]
struct BookGame {
    line: Line,
    /// The entries whose moves were played.
    played: Vec<PlayedEntry>,
    /// The position searched last.
    root: Option<Position>,
}

impl OpeningBook {
    /// The built-in book. `last`: where the sink of the search keeps its answers; `sink`: for messages.
    pub(super) fn new(last: Arc<Mutex<LastAnswer>>, sink: Arc<EventSink>) -> OpeningBook {
        OpeningBook {
            enabled: false,
            depth: 20,
            choice: Choice::Weighted,
            learning: true,
            book: Arc::new(Book::own()),
            data_folder: None,
            file: None,
            game: BookGame::default(),
            last,
            sink,
            writing: None,
        }
    }

    /// Uses the Polyglot book at `path`; the built-in one if there is no path.
    ///
    /// # Errors
    /// See [`BookError`]; the previous book stays in use.
    pub fn set_file(&mut self, path: Option<&Path>) -> Result<(), BookError> {
        let book = path.map_or_else(|| Ok(Book::own()), Book::open)?;
        self.end_game();
        self.book = Arc::new(book);
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

    /// Follows the moves to the position to be searched. If they do not continue the game (except for its last move if
    /// that was only `guessed`), and are not its greater part after a move was taken back, a new game has begun, and
    /// the book learns the result of the last one.
    pub(super) fn follow(&mut self, line: &Line, guessed: bool) {
        let Line { start, moves } = &self.game.line;
        let played = &moves[..moves.len().saturating_sub(usize::from(guessed))];
        let continued = line.moves.starts_with(played);
        let taken_back = moves.starts_with(&line.moves) && 2 * line.moves.len() > moves.len();
        if *start != line.start || !(continued || taken_back) {
            self.conclude();
        }
        self.game.played.retain(|played| played.ply < line.moves.len());
        self.game.line.clone_from(line);
    }

    /// The move to play without searching, if the book has one.
    pub(super) fn choose(&mut self, root: &Position) -> Option<Move> {
        if !self.enabled || self.game.line.moves.len() >= self.depth {
            return None;
        }
        let moves = self.book.moves(root);
        let experience =
            self.learned().map(|learned| learned.experience(&self.book, &moves)).unwrap_or_default();
        let chosen = choose(&moves, &experience, self.choice, fastrand::u64(..))?;
        let ply = self.game.line.moves.len();
        self.game.played.push(PlayedEntry { index: chosen.index, ply, color: root.turn() });
        Some(chosen.book_move)
    }

    /// Notes the position that is searched now.
    pub(super) fn answering(&mut self, root: &Position) {
        self.game.root = Some(root.clone());
        *self.last() = LastAnswer::default();
    }

    /// Learns the result of the game, if the book was used and the result is known. It is written by a thread: the
    /// clock of the next game may be running, and the first result of a book writes a whole copy.
    fn conclude(&mut self) {
        let game = std::mem::take(&mut self.game);
        let last = std::mem::take(&mut *self.last());
        let Some(learned) = self.learned().filter(|_| !game.played.is_empty()) else { return };
        let Some((side, half_points)) = game.result(&last) else { return };
        let (book, sink) = (Arc::clone(&self.book), Arc::clone(&self.sink));
        let write = move |_: &dyn Fn() -> bool| {
            let written = game.played.iter().try_for_each(|&PlayedEntry { index, color, .. }| {
                let ours = if color == side { half_points } else { 2 - half_points };
                learned.record(&book, index, ours)
            });
            if let Err(error) = written {
                sink(Event::Message(not_learned(&error)));
            }
        };
        match Background::start("book", self.writing.take(), write) {
            Ok(writing) => self.writing = Some(writing),
            Err(error) => (self.sink)(Event::Message(not_learned(&error))),
        }
    }

    /// The game is over: the result is written when this returns.
    pub(super) fn end_game(&mut self) {
        self.conclude();
        if let Some(writing) = self.writing.take() {
            writing.join();
        }
    }

    fn last(&self) -> MutexGuard<'_, LastAnswer> {
        locked(&self.last)
    }
}

fn not_learned(error: &io::Error) -> String {
    format!("the result of the last game is not in the book's copy ({error}); BookLearning turns it off")
}

impl BookGame {
    /// The result in half points for a side: by the rules, otherwise estimated from the last score.
    fn result(&self, last: &LastAnswer) -> Option<(Color, u16)> {
        let root = self.root.as_ref()?;
        let us = root.turn();
        let now = last.best.map_or_else(|| root.clone(), |m| root.play(m));
        if now.chess().is_checkmate() {
            return Some((now.turn(), 0));
        }
        if now.chess().is_stalemate() || now.halfmoves() >= 100 || now.is_insufficient_material() {
            return Some((us, 1));
        }
        match last.score?.centipawns() {
            WON.. => Some((us, 2)),
            cp if cp <= -WON => Some((us, 0)),
            cp if cp.abs() <= DRAWN && self.line.moves.len() >= DRAWN_PLIES => Some((us, 1)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::uci::UciMove;

    use super::*;

    /// The line of these moves, and the position after them.
    fn line(moves: &str) -> (Line, Position) {
        let mut position = Position::default();
        let mut line = Line { start: position.fen(), moves: Vec::new() };
        for uci in moves.split_whitespace().map(|uci| uci.parse::<UciMove>().expect("a move")) {
            position = position.play(uci.to_move(position.chess()).expect("legal"));
            line.moves.push(uci);
        }
        (line, position)
    }

    /// A book from which the first move of a game was played.
    fn begun() -> OpeningBook {
        let mut opening = OpeningBook::new(Arc::default(), Arc::new(|_| {}));
        opening.enabled = true;
        let (before, start) = line("");
        opening.follow(&before, false);
        assert!(opening.choose(&start).is_some());
        opening
    }

    #[test]
    fn a_wrong_guess_goes_on_with_the_game_and_other_moves_do_not() {
        for (then, same) in
            [("e2e4 c7c5", true), ("e2e4 e7e5 g1f3", true), ("d2d4 e7e5", false), ("d2d4", false)]
        {
            let mut opening = begun();
            let (guessed, position) = line("e2e4 e7e5");
            opening.follow(&guessed, false);
            opening.answering(&position);
            opening.follow(&line(then).0, true);
            assert_eq!(!opening.game.played.is_empty(), same, "{then}");
        }
    }

    #[test]
    fn a_move_taken_back_or_chosen_again_counts_once() {
        let mut opening = begun();
        let mut moved = |moves: &str, choose: bool| {
            let (line, position) = line(moves);
            opening.follow(&line, false);
            assert!(!choose || opening.choose(&position).is_some());
            opening.game.played.iter().map(|played| played.ply).collect::<Vec<_>>()
        };
        assert_eq!(moved("", true), [0]);
        assert_eq!(moved("e2e4 e7e5", true), [0, 2]);
        assert_eq!(moved("e2e4 e7e5 g1f3 b8c6", false), [0, 2]);
        assert_eq!(moved("e2e4 e7e5 g1f3", false), [0, 2]);
        assert_eq!(moved("e2e4 e7e5", true), [0, 2]);
        assert_eq!(moved("e2e4 e7e5 g1f3 b8c6 f1b5", false), [0, 2]);
        assert!(moved("e2e4", false).is_empty(), "a new game");
    }
}
