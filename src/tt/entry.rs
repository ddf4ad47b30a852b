//! One entry of the table: its layout, and how a torn entry is recognised.
//!
//! ```text
//! w0   63           32 31       16 15            0
//!      | position check | move      | evaluation  |
//! w1   63        48 47     32 31     16 15    8 7   6      5     4        0
//!      | path check | lower   | upper   | depth | pv learned taint generation |
//! ```
//! Stored are `w0 ^ mix(w1)` and `w1`: if two threads write the same slot at once, the words of different writers do
//! not match and the position check fails. The depth is stored plus [`DEPTH_OFFSET`], so that a zeroed slot is empty.

use super::{
    path_check::{PathCheck, Taint},
    score_window::ScoreWindow,
};
use crate::{
    position::PositionPath,
    types::{Depth, MAX_PLY, PackedMove, Ply, PositionKey, Score, mix},
};

const DEPTH_OFFSET: i32 = 1;
const PV_BIT: u64 = 1 << 7;
/// The entry comes from the learning file.
pub(super) const LEARNED_BIT: u64 = 1 << 6;
/// The score depends on a repetition or on the fifty-move counter: it is valid only on the stored path.
const TAINT_BIT: u64 = 1 << 5;
/// Generations wrap around within five bits.
pub const GENERATIONS: u64 = 32;
/// Stored where there is no static evaluation (the node was in check).
const NO_EVALUATION: i16 = i16::MIN;

/// What a search stores about a node.
#[derive(Copy, Clone, Debug, Default)]
pub struct NodeResult {
    /// The best move; none if no move raised alpha.
    pub best: PackedMove,
    /// The evaluation before any correction; none in check.
    pub raw_eval: Option<Score>,
    /// The bounds found; mates are counted from the root, and stored relative to the node by [`Score::to_tt`] with
    /// `ply`.
    pub window: ScoreWindow,
    /// Remaining depth of the search.
    pub depth: Depth,
    /// Was this a node of a principal variation?
    pub was_pv: bool,
    /// The path on which it was found, and what on that path the score depends on.
    pub path: PathCheck,
    /// Distance of the node from the root.
    pub ply: Ply,
}

/// The entry that a probe found. Move and evaluation hold for the position; the score only if the path check allows it.
#[derive(Copy, Clone, Debug)]
pub struct Hit {
    /// The best move known. It may belong to another position (a key collision), so it is checked for legality.
    pub best: PackedMove,
    /// The evaluation before any correction.
    pub raw_eval: Option<Score>,
    /// Remaining depth of the search that stored it.
    pub depth: Depth,
    /// Was it a node of a principal variation?
    pub was_pv: bool,
    /// Does it come from the learning file? Then it has no evaluation and another path check.
    pub learned: bool,
    pub(super) path: PathCheck,
    lower: i16,
    upper: i16,
}

impl Hit {
    /// The bounds of the score, if they are also valid at the end of `path`, `ply` plies from the root.
    pub fn window(&self, path: &PositionPath, ply: Ply) -> Option<ScoreWindow> {
        let window = self.window_on_any_path(ply);
        let is_valid = if self.learned {
            self.path.is_valid_learned_on(path, self.depth, window, ply)
        } else {
            self.path.is_valid_on(path, self.depth, window, ply)
        };
        is_valid.then_some(window)
    }

    fn window_on_any_path(&self, ply: Ply) -> ScoreWindow {
        ScoreWindow { lower: Score::from_tt(self.lower, ply), upper: Score::from_tt(self.upper, ply) }
    }

    /// The result of a root, to be stored elsewhere.
    pub fn to_root_result(self) -> NodeResult {
        let ply = Ply::ROOT;
        NodeResult {
            best: self.best,
            raw_eval: self.raw_eval,
            window: self.window_on_any_path(ply),
            depth: self.depth,
            was_pv: self.was_pv,
            path: self.path,
            ply,
        }
    }

    /// Does the score depend on a repetition or on the fifty-move counter?
    pub fn taint(&self) -> Option<Taint> {
        self.path.taint()
    }
}

/// The two words of an entry, not yet mixed with each other. Replacement reads its fields from here.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Packed {
    pub w0: u64,
    pub w1: u64,
}

impl Packed {
    pub(super) const EMPTY: Packed = Packed { w0: 0, w1: 0 };

    pub(super) fn from_stored(first: u64, second: u64) -> Packed {
        Packed { w0: first ^ mix(second), w1: second }
    }

