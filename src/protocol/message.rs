use std::{fmt, str::FromStr};

use shakmaty::uci::UciMove;

use super::{
    Info, MessageError, OptionDeclaration,
    tokens::{Tokens, parse_move, quote},
};

/// A line from an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The engine's name.
    IdName(String),
    /// The engine's author.
    IdAuthor(String),
    /// All options have been listed.
    UciOk,
    /// All earlier commands are done.
    ReadyOk,
    /// An option.
    Option(OptionDeclaration),
    /// A report.
    Info(Info),
    /// The search is over.
    BestMove {
        /// The move; none, written `(none)`, if the game is over.
        best: Option<UciMove>,
        /// The expected reply.
        ponder: Option<UciMove>,
    },
    /// State of the registration: `checking`, `ok` or `error`.
    Registration(String),
}

impl FromStr for Message {
    type Err = MessageError;

    fn from_str(line: &str) -> Result<Message, MessageError> {
        let mut tokens = Tokens::new(line);
        let incomplete = |kind, missing| MessageError::Incomplete { kind, missing, line: quote(line) };
        let first = tokens.next().ok_or(MessageError::Empty)?;
        match first {
            "id" => match tokens.next() {
                Some("name") => Ok(Message::IdName(tokens.rest().to_owned())),
                Some("author") => Ok(Message::IdAuthor(tokens.rest().to_owned())),
                _ => Err(incomplete("id", "`name` or `author`")),
            },
            "uciok" => Ok(Message::UciOk),
            "readyok" => Ok(Message::ReadyOk),
            "option" => OptionDeclaration::parse(&mut tokens).map(Message::Option),
            "info" => Ok(Message::Info(Info::parse(&mut tokens))),
            "bestmove" => {
                let best = match tokens.next() {
                    Some("(none)" | "none" | "NULL" | "null") => None,
                    Some(word) => Some(parse_move(word).ok_or_else(|| incomplete("bestmove", "a move"))?),
                    None => return Err(incomplete("bestmove", "a move")),
                };
                let ponder = match tokens.next() {
                    Some("ponder") => tokens.next().and_then(parse_move),
                    _ => None,
                };
                let real = |m: &UciMove| !m.is_null();
                Ok(Message::BestMove { best: best.filter(real), ponder: ponder.filter(real) })
            }
            "registration" => Ok(Message::Registration(tokens.rest().to_owned())),
            _ => Err(MessageError::Unknown(quote(line))),
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::IdName(name) => write!(f, "id name {name}"),
            Message::IdAuthor(author) => write!(f, "id author {author}"),
            Message::UciOk => f.write_str("uciok"),
            Message::ReadyOk => f.write_str("readyok"),
            Message::Option(option) => option.fmt(f),
            Message::Info(info) => info.fmt(f),
            Message::BestMove { best, ponder } => {
                match best {
                    Some(best) => write!(f, "bestmove {best}")?,
                    None => f.write_str("bestmove (none)")?,
                }
                ponder.map_or(Ok(()), |ponder| write!(f, " ponder {ponder}"))
            }
            Message::Registration(state) => write!(f, "registration {state}"),
        }
    }
}
