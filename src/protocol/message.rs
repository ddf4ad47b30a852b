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
        Message::parse(&mut Tokens::new(line)).ok_or_else(|| MessageError(quote(line)))
    }
}

impl Message {
    fn parse(tokens: &mut Tokens<'_>) -> Option<Message> {
        match tokens.next()? {
            "id" => match tokens.next()? {
                "name" => Some(Message::IdName(tokens.rest().to_owned())),
                "author" => Some(Message::IdAuthor(tokens.rest().to_owned())),
                _ => None,
            },
            "uciok" => Some(Message::UciOk),
            "readyok" => Some(Message::ReadyOk),
            "option" => OptionDeclaration::parse(tokens).map(Message::Option),
            "info" => Some(Message::Info(Info::parse(tokens))),
            "bestmove" => {
                let best = match tokens.next()? {
                    "(none)" | "none" | "NULL" | "null" => None,
                    word => Some(parse_move(word)?),
                };
                let ponder = match tokens.next() {
                    Some("ponder") => tokens.next().and_then(parse_move),
                    _ => None,
                };
                let real = |m: &UciMove| !m.is_null();
                Some(Message::BestMove { best: best.filter(real), ponder: ponder.filter(real) })
            }
            "registration" => Some(Message::Registration(tokens.rest().to_owned())),
            _ => None,
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
