use shakmaty::{Color, KnownOutcome, Outcome, san::San};

use crate::position::notation::{san, with_hyphens};

/// Numeric annotation glyphs for the judgement of a move; a sign comes after those that begin with it.
const JUDGEMENTS: [(&str, u8); 6] = [("!!", 3), ("??", 4), ("!?", 5), ("?!", 6), ("!", 1), ("?", 2)];

/// Numeric annotation glyphs for other signs; a sign comes before any other that is its ending.
#[rustfmt::skip]
const GLYPHS: [(&str, u8); 26] = [
    ("+/-", 16), ("-/+", 17), ("+/=", 14), ("=/+", 15), ("+-", 18), ("-+", 19), ("+=", 14), ("=+", 15), ("=", 10),
    ("±", 16), ("∓", 17), ("⩲", 14), ("⩱", 15), ("∞", 13), ("□", 7), ("⨀", 22), ("○", 26), ("⟳", 32), ("↑", 36),
    ("→", 40), ("⇆", 132), ("∆", 140), ("⌓", 142), ("TN", 146), ("N", 146), ("D", 220),
];

/// `<text>` is no longer than a line of PGN may be.
const RESERVED_BYTES: usize = 255;

/// Words without meaning: separate check signs, the old mark of en passant.
const EMPTY: [&str; 4] = ["+", "++", "#", "ep"];

/// A piece of movetext.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{`: a comment begins.
    Brace,
    /// The text from a semicolon to the end of the line.
    Comment(&'a str),
    /// `$number`, or its symbol, such as `!?`.
    Nag(u8),
    /// `(`
    Open,
    /// `)`
    Close,
    /// A move number with its dots.
    Number(&'a str),
    /// A move, and its text.
    Move(San, &'a str),
    /// A result, and its text.
    Result(Outcome, &'a str),
    /// None of these.
    Unknown(&'a str),
}

/// The tokens of a line. Only text without meaning is skipped.
pub(super) struct PgnTokens<'a> {
    /// The rest of the text.
    pub(super) rest: &'a str,
}

impl<'a> PgnTokens<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// A token of one character.
    fn sign(&mut self, token: Token<'a>) -> Option<Token<'a>> {
        self.take(1);
        Some(token)
    }

    /// `$number`; `None` if there is no such glyph.
    fn nag(&mut self) -> Option<Token<'a>> {
        let text = self.take(1 + digits(&self.rest[1..]));
        text[1..].parse().ok().map(Token::Nag)
    }

    /// `<text>`, which the standard reserves for the future, is skipped. A single bracket is a word.
    fn reserved(&mut self) -> Option<Token<'a>> {
        let Some(end) = self.rest.bytes().take(RESERVED_BYTES).position(|byte| byte == b'>') else {
            return self.word();
        };
        self.take(end + 1);
        None
    }

    /// Any other text between delimiters; `None` if it has no meaning.
    fn word(&mut self) -> Option<Token<'a>> {
        let start = self.rest;
        // `e.p.` alone; glued to a move it comes here as soon as the move is read.
        if start.starts_with("e.p") {
            self.take(3);
            return None;
        }
        let word = self.take(start.find(is_delimiter).unwrap_or(start.len()));
        if EMPTY.contains(&word) {
            return None;
        }
        if let Some(outcome) = result(word) {
            return Some(Token::Result(outcome, word));
        }
        if let Some(&(_, nag)) = GLYPHS.iter().find(|(sign, _)| *sign == word) {
            return Some(Token::Nag(nag));
        }
        if let Some(san) = san(word) {
            return Some(Token::Move(san, word));
        }
        // Tokens without spaces between them are read one after another.
        if let number @ 1.. = digits(word) {
            self.rest = start[number..].trim_start_matches(['.', '…']);
            return Some(Token::Number(&start[..start.len() - self.rest.len()]));
        }
        if let Some((san, written)) = glued(word) {
            self.rest = &start[written.len()..];
            return Some(Token::Move(san, written));
        }
        Some(Token::Unknown(word))
    }
}

