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
    /// The words that were skipped.
    pub unknown: Vec<String>,
}

const USAGE: &str = "go [searchmoves MOVE…] [ponder] [infinite] [depth N] [nodes N] [mate N] [movetime MS] [wtime MS] [btime MS] \
                     [winc MS] [binc MS] [movestogo N]";

impl Go {
    /// Reads the parameters in any order. If one is repeated the last counts. As the protocol asks, a word that is not
    /// understood is skipped, and a number out of range is taken as the nearest that makes sense: a GUI waits for a
    /// `bestmove` whatever it sent. A limit whose number is missing is skipped too; if it is the only one, the
    /// search takes one ply.
    ///
    /// # Errors
    /// No word is understood: an endless search is not what `go dpeth 5` asks for.
    pub(super) fn parse(tokens: &mut Tokens<'_>) -> Result<Go, CommandError> {
        let mut go = Go::default();
        let mut unknown = Vec::new();
        let (mut takes_moves, mut lacks_number, mut has_limit) = (false, false, false);
        while let Some(word) = tokens.next() {
            if takes_moves && let Some(m) = parse_move(word) {
                go.search_moves.push(m);
                continue;
            }
            let mut number = |least: i64| {
                let number = tokens.peek().and_then(parse_number).map(|number| number.max(least));
                if number.is_some() {
                    tokens.next();
                } else {
                    unknown.push(word);
                }
                (has_limit, lacks_number) = (has_limit || number.is_some(), lacks_number || number.is_none());
                number
            };
            match word {
                "searchmoves" => takes_moves = true,
                "ponder" => go.ponder = true,
                "infinite" => (go.infinite, has_limit) = (true, true),
                "wtime" => go.wtime = number(-i64::MAX),
                "btime" => go.btime = number(-i64::MAX),
                "winc" => go.winc = number(-i64::MAX),
                "binc" => go.binc = number(-i64::MAX),
                "movetime" => go.movetime = number(1).map(i64::unsigned_abs),
                "movestogo" => go.movestogo = number(0).map(i64::unsigned_abs),
                "depth" => go.depth = number(0).map(i64::unsigned_abs),
                "nodes" => go.nodes = number(0).map(i64::unsigned_abs),
                "mate" => go.mate = number(1).map(i64::unsigned_abs),
                _ => unknown.push(word),
            }
        }
        if lacks_number && !has_limit {
            go.depth = Some(1);
        } else if !has_limit
            && !go.ponder
            && !takes_moves
            && let Some(word) = unknown.first()
        {
            return Err(CommandError::Unexpected { found: quote(word), usage: USAGE });
        }
        go.unknown = unknown.into_iter().map(str::to_owned).collect();
        Ok(go)
    }
}

/// A number with its fraction dropped.
fn parse_number(word: &str) -> Option<i64> {
    let fraction = || word.parse::<f64>().ok().filter(|number| !number.is_nan()).map(|number| number as i64);
    parse_integer(word).or_else(fraction)
}

/// The number of plies or nodes behind a command that is not part of the protocol.
pub(super) fn unsigned(
    word: &'static str,
    usage: &'static str,
    tokens: &mut Tokens<'_>,
) -> Result<u64, CommandError> {
    let found = tokens.next().ok_or(CommandError::Incomplete { command: word, usage })?;
    let number = parse_integer(found).and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| CommandError::Number { word, found: quote(found) })
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
