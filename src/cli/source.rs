//! Input files: plain or compressed (gzip, bzip2, Zstandard), in any encoding of Unicode.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufRead, BufReader, ErrorKind, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bzip2::bufread::BzDecoder;
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::bufread::GzDecoder;
use ruzstd::decoding::{
    FrameDecoder, StreamingDecoder,
    errors::FrameDecoderError::{DictNotProvided, WindowSizeTooBig},
};

/// A reader of text.
pub type Reader = Box<dyn BufRead + Send>;

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;
/// The extensions of compressed files.
const ENDINGS: [&str; 4] = ["gz", "bz2", "zst", "zstd"];
/// Formats are told by at most so many bytes at their beginning.
const SIGNATURE_BYTES: usize = 6;
/// The largest window of Zstandard in bytes, that of `zstd --long=31`. Memory is taken only for what is decompressed.
const MAX_WINDOW: u64 = 1 << 31;

/// Formats that are not read: bytes that tell them and where these are, what they are, and what to do about it.
const UNREAD: [(usize, &[u8], &str, &str); 10] = [
    (0, b"PK\x03\x04", "a zip archive", "unpack it first: `unzip FILE`"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first: `7z x FILE`"),
    (0, b"Rar!\x1a\x07", "a rar archive", "unpack it first: `unrar x FILE`"),
    (0, b"\xfd7zXZ\0", "compressed by xz", "unpack it first: `xz -dk FILE`"),
    (0, b"LZIP", "compressed by lzip", "unpack it first: `lzip -dk FILE`"),
    (0, b"\x04\x22\x4d\x18", "compressed by lz4", "unpack it first: `lz4 -dk FILE`"),
    (0, b"\x1f\x9d", "compressed by compress", "unpack it first: `uncompress FILE`"),
    (0, b"\x89ENGRA", "a learning file", "add it to yours: `engram learn merge FILE`"),
    (0, b"SQLite", "a database", "if it is a tree: `engram tree FILE show`"),
    (257, b"ustar", "a tar archive", "unpack it first: `tar xf FILE`"),
];

/// The text of a file, or of the standard input as `-`. Compression is detected by the first bytes, UTF-16 by its
/// byte order mark or a zero; UTF-8 and Latin-1 are passed through.
///
/// # Errors
/// The file cannot be opened, its first bytes cannot be read, or they are those of a format that has to be unpacked
/// first: the error names the command.
pub fn reader(path: &Path) -> io::Result<Reader> {
    counted_reader(path, &Arc::default())
}

/// As [`reader`]; `read` counts the bytes of the file that were used, which decoders take many at a time.
pub fn counted_reader(path: &Path, read: &Arc<AtomicU64>) -> io::Result<Reader> {
    if path == Path::new("-") {
        return unpacked(path, Box::new(BufReader::new(io::stdin())));
    }
    let file = BufReader::with_capacity(BUFFER, File::open(path)?);
    unpacked(path, Box::new(Counted { file, read: Arc::clone(read) }))
}

/// The length of a file in bytes, if its text is used as it is: neither compressed nor UTF-16.
pub fn plain_length(path: &Path) -> Option<u64> {
    let file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    let mut packed = Packed { ahead: Vec::new(), rest: Box::new(BufReader::new(file)) };
    matches!(Format::of(packed.signature().ok()?), Format::Plain).then_some(length)
}

/// A file whose bytes are counted when they are used.
struct Counted {
    file: BufReader<File>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

impl BufRead for Counted {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.file.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.file.consume(count);
        self.read.fetch_add(count as u64, Relaxed);
    }
}

/// How a file is read.
enum Format {
    /// It is unpacked, and its encoding is that of what was packed.
    Compressed,
    /// It is decoded; `None`: as its byte order mark says.
    Utf16(Option<&'static Encoding>),
    Plain,
}

impl Format {
    /// The format that the first bytes of a file tell.
    fn of(signature: &[u8]) -> Format {
        match signature {
            [0x1f, 0x8b, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Format::Compressed,
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Format::Utf16(None),
            // Without the mark, the other byte of an ASCII character is zero.
            [1..=0xff, 0, ..] => Format::Utf16(Some(UTF_16LE)),
            [0, 1..=0xff, ..] => Format::Utf16(Some(UTF_16BE)),
            _ => Format::Plain,
        }
    }
}

/// The extension of a file in lower case, without that of the compression.
pub fn ending(path: &Path) -> Option<String> {
    let ending = |path: &Path| path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    let last = ending(path)?;
    if ENDINGS.contains(&last.as_str()) { ending(Path::new(path.file_stem()?)) } else { Some(last) }
}

/// The text of the file at `path`, whose bytes `packed` gives.
fn unpacked(path: &Path, mut packed: Reader) -> io::Result<Reader> {
    // Without waiting for more bytes than are there: those that tell a tar archive come late.
    refuse_unread(path, packed.fill_buf()?)?;
    let mut packed = Packed { ahead: Vec::new(), rest: packed };
    let signature = packed.signature()?;
    refuse_unread(path, signature)?;
    let (plain, encoding): (Box<dyn Read + Send>, _) = match Format::of(signature) {
        Format::Compressed => {
            let mut text = BufReader::with_capacity(BUFFER, Members(Member::next(packed)?));
            refuse_unread(path, text.fill_buf()?)?;
            (Box::new(text), None)
        }
        Format::Utf16(encoding) => (Box::new(packed), encoding),
        // Unbuffered: a line that is typed or piped must be read at once.
        Format::Plain => return Ok(Box::new(packed)),
    };
    let text = DecodeReaderBytesBuilder::new().encoding(encoding).utf8_passthru(true).build(plain);
    Ok(Box::new(BufReader::with_capacity(BUFFER, text)))
}

/// Refuses a file that begins with these bytes if its format is not read.
fn refuse_unread(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let is_it = |at: usize, expected: &[u8]| bytes.get(at..).is_some_and(|bytes| bytes.starts_with(expected));
    let Some((.., what, advice)) = UNREAD.iter().find(|(at, expected, ..)| is_it(*at, expected)) else {
        return Ok(());
    };
    let name = if path == Path::new("-") { "FILE".into() } else { quoted(&path.to_string_lossy()) };
    let advice = advice.replace("FILE", &name);
    Err(wrong(&format!("it is {what}, which is not read here; {advice}")))
}

/// A file name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', r"'\''")) }
}

/// A file, with the bytes that were read ahead of it.
struct Packed {
    ahead: Vec<u8>,
    rest: Reader,
}

impl Packed {
    /// The bytes that follow and tell a format; fewer at the end of the file.
    fn signature(&mut self) -> io::Result<&[u8]> {
        let missing = SIGNATURE_BYTES.saturating_sub(self.ahead.len());
        self.rest.by_ref().take(missing as u64).read_to_end(&mut self.ahead)?;
        Ok(&self.ahead)
    }

    /// Passes over zeros, which are found behind compressed files that came from a tape or in blocks.
    fn skip_zeros(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.fill_buf()?;
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            let is_all = !bytes.is_empty() && zeros == bytes.len();
            self.consume(zeros);
            if !is_all {
                return Ok(());
            }
        }
    }
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.fill_buf()?;
        let count = bytes.len().min(buffer.len());
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Packed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.ahead.is_empty() { self.rest.fill_buf() } else { Ok(&self.ahead) }
    }

    fn consume(&mut self, count: usize) {
        if self.ahead.is_empty() {
            self.rest.consume(count);
        } else {
            self.ahead.drain(..count);
        }
    }
}

