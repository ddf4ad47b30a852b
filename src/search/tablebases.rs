//! Tablebases in the search: probed right after a capture or pawn move, when the fifty-move counter is 0, and at the
//! root, where they rank the moves.

use std::sync::Arc;

use shakmaty::{Move, Position as _};

use crate::{
    position::{Position, PositionPath},
    syzygy::{self, RankedMove, RootRanking, Tablebase, Wdl},
    tt::ScoreWindow,
    types::{Depth, Ply, Score},
};

/// When tablebases are probed, and by which rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ProbeRules {
    /// Positions with as many pieces as the largest table are probed only from this depth on.
    pub min_depth: Depth,
    /// Positions with more pieces, kings and pawns included, are not probed; 0 for none at all.
    pub max_pieces: usize,
    /// Does the fifty-move rule count?
    pub fifty: bool,
}

impl Default for ProbeRules {
    fn default() -> ProbeRules {
        ProbeRules { min_depth: Depth(1), max_pieces: syzygy::MAX_PIECES, fifty: true }
    }
}

/// How tablebases are probed.
#[derive(Clone)]
pub struct Probing {
    /// The tables.
    pub tables: Arc<Tablebase>,
    /// By which rules; their most pieces are those of the largest table.
    pub rules: ProbeRules,
}

/// Length in plies up to which the line of a search is extended. Each ply takes a fraction of a millisecond.
const MAX_PLIES: usize = 16;
/// The same for a drawn line, of which more moves would tell nothing.
const DRAWN_PLIES: usize = 8;

impl Probing {
    /// The ranking of the moves of a position, if it is in the tables; see [`Tablebase::rank`].
    pub fn rank(&self, position: &Position, path: &PositionPath, progress: bool) -> Option<RootRanking> {
        let rank = || self.tables.rank(position, path, self.rules.fifty, progress);
        self.covers(position).then(rank).flatten()
    }

    fn covers(&self, position: &Position) -> bool {
        position.board().occupied().count() <= self.rules.max_pieces
    }

    /// A line from `root`, to which `path` leads, extended by the moves that the tables recommend for both sides, up to
    /// `most` plies in all. If its score is a tablebase result, the line is cut at its first position in the tables
    /// (after one move at least) before it is extended: beyond that the search did not look for progress.
    pub fn extended(
        &self,
        root: &Position,
        path: &PositionPath,
        line: &[Move],
        score: Score,
        most: usize,
    ) -> Vec<Move> {
        let (mut position, mut path) = (root.clone(), path.clone());
        let mut extended = Vec::new();
        for &m in line {
            extended.push(m);
            position = position.play(m);
            path.push(&position);
            if score.tablebase_plies().is_some() && self.covers(&position) {
                break;
            }
        }
        let kept = extended.len();
        while extended.len() < most && !path.is_draw(&position) {
            let ranking =
                self.rank(&position, &path, path.has_repeated()).filter(|ranking| ranking.by_distance);
            let Some(ranking) = ranking else { break };
            let Some(best) = ranking.best() else { break };
            if !best.score.is_decisive() && extended.len() >= DRAWN_PLIES {
                break;
            }
            extended.push(best.root_move);
            position = position.play(best.root_move);
            path.push(&position);
        }
        if extended.len() > kept { extended } else { line.to_vec() }
    }
}

/// The tablebases of one search.
#[derive(Default)]
pub struct Tablebases {
    probing: Option<Probing>,
    /// Are they probed inside the search?
    in_search: bool,
    ranked_moves: Vec<RankedMove>,
}

impl Tablebases {
    /// `ranking` is that of the root moves, if the root is in the tables.
    ///
    /// If DTZ tables rank the root, every move searched keeps the result anyway. Probes inside the search would then
    /// only hide mates behind "won", so there are none.
    pub fn new(probing: Option<Probing>, ranking: Option<RootRanking>) -> Tablebases {
        let Some(ranking) = ranking else {
            return Tablebases { probing, in_search: true, ..Tablebases::default() };
        };
        Tablebases { probing, in_search: !ranking.by_distance, ranked_moves: ranking.ranked_moves }
    }

