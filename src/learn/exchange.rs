//! Records as text, lossless; and EPD by others, whose best moves are advice.
//!
//! `learn/FORMAT.md` shows a line. It is EPD with operations of our own, so that any EPD reader can read its position.

use std::fmt::Write;

use shakmaty::{CastlingMode, fen::Fen, uci::UciMove};
use thiserror::Error;

use super::{
    policy::Known,
    record::{ADVICE_DEPTH, Flags, Origin, Record, RecordError, Unlearnable},
    score::LearnedScore,
};
use crate::{
    position::{
        Position,
        notation::{read_move, with_start, without_number},
    },
    types::{PackedMove, quote},
};

/// A line that cannot be imported.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LineError {
    /// The position is invalid.
    #[error("`{0}` is not a position: write the pieces, side to move, castling rights and en-passant square")]
    Position(String),
    /// An operation of ours is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// An operand is invalid.
    #[error("`{operation} {operand}` cannot be read")]
    Operand {
        /// The operation.
        operation: &'static str,
        /// What follows it.
        operand: String,
    },
    /// A move that is not legal.
    #[error("the move {0} is not legal in this position")]
    Move(String),
    /// More moves than a record holds.
    #[error(
        "at most {MAX_ADVISED} moves of a position can be advised, those advised before included; remove these first \
         (`engram learn forget --position FEN --yes`)"
    )]
    TooManyMoves,
    /// A mate after a number of plies that cannot be.
    #[error(
        "`{0}` cannot be: a side mates after an odd number of plies (+mate7), and is mated after an even one (-mate8)"
    )]
    Score(LearnedScore),
    /// No score is within the bounds.
    #[error("no score is at least {0} and at most {1}")]
    Bounds(LearnedScore, LearnedScore),
    /// The key belongs to another position.
    #[error("the key is not that of the position")]
    Key,
    /// The line has neither a record nor a best move.
    #[error("there is no best move (`bm`)")]
    NothingToLearn,
    /// The position does not fit into a record.
    #[error(transparent)]
    Unlearnable(#[from] Unlearnable),
}

/// The line of text, without line end, that [`parse_line`] turns back into the same record.
///
/// # Errors
/// The record contradicts itself.
pub fn line(record: &Record) -> Result<String, RecordError> {
    let (position, best) = record.position_and_move()?;
    let mut line = position.epd();
    let best = best.map_or_else(|| "-".to_owned(), |m| m.to_uci(CastlingMode::Chess960).to_string());
    let also =
        record.also.iter().filter_map(|&m| position.unpack(m)).map(|m| m.to_uci(CastlingMode::Chess960));
    let Record { key, lower, upper, depth, halfmoves, game_ply, since_root, .. } = record;
    let Record { log2_nodes, evaluation_id, session, time, .. } = record;
    let (origin, flags) = (record.origin.name(), flags(record.flags));
    // Writing to a string cannot fail.
    let _ = write!(
        line,
        " key {:016x}; move {best}; lower {lower}; upper {upper}; depth {depth}; clock {halfmoves}; \
         origin {origin}; flags {flags}; ply {game_ply}; since {since_root}; nodes {log2_nodes}; \
         evaluation {evaluation_id}; session {session:08x}; time {time};",
        key.0
    );
    also.for_each(|m| _ = write!(line, " also {m};"));
    Ok(line)
}

/// The record of a line, or none for an empty line or a comment (`#`). A line that [`line()`] did not write is EPD by
/// others: its `bm` is advice, up to three moves, with the score of `ce` (centipawns) or of `dm` or `bm #` (mate in moves)
/// and the depth of `acd`, given at `time` by `session`.
///
/// # Errors
/// The line is invalid.
pub fn parse_line(text: &str, session: u32, time: u32) -> Result<Option<Record>, LineError> {
    let text = with_start(text);
    if text.is_empty() || text.starts_with('#') {
        return Ok(None);
    }
    let (board, operations) = split(&text);
    let operations = Operations(self::operations(operations));
    let record = match operations.get("key") {
        Some(_) => own(&board, &operations)?,
        None => advised(&board, &operations, session, time)?,
    };
    Ok(Some(record))
}

