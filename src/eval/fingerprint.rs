//! A fingerprint of the evaluation. Records in the learning file outlive an evaluation, and their scores are less
//! reliable for another one.

use std::sync::OnceLock;

use super::{Evaluation, Evaluator};
use crate::{position::Position, types::Ply};

/// Random walks whose positions the classical evaluation evaluates.
const WALKS: u64 = 8;
const PLIES: usize = 120;

impl Evaluation {
    /// A number that changes with the evaluation, and is never 0: from the checksum of a network's file, or from the
    /// classical evaluation of positions of pseudo-random games, so that nobody has to remember to change it.
    /// What the program adds to a network, its arithmetic and the known endgames, is not in it.
    pub fn fingerprint(&self) -> u16 {
        static CLASSICAL: OnceLock<u16> = OnceLock::new();
        match self {
            Evaluation::Network(network) => folded(network.checksum().into()),
            Evaluation::Classical => *CLASSICAL.get_or_init(|| folded(hash_of_walks())),
        }
    }
}

/// The [fingerprint](Evaluation::fingerprint) of the default evaluation.
pub fn fingerprint() -> u16 {
    Evaluation::default().fingerprint()
}

fn folded(sum: u64) -> u16 {
    ((sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48) as u16).max(1)
}

/// A hash of the classical evaluations of the positions of all walks.
fn hash_of_walks() -> u64 {
    let mut evaluator = Evaluator::new(&Evaluation::Classical, 1);
    let mut sum: u64 = 0xCBF2_9CE4_8422_2325;
    for walk in 0..WALKS {
        let mut random = walk;
        let mut position = Position::default();
        for _ in 0..PLIES {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            // Knuth's generator (MMIX); the hash is FNV-1a.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            position = position.play(moves[(random >> 33) as usize % moves.len()]);
            for byte in evaluator.evaluate(&position, Ply::ROOT).0.to_le_bytes() {
                sum = (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
            }
        }
    }
    sum
}
