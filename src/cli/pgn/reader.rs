use std::io::{self, BufRead};

use shakmaty::{KnownOutcome, Move, Outcome};
use thiserror::Error;

use super::{
    Annotation, Game,
    lines::{Lines, MAX_BYTES},
    tag,
    token::{PgnTokens, Token, outcome},
};
use crate::{
    position::{
        Position,
        notation::{move_number, read_move, to_move, with_hyphens},
    },
    uci::translate,
};

/// Characters shown of a word that is not a legal move.
const SHOWN: usize = 20;
/// Maximum number of tags searched for duplicates; no game has more.
const MAX_TAGS: usize = 256;
/// Names of ordinary chess in the tag `Variant`, without spaces and other signs, from an empty one on.
const ORDINARY: [&str; 12] = [
    "",
    "standard",
    "standardchess",
    "chess",
    "normal",
    "regular",
    "classical",
    "classic",
    "orthodox",
    "western",
    "fromposition",
    "none",
];
/// Names of Chess960, written in the same way; `wild/fr` is that of chess servers.
const CHESS960: [&str; 16] = [
    "chess960",
    "960",
    "fischerandom",
    "fischerandomchess",
    "fischerrandom",
    "fischerrandomchess",
    "fisherrandom",
    "frc",
    "freestyle",
    "freestylechess",
    "wildfr",
    "doublechess960",
    "doublefischerandom",
    "doublefischerrandom",
    "doublefischerrandomchess",
    "dfrc",
];
const NO_PGN: &str = "there is no PGN in it";

/// A game that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("game {number} (line {line}) is skipped: {reason}")]
pub struct Broken {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line where it begins, from 1.
    pub line: usize,
    /// What is wrong.
    pub reason: String,
}

/// The games of a PGN file, one after another. One game at a time is in memory.
pub struct Games<R> {
    lines: Lines<R>,
    /// A line, or its end, that belongs to the next game.
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
            let line = match self.kept.take().map(Ok).or_else(|| self.lines.next()) {
                Some(Ok(line)) => line,
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            };
            let text = line.trim();
            let is_over = draft.ended && draft.comment.is_none() && draft.depth == 0;
            if text.is_empty() {
                if is_over {
                    break;
                }
                draft.skip_empty_line();
                continue;
            }
            if line.starts_with('%') && draft.comment.is_none() {
                continue;
            }
            // What is said on the lines behind the result belongs to the game.
            let is_said = || {
                use Token::{Brace, Comment, Nag, Other};
                matches!(PgnTokens { rest: text }.next(), Some(Brace | Comment(_) | Nag(_) | Other(_)))
            };
            if draft.is_followed_by(text) || is_over && !is_said() {
                self.kept = Some(line);
                break;
            }
            // The game begins with its first tag, whatever comments come before it.
            let is_first_tag = draft.comment.is_none() && text.starts_with('[');
            if draft.part == GamePart::Nothing && (draft.game.line == 0 || is_first_tag) {
                draft.game.line = self.lines.count;
            }
            if let Some(rest) = draft.read(text) {
                self.kept = Some(rest.to_owned());
                break;
            }
        }
        if draft.part == GamePart::Nothing && draft.comment.is_none() {
            return None;
        }
        self.number += 1;
        draft.game.number = self.number;
        let (number, line) = (self.number, draft.game.line);
        Some(Ok(draft.finish().map_err(|reason| Broken { number, line, reason })))
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
    game: Game,
    /// The position after its moves.
    position: Position,
    bytes: usize,
    part: GamePart,
    /// Has the last line of tags no end?
    tag_is_open: bool,
    /// Does the value of its tag have none, and no empty line after it? The next line may be the rest of it.
    value_is_open: bool,
    /// Number of tags before the last empty line.
    tags_before_gap: usize,
    has_event: bool,
    /// Was there an empty line after the last move or move number? Only a number may continue the game then.
    after_gap: bool,
    /// Was there a move number?
    is_numbered: bool,
    /// The result after the moves.
    result: Option<Outcome>,
    /// Was there a result, and no move after it?
    ended: bool,
    /// Was there a tag, a number or a move? If not, an unknown word does not belong to a game.
    begun: bool,
    /// Is the last annotation a comment of words that were skipped, with nothing after it?
    skipping: bool,
    /// The comment that is not closed yet.
    comment: Option<String>,
    /// The variation that is being read, and how deep variations are nested in it.
    variation: String,
    depth: usize,
    /// The first error, if any: the rest is read only to find the end of the game.
    wrong: Option<String>,
}

