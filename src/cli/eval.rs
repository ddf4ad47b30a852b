//! `engram eval`: the static evaluation of a position, explained.

use std::{fmt::Write, sync::Arc};

use shakmaty::{CastlingMode, Color, File, Rank, Role, Square};

use crate::{
    eval::{Evaluation, Evaluator, classical, net::Network},
    position::Position,
    types::{Ply, Score},
};

/// The evaluation of `position` as text: the network's value, the contribution of each piece to it, and the terms of
/// the classical evaluation.
pub(super) fn explanation(position: &Position, network: Arc<Network>) -> String {
    let mut evaluator = Evaluator::new(&Evaluation::Network(network), 1);
    let value = white_value(&mut evaluator, position);
    let mut text = format!(
        "{}\n\nWhat each piece is worth to White: the network's value with it less that without it\n",
        position.fen()
    );
    for rank in Rank::ALL.into_iter().rev() {
        let row = File::ALL.map(|file| Square::from_coords(file, rank));
        let _ = writeln!(text, "+{}", "-------+".repeat(row.len()));
        for line in 0..2 {
            text.push('|');
            for square in row {
                let piece = position.board().piece_at(square);
                let cell = match (piece, line) {
                    (None, _) => String::new(),
                    (Some(piece), 0) => piece.char().to_string(),
                    (Some(piece), _) if piece.role == Role::King => String::new(),
                    (Some(_), _) => match without(position, square) {
                        Some(rest) => pawns(value - white_value(&mut evaluator, &rest)),
                        None => "?".to_owned(),
                    },
                };
                let _ = write!(text, "{cell:^7}|");
            }
            text.push('\n');
        }
    }
    let _ = writeln!(text, "+{}", "-------+".repeat(8));
    let _ =
        writeln!(text, "A piece without which the opponent's king would be in check is marked with `?`.\n");
    let _ = writeln!(text, "Network {} (White's view)\n", pawns(value));
    let _ = write!(text, "Classical evaluation\n\n{}", classical::trace(position));
    text
}

fn white_value(evaluator: &mut Evaluator, position: &Position) -> i32 {
    let score = evaluator.evaluate(position, Ply::ROOT);
    if position.turn() == Color::White { score.0 } else { -score.0 }
}

/// The position without one piece, if it can be evaluated.
fn without(position: &Position, square: Square) -> Option<Position> {
    let mut setup = shakmaty::Position::to_setup(position.chess(), shakmaty::EnPassantMode::Legal);
    setup.board.discard_piece_at(square);
    setup.castling_rights.discard(square);
    setup.ep_square = None;
    Position::from_setup(setup, CastlingMode::Chess960).ok()
}

fn pawns(units: i32) -> String {
    format!("{:+.2}", f64::from(Score(units).centipawns()) / 100.0)
}
