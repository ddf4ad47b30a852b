use std::io::{self, BufRead};

use shakmaty::{CastlingMode, Move, Outcome, Position as _, san::San};

use super::{
    Annotation, Broken, Game,
    lines::{Lines, MAX_BYTES},
    tag,
    token::{PgnTokens, Token},
};
use crate::{position::Position, uci::translate};

/// Characters shown of a word that is no legal move.
const SHOWN: usize = 20;
/// Maximum number of tags searched for duplicates; no game has more.
const MAX_TAGS: usize = 256;

/// The games of a PGN file, one after another. One game at a time is in memory.
pub struct Games<R> {
    lines: Lines<R>,
    /// A line that belongs to the next game.
    kept: Option<String>,
    number: usize,
}

impl<R: BufRead> Games<R> {
    /// The games in `reader`.
    pub fn new(reader: R) -> Games<R> {
        Games { lines: Lines::new(reader), kept: None, number: 0 }
    }
}

impl<R: BufRead> Iterator for Games<R> {
    type Item = io::Result<Result<Game, Broken>>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut draft = Draft::default();
        loop {
            let line = match self.kept.take().map_or_else(|| self.lines.next(), |line| Ok(Some(line))) {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => return Some(Err(error)),
            };
            let text = line.trim();
            if text.is_empty() || (line.starts_with('%') && draft.comment.is_none()) {
                draft.tags_before_gap = draft.tags.len();
                continue;
            }
            if draft.is_followed_by(text) {
                self.kept = Some(line);
                break;
            }
            // Comments before the first tag are about the file, not about its first game.
            let first_tag = draft.comment.is_none() && text.starts_with('[');
            if draft.part == GamePart::Nothing && (draft.line == 0 || first_tag) {
                draft = Draft { line: self.lines.count, ..Draft::default() };
            }
            draft.read(text);
            if draft.ended && draft.comment.is_none() {
                break;
            }
        }
        if draft.part == GamePart::Nothing && draft.comment.is_none() {
            return None;
        }
        self.number += 1;
        let (number, line) = (self.number, draft.line);
        Some(Ok(draft.finish(number).map_err(|reason| Broken { number, line, reason })))
    }
}

#[derive(Copy, Clone, Default, PartialEq, Eq)]
enum GamePart {
    /// Comments at most.
    #[default]
    Nothing,
    Tags,
    Moves,
}

/// A game while it is read, line by line.
#[derive(Default)]
struct Draft {
    /// The line where it begins, from 1.
    line: usize,
    bytes: usize,
    part: GamePart,
    tags: Vec<(String, String)>,
    /// Number of tags before the last empty line.
    tags_before_gap: usize,
    start: Position,
    position: Position,
    moves: Vec<Move>,
    preface: Vec<Annotation>,
    annotations: Vec<Vec<Annotation>>,
    outcome: Option<Outcome>,
    /// Is the result the last token outside of comments and variations?
    ended: bool,
    /// Was there a tag, a number or a move? If not, an unknown word does not belong to a game.
    begun: bool,
    /// The comment that is not closed yet.
    comment: Option<String>,
    /// The variation that is being read, and how deep variations are nested in it.
    variation: String,
    depth: usize,
    /// The first error, if any: the rest is read only to find the end of the game.
    wrong: Option<String>,
}

impl Draft {
    /// Does the game end here because `line` begins the next one?
    fn is_followed_by(&self, line: &str) -> bool {
        if !tag::is_tag(line) {
            return false;
        }
        if self.comment.is_some() {
            // Inside a comment only a game's first tag is believed: then the end of the comment is missing.
            return line.starts_with("[Event \"") && line.ends_with("\"]");
        }
        let is_there =
            |name: &str, tags: usize| self.tags.iter().take(tags.min(MAX_TAGS)).any(|(tag, _)| tag == name);
        match self.part {
            GamePart::Nothing => false,
            GamePart::Moves => true,
            // A game of tags alone. Another tag than the event that is there twice without an empty line between
            // is a slip.
            GamePart::Tags => tag::read(line).0.is_some_and(|(name, _)| {
                is_there(name, self.tags_before_gap) || (name == "Event" && is_there(name, MAX_TAGS))
            }),
        }
    }

