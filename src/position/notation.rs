//! The notations in which moves are written.

use shakmaty::{CastlingMode, Move, san::San, uci::UciMove};

use super::state::Position;

/// Replaces dashes, which some programs write for hyphens.
pub(crate) fn with_hyphens(word: &str) -> String {
    word.replace(['–', '—'], "-")
}

/// A move as SAN, as UCI, in long algebraic notation (`e2-e4`, `Ng1xf3`), or castling with zeros.
pub(crate) fn san(word: &str) -> Option<San> {
    // Double check may be written with two signs.
    let plain = word.trim_end_matches(['+', '#']);
    let as_written = San::from_ascii(plain.as_bytes()).ok();
    as_written.or_else(|| San::from_ascii(as_san(&with_hyphens(plain)).as_bytes()).ok())
}

/// A move in SAN except for zeros in castling, a hyphen between its squares, and the sign of promotion or its case.
fn as_san(word: &str) -> String {
    match word {
        "0-0" | "o-o" => return "O-O".to_owned(),
        "0-0-0" | "o-o-o" => return "O-O-O".to_owned(),
        _ => {}
    }
    let squares = word.split_once('-').filter(|(from, to)| {
        from.ends_with(|c: char| c.is_ascii_digit()) && to.starts_with(|c| ('a'..='h').contains(&c))
    });
    let plain = squares.map_or_else(|| word.to_owned(), |(from, to)| format!("{from}{to}"));
    let Some(head) = plain.strip_suffix(|c: char| "qrbnQRBN".contains(c)) else { return plain };
    let square = head.trim_end_matches('=');
    if !square.ends_with(['1', '8']) {
        return plain;
    }
    format!("{square}={}", plain[head.len()..].to_ascii_uppercase())
}

/// A move as written; `None` if it is not legal. UCI notation and castling as a king move by two squares (or to the
/// rook's square) are accepted as well, because some programs write them.
pub(crate) fn to_move(san: San, position: &Position) -> Option<Move> {
    if let Ok(m) = san.to_move(position.chess()) {
        return Some(m);
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
    from_san.or_else(|| plain.to_ascii_lowercase().parse::<UciMove>().ok()?.to_move(position.chess()).ok())
}
