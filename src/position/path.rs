//! The positions of the game and of the search that led to the current one.
//!
//! A repetition inside the search is a draw at once: a side that could force the position a second time can force it a
//! third time. A repetition of a position of the *game* is a draw only at the third occurrence, since the opponent may
//! deviate, as he has done once already.
//!
//! The path also tracks the taint (see [`PathHash`]): for every position, the earliest position on which the results
//! found below it depend. And it updates the keys that the modes compare.

use shakmaty::{KnownOutcome, Position as _};

use super::{
    cuckoo,
    path_hash::{PathHash, PathPart},
    state::Position,
};
use crate::types::{PathKey, Ply, PositionKey, spread};

/// The earliest positions of the path, by index, on which the results below a node depend.
#[derive(Copy, Clone, Debug)]
struct TaintOrigin {
    /// The position whose repetition was scored as a draw.
    repetition: u32,
    /// The position from which the fifty-move counter ran until it ran out below.
    counter: u32,
}

impl TaintOrigin {
    const NONE: TaintOrigin = TaintOrigin { repetition: u32::MAX, counter: u32::MAX };

    fn earlier(self, other: TaintOrigin) -> TaintOrigin {
        TaintOrigin {
            repetition: self.repetition.min(other.repetition),
            counter: self.counter.min(other.counter),
        }
    }
}

/// One position of the path.
#[derive(Copy, Clone, Debug)]
struct PathEntry {
    /// Positions since the last irreversible move that occurred twice in the game, as a sum of their hashes.
    twice: u64,
    /// Positions of the search since the last irreversible move (in mode `full`: of the game as well).
    seen: u64,
    /// How many plies back a repetition may lie: none across a capture, pawn move or null move.
    reversible: u16,
    /// Plies back to the previous occurrence of the position, 0 if it is new.
    back: u16,
    /// How often the position has occurred, this time included.
    occurrences: u16,
    /// The fifty-move clock.
    clock: u16,
    /// The positions on which the results found below this one depend.
    taint: TaintOrigin,
    /// The same for the child that was searched last.
    last_child: TaintOrigin,
}

/// The positions of game and search, oldest first, the current one last.
#[derive(Clone, Debug, Default)]
pub struct PositionPath {
    /// Separate from the entries, so that looking back for a repetition touches few cache lines.
    keys: Vec<PositionKey>,
    entries: Vec<PathEntry>,
    /// Index of the root of the search.
    root: usize,
    mode: PathHash,
}

