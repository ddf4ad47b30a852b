//! The UCI grammar: lines of text to values and back, without input, output or an engine.
//!
//! [`Command`] is a line of a GUI, [`Message`] a line of an engine. Both have [`FromStr`](std::str::FromStr) and
//! [`Display`](std::fmt::Display), so that what the engine prints can be read back; a value that is
//! printed and parsed again is the same value. Parsing is as tolerant as the protocol requires: unknown words before
//! a command are skipped, the order of `go`'s parameters is free, and output of an engine beyond the protocol is
//! ignored.
//!
//! Moves stay [`UciMove`](shakmaty::uci::UciMove) and FENs stay text, since they cannot be checked without a position:
//! `uci::translate` does that.

mod command;
mod error;
mod go;
mod info;
mod message;
mod option;
#[cfg(test)]
mod tests;
mod tokens;

pub use command::Command;
pub use error::{CommandError, MessageError};
pub use go::Go;
pub use info::{Info, InfoScore, ScoreValue};
pub use message::Message;
pub use option::{OptionDeclaration, OptionKind};
pub(crate) use tokens::quote;
