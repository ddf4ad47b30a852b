//! The evaluation of one thread, with its caches.

use std::sync::Arc;

use shakmaty::Bitboard;

use super::{
    classical::{self, Caches},
    net::{Accumulators, Network, PawnEntry},
    pawn_table::PawnTable,
};
use crate::{
    position::Position,
    types::{Ply, Score},
};

/// Which evaluation is used.
#[derive(Clone, Debug)]
pub enum Evaluation {
    /// A network.
    Network(Arc<Network>),
    /// The hand-written terms.
    Classical,
}

impl Default for Evaluation {
    fn default() -> Evaluation {
        Evaluation::Network(Network::embedded())
    }
}

/// One thread's evaluation with its caches, on which its results do not depend.
#[derive(Clone, Debug)]
pub struct Evaluator {
    network: Option<NetworkState>,
    classical: Caches,
}

impl Evaluator {
    /// An evaluator with a pawn hash of at most `pawn_hash_mib` MiB (at least one).
    pub fn new(evaluation: &Evaluation, pawn_hash_mib: usize) -> Evaluator {
        let network = match evaluation {
            Evaluation::Network(network) => Some(NetworkState::new(network, pawn_hash_mib)),
            Evaluation::Classical => None,
        };
        // With a network only the known endgames of the classical evaluation are used.
        let classical = Caches::new(if network.is_some() { 1 } else { pawn_hash_mib });
        Evaluator { network, classical }
    }

    /// The evaluation of `position` in internal units for the side to move, regardless of half-move clock and
    /// repetitions. `ply` is its distance from the root of the search: the accumulators of its parents save work.
    #[inline]
    pub fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        let Some(state) = &mut self.network else {
            return classical::evaluate(position, &mut self.classical);
        };
        if let Some(score) = self.classical.known_endgame(position) {
            return score;
        }
        state.evaluate(position, ply)
    }

    /// Does the larger part of an evaluation in advance, while the processor loads something else.
    #[inline]
    pub fn prepare(&mut self, position: &Position, ply: Ply) {
        if let Some(state) = &mut self.network {
            state.accumulators.prepare(&state.network, position, ply);
        }
    }

    /// Size limit of the pawn hash in MiB: lower than requested if memory was short.
    pub fn pawn_hash_mib(&self) -> usize {
        match &self.network {
            Some(NetworkState { pawns: Some(pawns), .. }) => pawns.allowed_mib(),
            Some(_) => usize::MAX,
            None => self.classical.pawn_hash_mib(),
        }
    }

    /// Prefetches the pawn hash entry of `position`.
    #[inline]
    pub fn prefetch(&self, position: &Position) {
        match &self.network {
            Some(NetworkState { pawns: Some(pawns), .. }) => pawns.prefetch(position.keys().pawns),
            Some(_) => {}
            None => self.classical.prefetch(position),
        }
    }

    /// Clears the caches and the counters.
    pub fn clear(&mut self) {
        self.classical.clear();
        if let Some(NetworkState { pawns: Some(pawns), .. }) = &mut self.network {
            pawns.clear();
        }
    }

    /// Probes of the pawn hash since the counters were reset: those that found their entry, and all.
    pub fn pawn_hits(&self) -> (u64, u64) {
        match &self.network {
            Some(NetworkState { pawns: Some(pawns), .. }) => (pawns.hits, pawns.probes),
            _ => self.classical.pawn_hits(),
        }
    }

    /// Resets the counters.
    pub fn reset_counters(&mut self) {
        self.classical.reset_counters();
        if let Some(NetworkState { pawns: Some(pawns), .. }) = &mut self.network {
            (pawns.hits, pawns.probes) = (0, 0);
        }
    }
}

/// A network and its caches.
#[derive(Clone, Debug)]
struct NetworkState {
    network: Arc<Network>,
    accumulators: Accumulators,
    /// The pawn hash, if the network has a pawn part.
    pawns: Option<PawnTable<PawnEntry>>,
}

impl NetworkState {
    fn new(network: &Arc<Network>, pawn_hash_mib: usize) -> NetworkState {
        let empty = network.evaluate_pawns([Bitboard::EMPTY; 2]);
        NetworkState {
            network: Arc::clone(network),
            accumulators: Accumulators::new(network),
            pawns: empty.map(|empty| PawnTable::new(pawn_hash_mib, empty)),
        }
    }

    #[inline]
    fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        let network = &*self.network;
        let pawns = self.pawns.as_mut().map(|table| {
            // There is a table only if there is a pawn part.
            &*table.probe(position, false, |found| network.evaluate_pawns(found).unwrap_or_default())
        });
        self.accumulators.evaluate(network, position, pawns, ply)
    }
}
