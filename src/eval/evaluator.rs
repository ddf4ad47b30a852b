//! The evaluation of one thread, with its caches.

use std::sync::Arc;

use shakmaty::Bitboard;

use super::{
    classical::{self, Caches, MaterialTable},
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
pub struct Evaluator(State);

#[derive(Clone, Debug)]
enum State {
    Network(Box<NetworkState>),
    Classical(Caches),
}

impl Evaluator {
    /// An evaluator with a pawn hash of at most `pawn_hash_mib` MiB (at least one).
    pub fn new(evaluation: &Evaluation, pawn_hash_mib: usize) -> Evaluator {
        Evaluator(match evaluation {
            Evaluation::Network(network) => {
                State::Network(Box::new(NetworkState::new(network, pawn_hash_mib)))
            }
            Evaluation::Classical => State::Classical(Caches::new(pawn_hash_mib)),
        })
    }

    /// The evaluation of `position` in internal units for the side to move, regardless of half-move clock and
    /// repetitions. `ply` is its distance from the root of the search: the accumulators of its parents save work.
    #[inline]
    pub fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        match &mut self.0 {
            State::Network(state) => state.evaluate(position, ply),
            State::Classical(caches) => classical::evaluate(position, caches),
        }
    }

    /// Does the larger part of an evaluation in advance, while the processor loads something else.
    #[inline]
    pub fn prepare(&mut self, position: &Position, ply: Ply) {
        if let State::Network(state) = &mut self.0 {
            state.accumulators.prepare(&state.network, position, ply);
        }
    }

    /// Size limit of the pawn hash in MiB: lower than requested if memory was short.
    pub fn pawn_hash_mib(&self) -> usize {
        match &self.0 {
            State::Network(state) => state.pawns.allowed_mib(),
            State::Classical(caches) => caches.pawns.allowed_mib(),
        }
    }

    /// Prefetches the pawn hash entry of `position`.
    #[inline]
    pub fn prefetch(&self, position: &Position) {
        let key = position.keys().pawns;
        match &self.0 {
            State::Network(state) => state.pawns.prefetch(key),
            State::Classical(caches) => caches.pawns.prefetch(key),
        }
    }

    /// Clears the caches and the counters.
    pub fn clear(&mut self) {
        match &mut self.0 {
            State::Network(state) => {
                state.material.clear();
                state.pawns.clear();
            }
            State::Classical(caches) => {
                caches.material.clear();
                caches.pawns.clear();
            }
        }
    }

    /// Probes of the pawn hash since the counters were reset: those that found their entry, and all.
    pub fn pawn_hits(&self) -> (u64, u64) {
        match &self.0 {
            State::Network(state) => (state.pawns.hits, state.pawns.probes),
            State::Classical(caches) => (caches.pawns.hits, caches.pawns.probes),
        }
    }

    /// Resets the counters.
    pub fn reset_counters(&mut self) {
        match &mut self.0 {
            State::Network(state) => state.pawns.reset_counters(),
            State::Classical(caches) => caches.pawns.reset_counters(),
        }
    }
}

/// A network and its caches.
#[derive(Clone, Debug)]
struct NetworkState {
    network: Arc<Network>,
    accumulators: Accumulators,
    /// For the known endgames of the classical evaluation, which it does not evaluate.
    material: MaterialTable,
    /// The pawn hash.
    pawns: PawnTable<PawnEntry>,
}

impl NetworkState {
    fn new(network: &Arc<Network>, pawn_hash_mib: usize) -> NetworkState {
        let empty = network.evaluate_pawns([Bitboard::EMPTY; 2]);
        NetworkState {
            network: Arc::clone(network),
            accumulators: Accumulators::new(network),
            material: MaterialTable::new(),
            pawns: PawnTable::new(pawn_hash_mib, empty),
        }
    }

    #[inline]
    fn evaluate(&mut self, position: &Position, ply: Ply) -> Score {
        if let Some(score) = self.material.known_endgame(position) {
            return score;
        }
        let network = &*self.network;
        let pawns = self.pawns.probe(position, false, |found| network.evaluate_pawns(found));
        self.accumulators.evaluate(network, position, pawns, ply)
    }
}
