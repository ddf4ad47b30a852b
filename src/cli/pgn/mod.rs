//! PGN files: read game by game, whatever their size, and written back.
//!
//! A file is read line by line and the moves are played at once. A game that cannot be read is reported with number and
//! line, and reading continues with the next one. A word that may be a move is never skipped, because that would change
//! the game; one that cannot be a move is kept as a comment.

mod game;
pub mod glyph;
mod lines;
mod reader;
mod tag;
mod token;
mod write;

pub(crate) use crate::position::notation::{read_move, without_number};
pub use game::{Annotation, Game};
pub(in crate::cli) use lines::Lines;
pub use reader::{Broken, Games};
pub use write::{Comment, line, movetext, san, write_game};

#[cfg(test)]
mod tests;
