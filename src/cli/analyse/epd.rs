//! Test positions: EPD lines with the operations `bm`, `am`, `dm`, `c8` and `c9`.

use shakmaty::Move;

use super::pool::Finding;
use crate::{
    cli::pgn::{read_move, without_number},
    learn::exchange::{self, operations},
    position::{
        Position,
        notation::{begins_position, is_board, with_start},
    },
    types::quote,
    uci::translate,
};

/// A line of an EPD file, or a position of the command line.
#[derive(Clone, Debug, Default)]
pub struct EpdRecord {
    /// The name of its file, as it was given; empty for a position of the command line.
    pub file: String,
    /// The position.
    pub position: Position,
    /// The start and the moves that led to it, which count for repetitions.
    pub before: Option<(Position, Vec<Move>)>,
    /// `id`, otherwise the number of the line.
    pub id: String,
    /// `bm`: one of these must be found.
    pub best: Vec<Move>,
    /// `am`: none of these may be played.
    pub avoid: Vec<Move>,
    /// A mate that must be found, in at most so many moves; negative: the opponent's. From `bm #5` or, without `bm` and `am`,
    /// from `dm 5`.
    pub mate: Option<i32>,
    /// Points for moves: `c8` with `c9` as in the Strategic Test Suite.
    pub points: Vec<(Move, u32)>,
}

/// The result of a search on a record.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteResult {
    /// Was it solved? `None` without `bm`, `am` and `dm`.
    pub solved: Option<bool>,
    /// Milliseconds after which the solution was found for good.
    pub solved_after: Option<u64>,
    /// Points of the move played.
    pub points: Option<u32>,
}

impl EpdRecord {
    /// Does it begin with a position, or with a move from the usual starting position?
    pub fn begins(text: &str) -> bool {
        let first = text.split_whitespace().find(|word| !without_number(word).is_empty()).unwrap_or_default();
        begins_position(first) || read_move(without_number(first), &Position::default()).is_some()
    }

