//! The first 64 bytes of a binary file: a magic, the number of the format, and a checksum at the end.

use std::ops::Range;

use thiserror::Error;

/// The length of a header in bytes.
pub const HEADER_SIZE: usize = 64;

/// A header as it is in the file.
pub type HeaderBytes = [u8; HEADER_SIZE];

/// Why a file does not begin with the header of a format. The texts follow the path of the file.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum HeaderFault {
    /// Another magic.
    #[error("is a file of another program and is left alone; name another file")]
    Foreign,
    /// Its checksum is wrong, or bytes are missing.
    #[error("has a damaged header; restore the file from a copy, or name another file")]
    Damaged,
    /// Another format: the one found, and ours.
    #[error(
        "is written in format {0}, this engine reads {1}; \
         name another file (the engine that wrote a learning file can export it)"
    )]
    Version(u16, u16),
    /// The right format, with something that we do not know.
    #[error("has {0}, which this engine does not know; name another file")]
    Layout(&'static str),
}

/// Bytes 0 to 7 are the magic, 8 and 9 the number of the format, 60 to 63 the CRC-32 of those before. The others are
/// zero except for `parts`, each with its offset.
pub fn encode(magic: [u8; 8], format: u16, parts: &[(usize, &[u8])]) -> HeaderBytes {
    let mut bytes = [0; HEADER_SIZE];
    bytes[..8].copy_from_slice(&magic);
    bytes[8..10].copy_from_slice(&format.to_le_bytes());
    for (at, part) in parts {
        bytes[*at..at + part.len()].copy_from_slice(part);
    }
    seal(&mut bytes);
    bytes
}

/// Writes the checksum of the bytes before it.
pub fn seal(bytes: &mut HeaderBytes) {
    let checksum = crc32fast::hash(&bytes[..60]);
    bytes[60..].copy_from_slice(&checksum.to_le_bytes());
}

/// The header with which `bytes` begin. Magic, format and checksum have the same place in every format.
///
/// # Errors
/// It is none of this format.
pub fn decode(bytes: &[u8], magic: [u8; 8], format: u16) -> Result<&HeaderBytes, HeaderFault> {
    if !bytes.starts_with(&magic) {
        return Err(HeaderFault::Foreign);
    }
    let bytes: &HeaderBytes = bytes.first_chunk().ok_or(HeaderFault::Damaged)?;
    if u64_at(bytes, 56) >> 32 != u64::from(crc32fast::hash(&bytes[..60])) {
        return Err(HeaderFault::Damaged);
    }
    let found = u64_at(bytes, 8) as u16;
    if found == format { Ok(bytes) } else { Err(HeaderFault::Version(found, format)) }
}

/// Checks the bytes that are `own` in every file of a format; each range with the fault if it differs.
///
/// # Errors
/// The first range that differs.
pub fn check_fixed(
    bytes: &HeaderBytes,
    own: &HeaderBytes,
    ranges: [(Range<usize>, &'static str); 3],
) -> Result<(), HeaderFault> {
    let differs = ranges.into_iter().find(|(range, _)| bytes[range.clone()] != own[range.clone()]);
    differs.map_or(Ok(()), |(_, what)| Err(HeaderFault::Layout(what)))
}

/// The little-endian number in bytes `at` to `at + 7`.
pub fn u64_at(bytes: &HeaderBytes, at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAGIC: [u8; 8] = *b"\x89MAGIC!\n";

    fn header(format: u16, part: u8) -> HeaderBytes {
        encode(MAGIC, format, &[(10, &[part, part])])
    }

    #[test]
    fn each_kind_of_other_file_is_named() {
        let own = header(1, 7);
        assert_eq!(decode(&own, MAGIC, 1), Ok(&own));
        assert_eq!(decode(&own, *b"\x89OTHER!\n", 1), Err(HeaderFault::Foreign));
        assert_eq!(decode(&header(2, 7), MAGIC, 1), Err(HeaderFault::Version(2, 1)));
        assert_eq!(decode(&own[..HEADER_SIZE - 1], MAGIC, 1), Err(HeaderFault::Damaged));
        for at in 8..HEADER_SIZE {
            let mut damaged = own;
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged, MAGIC, 1), Err(HeaderFault::Damaged));
        }
    }
}
