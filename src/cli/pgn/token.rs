use shakmaty::{Color, KnownOutcome, Outcome, san::San};

use super::glyph;
use crate::position::notation::{is_dash, san, with_hyphens};

/// `<text>` and `[text]` are no longer than a line of PGN may be.
const MAX_BRACKETED: usize = 255;

/// No move is longer, in any notation.
const MAX_MOVE: usize = 16;

/// Words without meaning: separate check signs, the old mark of en passant.
const EMPTY: [&str; 4] = ["+", "++", "#", "ep"];

/// A piece of movetext.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// `{`: a comment begins.
    Brace,
    /// The text from a semicolon to the end of the line.
    Comment(&'a str),
    /// `$number`, or its sign, such as `!?`.
    Nag(u32),
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
    /// None of these, and it cannot be a move.
    Other(&'a str),
    /// None of these, and it may be a move.
    Unknown(&'a str),
}

/// The tokens of a line. Only separate check signs and marks of en passant are skipped.
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

    /// `$number`.
    fn nag(&mut self) -> Option<Token<'a>> {
        let text = self.take(1 + digits(&self.rest[1..]));
        Some(text[1..].parse().map_or(Token::Other(text), Token::Nag))
    }

    /// `<text>`, which the standard reserves for the future, or a command outside of a comment, such as `[%clk 0:01]`.
    /// A single bracket is a word.
    fn bracketed(&mut self, close: u8) -> Option<Token<'a>> {
        // No sign is longer than a move; the rest of the line may be long and is not searched for each bracket.
        let head = &self.rest[..self.rest.floor_char_boundary(MAX_MOVE)];
        let word = &head[..head.find(is_delimiter).unwrap_or(head.len())];
        let end = self.rest.bytes().take(MAX_BRACKETED).position(|byte| byte == close);
        match end.filter(|_| glyph::nag(word).is_none()) {
            Some(end) => Some(Token::Other(self.take(end + 1))),
            None => self.word(),
        }
    }

    /// Any other text between delimiters; `None` if it has no meaning.
    fn word(&mut self) -> Option<Token<'a>> {
        let start = self.rest;
        // `e.p.` alone; glued to a move it comes here as soon as the move is read.
        if start.starts_with("e.p") {
            self.take(3);
            return None;
        }
        let word = self.take(word_end(start));
        if EMPTY.contains(&word) {
            return None;
        }
        if let Some(outcome) = result(word.trim_end_matches(',')) {
            return Some(Token::Result(outcome, word));
        }
        // Before the moves: `--+` is no null move that gives check.
        let begins_as_move = word.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !begins_as_move && let Some(nag) = sign(word) {
            return Some(Token::Nag(nag));
        }
        let number = digits(word);
        if number < word.len()
            && let Some(san) = san(word)
        {
            return Some(Token::Move(san, word));
        }
        if begins_as_move && let Some(nag) = sign(word) {
            return Some(Token::Nag(nag));
        }
        // Tokens without spaces between them are read one after another. What begins with a zero may be a castling, and
        // other digits may belong to an evaluation or a time.
        let tail = &word[number..];
        let begins_move = tail.starts_with(is_piece_or_letter) || tail.starts_with("--");
        if tail.is_empty() || number > 0 && begins_move && !word.starts_with('0') {
            self.rest = start[number..].trim_start_matches(['.', '…']);
            return Some(Token::Number(&start[..start.len() - self.rest.len()]));
        }
        if let Some((san, written)) = glued(word) {
            self.rest = &start[written.len()..];
            return Some(Token::Move(san, written));
        }
        Some(if may_be_move(word) { Token::Unknown(word) } else { Token::Other(word) })
    }
}

impl<'a> Iterator for PgnTokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            // A brace is the end of a comment that contained braces.
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || ".…}".contains(c));
            if let Some((nag, length)) = glyph::judgement(self.rest) {
                self.take(length);
                return Some(Token::Nag(nag));
            }
            let token = match self.rest.chars().next()? {
                ';' => Some(Token::Comment(&self.take(self.rest.len())[1..])),
                '$' => self.nag(),
                '{' => self.sign(Token::Brace),
                '(' => self.sign(Token::Open),
                ')' => self.sign(Token::Close),
                '*' => self.sign(Token::Result(Outcome::Unknown, "*")),
                '<' => self.bracketed(b'>'),
                '[' => self.bracketed(b']'),
                _ => self.word(),
            };
            if token.is_some() {
                return token;
            }
        }
    }
}

fn is_delimiter(c: char) -> bool {
    c.is_whitespace() || "{}()!?$;.…*‼⁇⁈⁉".contains(c)
}

