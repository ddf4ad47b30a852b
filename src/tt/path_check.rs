//! Whether the score of an entry may be used: does the path on which it was found fit the present one?
//!
//! ```text
//! clock   | 15 clock 9 | 8 hash of the set 0 |   modes that look at clock and depth
//! tainted | 15 reach 12 | 11 hash of the set 0 |  of them, a score that rests on a draw
//! others  | 15 path key                      0 |
//! learned | 15 clock                         0 |  in every mode; no position had occurred twice
//! ```
//! Of paths that should not match, one in 512 passes where a set is compared (only the positions that a
//! game has seen twice are), one in 4,096 where an entry is tainted, one in 65,536 where the field is a hash.

use super::ScoreWindow;
use crate::{
    position::{Path, PathPart},
    types::{Depth, FIFTY_MOVE_MARGIN, PathKey, Ply, Score},
};

const SET_BITS: u32 = 9;
/// A search this shallow sees no repetition that the upcoming-repetition test does not see.
const SHALLOW: i32 = 1;
const REACH_SHIFT: u32 = 12;
/// Reach of a taint that is further away than can be stored: all positions that can repeat.
const FAR: usize = 15;

/// What an entry keeps of the path on which its score was found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct PathCheck {
    field: u16,
    tainted: bool,
}

/// That a score rests on a repetition or on the counter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Taint(usize);

impl Taint {
    /// How many plies back from the node the positions lie on which it rests; nothing if far.
    pub fn reach(self) -> Option<usize> {
        (self.0 < FAR).then_some(self.0)
    }
}

impl PathCheck {
    /// For a result of `depth` found below the last position of `path`.
    pub fn new(path: &Path, depth: Depth) -> PathCheck {
        if !path.mode().looks_at_clock() {
            return PathCheck { field: (path.key().0 >> 48) as u16, tainted: false };
        }
        if let Some(reach) = reach_of_result(path, depth) {
            return PathCheck { field: tainted_field(path, reach, depth), tainted: true };
        }
        PathCheck { field: path.clock() << SET_BITS | set_hash(path.key()), tainted: false }
    }

    /// For a result of the learning file, found when the clock stood at `halfmoves` plies and no position that
    /// could come again had occurred twice (of others nothing is learned).
    pub(super) fn learned(halfmoves: u32) -> PathCheck {
        PathCheck { field: halfmoves.min(100) as u16, tainted: false }
    }

    /// [`PathCheck::admits`] for a check made by [`PathCheck::learned`].
    pub(super) fn admits_learned(self, path: &Path, depth: Depth, window: ScoreWindow, ply: Ply) -> bool {
        // Only in mode `draws` is the key the set of positions seen twice: it must be empty now as well.
        let same_set =
            path.mode().part() != PathPart::SeenTwice || depth <= SHALLOW || path.key() == PathKey::default();
        same_set && admits_clock(self.field, path, depth, window, ply)
    }

    pub(super) fn from_bits(field: u16, tainted: bool) -> PathCheck {
        PathCheck { field, tainted }
    }

    pub(super) fn bits(self) -> u16 {
        self.field
    }

    pub(super) fn taint(self) -> Option<Taint> {
        self.tainted.then_some(Taint(usize::from(self.field >> REACH_SHIFT)))
    }

    /// Is a score of `depth` that was stored with this check true at the end of `path`, `ply` plies from
    /// the root?
    pub(super) fn admits(self, path: &Path, depth: Depth, window: ScoreWindow, ply: Ply) -> bool {
        if !path.mode().looks_at_clock() {
            return self.field == (path.key().0 >> 48) as u16;
        }
        match self.taint() {
            Some(Taint(reach)) => {
                self.field == tainted_field(path, reach, depth) && in_time(window, path, ply)
            }
            None => {
                let same_set =
                    depth <= SHALLOW || (self.field ^ set_hash(path.key())) & ((1 << SET_BITS) - 1) == 0;
                same_set && admits_clock(self.field >> SET_BITS, path, depth, window, ply)
            }
        }
    }
}

/// Does a result of `depth` found at clock `then` hold at the end of `path`? Only if neither could see the
/// counter run out, and no mate comes after it.
fn admits_clock(then: u16, path: &Path, depth: Depth, window: ScoreWindow, ply: Ply) -> bool {
    let now = path.clock();
    then == now || is_clear(depth, then.max(now)) && in_time(window, path, ply)
}

/// Does a search of `depth` from `clock` end before the counter does?
fn is_clear(depth: Depth, clock: u16) -> bool {
    depth.get().max(0) + i32::from(clock) + FIFTY_MOVE_MARGIN < 100
}

/// Do the mates of `window` come before the counter runs out?
fn in_time(window: ScoreWindow, path: &Path, ply: Ply) -> bool {
    let left = 100 - i32::from(path.clock());
    let in_time =
        |score: Score| score.mate_plies().is_none_or(|plies| plies.abs() - i32::from(ply.0) <= left);
    in_time(window.lower) && in_time(window.upper)
}

fn set_hash(key: PathKey) -> u16 {
    (key.0 >> (64 - SET_BITS)) as u16
}

/// How far back the result at the end of `path` reaches, if it rests on a draw that depends on the path. The
/// counter taints only where depth and clock do not show already that it was near.
fn reach_of_result(path: &Path, depth: Depth) -> Option<usize> {
    if path.has_counter_taint() && is_clear(depth, path.clock()) {
        return Some(FAR);
    }
    let back = path.repetition_taint()?;
    Some(if back < FAR && path.recent_key(back).is_some() { back } else { FAR })
}

/// Reach and a hash of the positions within it; the clock belongs to them if the counter is near.
fn tainted_field(path: &Path, reach: usize, depth: Depth) -> u16 {
    let near = reach == FAR || !is_clear(depth, path.clock());
    let clock = if near { u64::from(path.clock()) + 1 } else { 0 };
    let recent = if reach == FAR { Some(path.drawing_key()) } else { path.recent_key(reach) };
    // A path that is too short for the reach matches nothing that was stored with it.
    let hash = recent.map_or(0, |recent| (recent.0 ^ path.key().0.rotate_left(9) ^ clock << 1) | 1);
    (reach as u16) << REACH_SHIFT | (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) as u16
}
