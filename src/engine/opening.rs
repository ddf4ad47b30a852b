//! The opening book in a game: the choice of its moves, and the learning of results.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use shakmaty::{Color, Move, Position as _};

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

/// What is known of the current game.
#[derive(Default)]
struct BookGame {
    line: Line,
    /// The entries whose moves were played, with the side that played them.
    played: Vec<(usize, Color)>,
    /// The position searched last.
    root: Option<Position>,
    /// Was its last move only expected (pondering)?
    pondered: bool,
}

impl OpeningBook {
    pub(super) fn new(last: Arc<Mutex<LastAnswer>>) -> OpeningBook {
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
        }
    }

    /// Uses the book at `path`, or the built-in one.
    pub(super) fn set_file(&mut self, path: Option<&Path>) -> Result<(), BookError> {
        let book = path.map_or_else(|| Ok(Book::own()), Book::open)?;
        let _ = self.conclude();
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

    /// Follows the moves to the position to be searched. If they do not continue the game (except for a last move
    /// that was only expected), a new game has begun, and the book learns the result of the last one.
    pub(super) fn follow(&mut self, line: &Line) -> io::Result<()> {
        let Line { start, moves } = &self.game.line;
        let played = &moves[..moves.len().saturating_sub(usize::from(self.game.pondered))];
        let same = *start == line.start && line.moves.starts_with(played);
        let concluded = if same { Ok(()) } else { self.conclude() };
        self.game.line.clone_from(line);
        concluded
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
        self.game.played.push((chosen.index, root.turn()));
        Some(chosen.book_move)
    }

    /// Notes the position that is searched now; `pondered`: its last move is only expected.
    pub(super) fn answering(&mut self, root: &Position, pondered: bool) {
        self.game.root = Some(root.clone());
        self.game.pondered = pondered;
        *self.last() = LastAnswer::default();
    }

    /// Learns the result of the game, if the book was used and the result is known.
    pub(super) fn conclude(&mut self) -> io::Result<()> {
        let game = std::mem::take(&mut self.game);
        let last = std::mem::take(&mut *self.last());
        let Some(learned) = self.learned().filter(|_| !game.played.is_empty()) else { return Ok(()) };
        let Some((side, half_points)) = game.result(&last) else { return Ok(()) };
        game.played.iter().try_for_each(|&(index, color)| {
            let ours = if color == side { half_points } else { 2 - half_points };
            learned.record(&self.book, index, ours)
        })
    }

    fn last(&self) -> MutexGuard<'_, LastAnswer> {
        locked(&self.last)
    }
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
    use super::*;

    #[test]
    fn a_wrong_guess_goes_on_with_the_game_and_other_moves_do_not() {
        let start = Position::default();
        let line = |text: &str| Line {
            start: start.fen(),
            moves: text.split(' ').map(|uci| uci.parse().expect("a move")).collect(),
        };
        for (then, same) in
            [("e2e4 c7c5", true), ("e2e4 e7e5 g1f3", true), ("d2d4 e7e5", false), ("d2d4", false)]
        {
            let mut opening = OpeningBook::new(Arc::default());
            opening.enabled = true;
            assert!(opening.choose(&start).is_some());
            opening.follow(&line("e2e4 e7e5")).expect("nothing is written");
            opening.game.played = vec![(0, Color::White)];
            opening.answering(&start, true);
            opening.follow(&line(then)).expect("nothing is written");
            assert_eq!(!opening.game.played.is_empty(), same, "{then}");
        }
    }
}