    /// As [`EpdRecord::with_moves`]; moves alone are played from the usual starting position.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn named(text: &str) -> Result<EpdRecord, String> {
        match text.split_whitespace().next() {
            Some(first) if !first.contains('/') && !begins_position(first) => {
                EpdRecord::with_moves(&format!("startpos moves {text}"))
            }
            _ => EpdRecord::with_moves(text),
        }
    }

    /// Reads a position of the command line: `startpos`, a FEN or an EPD line, optionally followed by moves in SAN or
    /// UCI notation.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn with_moves(text: &str) -> Result<EpdRecord, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (start, rest) = if words.first() == Some(&"startpos") {
            (Position::default(), &words[1..])
        } else {
            let fields = position_fields(&words);
            if fields == 0 {
                return EpdRecord::read(text, 1);
            }
            let end = fields + counters(&words, fields);
            let fen = words[..end].join(" ").replace(';', "");
            let start = translate::parse_fen(&fen, false).map_err(|error| error.to_string())?;
            (start, &words[end..])
        };
        let is_said = rest.first() == Some(&"moves");
        let mut record =
            EpdRecord { position: start.clone(), id: "line 1".to_owned(), ..EpdRecord::default() };
        let mut moves = Vec::new();
        for word in &rest[usize::from(is_said)..] {
            let san = without_number(word);
            if san.is_empty() {
                continue;
            }
            let Some(m) = read_move(san, &record.position) else {
                if word.matches('/').count() == 7 {
                    return Err(format!(
                        "a second position begins at {word}; write several into a file, one a line, and name that"
                    ));
                }
                // Operations, then.
                if moves.is_empty() && !is_said && words[0] != "startpos" {
                    return EpdRecord::read(text, 1);
                }
                return Err(format!("{word} is not a legal move in {}", record.position.fen()));
            };
            record.position = record.position.play(m);
            moves.push(m);
        }
        record.before = (!moves.is_empty()).then_some((start, moves));
        Ok(record)
    }

    /// Reads a FEN or EPD line. Missing fields at the end of the position take their usual values.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(text: &str, number: usize) -> Result<EpdRecord, String> {
        let line: &str = &with_start(text);
        let words: Vec<&str> = line.split_whitespace().collect();
        let count = match position_fields(&words) {
            found @ 1..4 if begins_operations(&words[found..]) => found,
            _ => 4,
        };
        let counters = counters(&words, count);
        if words.len() < count {
            return Err(format!("`{}` is neither FEN nor EPD", quote(line, 60)));
        }
        // The first operation may follow a semicolon.
        let mut fields: Vec<&str> = words[..count].iter().map(|word| field(word)).collect();
        fields.extend(["w", "-", "-"].iter().skip(count - 1));
        let mut rest = line;
        for _ in 0..count + counters {
            rest = rest.trim_start();
            rest = &rest[rest.find(char::is_whitespace).unwrap_or(rest.len())..];
        }
        let operations = operations(rest);
        let operation =
            |name: &str| operations.iter().find(|(code, _)| code == name).map(|(_, value)| value.as_str());
        let clock = operation("hmvc").filter(|_| counters == 0).unwrap_or("0");
        let fullmoves = operation("fmvn").filter(|_| counters == 0).unwrap_or("1");
        let given = words[count..count + counters].join(" ").replace(';', "");
        let counted = if counters == 0 { format!("{clock} {fullmoves}") } else { given };
        let fen = format!("{} {counted}", fields.join(" "));
        let position = translate::parse_fen(&fen, false).map_err(|error| error.quoting(text).to_string())?;
        let moves = |name: &str| -> Result<Vec<Move>, String> {
            let legal =
                |word| read_move(word, &position).ok_or_else(|| format!("{name} {word} is not a legal move"));
            exchange::moves(&operations, name).map(legal).collect()
        };
        let (best, avoid) = (moves("bm")?, moves("am")?);
        let mate = exchange::announced_mate(&operations);
        let mate = mate.filter(|&moves| moves != 0 && best.is_empty() && avoid.is_empty());
        let points = match (operation("c8"), operation("c9")) {
            (Some(points), Some(moves)) => points
                .split_whitespace()
                .zip(moves.split_whitespace())
                .filter_map(|(points, m)| Some((read_move(m, &position)?, points.parse().ok()?)))
                .collect(),
            _ => Vec::new(),
        };
        let id = operation("id").map_or_else(|| format!("line {number}"), str::to_owned);
        Ok(EpdRecord { position, id, best, avoid, mate, points, ..EpdRecord::default() })
    }

    /// Does this move solve the record? `None` without `bm` and `am`.
    fn accepts(&self, m: Move) -> Option<bool> {
        if self.best.is_empty() && self.avoid.is_empty() {
            return None;
        }
        Some((self.best.is_empty() || self.best.contains(&m)) && !self.avoid.contains(&m))
    }

    /// Is a mate in so many moves the wanted one? `None` if none is wanted.
    fn accepts_mate(&self, found: i32) -> Option<bool> {
        let wanted = self.mate?;
        Some(found.signum() == wanted.signum() && found.abs() <= wanted.abs())
    }

    /// The result of a search.
    pub fn result(&self, finding: &Finding) -> SuiteResult {
        let by_move = finding.best().map_or_else(
            || (!self.best.is_empty() || !self.avoid.is_empty()).then_some(false),
            |m| self.accepts(m),
        );
        let solved = by_move.or_else(|| self.accepts_mate(finding.score().mate_moves().unwrap_or(0)));
        // A move, or the mate of a record that wants no move.
        let solved_after = since(&finding.changes, |m| self.accepts(m))
            .or_else(|| since(&finding.mates, |found| self.accepts_mate(found)))
            .filter(|_| solved == Some(true));
        let points = (!self.points.is_empty()).then(|| {
            let played = finding.best();
            self.points.iter().find(|&&(m, _)| Some(m) == played).map_or(0, |&(_, points)| points)
        });
        SuiteResult { solved, solved_after, points }
    }

    /// The most points that the record gives.
    pub fn most_points(&self) -> u32 {
        self.points.iter().map(|&(_, points)| points).max().unwrap_or(0)
    }
}