/// Mixes a key, so that a sum of mixed keys is a good hash of a set.
fn mixed(key: PositionKey) -> u64 {
    let product = (key.0 ^ key.0 >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    product ^ product >> 32
}

impl PositionPath {
    /// A path that consists of `position` alone.
    pub fn new(position: &Position) -> PositionPath {
        PositionPath::along(std::slice::from_ref(position))
    }

    /// The path along `positions`.
    pub fn along(positions: &[Position]) -> PositionPath {
        let mut path = PositionPath::default();
        positions.iter().for_each(|position| path.push(position));
        path
    }

    /// Makes the current position the root of a search in `mode`.
    pub fn begin_search(&mut self, mode: PathHash) {
        self.mode = mode;
        let Some(root) = self.entries.len().checked_sub(1) else { return };
        self.root = root;
        let stretch = self.root - usize::from(self.entries[self.root].reversible)..=self.root;
        let sum = |wanted: &dyn Fn(&PathEntry) -> bool| {
            let chosen = stretch.clone().filter(|&index| wanted(&self.entries[index]));
            chosen.fold(0u64, |sum, index| sum.wrapping_add(mixed(self.keys[index])))
        };
        let twice = sum(&|entry| entry.occurrences == 2);
        let seen = if mode.part() == PathPart::All { sum(&|_| true) } else { 0 };
        let last = &mut self.entries[self.root];
        (last.twice, last.seen, last.taint) = (twice, seen, TaintOrigin::NONE);
    }

    /// Appends the position after a move.
    pub fn push(&mut self, position: &Position) {
        match self.entries.last() {
            Some(&last) if position.halfmoves() > 0 => self.append(position, Some(&last)),
            _ => self.append(position, None),
        }
    }

    /// Appends the position after a null move: nothing before it can be repeated.
    pub fn push_null(&mut self, position: &Position) {
        self.append(position, None);
    }

    /// Appends a position. It may repeat the same positions as its predecessor `before`, or none without one.
    fn append(&mut self, position: &Position, before: Option<&PathEntry>) {
        let key = position.repetition_key();
        let mixed = mixed(key);
        let mut entry = PathEntry {
            twice: 0,
            seen: mixed,
            reversible: 0,
            back: 0,
            occurrences: 1,
            clock: position.halfmoves().min(100) as u16,
            taint: TaintOrigin::NONE,
            last_child: TaintOrigin::NONE,
        };
        if let Some(before) = before {
            entry.reversible = before.reversible.saturating_add(1);
            entry.twice = before.twice;
            entry.seen = before.seen.wrapping_add(mixed);
            let here = self.keys.len();
            for back in (4..=usize::from(entry.reversible).min(here)).step_by(2) {
                if self.keys[here - back] == key {
                    entry.back = back as u16;
                    entry.occurrences = self.entries[here - back].occurrences.saturating_add(1);
                    break;
                }
            }
        }
        self.keys.push(key);
        self.entries.push(entry);
    }

    /// Removes the last position; its parent inherits the taint.
    pub fn pop(&mut self) {
        self.keys.pop();
        let Some(left) = self.entries.pop() else { return };
        if let Some(last) = self.entries.last_mut() {
            last.last_child = left.taint;
            last.taint = last.taint.earlier(left.taint);
        }
    }

    /// Drops the positions that can never be repeated, so that the path of a long game stays short.
    pub fn trim(&mut self) {
        let keep = self.entries.last().map_or(0, |entry| usize::from(entry.reversible) + 1);
        let excess = self.entries.len().saturating_sub(keep);
        self.entries.drain(..excess);
        self.keys.drain(..excess);
    }

    /// Is the current position, `ply` plies from the root, a draw by repetition? If so, returns how many plies ago it
    /// occurred last.
    pub fn repetition(&self, ply: Ply) -> Option<usize> {
        let last = self.entries.last()?;
        let back = usize::from(last.back);
        (back > 0 && (back < ply.index() || last.occurrences > 2)).then_some(back)
    }

    /// Has a position that can still be repeated occurred twice in the game? Then its third occurrence is a draw, and a
    /// score found here may not be valid in other games.
    pub fn has_repeated(&self) -> bool {
        let Some(last) = self.entries.last() else { return false };
        let first = self.entries.len().saturating_sub(usize::from(last.reversible) + 1);
        self.entries[first..].iter().any(|entry| entry.occurrences > 1)
    }

    /// May a draw be near in `position`, which a move from the current one leads to: has it occurred before, or is the game
    /// drawn by the fifty-move rule after one more quiet move?
    pub fn is_near_draw(&mut self, position: &Position) -> bool {
        self.push(position);
        let repeats = self.occurrences() > 1;
        self.pop();
        repeats || position.halfmoves() >= 99
    }

    /// How often the current position has occurred, this time included.
    pub fn occurrences(&self) -> usize {
        self.entries.last().map_or(0, |entry| usize::from(entry.occurrences))
    }

    /// Is `position`, the current one, a draw: by stalemate, repetition, the fifty-move counter or insufficient material?
    pub fn is_draw(&self, position: &Position) -> bool {
        if !position.has_legal_move() {
            return !position.in_check();
        }
        self.occurrences() >= 3 || position.halfmoves() >= 100 || position.is_insufficient_material()
    }

    /// The result by the rules, if the game is over in `position`, the current one.
    pub fn result(&self, position: &Position) -> Option<KnownOutcome> {
        if position.chess().is_checkmate() {
            return Some(KnownOutcome::Decisive { winner: !position.turn() });
        }
        self.is_draw(position).then_some(KnownOutcome::Draw)
    }

    /// Can the next move, `ply` plies from the root, draw by repeating an earlier position? If so, returns how many
    /// plies ago it occurred. See `cuckoo.rs`.
    pub fn upcoming_repetition(&self, position: &Position, ply: Ply) -> Option<usize> {
        let (last, here) = (self.entries.last()?, self.keys.len() - 1);
        let key = self.keys[here];
        let reach = usize::from(last.reversible).min(here);
        if reach < 3 {
            return None;
        }
        // The opponent's moves must cancel out: the XOR of their changes of the key.
        let mut theirs = key ^ self.keys[here - 1].0;
        for back in (3..=reach).step_by(2) {
            let earlier = here - back;
            theirs ^= self.keys[earlier + 1].0 ^ self.keys[earlier].0;
            let draws = back < ply.index() || self.entries[earlier].occurrences > 1;
            if draws
                && theirs.0 == cuckoo::turn_difference(back.div_ceil(2))
                && cuckoo::has_reversible_move(position, key ^ self.keys[earlier].0)
            {
                return Some(back);
            }
        }
        None
    }

    /// The current result depends on the position `back` plies before: its repetition was scored as a draw.
    pub fn taint_by_repetition(&mut self, back: usize) {
        let here = self.entries.len() - 1;
        let earlier = here - back.min(here);
        // In this mode the positions that occurred twice in the game are part of the key, so they need no taint.
        if self.mode.part() != PathPart::SeenTwice || earlier > self.root {
            let taint = &mut self.entries[here].taint;
            taint.repetition = taint.repetition.min(earlier as u32);
        }
    }

    /// The current result depends on all moves that the fifty-move counter has counted.
    pub fn taint_by_counter(&mut self) {
        let here = self.entries.len() - 1;
        let start = here - usize::from(self.entries[here].clock).min(here);
        self.entries[here].taint.counter = start as u32;
    }

    /// The current result is a tainted one from a table: it depends on a position at most `back` plies before, or
    /// (`None`) on any that can still be repeated.
    pub fn taint_by_stored(&mut self, back: Option<usize>) {
        let here = self.entries.len() - 1;
        let taint = &mut self.entries[here].taint;
        if let Some(back) = back {
            taint.repetition = taint.repetition.min((here - back.min(here)) as u32);
        } else {
            let start = here - usize::from(self.entries[here].reversible).min(here);
            self.entries[here].taint.repetition = start as u32;
            self.taint_by_counter();
        }
    }

    /// The last child alone decides the current result (it caused a cutoff): the taint of its siblings is dropped.
    pub fn keep_last_child_taint(&mut self) {
        if let Some(last) = self.entries.last_mut() {
            last.taint = last.last_child;
        }
    }

    /// The current result depends on no draw.
    pub fn clear_taint(&mut self) {
        if let Some(last) = self.entries.last_mut() {
            last.taint = TaintOrigin::NONE;
        }
    }

    /// How many plies ago the position occurred on whose repetition the results below the current one depend, if any.
    pub fn repetition_taint(&self) -> Option<usize> {
        let here = self.entries.len().saturating_sub(1);
        let earliest = self.entries.last()?.taint.repetition as usize;
        (earliest < here).then(|| here - earliest)
    }

    /// Do the results below depend on the fifty-move counter as it was before the current position?
    pub fn has_counter_taint(&self) -> bool {
        let here = self.entries.len().saturating_sub(1);
        self.entries.last().is_some_and(|entry| (entry.taint.counter as usize) < here)
    }

    /// Does the current result depend on the path?
    pub fn is_tainted(&self) -> bool {
        self.repetition_taint().is_some() || self.has_counter_taint()
    }

    /// The mode of the search.
    pub fn mode(&self) -> PathHash {
        self.mode
    }

    /// The fifty-move clock, at most 100.
    pub fn clock(&self) -> u16 {
        self.entries.last().map_or(0, |entry| entry.clock)
    }

    /// The part of the path on which every score depends in this mode.
    pub fn key(&self) -> PathKey {
        let Some(last) = self.entries.last() else { return PathKey::default() };
        // Only the high bits of a key are stored, so the clock must reach them.
        let clock = spread(u64::from(last.clock));
        let bits = match self.mode.part() {
            PathPart::None => 0,
            PathPart::Is80 => u64::from(last.clock >= 80) << 63,
            PathPart::From80 => {
                if last.clock >= 80 {
                    clock
                } else {
                    0
                }
            }
            PathPart::SeenTwice => last.twice,
            PathPart::LastMoves => self.last_moves(4),
            PathPart::All => last.seen ^ clock,
        };
        PathKey(bits)
    }

    /// The set of positions whose next occurrence is a draw: everything on the path on which a repetition can depend.
    pub fn drawing_key(&self) -> PathKey {
        PathKey(self.entries.last().map_or(0, |last| last.seen.wrapping_add(last.twice.rotate_left(1))))
    }

    /// The set of positions of the last `back` plies and the current one, if they all belong to the search and can
    /// all be repeated.
    pub fn recent_key(&self, back: usize) -> Option<PathKey> {
        let last = self.entries.last()?;
        let first = (self.entries.len() - 1).checked_sub(back).filter(|&first| first > self.root)?;
        let reversible = usize::from(last.reversible);
        let before = if back < reversible { self.entries[first - 1].seen } else { 0 };
        (back <= reversible).then(|| PathKey(last.seen.wrapping_sub(before)))
    }

    /// A hash of the last `count` moves in order, or of fewer if there are not so many.
    fn last_moves(&self, count: usize) -> u64 {
        let from = self.keys.len().saturating_sub(count + 1);
        self.keys[from..]
            .windows(2)
            .fold(0, |hash: u64, pair| hash.rotate_left(7) ^ mixed(pair[0] ^ pair[1].0))
    }
}
