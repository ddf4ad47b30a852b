//! An analysed game: judgements, accuracy, critical moments.

use shakmaty::{CastlingMode, Color, Move, Position as _};

use super::{
    accuracy::Accuracies,
    judge::{MoveJudgement, chances},
    pool::Finding,
};
use crate::{
    cli::{
        openings::{Opening, Openings},
        pgn::{self, Game},
    },
    position::{Path, Position},
    types::{Ply, Score},
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
    /// How bad that is.
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
    /// Plies before the last position that the table of openings names.
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
}

impl GameReport {
    /// Judges the moves of a game by the findings about its positions.
    pub fn new(game: Game, openings: &Openings, findings: Vec<Finding>) -> GameReport {
        let opening = openings.of(&game.start, &game.moves).cloned();
        let positions = game.positions();
        let book = positions.iter().rposition(|position| openings.at(position).is_some()).unwrap_or(0);
        let mut scores: Vec<Score> =
            positions.iter().zip(&findings).map(|(position, finding)| for_white(position, finding)).collect();
        let drawn = ends_in_draw(&positions);
        if let Some(last) = scores.get_mut(positions.len() - 1).filter(|_| drawn) {
            *last = Score::ZERO;
        }
        let mode = positions[0].chess().castles().mode();
        let judged = |(index, &m): (usize, &Move)| {
            let (position, side) = (&positions[index], positions[index].turn());
            let (before, after) = (scores.get(index), scores.get(index + 1));
            let best = findings.get(index).and_then(Finding::best);
            let loss = match (before, after) {
                (Some(&before), Some(&after)) if best != Some(m) => {
                    (chances(before.relative_to(side)) - chances(after.relative_to(side))).max(0.0)
                }
                _ => 0.0,
            };
            Judged {
                side,
                san: pgn::san(position, m).0,
                uci: m.to_uci(CastlingMode::from_chess960(mode.is_chess960())).to_string(),
                score: after.copied().unwrap_or(Score::ZERO),
                better: best.filter(|&best| best != m),
                loss,
                judgement: MoveJudgement::of(loss),
                ends: !positions[index + 1].has_legal_move() || (drawn && index + 2 == positions.len()),
            }
        };
        let moves = game.moves.iter().enumerate().map(judged).collect();
        let accuracies = Accuracies::new(&scores, game.start.turn());
        GameReport { opening, book, positions, findings, moves, scores, accuracies, game }
    }

    /// Accuracy of a side in percent; `None` without moves.
    pub fn accuracy(&self, side: Color) -> Option<f64> {
        self.accuracies.of(side, |_| true)
    }

    /// Number of a side's moves with this judgement.
    pub fn count(&self, side: Color, judgement: MoveJudgement) -> usize {
        self.moves.iter().filter(|m| m.side == side && m.judgement == Some(judgement)).count()
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

    /// The best line before a move, at most `plies` long.
    pub fn better_line(&self, index: usize, plies: usize) -> Option<Vec<Move>> {
        let line = self.findings.get(index)?.lines.first()?;
        Some(line.moves.iter().copied().take(plies).collect())
    }

    /// `ECO name`, otherwise from the tags.
    pub fn opening_name(&self) -> Option<String> {
        match &self.opening {
            Some(opening) => Some(opening.to_string()),
            None => self.game.tag("ECO").map(str::to_owned),
        }
    }
}

/// Is the last position a draw by the rules, and no mate?
fn ends_in_draw(positions: &[Position]) -> bool {
    let mut path = Path::new(&positions[0]);
    positions[1..].iter().for_each(|position| path.push(position));
    positions.last().is_some_and(|last| last.has_legal_move() && path.is_draw(last))
}

/// The score of a position for White; if the game is over, mate or draw.
pub fn for_white(position: &Position, finding: &Finding) -> Score {
    let score = if position.has_legal_move() {
        finding.score()
    } else if position.in_check() {
        Score::mated_in(Ply::ROOT)
    } else {
        Score::ZERO
    };
    score.relative_to(position.turn())
}
