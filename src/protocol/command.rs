use std::{fmt, str::FromStr};

use shakmaty::uci::UciMove;

use super::{
    CommandError, Go,
    go::unsigned,
    tokens::{EMPTY, Tokens, parse_move, quote},
};

/// A line from the GUI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Identify yourself and list the options.
    Uci,
    /// Answer when everything so far is done.
    IsReady,
    /// Set an option, or press a button.
    SetOption {
        /// Name as written, words separated by single spaces.
        name: String,
        /// Value as written; none if the word `value` is missing.
        value: Option<String>,
    },
    /// The next position is from another game.
    UciNewGame,
    /// Set up a position.
    Position {
        /// Where the game began: `startpos`, or a FEN, unchecked, fields separated by single spaces. The move counters
        /// may be missing.
        start: String,
        /// The moves since then.
        moves: Vec<UciMove>,
    },
    /// Search.
    Go(Go),
    /// End the search and send the best move.
    Stop,
    /// The expected move was played.
    PonderHit,
    /// Switch additional messages on or off.
    Debug(bool),
    /// Register a copy that has to be paid for.
    Register(String),
    /// Exit.
    Quit,
    /// Convenience: search the bench positions, to this depth.
    Bench(Option<u64>),
    /// Convenience: show the position.
    Show,
    /// Convenience: explain the evaluation of the position.
    Eval,
    /// Convenience: count the leaves of the game tree.
    Perft(u64),
    /// Convenience: list the commands.
    Help,
}

const SETOPTION: &str = "setoption name NAME value VALUE";
const STARTPOS: &str = "startpos";
const POSITION: &str = "position startpos|fen FEN [moves MOVE…]";

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(line: &str) -> Result<Command, CommandError> {
        let mut tokens = Tokens::new(line);
        let Some(first) = tokens.peek() else { return Err(CommandError::Empty) };
        // The conveniences must be the first word: `d` in the middle of a line is not a command.
        let mut after = tokens.clone();
        after.next();
        match first {
            "bench" => {
                let depth =
                    after.peek().map(|_| unsigned("bench", "bench [DEPTH]", &mut after)).transpose()?;
                return Ok(Command::Bench(depth));
            }
            "d" => return Ok(Command::Show),
            "eval" => return Ok(Command::Eval),
            "perft" => return unsigned("perft", "perft DEPTH", &mut after).map(Command::Perft),
            "help" | "?" => return Ok(Command::Help),
            _ => {}
        }
        while let Some(word) = tokens.next() {
            return match word {
                "uci" => Ok(Command::Uci),
                "isready" => Ok(Command::IsReady),
                "setoption" => set_option(&mut tokens),
                "ucinewgame" => Ok(Command::UciNewGame),
                "position" => position(&mut tokens),
                "go" => go(&mut tokens),
                "stop" => Ok(Command::Stop),
                "ponderhit" => Ok(Command::PonderHit),
                "debug" => debug(&mut tokens),
                "register" => register(&mut tokens),
                "quit" => Ok(Command::Quit),
                _ => continue,
            };
        }
        Err(CommandError::Unknown(quote(line)))
    }
}

fn set_option(tokens: &mut Tokens<'_>) -> Result<Command, CommandError> {
    let incomplete = CommandError::Incomplete { command: "setoption", usage: SETOPTION };
    match tokens.next() {
        Some("name") => {}
        Some(found) => return Err(CommandError::Unexpected { found: quote(found), usage: SETOPTION }),
        None => return Err(incomplete),
    }
    let mut words = Vec::new();
    let mut value = None;
    while let Some(word) = tokens.next() {
        if word == "value" {
            value = Some(tokens.rest());
            break;
        }
        words.push(word);
    }
    if words.is_empty() {
        return Err(incomplete);
    }
    let value = value.map(|text| if text == EMPTY { String::new() } else { text.to_owned() });
    Ok(Command::SetOption { name: words.join(" "), value })
}

fn position(tokens: &mut Tokens<'_>) -> Result<Command, CommandError> {
    let unexpected = |found| CommandError::Unexpected { found: quote(found), usage: POSITION };
    let incomplete = CommandError::Incomplete { command: "position", usage: POSITION };
    let start = match tokens.next() {
        Some(start @ STARTPOS) => {
            if let Some(found) = tokens.next().filter(|&word| word != "moves") {
                return Err(unexpected(found));
            }
            start.to_owned()
        }
        Some("fen") => {
            let fen = tokens.until("moves");
            if fen.is_empty() {
                return Err(incomplete);
            }
            fen
        }
        Some(found) => return Err(unexpected(found)),
        None => return Err(incomplete),
    };
    let moves = tokens
        .map(|word| parse_move(word).ok_or_else(|| CommandError::Move(quote(word))))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Command::Position { start, moves })
}

fn go(tokens: &mut Tokens<'_>) -> Result<Command, CommandError> {
    if tokens.peek() == Some("perft") {
        tokens.next();
        return unsigned("perft", "perft DEPTH", tokens).map(Command::Perft);
    }
    Go::parse(tokens).map(Command::Go)
}

fn debug(tokens: &mut Tokens<'_>) -> Result<Command, CommandError> {
    match tokens.next() {
        Some("on") => Ok(Command::Debug(true)),
        Some("off") => Ok(Command::Debug(false)),
        Some(found) => Err(CommandError::Unexpected { found: quote(found), usage: "debug on|off" }),
        None => Err(CommandError::Incomplete { command: "debug", usage: "debug on|off" }),
    }
}

fn register(tokens: &mut Tokens<'_>) -> Result<Command, CommandError> {
    match tokens.rest() {
        "" => {
            Err(CommandError::Incomplete { command: "register", usage: "register later|name NAME code CODE" })
        }
        words => Ok(Command::Register(words.to_owned())),
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Command::Uci => f.write_str("uci"),
            Command::IsReady => f.write_str("isready"),
            Command::SetOption { name, value: None } => write!(f, "setoption name {name}"),
            Command::SetOption { name, value: Some(value) } => {
                let value = if value.is_empty() { EMPTY } else { value };
                write!(f, "setoption name {name} value {value}")
            }
            Command::UciNewGame => f.write_str("ucinewgame"),
            Command::Position { start, moves } => {
                let word = if start == STARTPOS { "" } else { "fen " };
                write!(f, "position {word}{start}")?;
                if !moves.is_empty() {
                    f.write_str(" moves")?;
                }
                moves.iter().try_for_each(|m| write!(f, " {m}"))
            }
            Command::Go(go) => go.fmt(f),
            Command::Stop => f.write_str("stop"),
            Command::PonderHit => f.write_str("ponderhit"),
            Command::Debug(on) => write!(f, "debug {}", if *on { "on" } else { "off" }),
            Command::Register(words) => write!(f, "register {words}"),
            Command::Quit => f.write_str("quit"),
            Command::Bench(None) => f.write_str("bench"),
            Command::Bench(Some(depth)) => write!(f, "bench {depth}"),
            Command::Show => f.write_str("d"),
            Command::Eval => f.write_str("eval"),
            Command::Perft(depth) => write!(f, "perft {depth}"),
            Command::Help => f.write_str("help"),
        }
    }
}