/// Since when, in milliseconds, all that was found was accepted.
fn since<T: Copy>(changes: &[(u64, T)], accepts: impl Fn(T) -> Option<bool>) -> Option<u64> {
    let kept = changes.iter().rev().take_while(|&&(_, found)| accepts(found) == Some(true)).last();
    kept.map(|&(millis, _)| millis)
}

/// A field of a position, which some programs end with a semicolon.
fn field(word: &str) -> &str {
    word.strip_suffix(';').unwrap_or(word)
}

/// How many of the words are fields of the position: pieces, side to move, castling, en passant, of which the last may
/// be missing; 0 if the first is not a board. A word that can only be a move is not taken for the en-passant square.
fn position_fields(words: &[&str]) -> usize {
    let words: Vec<&str> = words.iter().take(4).map(|word| field(word)).collect();
    if words.first().is_none_or(|word| !is_board(word)) {
        return 0;
    }
    let turn = words.get(1).copied().unwrap_or_default();
    let rank = if turn == "b" { '3' } else { '6' };
    let is_castling = |word: &&str| {
        *word == "-" || word.len() <= 4 && word.chars().all(|c| "KQkqABCDEFGHabcdefgh".contains(c))
    };
    let is_square = |word: &&str| {
        *word == "-"
            || word.len() == 2 && word.starts_with(|c| ('a'..='h').contains(&c)) && word.ends_with(rank)
    };
    let found = [
        ["w", "b"].contains(&turn),
        words.get(2).is_some_and(is_castling),
        words.get(3).is_some_and(is_square),
    ];
    1 + found.iter().take_while(|&&found| found).count()
}

/// How many counters follow the four fields of a position.
fn counters(words: &[&str], fields: usize) -> usize {
    let behind = words.iter().skip(4).take(2).take_while(|word| field(word).parse::<u32>().is_ok());
    if fields == 4 { behind.count() } else { 0 }
}

