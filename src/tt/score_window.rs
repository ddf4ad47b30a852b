//! The score of an entry: not one number and the kind of bound, but both bounds. A search that fails high and a later
//! one that fails low leave a window between their bounds, which causes more cutoffs than either bound alone (Slate).

use crate::types::Score;

/// The bounds of a score. An absent bound is infinite.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ScoreWindow {
    /// The score is at least this.
    pub lower: Score,
    /// The score is at most this.
    pub upper: Score,
}

impl Default for ScoreWindow {
    fn default() -> ScoreWindow {
        ScoreWindow::OPEN
    }
}

impl ScoreWindow {
    /// Nothing is known.
    pub const OPEN: ScoreWindow = ScoreWindow { lower: Score(-Score::INFINITE.0), upper: Score::INFINITE };

    /// Nothing but `score >= lower` is known.
    pub fn at_least(lower: Score) -> ScoreWindow {
        ScoreWindow { lower, ..ScoreWindow::OPEN }
    }

    /// Nothing but `score <= upper` is known.
    pub fn at_most(upper: Score) -> ScoreWindow {
        ScoreWindow { upper, ..ScoreWindow::OPEN }
    }

    /// The score is known.
    pub fn exactly(score: Score) -> ScoreWindow {
        ScoreWindow { lower: score, upper: score }
    }

    /// The score, if the window holds only one.
    pub fn exact(self) -> Option<Score> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// The result of a search with `alpha` and `beta`, if this window is enough for a cutoff.
    pub fn decides(self, alpha: Score, beta: Score) -> Option<Score> {
        if self.lower >= beta {
            Some(self.lower)
        } else if self.upper <= alpha {
            Some(self.upper)
        } else {
            self.exact()
        }
    }

    /// `eval` clamped to the window, which makes it a better estimate.
    pub fn clamp(self, eval: Score) -> Score {
        if self.lower > self.upper { eval } else { eval.clamp(self.lower, self.upper) }
    }

    pub(super) fn has_lower(self) -> bool {
        self.lower > -Score::INFINITE
    }

    pub(super) fn has_upper(self) -> bool {
        self.upper < Score::INFINITE
    }
}