impl Draft {
    /// An empty line.
    fn skip_empty_line(&mut self) {
        self.tags_before_gap = self.game.tags.len();
        self.value_is_open = false;
        self.after_gap |= self.comment.is_none() && self.depth == 0;
    }

    /// Does the game end here because `line` begins the next one?
    fn is_followed_by(&self, line: &str) -> bool {
        if !tag::is_tag(line) {
            return false;
        }
        if self.comment.is_some() {
            // Inside a comment only the first tag of a game begins a new game: the end of the comment is missing then.
            return line.starts_with("[Event \"") && line.ends_with("\"]");
        }
        let is_there = |name: &str, tags: usize| {
            self.game.tags.iter().take(tags.min(MAX_TAGS)).any(|(tag, _)| tag == name)
        };
        match self.part {
            GamePart::Nothing => false,
            GamePart::Moves => true,
            // A game without moves. Any other tag than `Event` that occurs twice without an empty line between is a
            // mistake in the same game.
            GamePart::Tags => tag::read(line).0.is_some_and(|(name, _)| {
                is_there(name, self.tags_before_gap) || (name == "Event" && self.has_event)
            }),
        }
    }

    /// Does the game end before `token`, on a line that begins after the end of a game (`is_over`) or not? Of games
    /// without tags and results that are divided by empty lines the next one begins with number 1, or without a number
    /// where none have numbers.
    fn is_over_before(&self, token: &Token<'_>, is_over: bool) -> bool {
        let begins = match token {
            _ if self.part != GamePart::Moves || self.depth > 0 => return false,
            // `1. e4` and, behind the empty line, `1. ... e5`
            Token::Number(_) if self.wrong.is_none() && move_number(&self.position) == "1..." => false,
            Token::Number(written) => {
                written.trim_end_matches(['.', '…']).parse() == Ok(1) && !is_for_black(written)
            }
            Token::Move(..) => !self.is_numbered && self.game.tags.is_empty(),
            _ => return false,
        };
        let has_moves = self.wrong.is_some() || !self.game.moves.is_empty();
        is_over || self.after_gap && self.result.is_none() && has_moves && begins
    }