/// The length of the word at the beginning of a text. A point between digits belongs to it, but not that of a move number
/// before castling with zeros or a result.
fn word_end(text: &str) -> usize {
    let is_decimal = |point: usize| {
        let after = &text[point + 1..];
        let tail = after.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_move_or_result =
            tail.starts_with(is_dash) || tail.starts_with(':') || after.starts_with("1/2");
        text[..point].ends_with(|c: char| c.is_ascii_digit())
            && tail.len() < after.len()
            && !is_move_or_result
    };
    let ends = |&(index, c): &(usize, char)| is_delimiter(c) && !(c == '.' && is_decimal(index));
    text.char_indices().find(ends).map_or(text.len(), |(index, _)| index)
}

/// A letter or the figurine of a piece.
fn is_piece_or_letter(c: char) -> bool {
    c.is_alphabetic() || ('♔'..='♟').contains(&c)
}

/// The number of leading digits.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// The number of a sign, whatever dashes it is written with.
fn sign(word: &str) -> Option<u32> {
    glyph::nag(word).or_else(|| glyph::nag(&with_hyphens(word)))
}

/// A word with hyphens for all dashes, and zeros for the letter O, which some people type in their place.
fn with_zeros(word: &str) -> String {
    with_hyphens(word).replace(['O', 'o'], "0")
}

/// A result among the moves. Without a tag `0-0` could be a castling, and `+--` is a glyph as well.
fn result(word: &str) -> Option<Outcome> {
    let begins = word.starts_with(['0', 'O', 'o', '1', '½']) && with_zeros(word) != "0-0";
    if begins || word.contains(':') { outcome(word) } else { None }
}

/// A result as people and programs write it: also with colons, and for games that were not played. Who lost if both
/// lost is not known.
pub(super) fn outcome(text: &str) -> Option<Outcome> {
    let winner = |winner| Some(Outcome::Known(KnownOutcome::Decisive { winner }));
    let plain: String = with_zeros(text).replace(':', "-").split_whitespace().collect();
    match plain.as_str() {
        "1-0" | "+--" | "+-" => winner(Color::White),
        "0-1" | "--+" | "-+" => winner(Color::Black),
        "1/2-1/2" | "1/2" | "½-½" | "½" | "0.5-0.5" | "=-=" => Some(Outcome::Known(KnownOutcome::Draw)),
        "*" | "0-0" | "---" => Some(Outcome::Unknown),
        _ => None,
    }
}

/// The move at the beginning of a word that ends with a glyph, with a mark of en passant, or with another sign.
fn glued(word: &str) -> Option<(San, &str)> {
    let ends = (1..word.len().min(MAX_MOVE)).filter(|&end| word.is_char_boundary(end));
    let is_sign = |tail: &str| !tail.contains(char::is_alphanumeric);
    let head = |end: usize| san(&word[..end]).map(|san| (san, &word[..end]));
    let is_known = |tail: &str| sign(tail).is_some() || ["ep", "e"].contains(&tail);
    let known = ends.clone().filter(|&end| is_known(&word[end..])).find_map(head);
    known.or_else(|| ends.rev().filter(|&end| is_sign(&word[end..])).find_map(head))
}