/// The four fields of the position, or six if counters follow, and the rest of the line.
fn split(text: &str) -> (String, &str) {
    let mut rest = text;
    let mut board = String::new();
    for number in 0..6 {
        let (field, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let field = field.strip_suffix(';').unwrap_or(field);
        if number >= 4 && field.parse::<u32>().is_err() {
            break;
        }
        if !board.is_empty() {
            board.push(' ');
        }
        board.push_str(field);
        rest = behind.trim_start();
    }
    (board, rest)
}

/// The operations of an EPD, `opcode operand; opcode operand; …`. Quotes may contain semicolons, and are removed;
/// between them a backslash stands before a quote or a backslash that is meant.
pub fn operations(text: &str) -> Vec<(String, String)> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let Some(part) = parts.last_mut() else { break };
        match c {
            '"' => quoted = !quoted,
            ';' if !quoted => parts.push(String::new()),
            '\\' if quoted => part.push(chars.next_if(|&next| ['"', '\\'].contains(&next)).unwrap_or(c)),
            c => part.push(c),
        }
    }
    if quoted {
        // The last one has no end.
        parts.pop();
    }
    let operation = |part: String| {
        let (code, value) = part.trim().split_once(char::is_whitespace).unwrap_or((part.trim(), ""));
        (!code.is_empty()).then(|| (code.to_owned(), value.trim().to_owned()))
    };
    parts.into_iter().filter_map(operation).collect()
}

/// The words of all operations with this opcode, without numbers of moves: one may list several moves, and come several
/// times.
fn words<'a>(operations: &'a [(String, String)], opcode: &str) -> impl Iterator<Item = &'a str> {
    let values = operations.iter().filter(move |(code, _)| code == opcode);
    let words = values.flat_map(|(_, value)| value.split([' ', ','])).map(without_number);
    words.filter(|word| !word.is_empty())
}

/// The moves of all operations with this opcode.
pub fn moves<'a>(operations: &'a [(String, String)], opcode: &str) -> impl Iterator<Item = &'a str> {
    words(operations, opcode).filter(|word| !word.starts_with('#'))
}

/// The mate that `bm #5` or `dm 5` announces, in moves; negative: the opponent's.
pub fn announced_mate(operations: &[(String, String)]) -> Option<i32> {
    let announced = words(operations, "bm").find_map(|word| word.strip_prefix('#')?.parse().ok());
    let direct = || operations.iter().find(|(opcode, _)| opcode == "dm")?.1.parse().ok();
    announced.or_else(direct)
}

/// The operations of a line.
struct Operations(Vec<(String, String)>);

impl Operations {
    fn get(&self, wanted: &str) -> Option<&str> {
        self.0.iter().find(|(opcode, _)| opcode == wanted).map(|(_, operand)| operand.as_str())
    }

    /// The number of an operation that may be missing. One that cannot be read, such as `ce +M3`, is ignored.
    fn optional<T: std::str::FromStr>(&self, operation: &str) -> Option<T> {
        self.get(operation)?.parse().ok()
    }

    fn read<T>(&self, operation: &'static str, parse: impl Fn(&str) -> Option<T>) -> Result<T, LineError> {
        let operand = self.get(operation).ok_or(LineError::Missing(operation))?;
        parse(operand).ok_or_else(|| LineError::Operand { operation, operand: quote(operand, 40) })
    }

    fn number<T: std::str::FromStr>(&self, operation: &'static str) -> Result<T, LineError> {
        self.read(operation, |operand| operand.parse().ok())
    }
}

pub(super) fn position(board: &str, chess960: Option<bool>) -> Result<Position, LineError> {
    let wrong = || LineError::Position(quote(board, 100));
    let setup = board.parse::<Fen>().map_err(|_| wrong())?.into_setup();
    let mode = match chess960 {
        Some(true) => CastlingMode::Chess960,
        Some(false) => CastlingMode::Standard,
        None => Position::castling_mode(board, &setup),
    };
    Position::from_setup(setup, mode).map_err(|_| wrong())
}

fn own(board: &str, operations: &Operations) -> Result<Record, LineError> {
    let flags = operations.read("flags", parse_flags)?;
    let position = position(board, Some(flags.chess960))?;
    let origin = operations.read("origin", Origin::from_name)?;
    let hexadecimal = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let mut also = [PackedMove::NONE; 2];
    for (place, (_, m)) in also.iter_mut().zip(operations.0.iter().filter(|(opcode, _)| opcode == "also")) {
        *place = find_move(&position, m)?;
    }
    let record = Record {
        also,
        best: match operations.get("move").ok_or(LineError::Missing("move"))? {
            "-" => PackedMove::NONE,
            best => find_move(&position, best)?,
        },
        lower: operations.number("lower")?,
        upper: operations.number("upper")?,
        depth: operations.number("depth")?,
        halfmoves: operations.number("clock")?,
        game_ply: operations.number("ply")?,
        since_root: operations.number("since")?,
        log2_nodes: operations.number("nodes")?,
        evaluation_id: operations.number("evaluation")?,
        session: operations.read("session", |digits| u32::from_str_radix(digits, 16).ok())?,
        time: operations.number("time")?,
        flags,
        ..Record::new(&position, origin)?
    };
    if operations.read("key", hexadecimal)? != record.key.0 {
        return Err(LineError::Key);
    }
    with_possible_score(record)
}

