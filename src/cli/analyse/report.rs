//! An analysed game: judgements, accuracy, critical moments.

use shakmaty::{Color, Move, Position as _};

use super::{
    accuracy::Accuracies, judge::MoveJudgement, marks::Marks, outputs::NamedOpening, pool::Finding,
    variations::Variation,
};
use crate::{
    cli::pgn::{self, Game},
    position::{Opening, Position},
    types::{Score, ScoredLine},
};

/// Maximum number of critical moments shown of a game.
const CRITICAL_MOMENTS: usize = 6;

/// A judged move.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The side that moved.
    pub side: Color,
    /// The move in standard notation.
    pub san: String,
    /// The move in UCI notation.
    pub uci: String,
    /// Score after the move, for White.
    pub score: Score,
    /// The best move, if it is another one.
    pub better: Option<Move>,
    /// Winning chances given away, in percent.
    pub loss: f64,
    /// How good or bad that is.
    pub judgement: Option<MoveJudgement>,
    /// Is the game over after it?
    pub ends: bool,
}

/// An analysed game.
#[derive(Debug)]
pub struct GameReport {
    /// The game.
    pub game: Game,
    /// Its opening, if the table names it.
    pub opening: Option<Opening>,
    /// The number of its first moves that belong to an opening.
    pub book: usize,
    /// Its positions, one more than moves.
    pub positions: Vec<Position>,
    /// The finding of each position.
    pub findings: Vec<Finding>,
    /// Its moves.
    pub moves: Vec<Judged>,
    /// White's scores before the first move and after each.
    pub scores: Vec<Score>,
    /// Accuracy of the moves.
    pub accuracies: Accuracies,
    /// Its variations.
    pub variations: Vec<Variation>,
}

impl Judged {
    /// The moves of a line.
    pub fn all(line: &Marks<'_>) -> Vec<Judged> {
        let Marks { positions, moves, findings, .. } = *line;
        let mode = positions[0].chess().castles().mode();
        let judged = |(index, &m): (usize, &Move)| Judged {
            side: positions[index].turn(),
            san: pgn::san(&positions[index], m).0,
            uci: m.to_uci(mode).to_string(),
            score: line.scores.get(index + 1).copied().unwrap_or(Score::ZERO),
            better: findings.get(index).and_then(Finding::best).filter(|&best| best != m),
            loss: line.loss(index),
            judgement: line.of(index),
            ends: !positions[index + 1].has_legal_move() || (line.is_drawn && index + 2 == positions.len()),
        };
        moves.iter().enumerate().map(judged).collect()
    }
}

impl GameReport {
    /// Judges the moves of a game, whose `positions` are one more, by the findings about these.
    pub fn new(
        game: Game,
        variations: Vec<Variation>,
        positions: Vec<Position>,
        opening: NamedOpening,
        findings: Vec<Finding>,
    ) -> GameReport {
        let NamedOpening { plies, name: opening } = opening;
        let marks = Marks::new(&positions, &game.moves, &findings, &plies);
        let moves = Judged::all(&marks);
        let (book, scores) = (marks.book, marks.scores);
        let accuracies = Accuracies::new(&scores, game.start.turn());
        GameReport { opening, book, positions, findings, moves, scores, accuracies, game, variations }
    }

    /// Accuracy of a side in percent; `None` without moves.
    pub fn accuracy(&self, side: Color) -> Option<f64> {
        self.accuracies.of(side, |_| true)
    }

    /// Number of a side's moves with this judgement.
    pub fn count(&self, side: Color, judgement: MoveJudgement) -> usize {
        self.moves.iter().filter(|m| m.side == side && m.judgement == Some(judgement)).count()
    }

    /// The inaccuracies, mistakes and blunders (by number from 0).
    pub fn bad(&self) -> Vec<usize> {
        let is_bad = |&index: &usize| self.moves[index].judgement.is_some_and(MoveJudgement::is_bad);
        (0..self.moves.len()).filter(is_bad).collect()
    }

    /// The moves (by number from 0) that gave away most, in the order of the game.
    pub fn critical(&self) -> Vec<usize> {
        let mut moves: Vec<usize> = (0..self.moves.len())
            .filter(|&index| self.moves[index].judgement >= Some(MoveJudgement::Mistake))
            .collect();
        moves.sort_by(|&a, &b| self.moves[b].loss.total_cmp(&self.moves[a].loss));
        moves.truncate(CRITICAL_MOMENTS);
        moves.sort_unstable();
        moves
    }

    /// The best line that begins with another move than the one played: the better line of a bad move.
    pub fn other_line(&self, index: usize) -> Option<&ScoredLine> {
        let played = self.game.moves[index];
        self.findings.get(index)?.lines.iter().find(|line| line.moves.first().is_some_and(|&m| m != played))
    }

    /// `ECO name`, otherwise what the tags say of it.
    pub fn opening_name(&self) -> Option<String> {
        match &self.opening {
            Some(opening) => Some(opening.to_string()),
            None => {
                let tags: Vec<&str> =
                    ["ECO", "Opening"].into_iter().filter_map(|name| self.game.tag(name)).collect();
                (!tags.is_empty()).then(|| tags.join(" "))
            }
        }
    }
}
