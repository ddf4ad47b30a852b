use std::fmt;

use shakmaty::{CastlingMode, Color, Move, Outcome, Position as _, san::San};

use super::{
    Broken, Chunk, tag,
    token::{Token, Tokens},
};
use crate::{position::Position, uci::translate};

/// So many characters of a word that cannot be played are shown.
const SHOWN: usize = 20;

/// What a game says besides its moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// `{text}`
    Comment(String),
    /// `$number`
    Nag(u8),
    /// `(moves)`, as text with everything in it.
    Variation(String),
}

impl fmt::Display for Annotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Annotation::Comment(text) => write!(f, "{{{text}}}"),
            Annotation::Nag(nag) => write!(f, "${nag}"),
            Annotation::Variation(text) => write!(f, "({text})"),
        }
    }
}

/// A game of a PGN file.
#[derive(Clone, Debug)]
pub struct Game {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line where it begins, from 1.
    pub line: usize,
    /// All tags in their order.
    pub tags: Vec<(String, String)>,
    /// Where the moves begin.
    pub start: Position,
    /// The moves.
    pub moves: Vec<Move>,
    /// What was said before the first move.
    pub preface: Vec<Annotation>,
    /// What was said after each move.
    pub annotations: Vec<Vec<Annotation>>,
    /// The result, from the end of the moves, else from the tag.
    pub outcome: Outcome,
}

impl Game {
    /// Reads a game and plays its moves.
    ///
    /// # Errors
    /// What keeps it from being played, with number and line.
    pub fn read(chunk: &Chunk, number: usize) -> Result<Game, Broken> {
        let broken = |reason: String| Broken { number, line: chunk.line, reason };
        if chunk.too_long {
            return Err(broken("it is longer than any game; an end of a comment may be missing".to_owned()));
        }
        let draft = Draft::read(&chunk.text).map_err(broken)?;
        let tagged = draft.tags.iter().find(|(name, _)| name == "Result");
        let from_tag = tagged.and_then(|(_, value)| value.parse().ok()).unwrap_or(Outcome::Unknown);
        Ok(Game {
            number,
            line: chunk.line,
            outcome: draft.outcome.unwrap_or(from_tag),
            tags: draft.tags,
            start: draft.start,
            moves: draft.moves,
            preface: draft.preface,
            annotations: draft.annotations,
        })
    }

    /// The value of a tag; nothing if it is missing or says that nothing is known.
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty() && *value != "?")
    }

    /// The name of a player, or a question mark.
    pub fn player(&self, color: Color) -> &str {
        self.tag(color.fold_wb("White", "Black")).unwrap_or("?")
    }

    /// The positions before each move and at the end.
    pub fn positions(&self) -> Vec<Position> {
        let mut position = self.start.clone();
        let mut positions = vec![position.clone()];
        for &m in &self.moves {
            position = position.play(m);
            positions.push(position.clone());
        }
        positions
    }
}

/// A game while it is read.
struct Draft {
    tags: Vec<(String, String)>,
    start: Position,
    position: Position,
    moves: Vec<Move>,
    preface: Vec<Annotation>,
    annotations: Vec<Vec<Annotation>>,
    outcome: Option<Outcome>,
    /// Was there a tag, a number or a move? Otherwise a word that is no move is none of a game.
    begun: bool,
    /// The variation that is being read, and how deep variations are nested in it.
    variation: String,
    depth: usize,
}

impl Draft {
    /// Reads tags and moves, or says what is wrong with them.
    fn read(text: &str) -> Result<Draft, String> {
        let (tags, preface, movetext) = header(text);
        let start = start(&tags)?;
        let mut draft = Draft {
            begun: !tags.is_empty(),
            tags,
            position: start.clone(),
            start,
            moves: Vec::new(),
            preface,
            annotations: Vec::new(),
            outcome: None,
            variation: String::new(),
            depth: 0,
        };
        for token in Tokens::new(movetext) {
            draft.take(token)?;
        }
        if draft.depth > 0 {
            return Err("a variation has no end".to_owned());
        }
        if draft.tags.is_empty() && draft.moves.is_empty() && draft.outcome.is_none() {
            return Err(no_pgn());
        }
        Ok(draft)
    }

