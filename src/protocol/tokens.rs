use std::fmt;

use shakmaty::uci::UciMove;

use crate::types;

/// An empty option value as it is written.
pub(super) const EMPTY: &str = "<empty>";

/// A cursor over the words of a line. White space of any kind and amount separates words; a byte order mark before them,
/// as some programs write at the beginning of a file, is skipped.
#[derive(Clone, Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a str,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(line: &'a str) -> Tokens<'a> {
        Tokens { rest: line.trim_start_matches('\u{feff}').trim() }
    }

    /// The rest of the line, with its inner white space unchanged.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// The next word, without taking it.
    pub(super) fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }

    /// Takes the words up to and including `keyword`, and returns those before it, joined by single spaces. Without
    /// `keyword` it takes the whole line.
    pub(super) fn until(&mut self, keyword: &str) -> String {
        self.take_while(|&word| word != keyword).collect::<Vec<_>>().join(" ")
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find(char::is_whitespace).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        Some(word)
    }
}

/// A move in coordinates. Capitals are understood, drops of other variants are not.
pub(super) fn parse_move(word: &str) -> Option<UciMove> {
    if word.len() > 5 {
        return None;
    }
    word.to_ascii_lowercase().parse().ok().filter(|m: &UciMove| !m.is_put())
}

/// A whole number; one that is too large for its type becomes the largest.
pub(super) fn parse_integer(word: &str) -> Option<i64> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.parse::<i64>().unwrap_or(i64::MAX);
    Some(if negative { -size } else { size })
}

/// Writes a word and its value, if there is one.
pub(super) fn item(f: &mut fmt::Formatter<'_>, word: &str, value: Option<impl fmt::Display>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {word} {value}"))
}

/// As much of a word or line as a message quotes.
pub(crate) fn quote(text: &str) -> String {
    types::quote(text, 60)
}
