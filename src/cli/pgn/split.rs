use std::io::{self, BufRead};

use super::{
    lines::{Lines, MAX_BYTES},
    tag,
    token::ends_game,
};

/// Tags whose names are remembered; more there are in no game.
const MOST_NAMES: usize = 256;

/// The text of one game.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The line where it begins, from 1.
    pub line: usize,
    /// The text, without empty lines, which some programs write between moves, and without escaped ones.
    pub text: String,
    /// Was text left out because the game is longer than any?
    pub too_long: bool,
}

impl Chunk {
    fn push(&mut self, line: &str) {
        // A game longer than this is no game; what follows is skipped up to the next tags.
        if self.text.len() + line.len() > MAX_BYTES {
            self.too_long = true;
            return;
        }
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Cuts a PGN file into games.
pub(super) struct Splitter<R> {
    lines: Lines<R>,
    /// A line that belongs to the next game.
    kept: Option<String>,
}

#[derive(Copy, Clone, Default, PartialEq, Eq)]
enum Part {
    /// Comments at most.
    #[default]
    Nothing,
    Tags,
    Moves,
}

/// Where in a game a line ends.
#[derive(Default)]
struct Place {
    part: Part,
    /// Inside a comment?
    comment: bool,
    /// How deep in variations.
    depth: usize,
    /// Is the result the last that was said outside of comments?
    ended: bool,
    /// The names of the tags since the last empty line, and of those before it.
    names: Vec<String>,
    earlier: Vec<String>,
}

impl<R: BufRead> Splitter<R> {
    pub(super) fn new(reader: R) -> Splitter<R> {
        Splitter { lines: Lines::new(reader), kept: None }
    }

    /// The next game's text, or nothing at the end. Comments that no game follows are left out.
    pub(super) fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut chunk = Chunk::default();
        let mut place = Place::default();
        while let Some(line) = self.next_line()? {
            let trimmed = line.trim();
            if trimmed.is_empty() || (line.starts_with('%') && !place.comment) {
                place.earlier.append(&mut place.names);
                continue;
            }
            if place.is_followed_by(trimmed) {
                self.kept = Some(line);
                return Ok(Some(chunk));
            }
            // What stands before the first tag of a file is not about its game.
            if place.part == Part::Nothing && (chunk.text.is_empty() || place.begins_with(trimmed)) {
                chunk = Chunk { line: self.lines.count(), ..Chunk::default() };
            }
            chunk.push(&line);
            if place.advance(trimmed) {
                return Ok(Some(chunk));
            }
        }
        Ok((place.part != Part::Nothing || place.comment).then_some(chunk))
    }

    fn next_line(&mut self) -> io::Result<Option<String>> {
        match self.kept.take() {
            Some(line) => Ok(Some(line)),
            None => self.lines.next(),
        }
    }
}

impl Place {
    /// Does a game end here because `line` begins the next one?
    fn is_followed_by(&self, line: &str) -> bool {
        if !tag::is_tag(line) {
            return false;
        }
        if self.comment {
            // Inside a comment only a game's first tag is believed: then the end of the comment is missing.
            return line.starts_with("[Event \"") && line.ends_with("\"]");
        }
        match self.part {
            Part::Nothing => false,
            Part::Moves => true,
            // A game of tags alone. Another tag than the event that is there twice without an empty line between
            // is a slip.
            Part::Tags => names(line)
                .0
                .iter()
                .any(|name| self.earlier.contains(name) || (name == "Event" && self.names.contains(name))),
        }
    }

    /// Does `line` begin with a tag?
    fn begins_with(&self, line: &str) -> bool {
        !self.comment && line.starts_with('[')
    }

    /// Goes on to the end of `line`; true if the game ends there.
    fn advance(&mut self, line: &str) -> bool {
        let mut rest = line;
        if self.part != Part::Moves && self.begins_with(line) {
            self.part = Part::Tags;
            let (names, after) = names(line);
            let room = MOST_NAMES.saturating_sub(self.names.len() + self.earlier.len());
            self.names.extend(names.into_iter().take(room));
            rest = after;
        }
        let outside = self.outside(rest);
        if !outside.trim().is_empty() {
            self.part = Part::Moves;
            self.ended = ends_game(&outside);
        }
        self.ended && !self.comment && self.depth == 0
    }

    /// The text outside of comments and variations; of these only the opening bracket is left.
    fn outside(&mut self, text: &str) -> String {
        let mut outside = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '}' if self.comment => self.comment = false,
                _ if self.comment => {}
                '{' => self.comment = true,
                ';' => break,
                '(' => {
                    self.depth += 1;
                    outside.push(c);
                }
                ')' => self.depth = self.depth.saturating_sub(1),
                _ if self.depth > 0 => {}
                _ => outside.push(c),
            }
        }
        outside
    }
}

/// The names of the tags at the begin of a line, and what follows them.
fn names(line: &str) -> (Vec<String>, &str) {
    let mut names = Vec::new();
    let mut rest = line;
    while rest.starts_with('[') {
        let (tag, after) = tag::read(rest);
        names.extend(tag.map(|(name, _)| name.to_owned()));
        rest = after.trim_start();
    }
    (names, rest)
}
