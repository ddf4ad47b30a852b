use shakmaty::{Move, san::SanPlus};

use super::Game;
use crate::position::{
    Position,
    notation::{move_number, tag},
};

/// Lines of movetext are shorter than this.
const COLUMNS: usize = 80;

/// The tokens to be written after a move, such as `$6`, `{text}` or `(1. e4)`.
pub type Comment = Vec<String>;

/// A game as PGN, with `tags` in place of its own and `comments` after its moves (the first before them).
pub fn write_game(game: &Game, tags: &[(String, String)], comments: &[Comment]) -> String {
    let mut text: String = tags.iter().map(|(name, value)| tag(name, value)).collect();
    text.push('\n');
    let mut tokens = movetext(game, comments);
    tokens.push(game.outcome.to_string());
    wrap(&mut text, &tokens);
    text.push('\n');
    text
}

/// The words of a game's moves with `comments` after them (the first before them), without a result.
pub fn movetext(game: &Game, comments: &[Comment]) -> Vec<String> {
    numbered(&game.start, &game.moves, comments)
}

/// A line from `position` in SAN with move numbers.
pub fn line(position: &Position, moves: &[Move]) -> String {
    numbered(position, moves, &[]).join(" ")
}

fn numbered(start: &Position, moves: &[Move], comments: &[Comment]) -> Vec<String> {
    let mut tokens: Vec<String> = comments.first().cloned().unwrap_or_default();
    let mut position = start.clone();
    let mut numbered = true;
    for (index, &m) in moves.iter().enumerate() {
        let (san, next) = san(&position, m);
        tokens.extend((numbered || position.turn().is_white()).then(|| move_number(&position)));
        tokens.push(san);
        position = next;
        let after = comments.get(index + 1).map(Vec::as_slice).unwrap_or_default();
        tokens.extend_from_slice(after);
        // After a comment or variation the number is written again, for Black too.
        numbered = after.iter().any(|token| !token.starts_with('$'));
    }
    tokens
}

/// A move in SAN, and the position after it.
pub fn san(position: &Position, m: Move) -> (String, Position) {
    (SanPlus::from_move(position.chess().clone(), m).to_string(), position.play(m))
}

fn wrap(text: &mut String, tokens: &[String]) {
    let mut column = 0;
    for word in tokens.iter().flat_map(|token| words(token)) {
        let width = word.chars().count();
        // At the beginning of a line `[Event` in a comment would be taken for the next game, and `%` escapes the line.
        let may_begin_a_line = !word.starts_with("[Event") && !word.starts_with('%');
        if column > 0 && column + 1 + width >= COLUMNS && may_begin_a_line {
            text.push('\n');
            column = 0;
        } else if column > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    text.push('\n');
}

/// The parts of a token between which a line may end. A command such as `[%eval 0.2]` stays whole if it fits on a line.
fn words(token: &str) -> impl Iterator<Item = &str> {
    // The most characters that may follow of a command.
    let mut command: usize = 0;
    token.split(move |c| {
        command = match c {
            '[' => COLUMNS,
            ']' => 0,
            _ => command.saturating_sub(1),
        };
        c == ' ' && command == 0
    })
}