    fn ranked_move(&self, m: Move) -> Option<&RankedMove> {
        self.ranked_moves.iter().find(|ranked| ranked.root_move == m)
    }

    /// The rank of a root move, 0 without tables.
    pub fn rank(&self, m: Move) -> i32 {
        self.ranked_move(m).map_or(0, |ranked| ranked.rank)
    }

    /// The score of a root move. WDL tables alone do not know if a win comes before the fifty-move rule, if that counts:
    /// there the search gives the score.
    pub fn score(&self, m: Move) -> Option<Score> {
        let fifty = self.in_search && self.probing.as_ref().is_none_or(|probing| probing.rules.fifty);
        let is_certain = |score: &Score| !fifty || !score.is_decisive();
        self.ranked_move(m).map(|ranked| ranked.score).filter(is_certain)
    }

    /// Is no root move better by the tables?
    pub fn is_among_best(&self, m: Move) -> bool {
        let rank = |ranked: &RankedMove| ranked.rank;
        self.ranked_move(m).map(rank) == self.ranked_moves.iter().map(rank).max()
    }

    /// A line from `root`, extended by the tables; see [`Probing::extended`].
    pub fn extended(&self, root: &Position, path: &PositionPath, line: &[Move], score: Score) -> Vec<Move> {
        match &self.probing {
            Some(probing) => probing.extended(root, path, line, score, MAX_PLIES),
            None => line.to_vec(),
        }
    }

    /// Positions found at the root.
    pub fn root_hits(&self) -> u64 {
        self.ranked_moves.len() as u64
    }

    /// The bounds of a node's score, if a draw counts as `draw`; none if the position is not to be probed or not in the
    /// tables.
    pub fn probe(&self, position: &Position, depth: Depth, ply: Ply, draw: Score) -> Option<ScoreWindow> {
        let probing = self.probing.as_ref().filter(|_| self.in_search)?;
        let pieces = position.board().occupied().count();
        if position.halfmoves() != 0
            || pieces > probing.rules.max_pieces
            || (pieces == probing.rules.max_pieces && depth < probing.rules.min_depth)
            || position.chess().castles().any()
        {
            return None;
        }
        let wdl = probing.tables.probe(position)?;
        Some(bounds(wdl, probing.rules.fifty, ply, draw))
    }
}

/// The bounds of a score by the tables, with or without the fifty-move rule, if a draw counts as `draw`.
fn bounds(wdl: Wdl, fifty: bool, ply: Ply, draw: Score) -> ScoreWindow {
    match wdl {
        Wdl::CursedWin if fifty => ScoreWindow::exactly(draw + syzygy::CURSED.0),
        Wdl::Draw => ScoreWindow::exactly(draw),
        Wdl::BlessedLoss if fifty => ScoreWindow::exactly(draw - syzygy::CURSED.0),
        // A mate may score higher than a tablebase win, but no winning score is lower.
        Wdl::Win | Wdl::CursedWin => ScoreWindow::at_least(Score::tablebase_win(ply)),
        Wdl::Loss | Wdl::BlessedLoss => ScoreWindow::at_most(-Score::tablebase_win(ply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_win_that_comes_too_late_is_a_draw_under_the_fifty_move_rule_alone() {
        let (ply, draw) = (Ply(4), Score(-30));
        let win = ScoreWindow::at_least(Score::tablebase_win(ply));
        let loss = ScoreWindow::at_most(-Score::tablebase_win(ply));
        let exactly = |score| ScoreWindow::exactly(Score(score));
        for (wdl, with_rule, without) in [
            (Wdl::Win, win, win),
            (Wdl::CursedWin, exactly(-28), win),
            (Wdl::Draw, exactly(-30), exactly(-30)),
            (Wdl::BlessedLoss, exactly(-32), loss),
            (Wdl::Loss, loss, loss),
        ] {
            let found = [true, false].map(|fifty| bounds(wdl, fifty, ply, draw));
            assert_eq!(found, [with_rule, without], "{wdl:?}");
        }
    }
}
