//! Tablebases inside the search: probed right after a capture or pawn move, where the fifty-move counter
//! cannot spoil the answer, and at the root, where they rank the moves.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use shakmaty::{Move, Position as _};

use crate::{
    position::Position,
    syzygy::{self, RankedMove, RootRanking, Tablebase, Wdl},
    tt::ScoreWindow,
    types::{Depth, Ply, Score},
};

/// When tablebases are probed.
#[derive(Clone)]
pub struct Probing {
    /// The tables.
    pub tables: Arc<Tablebase>,
    /// Positions with so many pieces or fewer, kings and pawns included.
    pub max_pieces: usize,
    /// Positions with exactly that many only from this depth on.
    pub min_depth: Depth,
    /// Does the fifty-move rule count?
    pub fifty: bool,
}

/// What one search knows from tablebases.
#[derive(Default)]
pub struct Tablebases {
    probing: Option<Probing>,
    ranked_moves: Vec<RankedMove>,
    /// Positions found. Relaxed: a statistic.
    hits: AtomicU64,
}

impl Tablebases {
    /// `ranking`: how they rank the moves of the root, if they know it.
    ///
    /// Where DTZ tables rank the root, every move tried keeps the result already: inside the search the
    /// tablebases would only hide the mates behind "won", so they are not probed.
    pub fn new(probing: Option<Probing>, ranking: Option<RootRanking>) -> Tablebases {
        let Some(ranking) = ranking else { return Tablebases { probing, ..Tablebases::default() } };
        Tablebases {
            probing: probing.filter(|_| !ranking.by_distance),
            hits: AtomicU64::new(ranking.ranked_moves.len() as u64),
            ranked_moves: ranking.ranked_moves,
        }
    }

    /// What they say about a root move.
    pub fn ranked_move(&self, m: Move) -> Option<&RankedMove> {
        self.ranked_moves.iter().find(|ranked| ranked.root_move == m)
    }

    /// Positions found so far.
    pub fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }

    /// What they say about a node, as a window of scores; nothing where they are not to be probed.
    pub fn probe(&self, position: &Position, depth: Depth, ply: Ply) -> Option<ScoreWindow> {
        let probing = self.probing.as_ref()?;
        let pieces = position.board().occupied().count();
        if position.halfmoves() != 0
            || pieces > probing.max_pieces
            || (pieces == probing.max_pieces && depth < probing.min_depth)
            || position.chess().castles().any()
        {
            return None;
        }
        let wdl = probing.tables.probe(position)?;
        self.hits.fetch_add(1, Relaxed);
        Some(match wdl {
            // A mate may be better than "won", but nothing is worse.
            Wdl::Win => ScoreWindow::at_least(Score::tablebase_win(ply)),
            Wdl::Loss => ScoreWindow::at_most(-Score::tablebase_win(ply)),
            Wdl::CursedWin if !probing.fifty => ScoreWindow::at_least(Score::tablebase_win(ply)),
            Wdl::BlessedLoss if !probing.fifty => ScoreWindow::at_most(-Score::tablebase_win(ply)),
            Wdl::CursedWin => ScoreWindow::exactly(syzygy::CURSED),
            Wdl::Draw => ScoreWindow::exactly(Score::ZERO),
            Wdl::BlessedLoss => ScoreWindow::exactly(-syzygy::CURSED),
        })
    }
}
