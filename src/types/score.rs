use std::ops::{Add, Neg, Sub};

use shakmaty::Color;

use super::{MAX_PLY, Ply};

/// A score in internal units from the point of view of the side to move.
///
/// ```text
///  -MATE            -MATE_BOUND      -WIN_BOUND        0        WIN_BOUND      MATE_BOUND            MATE
///    |- mated in n plies -|- tablebase loss -|- evaluation -|- tablebase win -|- mate in n plies -|
/// ```
/// A mate in `n` plies from the root is `MATE - n`. Tables store distances from the node instead
/// ([`Score::to_tt`]), so that an entry is valid at any distance from the root.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Score(pub i32);

const MATE: i32 = 32_000;
const MATE_BOUND: i32 = MATE - MAX_PLY as i32 - 1;
const TABLEBASE_WIN: i32 = MATE_BOUND - 1;
const WIN_BOUND: i32 = TABLEBASE_WIN - MAX_PLY as i32 - 1;

impl Score {
    /// A draw.
    pub const ZERO: Score = Score(0);
    /// Larger than any score: an open window.
    pub const INFINITE: Score = Score(MATE + 1);
    /// "No score here", outside of every window.
    pub const NONE: Score = Score(MATE + 2);
    /// The largest score that an evaluation may have.
    pub const MAX_EVALUATION: Score = Score(WIN_BOUND - 1);

    /// The evaluation of a known endgame that is won by technique alone is at least this.
    pub const KNOWN_WIN: Score = Score(3000);

    /// Internal units in a printed pawn, the score that wins every second game: the only factor between the two
    /// scales. At least 100, so that every printed score has its own internal one. The margins of the search are in
    /// internal units, and the network plays best when its pawn is worth this many of them
    /// (`benches/notes/evaluation.md`). In the classical evaluation a pawn is 100 units, which is printed as 0.71.
    pub(super) const UNITS_PER_PAWN: i32 = 140;

    /// The side to move is mated `ply` plies from the root.
    pub const fn mated_in(ply: Ply) -> Score {
        Score(-MATE + ply.0 as i32)
    }

    /// The side to move mates `ply` plies from the root.
    pub const fn mate_in(ply: Ply) -> Score {
        Score(MATE - ply.0 as i32)
    }

    /// A tablebase win found `ply` plies from the root.
    pub const fn tablebase_win(ply: Ply) -> Score {
        Score(TABLEBASE_WIN - ply.0 as i32)
    }

    /// Is this a forced mate, for either side?
    pub const fn is_mate(self) -> bool {
        self.0.abs() >= MATE_BOUND && self.0.abs() <= MATE
    }

    /// Is this a proven result (mate or tablebase), for either side?
    pub const fn is_decisive(self) -> bool {
        self.0.abs() >= WIN_BOUND && self.0.abs() <= MATE
    }

    /// Is this a proven win for the side to move, or more?
    pub const fn is_win(self) -> bool {
        self.0 >= WIN_BOUND
    }

    /// Is this a proven loss for the side to move, or less (minus infinity: nothing found yet)?
    pub const fn is_loss(self) -> bool {
        self.0 <= -WIN_BOUND
    }

    /// White's score from the point of view of `color`, and the other way round.
    pub fn relative_to(self, color: Color) -> Score {
        color.fold_wb(self, -self)
    }

    /// Plies to mate, positive if the side to move mates.
    pub const fn mate_plies(self) -> Option<i32> {
        if !self.is_mate() {
            None
        } else if self.0 > 0 {
            Some(MATE - self.0)
        } else {
            Some(-MATE - self.0)
        }
    }

    /// Moves of the side that mates, as mates are printed, positive if that is the side to move.
    pub const fn mate_moves(self) -> Option<i32> {
        match self.mate_plies() {
            Some(plies) => Some((plies + plies.signum()) / 2),
            None => None,
        }
    }

    /// Plies of a tablebase win or loss to the next progress or to the first position in the tables; 0 if unknown.
    pub const fn tablebase_plies(self) -> Option<u32> {
        if self.is_decisive() && !self.is_mate() {
            Some((TABLEBASE_WIN - self.0.abs()).unsigned_abs())
        } else {
            None
        }
    }

