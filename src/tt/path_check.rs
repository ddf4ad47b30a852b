//! Whether the score of an entry may be used: does the path on which it was found match the current one?
//!
//! ```text
//! clock   | 15 clock 9 | 8 hash of the set 0 |   modes that look at clock and depth
//! tainted | 15 reach 12 | 11 hash of the set 0 |  the same modes, a score that depends on a draw
//! others  | 15 path key                      0 |
//! learned | 15 clock                         0 |  in every mode; no position had occurred twice
//! ```
//! A path that should not match passes with a chance of one in 512 if a set is compared (the set has only positions
//! that occurred twice in the game), one in 4,096 if the entry is tainted, one in 65,536 if the whole field is a
//! hash.

use super::ScoreWindow;
use crate::{
    position::{PathPart, PositionPath},
    types::{Depth, FIFTY_MOVE_MARGIN, PathKey, Ply, Score, spread},
};

const SET_BITS: u32 = 9;
/// A search up to this depth finds no repetition that the upcoming-repetition test does not find.
const SHALLOW: i32 = 1;
const REACH_SHIFT: u32 = 12;
/// Stored for a reach that does not fit the field: the taint then depends on all positions that can repeat.
const FAR: usize = 15;

/// The part of the path on which a score was found that its entry stores.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct PathCheck {
    field: u16,
    tainted: bool,
}

/// The dependence of a score on a repetition or on the fifty-move counter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Taint(usize);

impl Taint {
    /// How many plies back from the node the positions reach on which the score depends; none if further than can be
    /// stored.
    pub fn reach(self) -> Option<usize> {
        (self.0 < FAR).then_some(self.0)
    }
}

impl PathCheck {
    /// The check of a result of `depth` found below the last position of `path`.
    pub fn new(path: &PositionPath, depth: Depth) -> PathCheck {
        if !path.mode().looks_at_clock() {
            return PathCheck { field: (path.key().0 >> 48) as u16, tainted: false };
        }
        if let Some(reach) = reach_of_result(path, depth) {
            return PathCheck { field: tainted_field(path, reach, depth), tainted: true };
        }
        PathCheck { field: path.clock() << SET_BITS | set_hash(path.key()), tainted: false }
    }

    /// The check of a result of the learning file, found with the fifty-move clock at `halfmoves` plies. No position
    /// that could be repeated had occurred twice: otherwise nothing is learned.
    pub(super) fn learned(halfmoves: u32) -> PathCheck {
        PathCheck { field: halfmoves.min(100) as u16, tainted: false }
    }

    /// [`PathCheck::is_valid_on`] for a check made by [`PathCheck::learned`].
    pub(super) fn is_valid_learned_on(
        self,
        path: &PositionPath,
        depth: Depth,
        window: ScoreWindow,
        ply: Ply,
    ) -> bool {
        // In mode `draws` the key is that of the set of positions that occurred twice, which must be empty now too.
        let same_set =
            path.mode().part() != PathPart::SeenTwice || depth <= SHALLOW || path.key() == PathKey::default();
        same_set && clock_allows(self.field, path, depth, window, ply)
    }

    pub(super) fn from_bits(field: u16, tainted: bool) -> PathCheck {
        PathCheck { field, tainted }
    }

    pub(super) fn bits(self) -> u16 {
        self.field
    }

    /// The fifty-move clock at which a score was found that rests on no draw, and 100 for others: the lower, the more
    /// paths it is valid on, if the mode looks at the clock.
    pub(super) fn clock(self) -> u16 {
        if self.tainted { 100 } else { self.field >> SET_BITS }
    }

    pub(super) fn taint(self) -> Option<Taint> {
        self.tainted.then_some(Taint(usize::from(self.field >> REACH_SHIFT)))
    }

    /// Is a score of `depth` that was stored with this check valid at the end of `path`, `ply` plies from the root?
    pub(super) fn is_valid_on(
        self,
        path: &PositionPath,
        depth: Depth,
        window: ScoreWindow,
        ply: Ply,
    ) -> bool {
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
                same_set && clock_allows(self.field >> SET_BITS, path, depth, window, ply)
            }
        }
    }
}

/// Is a result of `depth` found at clock `then` valid at the end of `path`? Only if the fifty-move counter does not run
/// out within either search, nor before a mate.
fn clock_allows(then: u16, path: &PositionPath, depth: Depth, window: ScoreWindow, ply: Ply) -> bool {
    let now = path.clock();
    then == now || is_clear(depth, then.max(now)) && in_time(window, path, ply)
}

/// Does a search of `depth` from `clock` end before the counter runs out?
fn is_clear(depth: Depth, clock: u16) -> bool {
    depth.get().max(0) + i32::from(clock) + FIFTY_MOVE_MARGIN < 100
}

/// Do the mates of `window`, and its wins by tablebases, come before the counter runs out?
fn in_time(window: ScoreWindow, path: &PositionPath, ply: Ply) -> bool {
    let left = 100 - i32::from(path.clock());
    let in_time = |score: Score| {
        let plies = score.mate_plies().map(i32::abs).or(score.tablebase_plies().map(|plies| plies as i32));
        plies.is_none_or(|plies| plies - i32::from(ply.0) <= left)
    };
    in_time(window.lower) && in_time(window.upper)
}

fn set_hash(key: PathKey) -> u16 {
    (key.0 >> (64 - SET_BITS)) as u16
}

/// How far back the result at the end of `path` depends on the path, if it depends on a draw. The fifty-move counter
/// taints a result only if depth and clock do not show already that it was near.
fn reach_of_result(path: &PositionPath, depth: Depth) -> Option<usize> {
    if path.has_counter_taint() && is_clear(depth, path.clock()) {
        return Some(FAR);
    }
    let back = path.repetition_taint()?;
    Some(if back < FAR && path.recent_key(back).is_some() { back } else { FAR })
}

/// Reach and a hash of the positions within it, with the clock if the fifty-move counter is near.
fn tainted_field(path: &PositionPath, reach: usize, depth: Depth) -> u16 {
    let near = reach == FAR || !is_clear(depth, path.clock());
    let clock = if near { u64::from(path.clock()) + 1 } else { 0 };
    let recent = if reach == FAR { Some(path.drawing_key()) } else { path.recent_key(reach) };
    // A path shorter than the reach matches no entry that was stored with that reach.
    let hash = recent.map_or(0, |recent| (recent.0 ^ path.key().0.rotate_left(9) ^ clock << 1) | 1);
    (reach as u16) << REACH_SHIFT | (spread(hash) >> 52) as u16
}