    /// Reads a line, up to the next game if it begins there: its text is returned.
    fn read<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        self.bytes += line.len();
        if self.bytes > MAX_BYTES {
            self.wrong = Some("it is longer than any game; an end of a comment may be missing".to_owned());
        }
        let is_over = self.ended;
        let mut rest = line;
        loop {
            if let Some(text) = &mut self.comment {
                let (inside, after) = rest.split_once('}').map_or((rest, None), |(a, b)| (a, Some(b)));
                if self.wrong.is_none() {
                    text.push_str(inside);
                    text.push(' ');
                }
                rest = after?;
                let text = self.comment.take().unwrap_or_default();
                self.add_comment(&text);
            }
            rest = rest.trim_start();
            if self.part != GamePart::Moves && rest.starts_with('[') {
                rest = self.read_tag(rest);
                continue;
            }
            let mut tokens = PgnTokens { rest };
            let token = tokens.next()?;
            if self.is_over_before(&token, is_over) {
                return Some(rest);
            }
            rest = tokens.rest;
            match token {
                Token::Brace => self.comment = Some(String::new()),
                Token::Comment(text) => self.add_comment(text),
                // A stray parenthesis.
                Token::Close if self.depth == 0 => {}
                token => self.read_token(token),
            }
        }
    }

    /// Reads the tag at the beginning of `text`, and returns the text after it.
    fn read_tag<'a>(&mut self, text: &'a str) -> &'a str {
        self.part = GamePart::Tags;
        let (tag, after) = tag::read(text);
        self.tag_is_open = after.is_empty() && !text.ends_with(']');
        self.value_is_open = self.tag_is_open && tag.is_some() && !text.ends_with('"');
        if let Some((name, value)) = tag {
            self.begun = true;
            // A second `Event` would begin another game when the game is written again.
            let is_event = name == "Event";
            if !(is_event && self.has_event) && self.wrong.is_none() {
                self.game.tags.push((name.to_owned(), value));
            }
            self.has_event |= is_event;
        }
        after
    }

    /// The tags are over: sets up the starting position.
    fn begin_moves(&mut self) {
        if self.part != GamePart::Moves && self.wrong.is_none() {
            match start(&self.game) {
                Ok(start) => (self.game.start, self.position) = (start.clone(), start),
                Err(reason) => self.wrong = Some(reason),
            }
        }
        self.part = GamePart::Moves;
    }

    /// Reads a token of the movetext.
    fn read_token(&mut self, token: Token<'_>) {
        if self.part == GamePart::Tags && self.value_is_open && self.wrong.is_none() {
            self.wrong = Some("the value of its last tag has no end on its line".to_owned());
        }
        self.begin_moves();
        match token {
            _ if self.depth > 0 => {}
            Token::Result(..) => self.ended = true,
            Token::Move(..) | Token::Number(_) => (self.ended, self.after_gap) = (false, false),
            _ => {}
        }
        match token {
            Token::Open => {
                if self.depth > 0 {
                    self.say("(");
                }
                self.depth += 1;
            }
            Token::Close => {
                self.depth -= 1;
                if self.depth > 0 {
                    self.say(")");
                } else {
                    let text = std::mem::take(&mut self.variation);
                    self.add(Annotation::Variation(text));
                }
            }
            _ if self.wrong.is_some() => {}
            Token::Nag(nag) => self.add(Annotation::Nag(nag)),
            Token::Number(written) if self.depth > 0 => {
                let dots = if is_for_black(written) { "..." } else { "." };
                let number = written.trim_end_matches(['.', '…']);
                self.say(&format!("{number}{dots}"));
            }
            Token::Number(_) => (self.begun, self.is_numbered) = (true, true),
            Token::Move(_, written) | Token::Result(_, written) if self.depth > 0 => self.say(written),
            Token::Move(san, written) => self.play(to_move(san, &self.position), written),
            Token::Result(outcome, written) => {
                self.result = Some(outcome);
                written.clone_into(&mut self.game.written_result);
            }
            Token::Other(word) | Token::Unknown(word) if self.depth > 0 => self.say_word(word),
            Token::Other(word) if self.begun => self.skip(word),
            Token::Unknown(word) if self.begun => match read_move(word, &self.position) {
                None => {
                    let number = move_number(&self.position);
                    self.wrong = Some(format!(
                        "{number} `{}` is not a move; pieces are written in English (K Q R B N)",
                        shown(word)
                    ));
                }
                found => self.play(found, word),
            },
            Token::Other(_) | Token::Unknown(_) => self.wrong = Some(NO_PGN.to_owned()),
            Token::Brace | Token::Comment(_) => {}
        }
    }

    /// Plays a move; `None` if it is not legal.
    fn play(&mut self, m: Option<Move>, written: &str) {
        self.begun = true;
        if self.result.is_some() {
            self.wrong = Some(format!("{} comes after the result", shown(written)));
        } else if let Some(m) = m {
            self.position = self.position.play(m);
            self.game.moves.push(m);
            self.game.annotations.push(Vec::new());
        } else if with_hyphens(written) == "0-0" && self.may_be_lost_by_both() {
            (self.result, self.ended) = (Some(Outcome::Unknown), true);
        } else {
            let what = match written {
                "--" | "Z0" => "a null move, which only variations may have",
                _ => "not a legal move",
            };
            self.wrong = Some(format!("{} {} is {what}", move_number(&self.position), shown(written)));
        }
    }

    /// Can `0-0` that is no castling be the result of a game that both sides lost?
    fn may_be_lost_by_both(&self) -> bool {
        let is_said = |value: &str| outcome(value) == Some(Outcome::Unknown) && value != "*";
        self.game.moves.is_empty() || self.game.tag("Result").is_some_and(is_said)
    }

    /// Keeps a word that cannot be a move in a comment.
    fn skip(&mut self, word: &str) {
        let word = as_comment(word);
        if word.is_empty() {
            return;
        }
        let last = self.game.annotations.last_mut().unwrap_or(&mut self.game.preface).last_mut();
        match last {
            Some(Annotation::Comment(text)) if self.skipping => {
                text.push(' ');
                text.push_str(&word);
            }
            _ => self.add_comment(&word),
        }
        self.skipping = true;
    }

    fn add_comment(&mut self, text: &str) {
        self.add(Annotation::Comment(as_comment(text)));
    }

    fn add(&mut self, annotation: Annotation) {
        self.skipping = false;
        if self.depth > 0 {
            self.say(&annotation.to_string());
        } else if self.wrong.is_none() {
            self.game.annotations.last_mut().unwrap_or(&mut self.game.preface).push(annotation);
        }
    }

    /// Adds a word that is no token of PGN to the variation. When that is written again, a line must not begin like a tag
    /// or an escaped line, and may end between two brackets. Control characters are left out.
    fn say_word(&mut self, word: &str) {
        if word.starts_with(['[', '%', '<']) || word.contains(char::is_control) {
            self.say(&format!("{{{}}}", as_comment(word)));
        } else {
            self.say(word);
        }
    }

    /// Adds a word or a parenthesis to the variation.
    fn say(&mut self, word: &str) {
        if self.wrong.is_some() {
            return;
        }
        if !self.variation.is_empty() && !self.variation.ends_with('(') && word != ")" {
            self.variation.push(' ');
        }
        self.variation.push_str(word);
    }

    /// The game, or its first error.
    fn finish(mut self) -> Result<Game, String> {
        let is_cut = self.part == GamePart::Tags && self.tag_is_open;
        self.begin_moves();
        let mut game = self.game;
        let is_empty = game.tags.is_empty() && game.moves.is_empty() && self.result.is_none();
        let reason = match self.wrong {
            Some(reason) => return Err(reason),
            None if self.comment.is_some() => "a comment has no end",
            None if self.depth > 0 => "a variation has no end",
            None if is_empty => NO_PGN,
            None if is_cut => "it is cut short: its last tag has no end",
            None => {
                let known = |outcome: &Outcome| *outcome != Outcome::Unknown;
                let tagged = || game.tag("Result").and_then(outcome);
                let said = self.result.filter(known).or_else(tagged).filter(known);
                let board = outcome_on_board(&self.position);
                game.outcome = board.or(said).unwrap_or(Outcome::Unknown);
                return Ok(game);
            }
        };
        Err(reason.to_owned())
    }
}

