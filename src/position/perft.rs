//! Counts the leaves of the game tree: the standard test of move generation.

use super::state::Position;

/// The number of legal move sequences of length `depth`.
pub fn perft(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let moves = position.legal_moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    moves.iter().map(|&m| perft(&position.play(m), depth - 1)).sum()
}
