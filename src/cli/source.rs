//! Input files: plain or compressed (gzip, bzip2, Zstandard), in any encoding of Unicode.

use std::{
    ffi::OsStr,
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use bzip2::bufread::MultiBzDecoder;
use encoding_rs_io::DecodeReaderBytesBuilder;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

/// A reader of text.
pub type Reader = Box<dyn BufRead + Send>;

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;
/// The extensions of compressed files.
const ENDINGS: [&str; 4] = ["gz", "bz2", "zst", "zstd"];

/// The text of a file, or of the standard input as `-`. Compression is detected by the first bytes, UTF-16 by its
/// byte order mark; UTF-8 and Latin-1 are passed through.
///
/// # Errors
/// The file cannot be opened, or its first bytes cannot be read.
pub fn reader(path: &Path) -> io::Result<Reader> {
    if path == Path::new("-") {
        return unpacked(Box::new(BufReader::new(io::stdin())));
    }
    unpacked(Box::new(BufReader::with_capacity(BUFFER, File::open(path)?)))
}

/// As [`reader`]; `read` counts the bytes of the file that were read.
pub fn counted_reader(path: &Path, read: &Arc<AtomicU64>) -> io::Result<Reader> {
    if path == Path::new("-") {
        return reader(path);
    }
    let file = BufReader::with_capacity(BUFFER, File::open(path)?);
    unpacked(Box::new(Counted { file, read: Arc::clone(read) }))
}

/// A file whose bytes are counted when they are read.
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
        self.read.fetch_add(count as u64, Relaxed);
        self.file.consume(count);
    }
}

/// The extension of a file in lower case, without that of the compression.
pub fn ending(path: &Path) -> Option<String> {
    let ending = |path: &Path| path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    let last = ending(path)?;
    if ENDINGS.contains(&last.as_str()) { ending(Path::new(path.file_stem()?)) } else { Some(last) }
}

fn unpacked(mut packed: Reader) -> io::Result<Reader> {
    let plain: Box<dyn Read + Send> = match packed.fill_buf()? {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(packed)),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Box::new(MultiBzDecoder::new(packed)),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(Frames::new(packed)?),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => packed,
        // Unbuffered: a line that is typed or piped must be read at once.
        _ => return Ok(packed),
    };
    let text = DecodeReaderBytesBuilder::new().utf8_passthru(true).build(plain);
    Ok(Box::new(BufReader::with_capacity(BUFFER, text)))
}

/// A sequence of Zstandard frames.
struct Frames(Option<StreamingDecoder<Reader, FrameDecoder>>);

impl Frames {
    fn new(mut packed: Reader) -> io::Result<Frames> {
        let at_end = packed.fill_buf()?.is_empty();
        let frame = if at_end { None } else { Some(StreamingDecoder::new(packed).map_err(|_| damaged())?) };
        Ok(Frames(frame))
    }
}

/// The decoder's own errors are not written for users.
fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is damaged or cut short")
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(frame) = &mut self.0 {
            let count = frame.read(buffer).map_err(|_| damaged())?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            if let Some(ended) = self.0.take() {
                *self = Frames::new(ended.into_inner())?;
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
        let reader = unpacked(Box::new(Cursor::new(bytes)));
        reader.expect("a reader").read_to_string(&mut text).expect("it can be read");
        text
    }

    #[test]
    fn what_is_compressed_is_read_as_what_is_not() {
        let text = "1. e4 e5 2. Nf3 {Müller} *\n".repeat(5000);
        let gz = |text: &str| {
            let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            packed.write_all(text.as_bytes()).expect("memory takes it");
            packed.finish().expect("memory takes it")
        };
        let bz = |text: &str| {
            let mut packed = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            packed.write_all(text.as_bytes()).expect("memory takes it");
            packed.finish().expect("memory takes it")
        };
        let zst = |text: &str| {
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest)
        };
        let (one, other) = text.split_at(50_000);
        let packed: [[Vec<u8>; 2]; 3] = [gz, bz]
            .map(|pack: fn(&str) -> Vec<u8>| [pack(one), pack(other)])
            .into_iter()
            .chain([[zst(one), zst(other)]])
            .collect::<Vec<_>>()
            .try_into()
            .expect("three");
        for parts in packed {
            assert_eq!(read(parts.concat()), text, "files that were put together are one");
        }
        assert_eq!(read(text.clone().into_bytes()), text);
        assert_eq!(read(Vec::new()), "");
    }

    #[test]
    fn a_file_that_was_cut_short_is_said_to_be() {
        let text = "1. e4 e5 2. Nf3 {Müller} *\n".repeat(50);
        let packed =
            ruzstd::encoding::compress_to_vec(text.as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
        for length in [6, packed.len() - 5] {
            let reader = unpacked(Box::new(Cursor::new(packed[..length].to_vec())));
            let error = reader.and_then(|mut reader| reader.read_to_string(&mut String::new()));
            assert_eq!(error.expect_err("an error").to_string(), "it is damaged or cut short", "{length}");
        }
    }

    #[test]
    fn utf_16_is_read() {
        for (mark, bytes) in
            [([0xff, 0xfe], u16::to_le_bytes as fn(u16) -> [u8; 2]), ([0xfe, 0xff], u16::to_be_bytes)]
        {
            let text: Vec<u8> =
                mark.into_iter().chain("[White \"Müller\"]\n".encode_utf16().flat_map(bytes)).collect();
            assert_eq!(read(text), "[White \"Müller\"]\n");
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