    fn take(&mut self, token: Token<'_>) -> Result<(), String> {
        match token {
            Token::Comment(text) => self.add(comment(text)),
            Token::Unclosed => return Err("a comment has no end".to_owned()),
            Token::Nag(nag) => self.add(Annotation::Nag(nag)),
            Token::Open => self.open(),
            Token::Close => self.close(),
            Token::Number => self.begun = true,
            Token::Move(_, written) | Token::Result(_, written) if self.depth > 0 => self.say(written),
            Token::Move(san, written) => self.play(san, written)?,
            Token::Result(outcome, _) => self.outcome = Some(outcome),
            // A line must not begin like a tag or an escaped line where the variation is written back.
            Token::Unknown(word) if self.depth > 0 && !word.starts_with(['[', '%']) => self.say(word),
            Token::Unknown(word) if self.begun => {
                return Err(format!("{} `{}` is no move", self.number(), shown(word)));
            }
            Token::Unknown(_) => return Err(no_pgn()),
        }
        Ok(())
    }

    fn play(&mut self, san: San, written: &str) -> Result<(), String> {
        self.begun = true;
        if self.outcome.is_some() {
            return Err(format!("{} comes after the result", shown(written)));
        }
        let Some(m) = to_move(san, &self.position) else {
            return Err(format!("{} {} is no legal move", self.number(), shown(written)));
        };
        self.position = self.position.play(m);
        self.moves.push(m);
        self.annotations.push(Vec::new());
        Ok(())
    }

    /// The number of the next move as it is written before it: `12.` or `12...`.
    fn number(&self) -> String {
        let chess = self.position.chess();
        format!("{}{}", chess.fullmoves(), chess.turn().fold_wb(".", "..."))
    }

    fn add(&mut self, annotation: Annotation) {
        if self.depth > 0 {
            self.say(&annotation.to_string());
            return;
        }
        self.annotations.last_mut().unwrap_or(&mut self.preface).push(annotation);
    }

    /// Adds a word to the variation.
    fn say(&mut self, word: &str) {
        if !self.variation.is_empty() && !self.variation.ends_with('(') {
            self.variation.push(' ');
        }
        self.variation.push_str(word);
    }

    fn open(&mut self) {
        if self.depth > 0 {
            self.say("(");
        }
        self.depth += 1;
    }

    fn close(&mut self) {
        match self.depth {
            // A stray bracket closes nothing.
            0 => return,
            1 => {}
            _ => self.variation.push(')'),
        }
        self.depth -= 1;
        if self.depth == 0 {
            let text = std::mem::take(&mut self.variation);
            self.add(Annotation::Variation(text));
        }
    }
}

/// The begin of a word, without signs that mean something to a terminal.
fn shown(word: &str) -> String {
    word.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

fn no_pgn() -> String {
    "there is no PGN in it".to_owned()
}

/// A comment as it can stand between braces, whatever its lines were.
fn comment(text: &str) -> Annotation {
    let words: Vec<&str> = text.split_whitespace().collect();
    Annotation::Comment(words.join(" ").replace('}', ")"))
}

/// The tags, the comments between and after them, and the text that follows.
fn header(text: &str) -> (Vec<(String, String)>, Vec<Annotation>, &str) {
    let mut tags: Vec<(String, String)> = Vec::new();
    let mut preface = Vec::new();
    let mut has_event = false;
    let mut rest = text.trim_start();
    loop {
        if rest.starts_with('[') {
            let (tag, after) = tag::read(rest);
            if let Some((name, value)) = tag {
                // A second event would begin a game of its own where it is written back.
                let is_again = name == "Event" && std::mem::replace(&mut has_event, true);
                if !is_again {
                    tags.push((name.to_owned(), value));
                }
            }
            rest = after.trim_start();
            continue;
        }
        let mut tokens = Tokens::new(rest);
        match tokens.next() {
            Some(Token::Comment(text)) => preface.push(comment(text)),
            _ => return (tags, preface, rest),
        }
        rest = tokens.rest().trim_start();
    }
}

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

/// A move as written; nothing if it is not legal. UCI notation and castling as the king's two steps (or to the
/// rook's square) are understood as well, because some programs write them.
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
