//! A book: a file in memory, or the built-in one.

use std::{
    borrow::Cow,
    collections::HashSet,
    fs::OpenOptions,
    io::{self, Read},
    iter,
    path::{Path, PathBuf},
};

use shakmaty::Move;
use thiserror::Error;

use super::{BookEntry, BookMove, ENTRY_BYTES};
use crate::{files, position::Position, types::PositionKey};

/// The built-in book, made from the lines in `books/lines.pgn`.
static OWN: &[u8] = include_bytes!("../../books/engram.bin");

/// Number of entries, evenly spread, whose order is checked when a book is opened.
const SAMPLES: usize = 256;

/// The most moves of a position: no position has more entries.
const MOST_MOVES: usize = 218;

/// The largest file that is taken for a book, in bytes: twice the largest ones that are known.
const LARGEST: u64 = 1 << 30;

/// A book that cannot be used. The first field is its path.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("the book {0} cannot be read ({1}); name a Polyglot file (.bin)")]
    Unreadable(PathBuf, io::Error),
    /// Its length is no whole number of entries, or none.
    #[error(
        "{0} is not a Polyglot book: its length, {1} bytes, is not a positive multiple of 16; name a Polyglot file (.bin)"
    )]
    Length(PathBuf, u64),
    /// It is too large: its length in bytes.
    #[error("{0} is not a Polyglot book: it has {1} bytes, and a book has at most 1 GiB; name another file")]
    Large(PathBuf, u64),
    /// One position has more entries than moves: the first of them that was found, from 1. A file of zeros, for instance.
    #[error(
        "{0} is not a Polyglot book, or a damaged one: from entry {1} on, one position has more than 218 moves; \
         make the book again"
    )]
    Repeats(PathBuf, usize),
    /// The keys do not ascend: the first entry that was found out of order, from 1.
    #[error("{0} is not a Polyglot book, or a damaged one: entry {1} is out of order; make the book again")]
    Order(PathBuf, usize),
}

/// An opening book.
pub struct Book {
    /// Not mapped: another program may overwrite or shorten the file while it is used.
    bytes: Cow<'static, [u8]>,
}

impl Book {
    /// The built-in book.
    pub fn own() -> Book {
        Book { bytes: OWN.into() }
    }

    /// Opens a file. Its size and the order of some of its entries are checked; [`Book::check`] checks all.
    ///
    /// # Errors
    /// See [`BookError`].
    pub fn open(path: &Path) -> Result<Book, BookError> {
        let unreadable = |error| BookError::Unreadable(path.to_owned(), error);
        let open = files::open(path, OpenOptions::new().read(true));
        let mut file = open.map_err(|error| unreadable(error.into()))?;
        let length = file.metadata().map_err(unreadable)?.len();
        if length > LARGEST {
            return Err(BookError::Large(path.to_owned(), length));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.is_empty() || bytes.len() % ENTRY_BYTES != 0 {
            return Err(BookError::Length(path.to_owned(), bytes.len() as u64));
        }
        let book = Book { bytes: bytes.into() };
        book.check_order(path, (book.len() / SAMPLES).max(1))?;
        Ok(book)
    }

    /// Checks the order of all entries.
    ///
    /// # Errors
    /// The first entry out of order.
    pub fn check(&self, path: &Path) -> Result<(), BookError> {
        self.check_order(path, 1)
    }

    fn check_order(&self, path: &Path, step: usize) -> Result<(), BookError> {
        let mut last = 0;
        for index in (0..self.len()).step_by(step).chain([self.len() - 1]) {
            let key = self.get(index).map_or(0, |entry| entry.key);
            if key < last {
                return Err(BookError::Order(path.to_owned(), index + 1));
            }
            if self.get(index + MOST_MOVES).is_some_and(|entry| entry.key == key) {
                return Err(BookError::Repeats(path.to_owned(), index + 1));
            }
            last = key;
        }
        Ok(())
    }

    /// The bytes of each entry.
    fn chunks(&self) -> &[[u8; ENTRY_BYTES]] {
        self.bytes.as_chunks().0
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.chunks().len()
    }

    /// Has it no entries?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// An entry by its number, from 0.
    pub fn get(&self, index: usize) -> Option<BookEntry> {
        self.chunks().get(index).copied().map(BookEntry::from_bytes)
    }

    /// All entries in order.
    pub fn entries(&self) -> impl Iterator<Item = BookEntry> {
        self.chunks().iter().copied().map(BookEntry::from_bytes)
    }

    /// The entries of one key, with the number of the first.
    pub fn find(&self, key: PositionKey) -> (usize, Vec<BookEntry>) {
        let chunks = self.chunks();
        let first = chunks.partition_point(|&bytes| BookEntry::from_bytes(bytes).key < key.0);
        let entries = chunks[first..].iter().copied().map(BookEntry::from_bytes);
        (first, entries.take_while(|entry| entry.key == key.0).take(MOST_MOVES).collect())
    }

    /// The number of the entry with this key and this move.
    pub(super) fn number(&self, key: u64, raw: u16) -> Option<usize> {
        let (first, entries) = self.find(PositionKey(key));
        entries.iter().position(|entry| entry.raw == raw).map(|offset| first + offset)
    }

    /// The moves of the book in this position, each once, with the sum of the weights of its entries. Entries whose move is
    /// not legal (damaged, or of another position with the same key) are left out.
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        let (first, entries) = self.find(position.key());
        let mut moves: Vec<BookMove> = Vec::new();
        for (offset, entry) in entries.iter().enumerate() {
            let Some(new) = BookMove::new(entry, first + offset, position) else { continue };
            match moves.iter_mut().find(|known| known.book_move == new.book_move) {
                Some(known) => known.weight += new.weight,
                None => moves.push(new),
            }
        }
        moves
    }

    /// The moves by which the book goes on: those that it may play; in a position that it does not know, as on the other
    /// side's turn in a book for one side, those to positions where it may play some.
    pub fn ways_on(&self, position: &Position) -> Vec<Move> {
        let playable = |m: &BookMove| m.weight > 0;
        let own = self.moves(position);
        if !own.is_empty() {
            return own.into_iter().filter(playable).map(|m| m.book_move).collect();
        }
        let leads_back = |m: &Move| self.moves(&position.play(*m)).iter().any(playable);
        position.legal_moves().into_iter().filter(leads_back).collect()
    }

    /// The positions to which [`Book::ways_on`] leads, each once, by their distance in plies: `start` itself comes first.
    pub fn layers(&self, start: &Position) -> impl Iterator<Item = Vec<Position>> {
        let mut seen = HashSet::from([start.key()]);
        iter::successors(Some(vec![start.clone()]), move |layer| {
            let mut next = Vec::new();
            for position in layer {
                let children = self.ways_on(position).into_iter().map(|m| position.play(m));
                next.extend(children.filter(|child| seen.insert(child.key())));
            }
            (!next.is_empty()).then_some(next)
        })
    }
}