    /// Reads a line.
    fn read(&mut self, line: &str) {
        self.bytes += line.len();
        if self.bytes > MAX_BYTES {
            self.wrong = Some("it is longer than any game; an end of a comment may be missing".to_owned());
        }
        let mut rest = line;
        loop {
            if let Some(text) = &mut self.comment {
                let (inside, after) = rest.split_once('}').map_or((rest, None), |(a, b)| (a, Some(b)));
                if self.wrong.is_none() {
                    text.push_str(inside);
                    text.push(' ');
                }
                let Some(after) = after else { return };
                rest = after;
                let text = self.comment.take().unwrap_or_default();
                self.comment(&text);
            }
            rest = rest.trim_start();
            if self.part != GamePart::Moves && rest.starts_with('[') {
                rest = self.tag(rest);
                continue;
            }
            let mut tokens = PgnTokens { rest };
            let Some(token) = tokens.next() else { return };
            rest = tokens.rest;
            match token {
                Token::Brace => self.comment = Some(String::new()),
                Token::Comment(text) => self.comment(text),
                token => self.take(token),
            }
        }
    }

    /// Reads the tag at the beginning of `text`, and returns the text after it.
    fn tag<'a>(&mut self, text: &'a str) -> &'a str {
        self.part = GamePart::Tags;
        let (tag, after) = tag::read(text);
        if let Some((name, value)) = tag {
            self.begun = true;
            // A second event would begin a game of its own where it is written back.
            let is_again = name == "Event" && self.tags.iter().any(|(name, _)| name == "Event");
            if !is_again && self.wrong.is_none() {
                self.tags.push((name.to_owned(), value));
            }
        }
        after
    }

    /// Handles a token of the movetext.
    fn take(&mut self, token: Token<'_>) {
        if matches!(token, Token::Close) && self.depth == 0 {
            // A stray parenthesis is ignored.
            return;
        }
        if self.part != GamePart::Moves {
            self.part = GamePart::Moves;
            match start(&self.tags) {
                Ok(start) => (self.start, self.position) = (start.clone(), start),
                Err(reason) => self.fail(reason),
            }
        }
        self.ended = self.depth == 0 && matches!(token, Token::Result(..));
        match token {
            Token::Brace | Token::Comment(_) => {}
            Token::Open => self.open(),
            Token::Close => self.close(),
            _ if self.wrong.is_some() => {}
            Token::Nag(nag) => self.add(Annotation::Nag(nag)),
            Token::Number(written) if self.depth > 0 => {
                let dots = if written.contains(['…']) || written.ends_with("..") { "..." } else { "." };
                let number = written.trim_end_matches(['.', '…']);
                self.say(&format!("{number}{dots}"));
            }
            Token::Number(_) => self.begun = true,
            Token::Move(_, written) | Token::Result(_, written) if self.depth > 0 => self.say(written),
            Token::Move(san, written) => self.play(san, written),
            Token::Result(outcome, _) => self.outcome = Some(outcome),
            // A line must not begin like a tag or an escaped line where the variation is written back.
            Token::Unknown(word) if self.depth > 0 && !word.starts_with(['[', '%']) => self.say(word),
            Token::Unknown(word) if self.begun => {
                self.fail(format!("{} `{}` is no move", self.move_number(), shown(word)));
            }
            Token::Unknown(_) => self.fail(no_pgn()),
        }
    }

    fn play(&mut self, san: San, written: &str) {
        self.begun = true;
        if self.outcome.is_some() {
            return self.fail(format!("{} comes after the result", shown(written)));
        }
        let Some(m) = to_move(san, &self.position) else {
            return self.fail(format!("{} {} is no legal move", self.move_number(), shown(written)));
        };
        self.position = self.position.play(m);
        self.moves.push(m);
        self.annotations.push(Vec::new());
    }

    /// The number of the next move as it is written before it: `12.` or `12...`.
    fn move_number(&self) -> String {
        let chess = self.position.chess();
        format!("{}{}", chess.fullmoves(), chess.turn().fold_wb(".", "..."))
    }

    fn fail(&mut self, reason: String) {
        self.wrong.get_or_insert(reason);
    }

    /// A comment in a form that can be written between braces.
    fn comment(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        self.add(Annotation::Comment(words.join(" ").replace('}', ")")));
    }

    fn add(&mut self, annotation: Annotation) {
        if self.wrong.is_some() {
        } else if self.depth > 0 {
            self.say(&annotation.to_string());
        } else {
            self.annotations.last_mut().unwrap_or(&mut self.preface).push(annotation);
        }
    }

    /// Adds a word to the variation.
    fn say(&mut self, word: &str) {
        if !self.variation.is_empty() && !self.variation.ends_with('(') {
            self.variation.push(' ');
        }
        self.variation.push_str(word);
    }

    fn open(&mut self) {
        if self.depth > 0 && self.wrong.is_none() {
            self.say("(");
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        if self.depth > 0 && self.wrong.is_none() {
            self.variation.push(')');
        } else if self.depth == 0 {
            let text = std::mem::take(&mut self.variation);
            self.add(Annotation::Variation(text));
        }
    }

    /// The game, or its first error.
    fn finish(mut self, number: usize) -> Result<Game, String> {
        if self.part != GamePart::Moves && self.wrong.is_none() {
            self.start = start(&self.tags)?;
        }
        if let Some(reason) = self.wrong {
            return Err(reason);
        }
        if self.comment.is_some() {
            return Err("a comment has no end".to_owned());
        }
        if self.depth > 0 {
            return Err("a variation has no end".to_owned());
        }
        if self.tags.is_empty() && self.moves.is_empty() && self.outcome.is_none() {
            return Err(no_pgn());
        }
        let tagged = self.tags.iter().find(|(name, _)| name == "Result");
        let from_tag = tagged.and_then(|(_, value)| value.parse().ok()).unwrap_or(Outcome::Unknown);
        Ok(Game {
            number,
            line: self.line,
            outcome: self.outcome.unwrap_or(from_tag),
            tags: self.tags,
            start: self.start,
            moves: self.moves,
            preface: self.preface,
            annotations: self.annotations,
        })
    }
}

