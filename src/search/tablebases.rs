//! Tablebases inside the search: asked right after a capture or pawn move, where the fifty-move counter
//! cannot spoil the answer, and at the root, where they rank the moves.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use shakmaty::{Move, Position as _};

use super::worker::Worker;
use crate::{
    position::Position,
    syzygy::{self, Ranking, Tablebase, Verdict, Wdl},
    tt::{PathCheck, Record, ScoreWindow},
    types::{Depth, MAX_PLY, PackedMove, Ply, Score},
};

/// An answer of the tables is stored as if it had been searched so many plies deeper.
const STORE_DEPTH: i32 = 6;

/// When tables are asked.
#[derive(Clone)]
pub struct Probing {
    /// The tables.
    pub tables: Arc<Tablebase>,
    /// Positions with so many men or fewer.
    pub max_men: usize,
    /// Positions with exactly that many men only from this depth on.
    pub min_depth: Depth,
    /// Does the fifty-move rule count?
    pub fifty: bool,
}

/// What one search knows from tables.
#[derive(Default)]
pub struct Tablebases {
    probing: Option<Probing>,
    verdicts: Vec<Verdict>,
    /// Positions found. Relaxed: a statistic.
    hits: AtomicU64,
}

impl Tablebases {
    /// For a search from a root that the tables rank so (`ranking`) or not.
    ///
    /// Where DTZ tables rank the root, every move tried keeps the result already: inside the search the
    /// tables would only hide the mates behind "won", so they are not asked.
    pub fn new(probing: Option<Probing>, ranking: Option<Ranking>) -> Tablebases {
        let Some(ranking) = ranking else { return Tablebases { probing, ..Tablebases::default() } };
        Tablebases {
            probing: probing.filter(|_| !ranking.by_distance),
            hits: AtomicU64::new(ranking.verdicts.len() as u64),
            verdicts: ranking.verdicts,
        }
    }

    /// The verdict on a root move.
    pub fn verdict(&self, m: Move) -> Option<&Verdict> {
        self.verdicts.iter().find(|verdict| verdict.root_move == m)
    }

    /// Positions found so far.
    pub fn hits(&self) -> u64 {
        self.hits.load(Relaxed)
    }
}

impl Worker {
    /// What the tables say about a node, as a window of scores; nothing where they are not to be asked.
    pub fn probe_tables(&self, position: &Position, ply: Ply, depth: Depth) -> Option<ScoreWindow> {
        let tablebases = &self.task.tablebases;
        let probing = tablebases.probing.as_ref()?;
        let men = position.board().occupied().count();
        if position.halfmoves() != 0
            || men > probing.max_men
            || (men == probing.max_men && depth < probing.min_depth)
            || position.chess().castles().any()
        {
            return None;
        }
        let wdl = probing.tables.probe(position)?;
        tablebases.hits.fetch_add(1, Relaxed);
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

    /// Keeps an answer of the tables in the transposition table, as if it had been searched deeper.
    pub fn remember_tables(&self, position: &Position, ply: Ply, depth: Depth, window: ScoreWindow) {
        let record = Record {
            best: PackedMove::NONE,
            evaluation: None,
            window,
            depth: (depth + STORE_DEPTH).min(Depth(MAX_PLY as i32 - 1)),
            was_pv: false,
            path: PathCheck::new(&self.path, depth),
            ply,
        };
        self.task.table.store(position.key(), &record);
    }
}
