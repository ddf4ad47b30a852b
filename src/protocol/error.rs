use thiserror::Error;

/// A line of the GUI that is not a command. The text says what to do about it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CommandError {
    /// Only white space: no mistake, and nothing to do.
    #[error("an empty line")]
    Empty,
    /// No word of the line is a command.
    #[error("unknown command `{0}`; `help` lists the commands")]
    Unknown(String),
    /// The command is not complete.
    #[error("`{command}` is not complete: write `{usage}`")]
    Incomplete {
        /// The command.
        command: &'static str,
        /// Its correct form.
        usage: &'static str,
    },
    /// A number was expected.
    #[error("`{word}` needs a whole number of at least 0, not `{found}`")]
    Number {
        /// The parameter.
        word: &'static str,
        /// What was found instead.
        found: String,
    },
    /// A move was expected.
    #[error("`{0}` is not a move; moves are written like e2e4 or e7e8q")]
    Move(String),
    /// A word that is not allowed at this place.
    #[error("`{found}` is not understood: write `{usage}`")]
    Unexpected {
        /// The word.
        found: String,
        /// The correct form of the command.
        usage: &'static str,
    },
}

/// A line of an engine that is not part of the protocol.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("not a line of the protocol: `{0}`")]
pub struct MessageError(pub(super) String);