    pub(super) fn to_stored(self) -> (u64, u64) {
        (self.w0 ^ mix(self.w1), self.w1)
    }

    pub(super) fn is_empty(self) -> bool {
        self.w1 & 0xFF00 == 0
    }

    pub(super) fn matches(self, key: PositionKey) -> bool {
        self.w0 >> 32 == key.0 & 0xFFFF_FFFF && !self.is_empty()
    }

    pub(super) fn depth(self) -> Depth {
        Depth((self.w1 >> 8 & 0xFF) as i32 - DEPTH_OFFSET)
    }

    pub(super) fn generation(self) -> u64 {
        self.w1 & (GENERATIONS - 1)
    }

    /// Searches begun since it was stored: 0 for an entry of the running search, 1 for a learned one inserted for it.
    pub(super) fn age(self, generation: u64) -> u64 {
        (generation + GENERATIONS - self.generation()) % GENERATIONS
    }

    /// Is it protected from a result of `depth`? A deeper learned entry is, for one search.
    pub(super) fn is_protected(self, depth: Depth, generation: u64) -> bool {
        self.is_learned() && depth < self.depth() && self.age(generation) <= 1
    }

    pub(super) fn with_generation(self, generation: u64) -> Packed {
        Packed { w1: self.w1 & !(GENERATIONS - 1) | generation, ..self }
    }

    pub(super) fn as_learned(self) -> Packed {
        Packed { w1: self.w1 | LEARNED_BIT, ..self }
    }

    fn bounds(self) -> (i16, i16) {
        ((self.w1 >> 32) as i16, (self.w1 >> 16) as i16)
    }

    pub(super) fn is_exact(self) -> bool {
        let (lower, upper) = self.bounds();
        lower == upper
    }

    /// Does it have a bound of the score, without a taint?
    pub(super) fn is_clean(self) -> bool {
        let (lower, upper) = self.bounds();
        let open = lower <= -Score::INFINITE.0 as i16 && upper >= Score::INFINITE.0 as i16;
        !open && self.w1 & TAINT_BIT == 0
    }

    pub(super) fn same_path(self, other: Packed) -> bool {
        self.path() == other.path()
    }

    pub(super) fn was_pv(self) -> bool {
        self.w1 & PV_BIT != 0
    }

    pub(super) fn is_learned(self) -> bool {
        self.w1 & LEARNED_BIT != 0
    }

    pub(super) fn path(self) -> PathCheck {
        PathCheck::from_bits((self.w1 >> 48) as u16, self.w1 & TAINT_BIT != 0)
    }

    pub(super) fn unpack(self) -> Hit {
        let (lower, upper) = self.bounds();
        let evaluation = self.w0 as i16;
        Hit {
            best: PackedMove::from_bits((self.w0 >> 16) as u16),
            raw_eval: (evaluation != NO_EVALUATION).then(|| Score(i32::from(evaluation)).clamp_evaluation()),
            depth: self.depth(),
            was_pv: self.was_pv(),
            learned: self.is_learned(),
            path: self.path(),
            lower,
            upper,
        }
    }

