//! A move of the root with what the search knows about it.

use std::cmp::Reverse;

use shakmaty::Move;

use super::preference::{Preference, preferred};
use crate::types::{Bound, Depth, Score};

/// A root move.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// Score of this iteration; minus infinite until it raises alpha.
    pub score: Score,
    /// Score of the iteration before.
    pub previous: Score,
    /// Whether `score` is exact or a bound.
    pub bound: Bound,
    /// The iteration that found the latest score, 0 before the first.
    pub depth: Depth,
    /// The line, this move first.
    pub pv: Vec<Move>,
    /// The deepest ply of the line.
    pub seldepth: usize,
    /// Is it advised, and not yet compared with moves that are not advised?
    pub is_advised: bool,
    /// Why the learning file prefers or avoids this move, if it does.
    pub preference: Option<Preference>,
    /// What the preference adds to the score in the comparison of root moves.
    pub worth: i32,
    /// Rank among the root moves by tablebases; equal without any. Only moves of the best rank compete.
    pub rank: i32,
    /// The score that tablebases give the move, whatever is searched.
    pub tb_score: Option<Score>,
    /// Nodes spent below this move in the whole search.
    pub nodes: u64,
}

impl RootMove {
    pub fn new(m: Move) -> RootMove {
        let none = -Score::INFINITE;
        RootMove {
            score: none,
            previous: none,
            bound: Bound::Exact,
            depth: Depth::ZERO,
            pv: vec![m],
            seldepth: 0,
            is_advised: false,
            preference: None,
            worth: 0,
            rank: 0,
            tb_score: None,
            nodes: 0,
        }
    }

    /// Its score in the comparison of root moves.
    pub fn preferred_score(&self) -> Score {
        preferred(self.score, self.worth)
    }

    /// The order of root moves: best first.
    pub fn order(&self) -> Reverse<(i32, bool, Score)> {
        Reverse((self.rank, self.is_advised, self.preferred_score()))
    }

    /// The move itself.
    pub fn root_move(&self) -> Move {
        self.pv[0]
    }

    /// The score of this iteration, or of the previous one if there is none yet.
    pub fn latest_score(&self) -> Score {
        if self.has_score() { self.score } else { self.previous }
    }

    /// The score to be printed: the tablebase score if known, unless the search has found a mate.
    pub fn shown_score(&self) -> Score {
        let score = self.latest_score();
        self.tb_score.filter(|_| !score.is_mate()).unwrap_or(score)
    }

    /// Is it a win or a loss by tablebases that comes too late under the fifty-move rule, from this counter on?
    pub fn is_cursed(&self) -> bool {
        self.tb_score.is_some_and(|score| score != Score::ZERO && !score.is_decisive())
    }

    /// Has it got a score in this iteration?
    pub fn has_score(&self) -> bool {
        self.score != -Score::INFINITE
    }
}