/// The record, if a position can have a score within its bounds.
fn with_possible_score(record: Record) -> Result<Record, LineError> {
    let Record { lower, upper, .. } = record;
    if Known::of(&record).is_none() {
        return Err(LineError::Bounds(lower, upper));
    }
    // A bound alone may be any score: a mate within eight plies is one within seven.
    if lower == upper && !lower.is_possible() {
        return Err(LineError::Score(lower));
    }
    Ok(record)
}

fn advised(board: &str, operations: &Operations, session: u32, time: u32) -> Result<Record, LineError> {
    let position = position(board, None)?;
    let names = moves(&operations.0, "bm");
    let mate = announced_mate(&operations.0).map(|moves| {
        let plies = moves.unsigned_abs().saturating_mul(2).saturating_sub(u32::from(moves > 0));
        LearnedScore::mate(u16::try_from(plies).unwrap_or(u16::MAX), moves > 0)
    });
    let mate = mate.filter(|score| score.is_possible());
    let score = mate.or_else(|| operations.optional("ce").map(LearnedScore::from_centipawns));
    let advice = Record { session, time, ..advice(&position, names, score)? };
    Ok(Record { depth: operations.optional("acd").unwrap_or(advice.depth), ..advice })
}

/// The advice to play one of these moves, in UCI notation or SAN, with the score that the position then has.
///
/// # Errors
/// There is no move, there are more than three, one is not legal, or the score is impossible.
pub fn advice<'a>(
    position: &Position,
    names: impl Iterator<Item = &'a str>,
    score: Option<LearnedScore>,
) -> Result<Record, LineError> {
    let moves = names.map(|name| find_move(position, name)).collect::<Result<Vec<_>, _>>()?;
    let (&best, more) = moves.split_first().ok_or(LineError::NothingToLearn)?;
    if moves.len() > MAX_ADVISED {
        return Err(LineError::TooManyMoves);
    }
    let mut record = Record { best, ..Record::new(position, Origin::Advice)? };
    record.also[..more.len()].copy_from_slice(more);
    if let Some(score) = score {
        (record.lower, record.upper, record.depth) = (score, score, ADVICE_DEPTH);
    }
    with_possible_score(record)
}

/// What was advised of a position before, and `more` advice, which is the later one: the moves of both, and the newer
/// score if there is one. The same as `before` if that says all of it.
///
/// # Errors
/// Together they have more than three moves.
pub fn with_more_advice(before: &Record, more: Record) -> Result<Record, LineError> {
    let new = more.advised().filter(|m| before.advised().all(|known| known != *m));
    let moves: Vec<PackedMove> = before.advised().chain(new).collect();
    if moves.len() > MAX_ADVISED {
        return Err(LineError::TooManyMoves);
    }
    let mut both = if more.lower.is_none() { before.clone() } else { more.clone() };
    (both.best, both.also) = (moves[0], [PackedMove::NONE; 2]);
    both.also[..moves.len() - 1].copy_from_slice(&moves[1..]);
    let Record { session, time, game_ply, halfmoves, .. } = *before;
    let is_same = *before == Record { session, time, game_ply, halfmoves, ..both.clone() };
    let later = Record { session: more.session, time: more.time.max(before.time.saturating_add(1)), ..both };
    Ok(if is_same { before.clone() } else { later })
}

/// The most moves of a position that can be advised.
const MAX_ADVISED: usize = 3;

/// A legal move in UCI notation or any notation of PGN files. UCI comes first, because in Chess960 a king's move can
/// have the squares of a castling.
fn find_move(position: &Position, text: &str) -> Result<PackedMove, LineError> {
    let wrong = || LineError::Move(quote(text, 20));
    let uci = text.parse::<UciMove>().ok().and_then(|uci| uci.to_move(position.chess()).ok());
    let m = uci.or_else(|| read_move(text, position)).ok_or_else(wrong)?;
    Ok(PackedMove::pack(m))
}

/// Letters of flags: castling as in Chess960, confirmed.
const FLAGS: [(&str, bool, bool); 4] =
    [("-", false, false), ("9", true, false), ("c", false, true), ("9c", true, true)];

fn flags(flags: Flags) -> &'static str {
    FLAGS[usize::from(flags.chess960) + 2 * usize::from(flags.confirmed)].0
}

fn parse_flags(text: &str) -> Option<Flags> {
    let &(_, chess960, confirmed) = FLAGS.iter().find(|(letters, ..)| *letters == text)?;
    Some(Flags { chess960, confirmed, tombstone: false })
}
