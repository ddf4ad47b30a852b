//! Positions and moves as they are written in the file.

use std::num::NonZeroU32;

use shakmaty::{CastlingMode, EnPassantMode, Move, Position as _, Setup};

use super::graph::Key;
use crate::position::Position;

/// The key of a position as SQLite keeps it.
pub(super) fn key_of(position: &Position) -> Key {
    position.key().0 as Key
}

/// A position as it is in the tree: nothing of how it was reached. It castles as in Chess960 only if it must, so that a move
/// has one notation.
pub(super) fn without_clocks(position: &Position) -> Position {
    let setup = position.chess().to_setup(EnPassantMode::PseudoLegal);
    let setup = Setup { halfmoves: 0, fullmoves: NonZeroU32::MIN, ..setup };
    let mode = CastlingMode::detect(&setup);
    Position::from_setup(setup, mode).unwrap_or_else(|_| position.clone())
}

/// A move in UCI notation as the tree has it.
pub(super) fn uci(position: &Position, m: Move) -> String {
    m.to_uci(position.chess().castles().mode()).to_string()
}

/// The moves of a text in UCI notation, up to the first that is not legal.
pub(super) fn moves_of(position: &Position, text: &str) -> Vec<Move> {
    let mut at = position.clone();
    let play = |uci| {
        let m = at.legal_move(uci)?;
        at = at.play(m);
        Some(m)
    };
    text.split(' ').map_while(play).collect()
}