/// May a word be a move in some notation, such as `Sf3`, `P-K4`, `PxP`, `ed` or `♘f3`? Without it the game would be
/// another one.
fn may_be_move(word: &str) -> bool {
    let letters: Vec<char> = word.chars().collect();
    let is_rank = |c: &char| ('1'..='8').contains(c);
    let has_square = letters.windows(2).enumerate().any(|(index, near)| {
        let is_last = !letters.get(index + 2).is_some_and(char::is_ascii_digit);
        is_piece_or_letter(near[0]) && is_rank(&near[1]) && is_last
    });
    let is_piece = |part: &str| {
        let is_file = part.len() == 1 && part.starts_with(|c| ('a'..='h').contains(&c));
        is_file || part.len() <= 4 && part.starts_with(char::is_uppercase)
    };
    let moves = |(piece, to): (&str, &str)| is_piece(piece) && to.starts_with(char::is_alphanumeric);
    let takes = |(piece, taken): (&str, &str)| is_piece(piece) && is_piece(taken);
    let files = match word.as_bytes() {
        &[from @ b'a'..=b'h', to @ b'a'..=b'h'] => from.abs_diff(to) == 1,
        _ => false,
    };
    has_square
        || word.split_once(|c| is_dash(c) || c == ':').is_some_and(moves)
        || word.split_once(['x', '×']).is_some_and(takes)
        || files
        || word.starts_with('0') && !word.contains('.')
        || word.to_lowercase().starts_with("castle")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        PgnTokens { rest: text }.collect()
    }

    /// Moves and results as written, glyphs with a dollar, words that may be moves with a question mark, others with a tilde.
    fn described(text: &str) -> String {
        let tell = |token: Token<'_>| match token {
            Token::Move(_, written) | Token::Result(_, written) => written.to_owned(),
            Token::Nag(nag) => format!("${nag}"),
            Token::Other(word) => format!("~{word}"),
            Token::Unknown(word) => format!("?{word}"),
            Token::Number(_) => "#".to_owned(),
            other => format!("{other:?}"),
        };
        tokens(text).into_iter().map(tell).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn moves_are_read_in_every_notation_of_the_wild() {
        for text in [
            "e4",
            "Nf3",
            "Nbd7",
            "R1xe1+",
            "exd6",
            "e8=Q#",
            "O-O",
            "O-O-O+",
            "0-0",
            "0-0-0#",
            "o-o",
            "O-0",
            "0-o-O",
            "0–0",
            "e2e4",
            "e7e8q",
            "e2-e4",
            "Ng1-f3",
            "Ng1xf3",
            "e7-e8=Q+",
            "e8Q",
            "exd8q",
            "e4xd5",
            "Qh5++",
            "--",
            "Z0",
            "ed5",
            "ed8Q+",
            "e:d5",
            "N:f3",
            "N×f3",
            "♘f3",
            "♟e5",
            "♛xd5†",
            "O‐O",
            "O‑O‑O",
            "0−0",
            "O—O",
        ] {
            assert!(matches!(tokens(text)[..], [Token::Move(_, written)] if written == text), "{text}");
        }
        for (text, expected) in [
            ("1.e4 1... e5 2 Nf3 2…Nc6 3Bb5", "# e4 # e5 # Nf3 # Nc6 # Bb5"),
            ("exd6 e.p. exd6e.p. exd6ep e.p. exd6 ep", "exd6 exd6 exd6 exd6"),
            (
                "e4! d5!? c4?? f5 ?! $14 $256 $ $4294967296 e5‼ ⁉",
                "e4 $1 d5 $5 c4 $4 f5 $6 $14 $256 ~$ ~$4294967296 e5 $3 $5",
            ),
            ("e4+- d5 +/- c4N f5= Nf3∞ D", "e4 $18 d5 $16 c4 $146 f5 $10 Nf3 $13 $220"),
            ("1-0 0-1 1/2-1/2 1/2 ½–½ e4* 1.0-0", "1-0 0-1 1/2-1/2 1/2 ½–½ e4 * # 0-0"),
            ("e4 <> e5 <c4 x> Nf3 [%clk 0:01] [", "e4 ~<> e5 ~<c4 x> Nf3 ~[%clk 0:01] ~["),
            ("e4 << e5 >> <=> Nf3 <", "e4 $62 e5 $56 $149 Nf3 $60"),
            (
                "e4 ~ e5 += +− =/& RR R △ ⇄ =∞ × ⟪ forced worst ^",
                "e4 $13 e5 $14 $18 $44 $145 $144 $140 $130 $44 $147 $62 $7 $9 $36",
            ),
            (
                "e4~ e5+=/- Nf3, Nc6+/= Bb5+‡ ♦ resigns |",
                "e4 $13 e5+ ~=/- Nf3 ~, Nc6 $14 Bb5+‡ ~♦ ~resigns ~|",
            ),
            ("1-O O-1 o–1", "1-O O-1 o–1"),
            ("½ ½:½ 0:1 +:- -:+ -:- +-- 0-0", "½ ½:½ 0:1 +:- -:+ -:- $20 0-0"),
            ("e4 } e5}} Nf3}", "e4 e5 Nf3"),
            ("e4 <c4 e5 {a; b", "e4 ?<c4 e5 Brace ~a Comment(\" b\")"),
            ("Sf3 nf3 P-K4 O-O-O-O 1:0 e4,", "?Sf3 ?nf3 ?P-K4 ?O-O-O-O 1:0 e4 ~,"),
            (
                "0.35/12 +0.5 12.5s +0.3/d12 30s 1.0-0 40.1-0 41.½",
                "~0.35/12 ~+0.5 ~12.5s ~+0.3/d12 # ~s # 0-0 # 1-0 # ½",
            ),
            ("White's next extra time-out exchange, 1-0,", "~White's ~next ~extra ~time-out ~exchange, 1-0,"),
            ("PxP ed 0~0 Castles", "?PxP ?ed ?0~0 ?Castles"),
        ] {
            assert_eq!(described(text), expected, "{text}");
        }
    }
}