impl<'a> Iterator for PgnTokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            // A brace is the end of a comment that contained braces.
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || ".…}".contains(c));
            if let Some(&(sign, nag)) = JUDGEMENTS.iter().find(|(sign, _)| self.rest.starts_with(sign)) {
                self.take(sign.len());
                return Some(Token::Nag(nag));
            }
            let token = match self.rest.chars().next()? {
                ';' => Some(Token::Comment(&self.take(self.rest.len())[1..])),
                '$' => self.nag(),
                '{' => self.sign(Token::Brace),
                '(' => self.sign(Token::Open),
                ')' => self.sign(Token::Close),
                '*' => self.sign(Token::Result(Outcome::Unknown, "*")),
                '<' => self.reserved(),
                _ => self.word(),
            };
            if token.is_some() {
                return token;
            }
        }
    }
}

fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || ['{', '}', '(', ')', '!', '?', '$', ';', '.', '…', '*'].contains(&c)
}

/// The number of leading digits.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn result(word: &str) -> Option<Outcome> {
    if !word.starts_with(['0', '1', '½']) {
        return None;
    }
    let winner = |winner| Some(Outcome::Known(KnownOutcome::Decisive { winner }));
    match with_hyphens(word).as_str() {
        "1-0" => winner(Color::White),
        "0-1" => winner(Color::Black),
        "1/2-1/2" | "1/2" | "½-½" => Some(Outcome::Known(KnownOutcome::Draw)),
        _ => None,
    }
}

/// The move at the beginning of a word that ends with a glyph or with a mark of en passant.
fn glued(word: &str) -> Option<(San, &str)> {
    let signs = GLYPHS.iter().map(|(sign, _)| *sign).chain(["ep", "e"]);
    signs.filter_map(|sign| word.strip_suffix(sign)).find_map(|head| san(head).map(|san| (san, head)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        PgnTokens { rest: text }.collect()
    }

    /// Moves and results as written, glyphs with a dollar, unknown words with a question mark.
    fn told(text: &str) -> String {
        let tell = |token: Token<'_>| match token {
            Token::Move(_, written) | Token::Result(_, written) => written.to_owned(),
            Token::Nag(nag) => format!("${nag}"),
            Token::Unknown(word) => format!("?{word}"),
            Token::Number(_) => "#".to_owned(),
            other => format!("{other:?}"),
        };
        tokens(text).into_iter().map(tell).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn moves_are_read_in_every_notation_of_the_wild() {
        for text in [
            "e4", "Nf3", "Nbd7", "R1xe1+", "exd6", "e8=Q#", "O-O", "O-O-O+", "0-0", "0-0-0#", "o-o", "0–0",
            "e2e4", "e7e8q", "e2-e4", "Ng1-f3", "Ng1xf3", "e7-e8=Q+", "e8Q", "exd8q", "e4xd5", "Qh5++", "--",
            "Z0",
        ] {
            assert!(matches!(tokens(text)[..], [Token::Move(_, written)] if written == text), "{text}");
        }
        for (text, expected) in [
            ("1.e4 1... e5 2 Nf3 2…Nc6 3Bb5", "# e4 # e5 # Nf3 # Nc6 # Bb5"),
            ("exd6 e.p. exd6e.p. exd6ep e.p. exd6 ep", "exd6 exd6 exd6 exd6"),
            ("e4! d5!? c4?? f5 ?! $14 $256 $", "e4 $1 d5 $5 c4 $4 f5 $6 $14"),
            ("e4+- d5 +/- c4N f5= Nf3∞ D", "e4 $18 d5 $16 c4 $146 f5 $10 Nf3 $13 $220"),
            ("1-0 0-1 1/2-1/2 1/2 ½–½ e4* 1.0-0", "1-0 0-1 1/2-1/2 1/2 ½–½ e4 * # 0-0"),
            ("e4 <> e5 <c4 x> Nf3", "e4 e5 Nf3"),
            ("e4 } e5}} Nf3}", "e4 e5 Nf3"),
            ("e4 <c4 e5 {a; b", "e4 ?<c4 e5 Brace ?a Comment(\" b\")"),
            ("Sf3 nf3 P-K4 O-O-O-O 1:0 e4,", "?Sf3 ?nf3 ?P-K4 ?O-O-O-O # ?:0 ?e4,"),
        ] {
            assert_eq!(told(text), expected, "{text}");
        }
    }
}
