//! What a search found: its line, its score and its iterations.

use shakmaty::{CastlingMode, Move};

use super::{Bound, ChanceModel, Depth, Score};

/// With fewer finished iterations a search is not learned from.
const MIN_ITERATIONS: usize = 2;

/// The finished iterations of one search, and the fail low in which it was stopped, if any.
#[derive(Clone, Debug, Default)]
pub struct Iterations {
    iterations: Vec<(Depth, Score)>,
    fail_low: Option<(Depth, Score)>,
    resumed: bool,
}

impl Iterations {
    /// Records that this search resumes from an earlier one of the same root, which reached `depth` and `score`.
    pub fn resumed(&mut self, depth: Depth, score: Score) {
        self.finished(depth, score);
        self.resumed = true;
    }

    /// Records that the iteration to `depth` was finished with `score`.
    pub fn finished(&mut self, depth: Depth, score: Score) {
        self.iterations.push((depth, score));
        self.fail_low = None;
    }

    /// Records that the unfinished iteration to `depth` failed low: its score is at most `score`.
    pub fn failed_low(&mut self, depth: Depth, score: Score) {
        self.fail_low = Some((depth, score));
    }

    /// Records that the iteration recovered from the fail low.
    pub fn recovered(&mut self) {
        self.fail_low = None;
    }

    /// The unfinished iteration and its upper bound, if the search was stopped in a fail low.
    pub fn fail_low(&self) -> Option<(Depth, Score)> {
        self.fail_low
    }

    /// Were enough iterations finished to learn from? A resumed search always has enough.
    pub fn are_enough(&self) -> bool {
        self.resumed || self.iterations.len() >= MIN_ITERATIONS
    }

    /// The best score of an iteration between these depths, the second excluded.
    pub fn best(&self, from: Depth, to: Depth) -> Option<Score> {
        let earlier = self.iterations.iter().filter(|(depth, _)| *depth >= from && *depth < to);
        earlier.map(|&(_, score)| score).max()
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The iterations of the main thread.
    pub iterations: Iterations,
    /// The principal variation, the move to be played first.
    pub line: Vec<Move>,
    /// The score of that line.
    pub score: Score,
    /// Whether the score is exact or a bound.
    pub bound: Bound,
    /// By how much the score of the root may be higher than that of the line, because its first move was preferred.
    pub slack: i32,
    /// The last iteration that was finished.
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    /// Was the search stopped while it was still pondering?
    pub pondering: bool,
    /// How often a learned entry caused a cutoff.
    pub learned_cutoffs: u64,
    /// Is it a win or a loss by tablebases that comes too late under the fifty-move rule, from this counter on?
    pub is_cursed: bool,
}

/// One of the lines that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScoredLine {
    /// Score for the side to move.
    pub score: Score,
    /// Is it a proven draw, by the rules or by tablebases?
    pub is_drawn: bool,
    /// The moves.
    pub moves: Vec<Move>,
}

impl ScoredLine {
    /// The chances of win, draw and loss in per mille for the side to move, with so many points of material on the board.
    pub fn wdl(&self, material: u32) -> [u16; 3] {
        ChanceModel::wdl(self.score, self.is_drawn, material)
    }

    /// The moves in UCI notation.
    pub fn uci(&self, castling: CastlingMode) -> Vec<String> {
        self.moves.iter().map(|m| m.to_uci(castling).to_string()).collect()
    }
}

impl SearchResult {
    /// The same without contempt: `draw`, the score of a draw for the side to move, becomes 0.
    pub fn without_contempt(&self, draw: Score) -> SearchResult {
        let mut result = self.clone();
        let Iterations { iterations, fail_low, .. } = &mut result.iterations;
        let scores = iterations.iter_mut().chain(fail_low).map(|(_, score)| score);
        for score in scores.chain([&mut result.score]).filter(|score| **score == draw) {
            *score = Score::ZERO;
        }
        result
    }
}