    /// The score that is printed as so many centipawns: a tablebase result is beyond all evaluations.
    pub fn from_printed(centipawns: i32) -> Score {
        let most = Score::tablebase_win(Ply::ROOT);
        let printed = centipawns.clamp(-most.centipawns(), most.centipawns());
        Score::from_centipawns(printed).clamp(-most, most)
    }

    /// Limits a heuristic value to the range of evaluations, apart from proven scores.
    pub fn clamp_evaluation(self) -> Score {
        Score(self.0.clamp(-Score::MAX_EVALUATION.0, Score::MAX_EVALUATION.0))
    }

    /// The score as a table stores it: proven results are counted from the node at `ply` instead of from the root.
    pub const fn to_tt(self, ply: Ply) -> i16 {
        let stored = match self.is_decisive() {
            true if self.0 > 0 => self.0 + ply.0 as i32,
            true => self.0 - ply.0 as i32,
            false => self.0,
        };
        stored as i16
    }

    /// The inverse of [`Score::to_tt`].
    pub const fn from_tt(stored: i16, ply: Ply) -> Score {
        let score = Score(stored as i32);
        match score.is_decisive() {
            true if stored > 0 => Score(score.0 - ply.0 as i32),
            true => Score(score.0 + ply.0 as i32),
            false => score,
        }
    }

    /// A mate or tablebase result as it counts in the position before: a ply farther away.
    pub const fn one_ply_farther(self) -> Score {
        Score::from_tt(self.to_tt(Ply::ROOT), Ply(1))
    }

    /// As printed: centipawns on the scale where 100 is an even chance to win.
    pub const fn centipawns(self) -> i32 {
        rounded(self.0 * 100, Score::UNITS_PER_PAWN)
    }

    /// The inverse of [`Score::centipawns`].
    pub const fn from_centipawns(centipawns: i32) -> Score {
        Score(rounded(centipawns * Score::UNITS_PER_PAWN, 100))
    }
}

/// A quotient rounded to the nearest integer, halves away from zero.
const fn rounded(dividend: i32, divisor: i32) -> i32 {
    (dividend + dividend.signum() * divisor / 2) / divisor
}

impl Neg for Score {
    type Output = Score;
    fn neg(self) -> Score {
        Score(-self.0)
    }
}

impl Add<i32> for Score {
    type Output = Score;
    fn add(self, other: i32) -> Score {
        Score(self.0 + other)
    }
}

impl Sub<i32> for Score {
    type Output = Score;
    fn sub(self, other: i32) -> Score {
        Score(self.0 - other)
    }
}

impl Sub for Score {
    type Output = i32;
    fn sub(self, other: Score) -> i32 {
        self.0 - other.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_scores_survive_the_round_trip_at_every_ply() {
        for ply in (0..MAX_PLY as u16).map(Ply) {
            for score in [
                Score::ZERO,
                Score::MAX_EVALUATION,
                -Score::MAX_EVALUATION,
                Score::mate_in(ply),
                Score::mated_in(ply),
                Score::tablebase_win(ply),
                -Score::tablebase_win(ply),
            ] {
                assert_eq!(Score::from_tt(score.to_tt(ply), ply), score, "{score:?} at {ply:?}");
            }
        }
    }

    #[test]
    fn the_ranges_do_not_touch() {
        let last = Ply(MAX_PLY as u16);
        assert!(!Score::MAX_EVALUATION.is_decisive());
        assert!(Score::tablebase_win(last).is_win() && !Score::tablebase_win(Ply::ROOT).is_mate());
        assert!(Score::mate_in(last).is_mate());
        assert_eq!(Score::mated_in(Ply(4)).mate_plies(), Some(-4));
        assert_eq!((-Score::tablebase_win(Ply(7))).tablebase_plies(), Some(7));
        assert_eq!((Score::mate_in(last).tablebase_plies(), Score::ZERO.tablebase_plies()), (None, None));
        assert!(!Score::INFINITE.is_decisive() && !Score::NONE.is_mate());
    }

    #[test]
    fn printed_centipawns_are_invertible() {
        for cp in -3000..3000 {
            assert_eq!(Score::from_centipawns(cp).centipawns(), cp);
        }
    }
}
