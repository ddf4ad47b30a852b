//! The first 64 bytes of a binary file: a magic, the number of the format, and a checksum at the end.

use std::ops::Range;

/// The length of a header in bytes.
pub const HEADER_SIZE: usize = 64;

/// A header as it is in the file.
pub type HeaderBytes = [u8; HEADER_SIZE];

/// Why a file does not begin with the header of a format.
#[derive(Debug, PartialEq, Eq)]
pub enum HeaderFault {
    /// Another magic.
    Foreign,
    /// Its checksum is wrong, or bytes are missing.
    Damaged,
    /// Another format: its number.
    Version(u16),
    /// The right format, with something that we do not know.
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
    let checksum = crc32fast::hash(&bytes[..60]);
    bytes[60..].copy_from_slice(&checksum.to_le_bytes());
    bytes
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
    if found == format { Ok(bytes) } else { Err(HeaderFault::Version(found)) }
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
