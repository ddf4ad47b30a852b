use std::fmt;

use serde::Serialize;
use shakmaty::uci::UciMove;

use super::tokens::{Tokens, item, parse_integer, parse_move};
use crate::types::Bound;

/// An engine's report during a search; `None` for what it does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    /// Depth in plies.
    pub depth: Option<u64>,
    /// Deepest ply reached.
    pub seldepth: Option<u64>,
    /// Rank of the line, from 1.
    pub multipv: Option<u64>,
    /// Score of the line.
    pub score: Option<InfoScore>,
    /// Chances of win, draw and loss, in per mille.
    pub wdl: Option<[u16; 3]>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes a second.
    pub nps: Option<u64>,
    /// Use of the hash table, in per mille.
    pub hashfull: Option<u64>,
    /// Tablebase positions found.
    pub tbhits: Option<u64>,
    /// Time in milliseconds.
    pub time: Option<u64>,
    /// The root move under consideration.
    pub currmove: Option<UciMove>,
    /// Its place in the order, from 1.
    pub currmovenumber: Option<u64>,
    /// The line; empty if none.
    pub pv: Vec<UciMove>,
    /// Text for a person.
    pub string: Option<String>,
}

/// A score, exact or a bound.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InfoScore {
    /// The value.
    pub value: ScoreValue,
    /// Exact or a bound.
    pub bound: Bound,
}

/// A score from the engine's point of view.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
pub enum ScoreValue {
    /// Centipawns.
    #[serde(rename = "cp")]
    Centipawns(i32),
    /// Moves to mate, negative if the engine is mated, 0 if it is mated already.
    #[serde(rename = "mate")]
    Mate(i32),
}

impl Info {
    /// A text for a person. Line ends in it, which names of files may contain, become semicolons.
    pub fn text(text: &str) -> Info {
        let text = text.split(['\r', '\n']).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        Info { string: Some(text), ..Info::default() }
    }

    /// Reads the rest of the line after the word `info`. Unknown words are skipped.
    pub(super) fn parse(tokens: &mut Tokens<'_>) -> Info {
        let mut info = Info::default();
        while let Some(word) = tokens.next() {
            match word {
                "depth" => info.depth = number(tokens),
                "seldepth" => info.seldepth = number(tokens),
                "multipv" => info.multipv = number(tokens),
                "nodes" => info.nodes = number(tokens),
                "nps" => info.nps = number(tokens),
                "hashfull" => info.hashfull = number(tokens),
                "tbhits" => info.tbhits = number(tokens),
                "time" => info.time = number(tokens),
                "currmovenumber" => info.currmovenumber = number(tokens),
                "currmove" => info.currmove = taken(tokens, parse_move),
                "score" => info.score = score(tokens),
                "wdl" => info.wdl = wdl(tokens),
                "pv" => info.pv = std::iter::from_fn(|| taken(tokens, parse_move)).collect(),
                "string" => {
                    info.string = Some(tokens.rest().to_owned());
                    break;
                }
                _ => {}
            }
        }
        info
    }
}

/// The next word if `parse` accepts it; otherwise it is not taken.
fn taken<T>(tokens: &mut Tokens<'_>, parse: fn(&str) -> Option<T>) -> Option<T> {
    let value = tokens.peek().and_then(parse)?;
    tokens.next();
    Some(value)
}

fn number<T: TryFrom<i64>>(tokens: &mut Tokens<'_>) -> Option<T> {
    taken(tokens, |word| parse_integer(word).and_then(|number| T::try_from(number).ok()))
}

fn score(tokens: &mut Tokens<'_>) -> Option<InfoScore> {
    let mut value = None;
    let mut bound = Bound::Exact;
    while let Some(word) = tokens.peek() {
        match word {
            "cp" => {
                tokens.next();
                value = number(tokens).map(ScoreValue::Centipawns);
                continue;
            }
            "mate" => {
                tokens.next();
                value = number(tokens).map(ScoreValue::Mate);
                continue;
            }
            "lowerbound" => bound = Bound::Lower,
            "upperbound" => bound = Bound::Upper,
            _ => break,
        }
        tokens.next();
    }
    value.map(|value| InfoScore { value, bound })
}

fn wdl(tokens: &mut Tokens<'_>) -> Option<[u16; 3]> {
    Some([number(tokens)?, number(tokens)?, number(tokens)?])
}

impl fmt::Display for InfoScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            ScoreValue::Centipawns(value) => write!(f, "cp {value}")?,
            ScoreValue::Mate(moves) => write!(f, "mate {moves}")?,
        }
        match self.bound {
            Bound::Exact => Ok(()),
            Bound::Lower => f.write_str(" lowerbound"),
            Bound::Upper => f.write_str(" upperbound"),
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("info")?;
        item(f, "depth", self.depth)?;
        item(f, "seldepth", self.seldepth)?;
        item(f, "multipv", self.multipv)?;
        item(f, "score", self.score)?;
        if let Some([win, draw, loss]) = self.wdl {
            write!(f, " wdl {win} {draw} {loss}")?;
        }
        item(f, "nodes", self.nodes)?;
        item(f, "nps", self.nps)?;
        item(f, "hashfull", self.hashfull)?;
        item(f, "tbhits", self.tbhits)?;
        item(f, "time", self.time)?;
        item(f, "currmove", self.currmove.as_ref())?;
        item(f, "currmovenumber", self.currmovenumber)?;
        if !self.pv.is_empty() {
            f.write_str(" pv")?;
            self.pv.iter().try_for_each(|m| write!(f, " {m}"))?;
        }
        item(f, "string", self.string.as_ref())
    }
}
