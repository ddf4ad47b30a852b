//! Makes books from games, and from other books.

use std::collections::HashMap;

use shakmaty::Move;

use super::{Book, BookEntry, raw_move};
use crate::position::Position;

/// The conditions for a move to be in a book.
#[derive(Copy, Clone, Debug)]
pub struct BookLimits {
    /// Minimum number of games with the move.
    pub min_games: u32,
    /// Minimum score of the side that played it, in percent.
    pub min_score: f64,
}

/// Counts moves and their results.
#[derive(Default)]
pub struct Builder {
    counts: HashMap<(u64, u16), Count>,
}

#[derive(Copy, Clone, Default)]
struct Count {
    games: u32,
    half_points: u32,
}

impl Builder {
    /// Counts a move played in `position`, in a game in which its side scored `half_points` (2 for a win). A
    /// game without a result counts as a draw.
    pub fn add(&mut self, position: &Position, m: Move, half_points: u32) {
        let count = self.counts.entry((position.key().0, raw_move(m))).or_default();
        count.games += 1;
        count.half_points += half_points;
    }

    /// The book: moves within the limits, with the half points scored as weights.
    pub fn finish(self, limits: BookLimits) -> Vec<BookEntry> {
        let within = |count: &Count| {
            let score = 50.0 * f64::from(count.half_points) / f64::from(count.games.max(1));
            count.games >= limits.min_games && score >= limits.min_score && count.half_points > 0
        };
        let kept = self.counts.into_iter().filter(|(_, count)| within(count));
        scaled(kept.map(|((key, raw), count)| (key, raw, u64::from(count.half_points))).collect())
    }
}

/// Merges books. Weights are normalised first, so that those of a position have the same sum in each book: a book of a
/// million games does not outweigh one of a hundred.
pub fn merge(books: &[Book]) -> Vec<BookEntry> {
    const SUM: u64 = 60_000;
    let mut weights: HashMap<(u64, u16), u64> = HashMap::new();
    for book in books {
        let entries: Vec<BookEntry> = book.entries().collect();
        for position in entries.chunk_by(|a, b| a.key == b.key) {
            let sum = position.iter().map(|entry| u64::from(entry.weight)).sum::<u64>().max(1);
            for entry in position.iter().filter(|entry| entry.weight > 0) {
                let share = (u64::from(entry.weight) * SUM / sum).max(1);
                *weights.entry((entry.key, entry.raw)).or_default() += share;
            }
        }
    }
    scaled(weights.into_iter().map(|((key, raw), weight)| (key, raw, weight)).collect())
}

/// Entries in the order of the format (within a position the largest weight first). If a weight overflows 16 bits, all
/// weights of its position are scaled down.
fn scaled(mut moves: Vec<(u64, u16, u64)>) -> Vec<BookEntry> {
    moves.sort_unstable_by_key(|&(key, raw, weight)| (key, std::cmp::Reverse(weight), raw));
    let mut entries = Vec::with_capacity(moves.len());
    for position in moves.chunk_by(|a, b| a.0 == b.0) {
        let largest = position.iter().map(|&(_, _, weight)| weight).max().unwrap_or(1);
        for &(key, raw, weight) in position {
            let fits = largest <= u64::from(u16::MAX);
            let weight = if fits { weight } else { (weight * u64::from(u16::MAX) / largest).max(1) };
            entries.push(BookEntry { key, raw, weight: weight as u16, learn: 0 });
        }
    }
    entries
}

/// The bytes of a book file.
pub fn to_bytes(entries: &[BookEntry]) -> Vec<u8> {
    entries.iter().flat_map(|entry| entry.to_bytes()).collect()
}
