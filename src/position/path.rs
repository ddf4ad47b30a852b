//! The line of positions from the last irreversible move to the present one.
//!
//! A repetition inside the search is a draw at once: if one side could force the position again, it can
//! force it a third time. A repetition of a position of the *game* is a draw only when it is the third
//! occurrence, since the opponent has shown once already that he may deviate.
//!
//! The path also knows, for every position on it, the earliest position on which the results found below
//! have come to rest (see [`PathHash`], *taint*), and keeps the keys that the modes compare up to date.

use super::{PathHash, PathPart, Position, cuckoo};
use crate::types::{PathKey, Ply, PositionKey};

/// How the present position repeats an earlier one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// The earlier occurrence lies inside the search.
    InSearch,
    /// Two earlier occurrences, the nearer of them in the game.
    InGame,
}

/// The earliest positions of the path, by index, that results below a node depend on.
#[derive(Copy, Clone, Debug)]
struct Rests {
    /// Because a repetition of it was called a draw.
    repetition: u32,
    /// Because the fifty-move counter began to run there and was met.
    counter: u32,
}

impl Rests {
    const NOWHERE: Rests = Rests { repetition: u32::MAX, counter: u32::MAX };

    fn earlier(self, other: Rests) -> Rests {
        Rests { repetition: self.repetition.min(other.repetition), counter: self.counter.min(other.counter) }
    }
}

#[derive(Copy, Clone, Debug)]
struct Step {
    /// Positions since the last irreversible move that the game has seen twice, as a sum of their hashes.
    twice: u64,
    /// Positions of the search since the last irreversible move (in mode `full`: of the game as well).
    seen: u64,
    /// How many plies back a repetition may lie: none across a capture, pawn move or null move.
    reversible: u16,
    /// Plies back to the same position, 0 if it is new.
    back: u16,
    /// How often the position has occurred, this time included.
    occurrences: u16,
    /// The fifty-move clock.
    clock: u16,
    /// What the results found below this position rest on.
    rests: Rests,
    /// The same of the child left last.
    last_child: Rests,
}

/// The positions of game and search, oldest first, the present one last.
#[derive(Clone, Debug, Default)]
pub struct Path {
    /// Apart from the steps, so that looking back touches few cache lines.
    keys: Vec<PositionKey>,
    steps: Vec<Step>,
    /// Index of the root of the search.
    root: usize,
    mode: PathHash,
}

/// Spreads a key, so that sums of keys are as good as the keys.
fn spread(key: PositionKey) -> u64 {
    let product = (key.0 ^ key.0 >> 31).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    product ^ product >> 32
}

impl Path {
    /// A path that starts (and stands) at `position`.
    pub fn new(position: &Position) -> Path {
        let mut path = Path::default();
        path.push(position);
        path
    }

    /// The present position becomes the root of a search in `mode`: what follows belongs to it.
    pub fn begin_search(&mut self, mode: PathHash) {
        self.mode = mode;
        let Some(root) = self.steps.len().checked_sub(1) else { return };
        self.root = root;
        let stretch = self.root - usize::from(self.steps[self.root].reversible)..=self.root;
        let sum = |wanted: &dyn Fn(&Step) -> bool| {
            let chosen = stretch.clone().filter(|&index| wanted(&self.steps[index]));
            chosen.fold(0u64, |sum, index| sum.wrapping_add(spread(self.keys[index])))
        };
        let twice = sum(&|step| step.occurrences == 2);
        let seen = if mode.part() == PathPart::All { sum(&|_| true) } else { 0 };
        let last = &mut self.steps[self.root];
        (last.twice, last.seen, last.rests) = (twice, seen, Rests::NOWHERE);
    }

    /// Appends the position after a move.
    pub fn push(&mut self, position: &Position) {
        match self.steps.last() {
            Some(&last) if position.halfmoves() > 0 => self.append(position, Some(&last)),
            _ => self.append(position, None),
        }
    }

    /// Appends the position after a null move: nothing before it can be repeated.
    pub fn push_null(&mut self, position: &Position) {
        self.append(position, None);
    }

