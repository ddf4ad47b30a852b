/// The relation of a search result to the true score of a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The true score is at most this: no move raised alpha.
    Upper,
    /// The true score is at least this: a move reached beta.
    Lower,
    /// The search window contained the score.
    Exact,
}

impl Bound {
    /// Classifies a fail-soft `score` by the window it was searched with.
    pub fn of(score: super::Score, alpha: super::Score, beta: super::Score) -> Bound {
        if score >= beta {
            Bound::Lower
        } else if score <= alpha {
            Bound::Upper
        } else {
            Bound::Exact
        }
    }
}
