use std::io::{self, BufRead, ErrorKind};

use crate::uci::decoded;

/// Longer lines are split: a file without line ends must not fill the memory.
pub(super) const MAX_BYTES: usize = 8 << 20;

/// The lines of a text without their ends, which are LF, CR LF or CR alone. Bytes that are not UTF-8 are read as
/// Latin-1, the character set of the PGN standard.
pub(in crate::cli) struct Lines<R> {
    reader: R,
    /// The number of lines read.
    pub(super) count: usize,
    /// Did the last line end with CR? A LF that follows belongs to it.
    after_return: bool,
}

impl<R: BufRead> Lines<R> {
    pub(in crate::cli) fn new(reader: R) -> Lines<R> {
        Lines { reader, count: 0, after_return: false }
    }

    /// Reads up to the end of a line, or [`MAX_BYTES`]. False at the end of the text.
    fn read(&mut self, line: &mut Vec<u8>) -> io::Result<bool> {
        loop {
            let buffer = match self.reader.fill_buf() {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                other => other?,
            };
            if buffer.is_empty() {
                return Ok(!line.is_empty());
            }
            if std::mem::take(&mut self.after_return) && buffer[0] == b'\n' {
                self.reader.consume(1);
                continue;
            }
            let piece = &buffer[..buffer.len().min(MAX_BYTES - line.len())];
            if let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
                line.extend_from_slice(&piece[..end]);
                self.after_return = piece[end] == b'\r';
                self.reader.consume(end + 1);
                return Ok(true);
            }
            line.extend_from_slice(piece);
            let count = piece.len();
            self.reader.consume(count);
            if line.len() == MAX_BYTES {
                return Ok(true);
            }
        }
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        let mut line = Vec::new();
        match self.read(&mut line) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(error)),
        }
        self.count += 1;
        // Concatenated files also have byte order marks in the middle.
        Some(Ok(decoded(line).replace('\u{feff}', "")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8]) -> Vec<String> {
        // A small buffer, so that ends lie between two fillings.
        let lines = Lines::new(io::BufReader::with_capacity(1, text));
        lines.map(|line| line.expect("memory can be read")).collect()
    }

    #[test]
    fn lines_end_as_on_every_system() {
        assert_eq!(lines(b"a\nb\r\n\r\nc\rd\r\re"), ["a", "b", "", "c", "d", "", "e"]);
        assert_eq!(lines(b"a\r\n"), ["a"]);
        assert!(lines(b"").is_empty());
    }

    #[test]
    fn letters_are_read_in_either_encoding() {
        assert_eq!(lines(b"M\xfcller\nM\xc3\xbcller\n\x8aahovi\xe6"), ["Müller", "Müller", "Šahoviæ"]);
        assert_eq!(lines(b"\xef\xbb\xbfa\n\xef\xbb\xbfb"), ["a", "b"]);
        assert_eq!(lines(b"\xef\xbb\xbfM\xfcller, M\xc3\xbcller \xe2\x99"), ["Müller, Müller â™"]);
    }
}