    /// Packs `result`; `old` is the entry of the same position that it replaces, if there is one. The old move is
    /// kept if the result has none. The old bounds are kept if depth and path are the same and they do not contradict
    /// the new ones, except those of a learned entry, which were widened and come from no search of this process.
    pub(super) fn pack(
        key: PositionKey,
        result: &NodeResult,
        old: Option<Packed>,
        generation: u64,
    ) -> Packed {
        let mut best = result.best;
        let (mut lower, mut upper) =
            (result.window.lower.to_tt(result.ply), result.window.upper.to_tt(result.ply));
        if let Some(old) = old {
            let known = old.unpack();
            if best.is_none() {
                best = known.best;
            }
            if known.depth == result.depth && known.path == result.path && !known.learned {
                if !result.window.has_lower() && known.lower <= upper {
                    lower = known.lower;
                }
                if !result.window.has_upper() && known.upper >= lower {
                    upper = known.upper;
                }
            }
        }
        let evaluation = result.raw_eval.map_or(NO_EVALUATION, |score| score.0 as i16);
        let depth = (result.depth.get().clamp(0, MAX_PLY as i32) + DEPTH_OFFSET) as u64;
        Packed {
            w0: key.0 << 32 | u64::from(best.bits()) << 16 | u64::from(evaluation as u16),
            w1: u64::from(result.path.bits()) << 48
                | u64::from(lower as u16) << 32
                | u64::from(upper as u16) << 16
                | depth << 8
                | if result.was_pv { PV_BIT } else { 0 }
                | if result.path.taint().is_some() { TAINT_BIT } else { 0 }
                | generation,
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::position::{PathHash, Position, PositionPath};
    use shakmaty::uci::UciMove;

    /// A path that stands at a position with that clock, in a mode that looks at it.
    pub(in crate::tt) fn at(clock: u32) -> PositionPath {
        let mut path = PositionPath::new(&rook_ending(clock));
        path.begin_search(PathHash::Fifty);
        path
    }

    /// The path after `moves` of a game that began with the clock at 0.
    pub(in crate::tt) fn after(moves: &str, mode: PathHash) -> PositionPath {
        let mut here = rook_ending(0);
        let mut path = PositionPath::new(&here);
        for uci in moves.split(' ') {
            let uci: UciMove = uci.parse().expect("uci");
            here = here.play(uci.to_move(here.chess()).expect("legal"));
            path.push(&here);
        }
        path.begin_search(mode);
        path
    }

    fn rook_ending(clock: u32) -> Position {
        Position::from_fen(&format!("8/8/4k3/8/8/4K3/8/R7 w - - {clock} 90")).expect("legal")
    }

    fn record(window: ScoreWindow, depth: i32, clock: u32) -> NodeResult {
        NodeResult {
            best: PackedMove::from_bits(0x0123),
            raw_eval: Some(Score(-37)),
            window,
            depth: Depth(depth),
            was_pv: true,
            path: PathCheck::new(&at(clock), Depth(depth)),
            ply: Ply(3),
        }
    }

    const KEY: PositionKey = PositionKey(0x0123_4567_89AB_CDEF);

    #[test]
    fn an_entry_survives_packing() {
        let packed =
            Packed::pack(KEY, &record(ScoreWindow::exactly(Score::mate_in(Ply(9))), 17, 42), None, 31);
        let (first, second) = packed.to_stored();
        let read = Packed::from_stored(first, second);
        assert!(read == packed && read.matches(KEY) && read.generation() == 31);
        let hit = read.unpack();
        assert_eq!((hit.best.bits(), hit.raw_eval, hit.depth.get()), (0x0123, Some(Score(-37)), 17));
        let window = hit.window(&at(42), Ply(5)).expect("same clock");
        assert_eq!(window.exact(), Some(Score::mate_in(Ply(11))));
    }

    #[test]
    fn a_zeroed_slot_is_empty() {
        let empty = Packed::from_stored(0, 0);
        assert!(empty.is_empty() && !empty.matches(PositionKey(0)));
    }

    #[test]
    fn bounds_join_only_at_equal_depth_and_path() {
        let lower = Packed::pack(KEY, &record(ScoreWindow::at_least(Score(10)), 8, 0), None, 0);
        let joined = Packed::pack(KEY, &record(ScoreWindow::at_most(Score(30)), 8, 0), Some(lower), 0);
        let window = joined.unpack().window(&at(0), Ply(3)).expect("same clock");
        assert_eq!((window.lower, window.upper), (Score(10), Score(30)));
        for (other, clock) in [
            (record(ScoreWindow::at_most(Score(30)), 9, 0), 0),
            (record(ScoreWindow::at_most(Score(30)), 8, 1), 1),
            (record(ScoreWindow::at_most(Score(5)), 8, 0), 0),
        ] {
            let packed = Packed::pack(KEY, &other, Some(lower), 0);
            let window = packed.unpack().window(&at(clock), Ply(3)).expect("same clock");
            assert_eq!((window.lower, window.upper), (-Score::INFINITE, other.window.upper));
        }
    }

    #[test]
    fn scores_near_the_fifty_move_rule_need_the_same_clock() {
        let near = Packed::pack(KEY, &record(ScoreWindow::exactly(Score(0)), 30, 78), None, 0).unpack();
        assert!(near.window(&at(0), Ply(0)).is_none());
        assert!(near.window(&at(78), Ply(0)).is_some());
        let mate = record(ScoreWindow::exactly(Score::mate_in(Ply(65 + 3))), 12, 0);
        let mate = Packed::pack(KEY, &mate, None, 0).unpack();
        assert!(mate.window(&at(10), Ply(0)).is_some());
        assert!(mate.window(&at(70), Ply(0)).is_none());
    }
}