/// Can these words follow a position whose last fields are missing?
fn begins_operations(words: &[&str]) -> bool {
    // A square on the wrong rank is a mistake and not an opcode (`c3` and `c6` could be either).
    let is_square = |word: &str| word.len() == 2 && word.ends_with(['3', '6']) && !word.starts_with('v');
    let is_code = |word: &&str| {
        word.len() > 1
            && !is_square(word)
            && word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    };
    words.is_empty() || words.first().is_some_and(is_code) && words.iter().any(|word| word.ends_with(';'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Ply, Score, ScoredLine};

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
    fn lines_are_read_as_other_programs_write_them() {
        let start = Position::default().fen();
        for line in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -; bm e4; id \"a\";",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1; id \"a\"; bm e4;",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c0 \"x \\\" y; \\\\\"; bm e4; id \"a\";",
            "startpos; id \"a\"; bm e4;",
            "startpos id \"a\"; bm e4;",
        ] {
            let record = EpdRecord::read(line, 1).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(
                (record.position.fen(), record.id.as_str(), record.best.len()),
                (start.clone(), "a", 1),
                "{line}"
            );
        }
        assert_eq!(EpdRecord::read("startpos", 1).unwrap().position.fen(), start);
        let line =
            "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - bm ed5 Nxf3; am e:d5!?; id \"a\";";
        let record = EpdRecord::read(line, 1).unwrap();
        assert_eq!((record.best.len(), record.best[0]), (2, record.avoid[0]));
        let line = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm 1.e4 1. d4; bm c4;";
        assert_eq!(EpdRecord::read(line, 1).unwrap().best.len(), 3);
        let castles =
            EpdRecord::with_moves("startpos 1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.0-0 Nf6 5. d3 0−0").unwrap();
        assert_eq!(castles.before.map(|(_, moves)| moves.len()), Some(10));
        let castles = EpdRecord::with_moves("4k3/8/8/8/8/8/8/4K2R w K -; 0-0").unwrap();
        assert_eq!(castles.position.fen(), "4k3/8/8/8/8/8/8/5RK1 b - - 1 1");
    }

    #[test]
    fn moves_may_follow_a_position_and_its_last_fields_be_missing() {
        let fen = |text: &str| EpdRecord::with_moves(text).map(|record| record.position.fen()).unwrap();
        let kings = "4k3/8/8/8/8/8/4P3/4K3";
        let after = |plies: &str| fen(&format!("startpos moves {plies}"));
        for text in ["startpos e4 e5 Nf3", "startpos 1. e4 e5 2. Nf3", "startpos moves e2e4 e7e5 g1f3"] {
            assert_eq!(fen(text), after("e2e4 e7e5 g1f3"), "{text}");
        }
        for text in ["", " w", " w -", " w - -", " w - - 0", " w - - 0 1"] {
            assert_eq!(fen(&format!("{kings}{text}")), format!("{kings} w - - 0 1"), "{text}");
            assert_eq!(fen(&format!("{kings}{text} e3")), "4k3/8/8/8/8/4P3/8/4K3 b - - 0 1", "{text}");
        }
        let record = EpdRecord::with_moves("startpos Nf3 Nf6").unwrap();
        assert_eq!(
            record.before.map(|(start, moves)| (start.fen(), moves.len())),
            Some((fen("startpos"), 2))
        );
        for wrong in [" x KQkq - 0 1", " w KQkqX - bm e3;", " w bm", " x bm e3;"] {
            assert!(EpdRecord::read(&format!("{kings}{wrong}"), 1).is_err(), "{wrong}");
        }
        let task = EpdRecord::with_moves("6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w bm Ra8+;").unwrap();
        assert_eq!(task.best.len(), 1);
        assert!(EpdRecord::with_moves("startpos e5").unwrap_err().contains("e5 is not a legal move"));
        assert!(EpdRecord::with_moves("startpos e4 xyz").unwrap_err().contains("xyz is not a legal move"));
    }

    #[test]
    fn an_announced_mate_must_be_found_in_as_many_moves() {
        let board = "6k1/5ppp/8/8/8/8/5PPP/R3R1K1 w - -";
        for (operations, plies, solved) in [
            ("bm #3", 5, Some(true)),
            ("dm 3", 3, Some(true)),
            ("dm 3", 7, Some(false)),
            ("bm #-3", 5, Some(false)),
            ("bm Ra8+; dm 1", 7, Some(true)),
            ("id \"a\"", 1, None),
        ] {
            let record = EpdRecord::read(&format!("{board} {operations};"), 1).unwrap();
            let moves = vec![read_move("Ra8", &record.position).unwrap()];
            let line = ScoredLine { score: Score::mate_in(Ply(plies)), is_drawn: false, moves };
            let mates = vec![(3, 0), (7, line.score.mate_moves().unwrap_or(0))];
            let finding = Finding { lines: vec![line], mates, ..Finding::default() };
            let result = record.result(&finding);
            assert_eq!(result.solved, solved, "{operations} {plies}");
            // Where a move is wanted, the mate says nothing.
            let after = record.mate.filter(|_| solved == Some(true)).map(|_| 7);
            assert_eq!(result.solved_after, after, "{operations} {plies}");
        }
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
        finding.lines.push(ScoredLine { score: Score(1), is_drawn: false, moves: vec![m("Ra8")] });
        let result = record.result(&finding);
        assert_eq!(result, SuiteResult { solved: Some(true), solved_after: Some(9), points: Some(10) });
        finding.lines[0].moves = vec![m("h3")];
        finding.changes.push((20, m("h3")));
        assert_eq!(
            record.result(&finding),
            SuiteResult { solved: Some(false), solved_after: None, points: Some(4) }
        );
    }
}
