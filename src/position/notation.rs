//! The notations in which moves and positions are written.

use std::borrow::Cow;

use shakmaty::{CastlingMode, File, Move, Position as _, Role, san::San, uci::UciMove};

use super::state::Position;
use crate::types::Score;

/// Can a word begin a position: is it `startpos`, or the pieces of a FEN?
pub(crate) fn begins_position(word: &str) -> bool {
    word.trim_end_matches(';') == "startpos" || is_board(word)
}

/// Has a word the form of a FEN's first field, the pieces?
pub(crate) fn is_board(word: &str) -> bool {
    word.matches('/').count() == 7
}

/// A line with the FEN of the starting position in the place of `startpos`, with which it may begin.
pub(crate) fn with_start(line: &str) -> Cow<'_, str> {
    let line = line.trim();
    match line.split_once(|c: char| c.is_whitespace() || c == ';').unwrap_or((line, "")) {
        ("startpos", rest) => format!("{} {rest}", Position::default().fen()).into(),
        _ => line.into(),
    }
}

/// A hyphen, or one of the dashes and minus signs that some programs and printed texts have in its place.
pub(crate) fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}')
}

/// A word with hyphens for all dashes.
pub(crate) fn with_hyphens(word: &str) -> String {
    word.replace(is_dash, "-")
}

/// The text behind the number of a move, such as that of `12.Nf3` or `12...`; a word without dots is its own.
pub(crate) fn without_number(word: &str) -> &str {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let text = rest.trim_start_matches(['.', '…']);
    if text.len() < rest.len() || rest.is_empty() { text } else { word }
}

/// A tag of PGN with its value, on a line of its own.
pub(crate) fn tag(name: &str, value: &str) -> String {
    format!("[{name} \"{}\"]\n", value.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The tags of PGN about where a game starts: none if it is the usual position.
pub(crate) fn start_tags(start: &Position) -> Vec<(&'static str, String)> {
    let fen = start.fen();
    let chess960 = start.chess().castles().mode().is_chess960();
    let mut tags = Vec::new();
    if chess960 {
        tags.push(("Variant", "Chess960".to_owned()));
    }
    if chess960 || fen != Position::default().fen() {
        tags.extend([("SetUp", "1".to_owned()), ("FEN", fen)]);
    }
    tags
}

/// The number of the next move as it is written before it: `12.` or `12...`.
pub(crate) fn move_number(position: &Position) -> String {
    format!("{}{}", position.chess().fullmoves(), position.turn().fold_wb(".", "..."))
}

/// White's score as in `[%eval]`: pawns or a mate, `0.35` or `#-3`.
pub(crate) fn eval(score: Score) -> String {
    let pawns = || format!("{:.2}", f64::from(score.centipawns()) / 100.0);
    score.mate_moves().map_or_else(pawns, |moves| format!("#{moves}"))
}

/// A move as SAN, as UCI, in long algebraic notation (`e2-e4`, `Ng1xf3`), with figurines, or castling with zeros.
pub(crate) fn san(word: &str) -> Option<San> {
    // Double check may be written with two signs; the daggers are those of printed books.
    let plain = word.trim_end_matches(['+', '#', '†', '‡']);
    let as_written = San::from_ascii(plain.as_bytes()).ok();
    as_written.or_else(|| San::from_ascii(as_san(&with_letters(plain)).as_bytes()).ok())
}

/// A move with the letters of its pieces in the place of figurines, and the signs of captures and hyphens of SAN.
fn with_letters(word: &str) -> String {
    let mut letters = String::with_capacity(word.len());
    for c in with_hyphens(word).chars() {
        match c {
            '♔' | '♚' => letters.push('K'),
            '♕' | '♛' => letters.push('Q'),
            '♖' | '♜' => letters.push('R'),
            '♗' | '♝' => letters.push('B'),
            '♘' | '♞' => letters.push('N'),
            '♙' | '♟' => {}
            ':' | '×' => letters.push('x'),
            _ => letters.push(c),
        }
    }
    letters
}

/// A move in SAN except for zeros and small letters in castling, a hyphen between its squares, a pawn's capture without
/// its sign (`ed5`), and the sign of promotion or its case.
fn as_san(word: &str) -> String {
    let castling = word.replace(['0', 'o'], "O");
    if ["O-O", "O-O-O"].contains(&castling.as_str()) {
        return castling;
    }
    let is_file = |byte: &u8| (b'a'..=b'h').contains(byte);
    let squares = word.split_once('-').filter(|(from, to)| {
        from.ends_with(|c: char| c.is_ascii_digit()) && to.starts_with(|c| ('a'..='h').contains(&c))
    });
    let plain = match word.as_bytes() {
        [from, to, b'1'..=b'8', ..] if is_file(from) && is_file(to) => {
            format!("{}x{}", &word[..1], &word[1..])
        }
        _ => squares.map_or_else(|| word.to_owned(), |(from, to)| format!("{from}{to}")),
    };
    let Some(head) = plain.strip_suffix(|c: char| "qrbnQRBN".contains(c)) else { return plain };
    let square = head.trim_end_matches('=');
    if !square.ends_with(['1', '8']) {
        return plain;
    }
    format!("{square}={}", plain[head.len()..].to_ascii_uppercase())
}

/// A move as written; `None` if it is not legal. The sign of a capture may be missing or too much where only one move
/// is meant. UCI notation and castling as a king move by two squares (or to the rook's square) are accepted as well,
/// because some programs write them.
pub(crate) fn to_move(san: San, position: &Position) -> Option<Move> {
    if let Ok(m) = san.to_move(position.chess()) {
        return Some(m);
    }
    if let San::Normal { role, file, rank, capture, to, promotion } = san {
        let other = San::Normal { role, file, rank, capture: !capture, to, promotion };
        // A pawn that takes is never written without its file.
        let has_origin = role != Role::Pawn || file.is_some() || rank.is_some();
        if has_origin && let Ok(m) = other.to_move(position.chess()) {
            return Some(m);
        }
    }
    let written = san.to_string();
    let squares = written.trim_start_matches('K').replace(['x', '='], "").to_ascii_lowercase();
    let modes = [CastlingMode::Standard, CastlingMode::Chess960];
    let is_written = |m: &Move| modes.iter().any(|&mode| m.to_uci(mode).to_string() == squares);
    position.legal_moves().into_iter().find(is_written)
}

/// A move in any notation of PGN files, or in UCI notation with capital letters; `None` if it is not legal.
pub(crate) fn read_move(word: &str, position: &Position) -> Option<Move> {
    let plain = word.trim_end_matches(['+', '#', '!', '?']);
    let from_san = san(plain).and_then(|san| to_move(san, position));
    let from_uci = || plain.to_ascii_lowercase().parse::<UciMove>().ok()?.to_move(position.chess()).ok();
    from_san.or_else(from_uci).or_else(|| by_files(plain, position))
}

/// A pawn's capture by its files alone, such as `ed` or `exd`, if it is the only one.
fn by_files(word: &str, position: &Position) -> Option<Move> {
    let &[from, to] = word.replace(['x', ':', '×'], "").as_bytes() else { return None };
    let file = |byte: u8| File::from_char(char::from(byte));
    let (from, to) = (file(from)?, file(to)?);
    let is_meant = |m: &Move| {
        let starts = m.from().is_some_and(|square| square.file() == from);
        m.role() == Role::Pawn && m.is_capture() && starts && m.to().file() == to
    };
    let mut meant = position.legal_moves().into_iter().filter(is_meant);
    meant.next().filter(|_| meant.next().is_none())
}
