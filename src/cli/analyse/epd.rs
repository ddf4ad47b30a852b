//! Positions with tasks: EPD lines, and what their operations ask for.

use shakmaty::{CastlingMode, Move, san::San, uci::UciMove};

use super::pool::Finding;
use crate::{cli::pgn, position::Position, uci::translate};

/// A line of an EPD file.
#[derive(Clone, Debug)]
pub struct EpdRecord {
    /// The position.
    pub position: Position,
    /// `id`, else the number of the line.
    pub id: String,
    /// `bm`: one of these is to be found.
    pub best: Vec<Move>,
    /// `am`: none of these is to be played.
    pub avoid: Vec<Move>,
    /// Points for moves: `c8` with `c9` as in the Strategic Test Suite.
    pub points: Vec<(Move, u32)>,
    /// Is it the only one of the input?
    pub is_single: bool,
}

/// How a search did on a record.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Result {
    /// Was a task set, and solved at the end?
    pub solved: Option<bool>,
    /// Milliseconds after which the solution was found and kept.
    pub solved_after: Option<u64>,
    /// Points of the move played.
    pub points: Option<u32>,
}

impl EpdRecord {
    /// Reads a FEN or EPD line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(line: &str, number: usize) -> std::result::Result<EpdRecord, String> {
        let fields: Vec<&str> = line.split_whitespace().collect();
        if fields.len() < 4 {
            return Err(format!("`{}` is neither FEN nor EPD", line.chars().take(60).collect::<String>()));
        }
        // Counters may stand where the operations begin.
        let counters = fields[4..].iter().take(2).take_while(|field| field.parse::<u32>().is_ok()).count();
        let mut rest = line;
        for _ in 0..4 + counters {
            rest = rest.trim_start();
            rest = &rest[rest.find(char::is_whitespace).unwrap_or(rest.len())..];
        }
        let operations = operations(rest);
        let operation =
            |name: &str| operations.iter().find(|(code, _)| code == name).map(|(_, value)| value.as_str());
        let clock = operation("hmvc").filter(|_| counters == 0).unwrap_or("0");
        let fullmoves = operation("fmvn").filter(|_| counters == 0).unwrap_or("1");
        let mut fen = fields[..4 + counters].join(" ");
        if counters == 0 {
            fen = format!("{fen} {clock} {fullmoves}");
        }
        let position = translate::parse_fen(&fen, false).map_err(|error| error.to_string())?;
        let moves = |name: &str| -> std::result::Result<Vec<Move>, String> {
            let Some(value) = operation(name) else { return Ok(Vec::new()) };
            // `bm #5` announces a mate, not a move.
            let words = value.split([' ', ',']).filter(|word| !word.is_empty() && !word.starts_with('#'));
            words
                .map(|word| read_move(word, &position).ok_or(format!("{name} {word} is no legal move")))
                .collect()
        };
        let (best, avoid) = (moves("bm")?, moves("am")?);
        let points = match (operation("c8"), operation("c9")) {
            (Some(points), Some(moves)) => points
                .split_whitespace()
                .zip(moves.split_whitespace())
                .filter_map(|(points, m)| Some((read_move(m, &position)?, points.parse().ok()?)))
                .collect(),
            _ => Vec::new(),
        };
        let id = operation("id").map_or_else(|| format!("line {number}"), str::to_owned);
        Ok(EpdRecord { position, id, best, avoid, points, is_single: false })
    }

    /// Is this what the record asks for? Nothing if it asks for nothing.
    fn accepts(&self, m: Move) -> Option<bool> {
        if self.best.is_empty() && self.avoid.is_empty() {
            return None;
        }
        Some((self.best.is_empty() || self.best.contains(&m)) && !self.avoid.contains(&m))
    }

    /// How the search did.
    pub fn result(&self, finding: &Finding) -> Result {
        let solved = finding.best().map_or_else(
            || (!self.best.is_empty() || !self.avoid.is_empty()).then_some(false),
            |m| self.accepts(m),
        );
        let kept = finding.changes.iter().rev().take_while(|&&(_, m)| self.accepts(m) == Some(true)).last();
        let points = (!self.points.is_empty()).then(|| {
            let played = finding.best();
            self.points.iter().find(|&&(m, _)| Some(m) == played).map_or(0, |&(_, points)| points)
        });
        Result { solved, solved_after: kept.filter(|_| solved == Some(true)).map(|&(ms, _)| ms), points }
    }

    /// The most points that the record gives.
    pub fn most_points(&self) -> u32 {
        self.points.iter().map(|&(_, points)| points).max().unwrap_or(0)
    }
}