/// What a compressed file is made of. The programs of all three formats take files put together for one; `pzstd`, which
/// makes the files of database.lichess.org, writes many frames and a skippable one before each.
enum Member {
    Gzip(GzDecoder<Packed>),
    Bzip2(BzDecoder<Packed>),
    Zstandard(Box<StreamingDecoder<Packed, FrameDecoder>>),
}

impl Member {
    /// The next one; none at the end of the file.
    fn next(mut packed: Packed) -> io::Result<Option<Member>> {
        loop {
            packed.skip_zeros()?;
            match packed.signature()? {
                [] => return Ok(None),
                [0x1f, 0x8b, ..] => return Ok(Some(Member::Gzip(GzDecoder::new(packed)))),
                [b'B', b'Z', b'h', ..] => return Ok(Some(Member::Bzip2(BzDecoder::new(packed)))),
                [0x28, 0xb5, 0x2f, 0xfd, ..] => {
                    let frame = StreamingDecoder::new_with_max_window_size(packed, MAX_WINDOW);
                    let frame = frame.map_err(|error| match error {
                        WindowSizeTooBig { .. } => {
                            wrong("it needs more than 2 GiB of memory; compress it again")
                        }
                        DictNotProvided { .. } => {
                            wrong("it needs its dictionary; unpack it first: `zstd -D DICTIONARY -d FILE`")
                        }
                        _ => damaged(),
                    })?;
                    return Ok(Some(Member::Zstandard(Box::new(frame))));
                }
                // A skippable frame: its signature, its length and so many bytes.
                [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
                    let mut header = [0; 8];
                    packed.read_exact(&mut header).map_err(|_| damaged())?;
                    let [.., a, b, c, d] = header;
                    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
                    if io::copy(&mut packed.by_ref().take(length), &mut io::sink())? < length {
                        return Err(damaged());
                    }
                }
                _ => return Err(damaged()),
            }
        }
    }

