//! Root moves that the learning file prefers or avoids: moves that a person advised, and moves whose games were won
//! or lost.
//!
//! A preference influences the choice of the move, but is no part of any score. Root moves are compared by score plus
//! preference: the window of each move is shifted by its preference, which the search below it does not see, and only
//! the score is printed, learned and stored. Proven results are compared without preference.

use shakmaty::Move;

use super::{node_state::Window, params::*};
use crate::types::{Depth, Score};

/// Why a root move is preferred.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Preference {
    /// A person advised it.
    Advised,
    /// The outcome of its games, in thousandths of a win; negative if they were lost.
    Outcome(i32),
    /// A search to this depth found it best.
    Studied(Depth),
}

impl Preference {
    /// The bonus in the comparison of root moves at `depth`, in internal units.
    pub fn worth(self, depth: Depth) -> i32 {
        let centipawns = match self {
            Preference::Advised => advice_margin(),
            Preference::Outcome(share) => {
                let shallower = (outcome_depth() - depth.get()).max(0);
                let margin = match share > 0 {
                    true => (outcome_margin() + won_step() * shallower).min(won_max()),
                    false => outcome_margin() + lost_step() * shallower,
                };
                share * margin / 1000
            }
            Preference::Studied(studied) => deeper_bonus(studied, depth).clamp(0, studied_max()),
        };
        Score::from_centipawns(centipawns).0
    }

    /// Does it rest on a search that one of `depth` so far will not come near to?
    pub fn is_far_deeper(self, depth: Depth) -> bool {
        matches!(self, Preference::Studied(studied) if deeper_bonus(studied, depth) >= studied_max())
    }
}

/// What a search to `studied` counts beside one to `depth`, in printed centipawns; without limit.
fn deeper_bonus(studied: Depth, depth: Depth) -> i32 {
    studied_step() * (studied.get() - depth.get())
}

/// The preferences for the moves of a root.
#[derive(Clone, Debug, Default)]
pub struct Preferences(pub Vec<(Move, Preference)>);

impl Preferences {
    /// Is no move preferred?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The preference for `m`.
    pub fn of(&self, m: Move) -> Option<Preference> {
        self.0.iter().find(|(own, _)| *own == m).map(|&(_, preference)| preference)
    }

    /// By how much the best score of the root may exceed that of the chosen move `m`, searched to `depth`.
    pub fn slack(&self, m: Move, depth: Depth) -> i32 {
        self.of(m).map_or(0, |preference| preference.worth(depth)) - self.least(depth)
    }

    /// The smallest worth of a preference; at most 0.
    pub fn least(&self, depth: Depth) -> i32 {
        self.0.iter().map(|(_, preference)| preference.worth(depth)).min().unwrap_or(0).min(0)
    }
}

/// A score plus the worth of the preference for its move; a proven result is returned unchanged.
pub fn preferred(score: Score, worth: i32) -> Score {
    let is_evaluation = score.0.abs() <= Score::MAX_EVALUATION.0;
    if is_evaluation { (score + worth).clamp_evaluation() } else { score }
}

impl Window {
    /// The window of the search below a root move that is preferred by `worth`.
    pub fn below_preferred(self, worth: i32) -> Window {
        Window { alpha: preferred(self.alpha, -worth), beta: preferred(self.beta, -worth) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn a_shifted_window_asks_what_the_comparison_asks() {
        let mate = Score::mate_in(Ply(5));
        let evaluations = (-900..=900).step_by(60).map(Score);
        let scores: Vec<Score> = evaluations.chain([mate, -mate]).collect();
        for worth in [-400, -1, 0, 1, 400] {
            for &alpha in &scores {
                let window = Window { alpha, beta: Score::INFINITE }.below_preferred(worth);
                assert_eq!(window.beta, Score::INFINITE);
                for &score in &scores {
                    assert_eq!(preferred(score, worth) > alpha, score > window.alpha, "{score:?} {worth}");
                }
            }
        }
    }

    #[test]
    fn only_a_far_deeper_search_leaves_nothing_to_choose() {
        let studied = Preference::Studied(Depth(20));
        assert!(studied.is_far_deeper(Depth(14)) && !studied.is_far_deeper(Depth(15)));
        assert!(!Preference::Outcome(1000).is_far_deeper(Depth(1)));
    }

    #[test]
    fn what_games_came_to_counts_less_in_deeper_searches() {
        let worth = |share, depth| Preference::Outcome(share).worth(Depth(depth));
        assert!(worth(1000, 6) > worth(1000, 8) && worth(1000, 8) > worth(1000, 10));
        assert_eq!(worth(1000, 10), worth(1000, 30));
        assert_eq!(worth(-500, 12), -worth(500, 12));
        assert!(worth(1000, 6) <= Score::from_centipawns(100).0, "a won game with a blunder is not repeated");
    }
}
