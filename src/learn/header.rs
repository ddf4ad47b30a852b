//! The first 64 bytes of a learning file: written once, when it is created.

use std::path::Path;

use super::{
    error::FileError,
    record::{CAPACITY, RECORD_SIZE},
};
use crate::files::header::{self, HeaderBytes, HeaderFault, u64_at};

/// Where the slots begin: the header has a page of its own.
pub const SLOTS: u64 = 4096;
/// Length of a complete file.
pub const FILE_SIZE: u64 = SLOTS + (CAPACITY * RECORD_SIZE) as u64;
/// The format that this engine reads and writes.
pub const FORMAT: u16 = 1;

/// The first bytes of every learning file: one with which no text begins, the name, and a line end that a text-mode copy
/// would change.
pub const MAGIC: [u8; 8] = *b"\x89ENGRAM\n";
/// Polyglot's Zobrist numbers with its pseudo-legal en-passant rule.
const KEY_SCHEMA: u32 = 1;

/// The variable parts of a header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// A random number, part of every record's checksum, so that a record of another file is not valid here.
    pub file_id: u64,
    /// When the file was created, in seconds since 1970.
    pub created: u64,
}

impl Header {
    /// The bytes.
    pub fn encode(&self) -> HeaderBytes {
        let parts: [(usize, &[u8]); 5] = [
            (10, &(RECORD_SIZE as u16).to_le_bytes()),
            (12, &(CAPACITY as u32).to_le_bytes()),
            (16, &KEY_SCHEMA.to_le_bytes()),
            (24, &self.file_id.to_le_bytes()),
            (32, &self.created.to_le_bytes()),
        ];
        header::encode(MAGIC, FORMAT, &parts)
    }

    /// Reads the first bytes of the file at `path`.
    ///
    /// # Errors
    /// They are not a header of this format, or fewer bytes than it has.
    pub fn decode(bytes: &[u8], path: &Path) -> Result<Header, FileError> {
        let read = || {
            let bytes = header::decode(bytes, MAGIC, FORMAT)?;
            let header = Header { file_id: u64_at(bytes, 24), created: u64_at(bytes, 32) };
            let fixed = [
                (10..12, "records of another size"),
                (12..16, "another capacity"),
                (16..20, "another kind of position key"),
            ];
            header::check_fixed(bytes, &header.encode(), fixed).map(|()| header)
        };
        read().map_err(|fault| match fault {
            HeaderFault::Foreign => FileError::Foreign(path.to_owned()),
            fault => FileError::Header(path.to_owned(), fault),
        })
    }

    /// Could these bytes be left by a power failure while a header was written over zeros? Then each byte with a fixed
    /// value is either zero or has that value.
    pub fn is_torn(bytes: &HeaderBytes) -> bool {
        let own = Header { file_id: 0, created: 0 }.encode();
        let fixed = (0..24).chain(40..60);
        fixed.into_iter().all(|at| bytes[at] == 0 || bytes[at] == own[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::header::HEADER_SIZE;

    const HEADER: Header = Header { file_id: 0x0123_4567_89AB_CDEF, created: 1_766_000_000 };

    fn decoded(bytes: &[u8]) -> Result<Header, FileError> {
        Header::decode(bytes, Path::new("x"))
    }

    #[test]
    fn a_header_survives_the_disk() {
        assert_eq!(decoded(&HEADER.encode()).unwrap(), HEADER);
    }

    #[test]
    fn a_file_of_another_kind_is_named() {
        assert!(matches!(decoded(b"[Event"), Err(FileError::Foreign(_))));
        for at in [10, 12, 16] {
            let mut bytes = HEADER.encode();
            bytes[at] ^= 1;
            header::seal(&mut bytes);
            let other = decoded(&bytes);
            assert!(matches!(other, Err(FileError::Header(_, HeaderFault::Layout(_)))), "{at}");
        }
    }

    #[test]
    fn a_header_that_ends_with_zero_needs_that_byte_too() {
        let headers = (0..).map(|file_id| Header { file_id, ..HEADER }.encode());
        let bytes = headers.into_iter().find(|bytes| bytes[HEADER_SIZE - 1] == 0).unwrap();
        assert!(decoded(&bytes).is_ok());
        let short = decoded(&bytes[..HEADER_SIZE - 1]);
        assert!(matches!(short, Err(FileError::Header(_, HeaderFault::Damaged))));
    }

    #[test]
    fn a_torn_header_is_known_and_a_text_is_not() {
        let mut bytes = HEADER.encode();
        for lost in [0..1, 0..64, 7..30, 60..64] {
            bytes[lost].fill(0);
            assert!(Header::is_torn(&bytes));
        }
        let mut text = [0; HEADER_SIZE];
        text[..5].copy_from_slice(b"hello");
        assert!(!Header::is_torn(&text));
    }
}
