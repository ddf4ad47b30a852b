use crate::{eval, position::Position};

/// The evaluation of `position` in words and numbers.
pub(super) fn explanation(position: &Position) -> String {
    format!("{}\n{}", position.fen(), eval::trace(position))
}
