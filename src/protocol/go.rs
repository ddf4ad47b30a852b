use std::fmt;

use shakmaty::uci::UciMove;

use super::{
    CommandError,
    tokens::{Tokens, item, parse_integer, parse_move, quote},
};

/// The parameters of `go` as the GUI sent them; `None` for those not sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Go {
    /// Consider only these moves; empty for all.
    pub search_moves: Vec<UciMove>,
    /// Search on the opponent's time.
    pub ponder: bool,
    /// White's remaining time in milliseconds; may be negative.
    pub wtime: Option<i64>,
    /// Black's remaining time in milliseconds; may be negative.
    pub btime: Option<i64>,
    /// White's increment in milliseconds a move.
    pub winc: Option<i64>,
    /// Black's increment in milliseconds a move.
    pub binc: Option<i64>,
    /// Moves to the next time control; some GUIs send 0 for none.
    pub movestogo: Option<u64>,
    /// Depth in plies.
    pub depth: Option<u64>,
    /// Nodes to search.
    pub nodes: Option<u64>,
    /// Search for a mate in this many moves.
    pub mate: Option<u64>,
    /// Time to use, in milliseconds.
    pub movetime: Option<u64>,
    /// Search until `stop`.
    pub infinite: bool,
}

const USAGE: &str = "go [searchmoves MOVE…] [ponder] [infinite] [depth N] [nodes N] [mate N] [movetime MS] [wtime MS] [btime MS] \
                     [winc MS] [binc MS] [movestogo N]";

const KEYWORDS: [&str; 12] = [
    "searchmoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
];

impl Go {
    /// Reads the parameters in any order. If one is repeated the last counts. A word that is not a parameter is an
    /// error: skipping it, as the protocol allows, would turn `go dpeth 5` into an endless search.
    pub(super) fn parse(tokens: &mut Tokens<'_>) -> Result<Go, CommandError> {
        let mut go = Go::default();
        while let Some(word) = tokens.next() {
            match word {
                "searchmoves" => {
                    while let Some(word) = tokens.peek().filter(|word| !KEYWORDS.contains(word)) {
                        go.search_moves
                            .push(parse_move(word).ok_or_else(|| CommandError::Move(quote(word)))?);
                        tokens.next();
                    }
                }
                "ponder" => go.ponder = true,
                "infinite" => go.infinite = true,
                "wtime" => go.wtime = Some(signed("wtime", tokens)?),
                "btime" => go.btime = Some(signed("btime", tokens)?),
                "winc" => go.winc = Some(signed("winc", tokens)?),
                "binc" => go.binc = Some(signed("binc", tokens)?),
                "movetime" => go.movetime = Some(positive("movetime", tokens)?),
                "movestogo" => go.movestogo = Some(unsigned("movestogo", tokens)?),
                "depth" => go.depth = Some(unsigned("depth", tokens)?),
                "nodes" => go.nodes = Some(unsigned("nodes", tokens)?),
                "mate" => go.mate = Some(positive("mate", tokens)?),
                _ => return Err(CommandError::Unexpected { found: quote(word), usage: USAGE }),
            }
        }
        Ok(go)
    }
}

fn signed(word: &'static str, tokens: &mut Tokens<'_>) -> Result<i64, CommandError> {
    let found = tokens.next().unwrap_or_default();
    parse_integer(found).ok_or_else(|| CommandError::Number { word, range: "", found: quote(found) })
}

pub(super) fn unsigned(word: &'static str, tokens: &mut Tokens<'_>) -> Result<u64, CommandError> {
    at_least(0, " of at least 0", word, tokens)
}

fn positive(word: &'static str, tokens: &mut Tokens<'_>) -> Result<u64, CommandError> {
    at_least(1, " of at least 1", word, tokens)
}

fn at_least(
    least: u64,
    range: &'static str,
    word: &'static str,
    tokens: &mut Tokens<'_>,
) -> Result<u64, CommandError> {
    let found = tokens.next().unwrap_or_default();
    let number = parse_integer(found).and_then(|number| u64::try_from(number).ok());
    number.filter(|&number| number >= least).ok_or_else(|| CommandError::Number {
        word,
        range,
        found: quote(found),
    })
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("go")?;
        if self.ponder {
            f.write_str(" ponder")?;
        }
        item(f, "wtime", self.wtime)?;
        item(f, "btime", self.btime)?;
        item(f, "winc", self.winc)?;
        item(f, "binc", self.binc)?;
        item(f, "movestogo", self.movestogo)?;
        item(f, "depth", self.depth)?;
        item(f, "nodes", self.nodes)?;
        item(f, "mate", self.mate)?;
        item(f, "movetime", self.movetime)?;
        if self.infinite {
            f.write_str(" infinite")?;
        }
        if !self.search_moves.is_empty() {
            f.write_str(" searchmoves")?;
        }
        self.search_moves.iter().try_for_each(|m| write!(f, " {m}"))
    }
}
