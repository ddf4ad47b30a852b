use crate::position::Position;

/// The evaluation of `position` in words and numbers.
pub(super) fn explanation(position: &Position) -> String {
    position.fen()
}