/// The result by checkmate or stalemate.
fn outcome_on_board(position: &Position) -> Option<Outcome> {
    let winner = position.in_check().then_some(!position.turn());
    (!position.has_legal_move()).then_some(Outcome::Known(KnownOutcome::from_winner(winner)))
}

/// A comment in the form in which it can be written between braces, on a terminal too.
fn as_comment(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").replace('}', ")")
}

/// Has a move number the dots of Black's?
fn is_for_black(written: &str) -> bool {
    written.contains('…') || written.ends_with("..")
}

/// The beginning of a word, without control characters.
fn shown(word: &str) -> String {
    word.chars().take(SHOWN).flat_map(char::escape_debug).collect()
}

/// Does the tag `Variant` name Chess960 (true), ordinary chess (false), or anything else?
fn is_chess960(variant: &str) -> Option<bool> {
    let name: String = variant.chars().filter(|c| c.is_alphanumeric()).collect();
    let is_among = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    if is_among(&CHESS960) { Some(true) } else { is_among(&ORDINARY).then_some(false) }
}

/// The starting position by the tags.
fn start(game: &Game) -> Result<Position, String> {
    let variant = game.tag("Variant").unwrap_or_default();
    let Some(chess960) = is_chess960(variant) else {
        return Err(format!("the variant {variant} is not supported"));
    };
    // Without a FEN it is the usual position, number 518 of Chess960.
    let usual = Position::default().fen();
    translate::parse_fen(game.tag("FEN").unwrap_or(&usual), chess960).map_err(|error| error.to_string())
}