    /// Appends a position that can go back to what `before` can, or to nothing.
    fn append(&mut self, position: &Position, before: Option<&Step>) {
        let key = position.repetition_key();
        let spread = spread(key);
        let mut step = Step {
            twice: 0,
            seen: spread,
            reversible: 0,
            back: 0,
            occurrences: 1,
            clock: position.halfmoves().min(100) as u16,
            rests: Rests::NOWHERE,
            last_child: Rests::NOWHERE,
        };
        if let Some(before) = before {
            step.reversible = before.reversible.saturating_add(1);
            step.twice = before.twice;
            step.seen = before.seen.wrapping_add(spread);
            let here = self.keys.len();
            for back in (4..=usize::from(step.reversible).min(here)).step_by(2) {
                if self.keys[here - back] == key {
                    step.back = back as u16;
                    step.occurrences = self.steps[here - back].occurrences.saturating_add(1);
                    break;
                }
            }
        }
        self.keys.push(key);
        self.steps.push(step);
    }

    /// Takes the last position back; what was found there rests on what it rested on.
    pub fn pop(&mut self) {
        self.keys.pop();
        let Some(left) = self.steps.pop() else { return };
        if let Some(last) = self.steps.last_mut() {
            last.last_child = left.rests;
            last.rests = last.rests.earlier(left.rests);
        }
    }

    /// Forgets positions that can never be repeated, keeping the game's path short.
    pub fn trim(&mut self) {
        let keep = self.steps.last().map_or(0, |step| usize::from(step.reversible) + 1);
        let excess = self.steps.len().saturating_sub(keep);
        self.steps.drain(..excess);
        self.keys.drain(..excess);
    }

    /// Does the present position, `ply` plies from the root, repeat an earlier one in a way that draws?
    pub fn repetition(&self, ply: Ply) -> Option<Repetition> {
        let last = self.steps.last()?;
        if last.back == 0 {
            None
        } else if usize::from(last.back) < ply.index() {
            Some(Repetition::InSearch)
        } else {
            (last.occurrences > 2).then_some(Repetition::InGame)
        }
    }

    /// Has a position that can still be repeated occurred twice? Then what follows is not what it would be in
    /// another game: a third time is a draw.
    pub fn has_repeated(&self) -> bool {
        let Some(last) = self.steps.last() else { return false };
        let first = self.steps.len().saturating_sub(usize::from(last.reversible) + 1);
        self.steps[first..].iter().any(|step| step.occurrences > 1)
    }

    /// How often the present position has occurred, this time included.
    pub fn occurrences(&self) -> usize {
        self.steps.last().map_or(0, |step| usize::from(step.occurrences))
    }

    /// Can the side to move, `ply` plies from the root, repeat an earlier position with a draw by its next
    /// move? How many plies back it lies from here. See `cuckoo.rs`.
    pub fn upcoming_repetition(&self, position: &Position, ply: Ply) -> Option<usize> {
        let (last, here) = (self.steps.last()?, self.keys.len() - 1);
        let key = self.keys[here];
        let reach = usize::from(last.reversible).min(here);
        if reach < 3 {
            return None;
        }
        // The moves of the side not to move must cancel out: XOR of what each of them changed.
        let mut theirs = key ^ self.keys[here - 1].0;
        for back in (3..=reach).step_by(2) {
            let earlier = here - back;
            theirs ^= self.keys[earlier + 1].0 ^ self.keys[earlier].0;
            let draws = back < ply.index() || self.steps[earlier].occurrences > 1;
            if draws
                && theirs.0 == cuckoo::passes(back.div_ceil(2))
                && cuckoo::connects(position, key ^ self.keys[earlier].0)
            {
                return Some(back);
            }
        }
        None
    }

    /// The present result rests on the position `back` plies before: its repetition was called a draw.
    pub fn taint_by_repetition(&mut self, back: usize) {
        let here = self.steps.len() - 1;
        let earlier = here - back.min(here);
        // What the game has seen is part of the key in this mode, so that nothing need be said of it.
        if self.mode.part() != PathPart::SeenTwice || earlier > self.root {
            self.steps[here].rests.repetition = self.steps[here].rests.repetition.min(earlier as u32);
        }
    }

