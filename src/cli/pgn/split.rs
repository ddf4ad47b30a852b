use std::io::{self, BufRead};

/// A game longer than this is no game; what follows is skipped up to the next tags.
const MAX_BYTES: usize = 8 << 20;

/// The text of one game.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The line where it begins, from 1.
    pub line: usize,
    /// The text, without empty lines between its moves, which some programs write.
    pub text: Vec<u8>,
    /// Was text left out because the game is longer than any?
    pub too_long: bool,
}

/// Cuts a PGN file into games.
pub(super) struct Splitter<R> {
    reader: R,
    lines: usize,
    /// A line that belongs to the next game.
    kept: Option<Vec<u8>>,
}

#[derive(Copy, Clone, PartialEq, Eq)]
enum Part {
    Nothing,
    Tags,
    Moves,
}

impl<R: BufRead> Splitter<R> {
    pub(super) fn new(reader: R) -> Splitter<R> {
        Splitter { reader, lines: 0, kept: None }
    }

    /// The next game's text, or nothing at the end.
    pub(super) fn next_chunk(&mut self) -> io::Result<Option<Chunk>> {
        let mut chunk = Chunk::default();
        let mut part = Part::Nothing;
        let mut comment = false;
        while let Some(line) = self.next_line()? {
            let trimmed = line.trim_ascii();
            if trimmed.is_empty() || (line.first() == Some(&b'%') && !comment) {
                if part == Part::Tags && !chunk.text.ends_with(b"\n\n") {
                    chunk.text.push(b'\n');
                }
                continue;
            }
            let tag = is_tag(trimmed);
            // Inside a comment only a game's first tag is believed: then the end of the comment is missing.
            let believed = !comment || (trimmed.starts_with(b"[Event \"") && trimmed.ends_with(b"\"]"));
            if tag && believed && part == Part::Moves {
                self.kept = Some(line);
                return Ok(Some(chunk));
            }
            if part == Part::Nothing {
                chunk.line = self.lines;
            }
            if tag && !comment && part != Part::Moves {
                part = Part::Tags;
            } else {
                if part == Part::Tags && !chunk.text.ends_with(b"\n\n") {
                    chunk.text.push(b'\n');
                }
                part = Part::Moves;
            }
            if chunk.text.len() + line.len() > MAX_BYTES {
                chunk.too_long = true;
            } else {
                chunk.text.extend_from_slice(&line);
                if !line.ends_with(b"\n") {
                    chunk.text.push(b'\n');
                }
            }
            if part == Part::Moves {
                let outside = outside_comments(trimmed, &mut comment);
                if !comment && ends_game(&outside) {
                    return Ok(Some(chunk));
                }
            }
        }
        Ok((part != Part::Nothing).then_some(chunk))
    }

    fn next_line(&mut self) -> io::Result<Option<Vec<u8>>> {
        if let Some(line) = self.kept.take() {
            return Ok(Some(line));
        }
        let mut line = Vec::new();
        // A file without line ends must not fill the memory: a line is read in pieces.
        let read = io::Read::take(&mut self.reader, MAX_BYTES as u64).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(None);
        }
        self.lines += 1;
        if self.lines == 1 && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        Ok(Some(line))
    }
}

/// `[Name "value"]`, as far as a glance tells.
fn is_tag(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"[") else { return false };
    let name = rest.trim_ascii_start();
    name.first().is_some_and(u8::is_ascii_alphabetic) && name.contains(&b'"')
}

/// The text of a line outside of comments; `comment` says whether its begin and end lie inside one.
fn outside_comments(line: &[u8], comment: &mut bool) -> Vec<u8> {
    let mut outside = Vec::with_capacity(line.len());
    for &byte in line {
        match (*comment, byte) {
            (false, b'{') => *comment = true,
            (true, b'}') => *comment = false,
            (false, b';') => break,
            (false, _) => outside.push(byte),
            (true, _) => {}
        }
    }
    outside
}

fn ends_game(outside: &[u8]) -> bool {
    let last = outside.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next();
    matches!(last, Some(b"1-0" | b"0-1" | b"1/2-1/2" | b"*")) || outside.ends_with("½-½".as_bytes())
}
