use std::fmt;

use shakmaty::{ByColor, Color, Move, Outcome};

use crate::position::Position;

/// An annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Annotation {
    /// `{text}`
    Comment(String),
    /// `$number`
    Nag(u32),
    /// `(moves)`, as text with its annotations.
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
    /// The name of its file, as it was given; empty if the game is not from a file.
    pub file: String,
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line where it begins, from 1.
    pub line: usize,
    /// All tags in their order.
    pub tags: Vec<(String, String)>,
    /// The starting position.
    pub start: Position,
    /// The moves.
    pub moves: Vec<Move>,
    /// Annotations before the first move.
    pub preface: Vec<Annotation>,
    /// Annotations after each move.
    pub annotations: Vec<Vec<Annotation>>,
    /// The result: by checkmate or stalemate that of the board, otherwise from the end of the moves, otherwise, or if that is
    /// `*`, from the tag. Unknown if both sides lost.
    pub outcome: Outcome,
    /// The result at the end of the moves as it is written there; empty if there is none.
    pub written_result: String,
}

impl Default for Game {
    /// A game without tags and moves.
    fn default() -> Game {
        Game {
            file: String::new(),
            number: 0,
            line: 0,
            tags: Vec::new(),
            start: Position::default(),
            moves: Vec::new(),
            preface: Vec::new(),
            annotations: Vec::new(),
            outcome: Outcome::Unknown,
            written_result: String::new(),
        }
    }
}

impl Game {
    /// The value of a tag; `None` if it is missing, empty or unknown (`?`).
    pub fn tag(&self, name: &str) -> Option<&str> {
        let found = self.tags.iter().find(|(tag, _)| tag == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty() && *value != "?")
    }

    /// The date, with question marks in the place of what is unknown (`2026.11.??`); `None` if nothing of it is known.
    pub fn date(&self) -> Option<&str> {
        let is_known = |date: &&str| date.contains(|c: char| c.is_ascii_digit());
        ["Date", "UTCDate"].into_iter().find_map(|name| self.tag(name).filter(is_known))
    }

    /// The name of a player, or a question mark.
    pub fn player(&self, color: Color) -> &str {
        self.tag(color.fold_wb("White", "Black")).unwrap_or("?")
    }

    /// The sides played by `name`: those whose name has all its words, ignoring case. "Kim" is "Kim, Bo", not "Kimura".
    pub fn sides_of(&self, name: &str) -> ByColor<bool> {
        let words = |name: &str| -> Vec<String> {
            let words = name.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect()
        };
        let wanted = words(name);
        ByColor::new_with(|color| {
            let own = words(self.player(color));
            wanted.iter().all(|word| own.contains(word))
        })
    }

    /// The positions before each move and at the end.
    pub fn positions(&self) -> Vec<Position> {
        self.start.along(&self.moves)
    }

    /// Its annotations as they are written before the first move and after each move.
    pub fn comments(&self) -> Vec<Vec<String>> {
        let annotations = std::iter::once(&self.preface).chain(&self.annotations);
        annotations.map(|after| after.iter().map(ToString::to_string).collect()).collect()
    }
}