    /// How many plies before the present position the same one occurred.
    pub fn repetition_distance(&self) -> usize {
        self.steps.last().map_or(0, |step| usize::from(step.back))
    }

    /// The present result rests on the whole stretch of moves that the fifty-move counter has counted.
    pub fn taint_by_counter(&mut self) {
        let here = self.steps.len() - 1;
        let start = here - usize::from(self.steps[here].clock).min(here);
        self.steps[here].rests.counter = start as u32;
    }

    /// The present result is a tainted one from a table: it rests on a position at most `back` plies
    /// before, or on any that can still repeat.
    pub fn taint_by_stored(&mut self, back: Option<usize>) {
        let here = self.steps.len() - 1;
        let rests = &mut self.steps[here].rests;
        if let Some(back) = back {
            rests.repetition = rests.repetition.min((here - back.min(here)) as u32);
        } else {
            let start = here - usize::from(self.steps[here].reversible).min(here);
            self.steps[here].rests.repetition = start as u32;
            self.taint_by_counter();
        }
    }

    /// The child left last alone decides the present result: whatever its siblings rested on is forgotten.
    pub fn keep_last_child_taint(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.rests = last.last_child;
        }
    }

    /// The present result, whatever was met on the way to it, rests on no draw.
    pub fn clear_taint(&mut self) {
        if let Some(last) = self.steps.last_mut() {
            last.rests = Rests::NOWHERE;
        }
    }

    /// If what was found below the present position rests on a repetition of a position before it: how many
    /// plies before.
    pub fn repetition_taint(&self) -> Option<usize> {
        let here = self.steps.len().saturating_sub(1);
        let earliest = self.steps.last()?.rests.repetition as usize;
        (earliest < here).then(|| here - earliest)
    }

    /// Was the fifty-move counter met below, counted from before the present position?
    pub fn has_counter_taint(&self) -> bool {
        let here = self.steps.len().saturating_sub(1);
        self.steps.last().is_some_and(|step| (step.rests.counter as usize) < here)
    }

    /// The mode of the search.
    pub fn mode(&self) -> PathHash {
        self.mode
    }

    /// The fifty-move clock, at most 100.
    pub fn clock(&self) -> u16 {
        self.steps.last().map_or(0, |step| step.clock)
    }

    /// The part of the path that every score depends on in the present mode.
    pub fn key(&self) -> PathKey {
        let Some(last) = self.steps.last() else { return PathKey::default() };
        // Only the high bits of a key are stored, so the clock must reach them.
        let clock = u64::from(last.clock).wrapping_mul(0x9E37_79B9_7F4A_7C15);
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

    /// The positions whose next occurrence is a draw, in any order: all of the path that a repetition can
    /// depend on.
    pub fn drawing_key(&self) -> PathKey {
        PathKey(self.steps.last().map_or(0, |last| last.seen.wrapping_add(last.twice.rotate_left(1))))
    }

    /// The positions of the last `back` plies and the present one, in any order, if they all belong to the
    /// search and can all repeat.
    pub fn recent_key(&self, back: usize) -> Option<PathKey> {
        let last = self.steps.last()?;
        let first = (self.steps.len() - 1).checked_sub(back).filter(|&first| first > self.root)?;
        let reversible = usize::from(last.reversible);
        let before = if back < reversible { self.steps[first - 1].seen } else { 0 };
        (back <= reversible).then(|| PathKey(last.seen.wrapping_sub(before)))
    }

    /// The last `count` moves in their order, fewer if there are not as many.
    fn last_moves(&self, count: usize) -> u64 {
        let from = self.keys.len().saturating_sub(count + 1);
        self.keys[from..]
            .windows(2)
            .fold(0, |hash: u64, pair| hash.rotate_left(7) ^ spread(pair[0] ^ pair[1].0))
    }
}