    /// The file behind this one, which was read to its end.
    fn into_rest(self) -> io::Result<Packed> {
        match self {
            Member::Gzip(member) => Ok(member.into_inner()),
            Member::Bzip2(member) => Ok(member.into_inner()),
            Member::Zstandard(frame) => {
                let (rest, decoder) = frame.into_parts();
                let written = decoder.get_checksum_from_data();
                let is_right = written.is_none() || written == decoder.get_calculated_checksum();
                if is_right { Ok(rest) } else { Err(damaged()) }
            }
        }
    }
}

/// The text of a compressed file.
struct Members(Option<Member>);

fn wrong(reason: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// The decoders' own errors are not written for users.
fn damaged() -> io::Error {
    wrong("it is damaged or cut short")
}

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        while let Some(member) = &mut self.0 {
            let read = match member {
                Member::Gzip(member) => member.read(buffer),
                Member::Bzip2(member) => member.read(buffer),
                Member::Zstandard(frame) => frame.read(buffer),
            };
            let count = read.map_err(|error| match error.kind() {
                InvalidData | InvalidInput | Other | UnexpectedEof => damaged(),
                _ => error,
            })?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if let Some(ended) = self.0.take() {
                self.0 = Member::next(ended.into_rest()?)?;
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use super::*;

    fn read(bytes: Vec<u8>) -> String {
        let mut text = String::new();
        let reader = unpacked(Path::new("x"), Box::new(Cursor::new(bytes)));
        reader.expect("a reader").read_to_string(&mut text).expect("it can be read");
        text
    }

    #[test]
    fn what_is_compressed_is_read_as_what_is_not() {
        let text = "1. e4 e5 2. Nf3 {Müller} *\n".repeat(5000);
        let bz = |text: &str| {
            let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            packed.write_all(text.as_bytes()).expect("memory takes it");
            packed.finish().expect("memory takes it")
        };
        let (one, other) = text.split_at(50_000);
        let packed = [gzip, bz, zstandard].map(|pack: fn(&str) -> Vec<u8>| [pack(one), pack(other)]);
        for parts in packed {
            assert_eq!(read(parts.concat()), text, "files that were put together are one");
        }
        assert_eq!(read(text.clone().into_bytes()), text);
        assert_eq!(read(Vec::new()), "");
    }

    fn gzip(text: &str) -> Vec<u8> {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).expect("memory takes it");
        packed.finish().expect("memory takes it")
    }

    fn zstandard(text: &str) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
    }

    /// A skippable frame of Zstandard that holds `bytes`.
    fn skippable(bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).expect("few");
        [&[0x50, 0x2a, 0x4d, 0x18], &length.to_le_bytes()[..], bytes].concat()
    }

    #[test]
    fn frames_that_hold_no_text_are_skipped_wherever_they_stand() {
        let [one, other] = ["1. e4 *\n", "1. d4 *\n"].map(zstandard);
        let skipped = skippable(b"size");
        let none = skippable(b"");
        // As pzstd writes it: the length of each frame before it.
        let parts = [&skipped[..], &one, &skipped, &none, &other, &skipped];
        assert_eq!(read(parts.concat()), "1. e4 *\n1. d4 *\n");
        assert_eq!(read(skipped.clone()), "");
        let error = unpacked(Path::new("x"), Box::new(Cursor::new(skipped[..10].to_vec())));
        assert_eq!(error.err().map(|error| error.to_string()).as_deref(), Some("it is damaged or cut short"));
    }

    #[test]
    fn zeros_behind_compressed_text_are_passed_over() {
        for packed in [gzip("1. e4 *\n"), zstandard("1. e4 *\n")] {
            let zeros = vec![0; 2 * BUFFER];
            assert_eq!(read([&packed[..], &zeros].concat()), "1. e4 *\n");
            assert_eq!(read([&packed[..], &zeros, &packed].concat()), "1. e4 *\n1. e4 *\n");
        }
    }

    /// A frame of one block that is not compressed, whose window is 2 to the power of `log` bytes.
    fn frame_with_window(log: u8, text: &str) -> Vec<u8> {
        let block = (u32::try_from(text.len()).expect("short") << 3) | 1;
        let header = [0x28, 0xb5, 0x2f, 0xfd, 0, (log - 10) << 3];
        [&header[..], &block.to_le_bytes()[..3], text.as_bytes()].concat()
    }

    #[test]
    fn windows_are_as_large_as_those_of_zstd() {
        for log in [10, 27, 28, 31] {
            assert_eq!(read(frame_with_window(log, "1. e4 *\n")), "1. e4 *\n", "{log}");
        }
        let error = unpacked(Path::new("x"), Box::new(Cursor::new(frame_with_window(32, "1. e4 *\n"))));
        let error = error.err().expect("an error").to_string();
        assert!(error.contains("2 GiB"), "{error}");
    }

    #[test]
    fn what_is_not_read_names_the_command_that_unpacks_it() {
        let said = |name: &str, bytes: &[u8]| {
            let reader = unpacked(Path::new(name), Box::new(Cursor::new([bytes, b"rest"].concat())));
            reader.err().expect("an error").to_string()
        };
        let tar = format!("{:\0<257}ustar  ", "a.pgn");
        for (name, bytes, expected) in [
            ("lichess.zip", &b"PK\x03\x04"[..], "`unzip lichess.zip`"),
            ("my games/a.7z", b"7z\xbc\xaf\x27\x1c", "`7z x 'my games/a.7z'`"),
            ("it's.xz", b"\xfd7zXZ\0", r"`xz -dk 'it'\''s.xz'`"),
            ("-", b"PK\x03\x04", "`unzip FILE`"),
            ("my games.db", b"SQLite format 3\0", "`engram tree 'my games.db' show`"),
            ("a.tar", tar.as_bytes(), "`tar xf a.tar`"),
            ("a.tar.zst", &zstandard(&tar), "`tar xf a.tar.zst`"),
        ] {
            assert!(said(name, bytes).ends_with(expected), "{}", said(name, bytes));
        }
    }

    #[test]
    fn a_file_that_was_cut_short_is_said_to_be() {
        let text = "1. e4 e5 2. Nf3 {Müller} *\n".repeat(50);
        let damaged = |bytes: &[u8]| {
            let reader = unpacked(Path::new("x"), Box::new(Cursor::new(bytes.to_vec())));
            let error = reader.and_then(|mut reader| reader.read_to_string(&mut String::new()));
            assert_eq!(error.expect_err("an error").to_string(), "it is damaged or cut short", "{bytes:?}");
        };
        for packed in [gzip(&text), zstandard(&text)] {
            for length in [6, packed.len() - 5] {
                damaged(&packed[..length]);
            }
            damaged(&[&packed[..], b"something else"].concat());
        }
        // The checksum of the frame is that of another text.
        let mut packed = zstandard(&text);
        *packed.last_mut().expect("bytes") ^= 1;
        damaged(&packed);
    }

    #[test]
    fn utf_16_is_read() {
        for bytes in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            for mark in ["\u{feff}", ""] {
                let text = format!("{mark}[White \"Müller\"]\n");
                let text = text.encode_utf16().flat_map(bytes).collect();
                assert_eq!(read(text), "[White \"Müller\"]\n", "{mark:?}");
            }
        }
    }

    #[test]
    fn the_ending_is_that_of_the_text() {
        for (name, expected) in [("a.pgn", "pgn"), ("a.PGN.zst", "pgn"), ("a.epd.gz", "epd"), ("b/a.bz2", "")]
        {
            assert_eq!(ending(Path::new(name)).unwrap_or_default(), expected, "{name}");
        }
    }
}