/// The beginning of a word, without control characters.
fn shown(word: &str) -> String {
    word.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

fn no_pgn() -> String {
    "there is no PGN in it".to_owned()
}

/// The starting position by the tags.
fn start(tags: &[(String, String)]) -> Result<Position, String> {
    let tag =
        |name: &str| tags.iter().find(|(tag, _)| tag.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str());
    let variant = tag("Variant").unwrap_or("").to_ascii_lowercase();
    let chess960 = ["960", "fischer", "frc"].iter().any(|name| variant.contains(name));
    let usual = ["", "?", "standard", "chess", "normal", "from position"];
    if !chess960 && !usual.contains(&variant.as_str()) {
        return Err(format!("the variant {} is not played here", tag("Variant").unwrap_or_default()));
    }
    match tag("FEN").filter(|fen| !fen.is_empty() && *fen != "?") {
        Some(fen) => translate::parse_fen(fen, chess960).map_err(|error| error.to_string()),
        None if chess960 => Err("a Chess960 game needs a FEN tag".to_owned()),
        None => Ok(Position::default()),
    }
}

/// A move as written; `None` if it is not legal. UCI notation and castling as a king move by two squares (or to the
/// rook's square) are accepted as well, because some programs write them.
pub fn to_move(san: San, position: &Position) -> Option<Move> {
    let chess = position.chess();
    if let Ok(m) = san.to_move(chess) {
        return Some(m);
    }
    let written = san.to_string();
    let squares = written.trim_start_matches('K').replace(['x', '='], "").to_ascii_lowercase();
    let modes = [CastlingMode::Standard, CastlingMode::Chess960];
    let is_written = |m: &Move| modes.iter().any(|&mode| m.to_uci(mode).to_string() == squares);
    position.legal_moves().into_iter().find(is_written)
}