/// `code operand...;` one after the other; quotes may hold semicolons and are taken away.
fn operations(text: &str) -> Vec<(String, String)> {
    let mut operations = Vec::new();
    let (mut code, mut value, mut quoted, mut in_code) = (String::new(), String::new(), false, true);
    for c in text.chars().chain([';']) {
        match c {
            '"' => quoted = !quoted,
            ';' if !quoted => {
                if !code.is_empty() {
                    operations.push((std::mem::take(&mut code), value.trim().to_owned()));
                }
                code.clear();
                value.clear();
                in_code = true;
            }
            c if in_code && c.is_whitespace() => in_code = code.is_empty(),
            c if in_code => code.push(c),
            c => value.push(c),
        }
    }
    operations
}

/// A move in SAN, UCI or long algebraic notation, with or without marks.
fn read_move(word: &str, position: &Position) -> Option<Move> {
    let word = word.trim_end_matches(['!', '?', '+', '#']);
    if let Ok(san) = word.parse::<San>()
        && let Some(m) = pgn::to_move(san, position)
    {
        return Some(m);
    }
    let squares: String = word.trim_start_matches(['K', 'Q', 'R', 'B', 'N']).replace(['-', 'x', '='], "");
    let squares = squares.to_ascii_lowercase();
    let legal = position.legal_moves();
    legal.into_iter().find(|m| {
        [CastlingMode::Standard, CastlingMode::Chess960]
            .iter()
            .any(|&mode| m.to_uci(mode).to_string() == squares)
            || squares
                .parse::<UciMove>()
                .is_ok_and(|uci| uci.to_move(position.chess()).is_ok_and(|found| found == *m))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_read_in_every_notation() {
        let line = "6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - bm Ra8+ e1e8 Re1-e7; id \"a; b\"; c0 \"x\";";
        let record = EpdRecord::read(line, 1).unwrap();
        assert_eq!((record.best.len(), record.id.as_str()), (3, "a; b"));
        let counters = "6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - 12 40 am Ra8;";
        let record = EpdRecord::read(counters, 7).unwrap();
        assert_eq!((record.position.halfmoves(), record.avoid.len(), record.id.as_str()), (12, 1, "line 7"));
        let record = EpdRecord::read("6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - hmvc 3; fmvn 9;", 1).unwrap();
        assert_eq!(record.position.halfmoves(), 3);
        assert!(EpdRecord::read("6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - bm Qa8;", 1).is_err());
        assert!(EpdRecord::read("hello", 1).is_err());
    }

    #[test]
    fn time_to_solution_is_when_the_move_was_kept() {
        let line = "6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - - bm Ra8+ Re8+; c8 \"10 4\"; c9 \"a1a8 h2h3\";";
        let record = EpdRecord::read(line, 1).unwrap();
        let m = |text| read_move(text, &record.position).unwrap();
        let mut finding = Finding {
            changes: vec![(1, m("Ra8")), (5, m("h3")), (9, m("Re8")), (12, m("Ra8"))],
            ..Finding::default()
        };
        finding.lines.push(crate::cli::analyse::pool::FoundLine {
            score: crate::types::Score(1),
            is_drawn: false,
            moves: vec![m("Ra8")],
        });
        let result = record.result(&finding);
        assert_eq!(result, Result { solved: Some(true), solved_after: Some(9), points: Some(10) });
        finding.lines[0].moves = vec![m("h3")];
        finding.changes.push((20, m("h3")));
        assert_eq!(
            record.result(&finding),
            Result { solved: Some(false), solved_after: None, points: Some(4) }
        );
    }
}
