//! The root moves with what the search knows about each.

use std::{cmp::Reverse, time::Duration};

use shakmaty::Move;

use super::{deepen::Outcome, event::Event, node::Window, worker::Worker};
use crate::{
    syzygy::Verdict,
    types::{Bound, Ply, Score},
};

/// From this time on the move being searched is announced.
const ANNOUNCE_AFTER: Duration = Duration::from_secs(3);

/// A root move.
#[derive(Clone, Debug)]
pub struct RootMove {
    /// Score of this iteration; minus infinite until it raises alpha.
    pub score: Score,
    /// Score of the iteration before.
    pub previous: Score,
    /// What `score` says.
    pub bound: Bound,
    /// The line, this move first.
    pub pv: Vec<Move>,
    /// The deepest ply of the line.
    pub seldepth: usize,
    /// Rank among the root moves by tablebases; equal without any. Only moves of the best rank compete.
    pub rank: i32,
    /// What tablebases know about the move.
    pub proven: Option<Score>,
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
            pv: vec![m],
            seldepth: 0,
            rank: 0,
            proven: None,
            nodes: 0,
        }
    }

    /// The same with what tablebases say about it.
    pub fn with_verdict(m: Move, verdict: Option<&Verdict>) -> RootMove {
        let rank = verdict.map_or(0, |verdict| verdict.rank);
        RootMove { rank, proven: verdict.map(|verdict| verdict.score), ..RootMove::new(m) }
    }

    /// The order of root moves: best first.
    pub fn order(&self) -> Reverse<(i32, Score)> {
        Reverse((self.rank, self.score))
    }

    /// The move itself.
    pub fn root_move(&self) -> Move {
        self.pv[0]
    }

    /// Was it searched with a result in this iteration?
    pub fn has_score(&self) -> bool {
        self.score != -Score::INFINITE
    }
}

impl Worker {
    /// May this move be searched at the root now (asked for, not the first of an earlier line, and of the
    /// best rank that is left)?
    pub fn is_root_candidate(&self, m: Move) -> bool {
        let rest = &self.root_moves[self.pv_index..];
        rest.iter().take_while(|root| root.rank == rest[0].rank).any(|root| root.root_move() == m)
    }

    /// In a long search, says which move is being looked at.
    pub fn announce(&self, m: Move, number: usize) {
        if self.id == 0 && self.task.clock.elapsed() >= ANNOUNCE_AFTER {
            let number = number + self.pv_index;
            (self.task.sink)(Event::CurrentMove { depth: self.root_depth, root_move: m, number });
        }
    }

    /// Takes down the result of a root move, searched as the `number`th with `window`.
    pub fn record_root(&mut self, m: Move, score: Score, window: Window, number: usize, nodes: u64) {
        let seldepth = self.seldepth;
        let child_line = self.pv.line(Ply(1));
        let Some(root) = self.root_moves.iter_mut().find(|root| root.root_move() == m) else { return };
        root.nodes += nodes;
        if number > 1 && score <= window.alpha {
            root.score = -Score::INFINITE;
            return;
        }
        root.score = score;
        root.bound = Bound::of(score, window.alpha, window.beta);
        root.seldepth = seldepth;
        root.pv.truncate(1);
        root.pv.extend_from_slice(child_line);
        // A better move counts before its iteration is finished, as the first thread's own does.
        let depth = self.root_depth - 1;
        if self.id != 0 && depth > 0 && self.task.multi_pv == 1 && root.bound != Bound::Upper {
            let outcome = Outcome { lines: vec![root.clone()], depth, unreported: true };
            self.task.progress.show(self.id, outcome);
        }
    }
}
