//! The first page of a hash file.
//!
//! ```text
//!  0 magic 8            8 layout u16       10 bytes of an entry u16   12 entries of a cluster u16
//! 14 evaluation id u16  16 key schema u32  20 no fifty-move rule u32 (0, 1)   24 file id u64
//! 32 created u64 (s)    40 clusters u64     48 path mode 12 (name, zero-padded)   60 crc32 of bytes 0 to 59
//! 64 generation u64: how many sessions began, the one number that changes
//! ```
//! Little-endian on every machine. The clusters begin at byte 4,096.

use std::{ops::Range, path::Path};

use super::{
    cell::{Cluster, ENTRY_SIZE, WAYS},
    error::HashFileError,
};
use crate::{
    files::header::{self, HeaderBytes, HeaderFault, u64_at},
    position::PathHash,
};

/// The index of the generation, in words of eight bytes.
pub(super) const GENERATION_WORD: usize = 8;
/// The offset of the clusters.
pub(super) const CLUSTERS_AT: u64 = 4096;
/// The layout that this engine reads and writes.
pub const LAYOUT: u16 = 1;

/// The first bytes of every hash file: one with which no text begins, the name, and a line end that a text-mode copy
/// would change.
pub const MAGIC: [u8; 8] = *b"\x89EGHASH\n";
/// Polyglot's Zobrist numbers with its pseudo-legal en-passant rule.
const KEY_SCHEMA: u32 = 1;
const PATH_MODE: Range<usize> = 48..60;

/// Identifies the search that wrote the scores; scores of a different one are not valid.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HashOrigin {
    /// A fingerprint of the evaluation.
    pub evaluation: u16,
    /// How paths are compared.
    pub path_mode: PathHash,
    /// Does a tablebase win count only if the fifty-move rule does not spoil it?
    pub fifty_rule: bool,
}

/// The variable parts of a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashHeader {
    /// The evaluation that wrote the scores.
    pub evaluation: u16,
    /// The name of the path mode.
    pub path_mode: String,
    /// As in [`HashOrigin`].
    pub fifty_rule: bool,
    /// A random number that tells files apart.
    pub file_id: u64,
    /// When the file was made, in seconds since 1970.
    pub created: u64,
    /// How many clusters follow.
    pub clusters: u64,
}

impl HashHeader {
    /// Length of the file.
    pub fn file_size(&self) -> u64 {
        self.clusters.saturating_mul(size_of::<Cluster>() as u64).saturating_add(CLUSTERS_AT)
    }

    /// Number of clusters in a file of `mib` MiB.
    pub(super) fn clusters_in(mib: usize) -> u64 {
        ((mib.max(1) as u64).saturating_mul(1 << 20) - CLUSTERS_AT) / size_of::<Cluster>() as u64
    }

    /// The bytes.
    pub(super) fn encode(&self) -> HeaderBytes {
        let name = self.path_mode.as_bytes();
        let parts: [(usize, &[u8]); 9] = [
            (10, &(ENTRY_SIZE as u16).to_le_bytes()),
            (12, &(WAYS as u16).to_le_bytes()),
            (14, &self.evaluation.to_le_bytes()),
            (16, &KEY_SCHEMA.to_le_bytes()),
            (20, &u32::from(!self.fifty_rule).to_le_bytes()),
            (24, &self.file_id.to_le_bytes()),
            (32, &self.created.to_le_bytes()),
            (40, &self.clusters.to_le_bytes()),
            (PATH_MODE.start, &name[..name.len().min(PATH_MODE.len())]),
        ];
        header::encode(MAGIC, LAYOUT, &parts)
    }

    /// Reads the bytes of the file at `path`.
    ///
    /// # Errors
    /// They are not a header of this layout.
    pub(super) fn decode(bytes: &HeaderBytes, path: &Path) -> Result<HashHeader, HashFileError> {
        let read = || {
            let bytes = header::decode(bytes, MAGIC, LAYOUT)?;
            let name: Vec<u8> = bytes[PATH_MODE].iter().copied().take_while(|&byte| byte != 0).collect();
            let header = HashHeader {
                evaluation: (u64_at(bytes, 8) >> 48) as u16,
                path_mode: String::from_utf8_lossy(&name).into_owned(),
                fifty_rule: u64_at(bytes, 16) >> 32 == 0,
                file_id: u64_at(bytes, 24),
                created: u64_at(bytes, 32),
                clusters: u64_at(bytes, 40),
            };
            let fixed = [
                (10..12, "entries of another size"),
                (12..14, "clusters of another size"),
                (16..24, "another kind of position key or of tablebase results"),
            ];
            header::check_fixed(bytes, &header.encode(), fixed)?;
            if header.clusters == 0 { Err(HeaderFault::Layout("no room for any entry")) } else { Ok(header) }
        };
        read().map_err(|fault| match fault {
            HeaderFault::Foreign => HashFileError::Foreign(path.to_owned()),
            fault => HashFileError::Header(path.to_owned(), fault),
        })
    }

    /// Are the scores of this file valid for a search of `origin`?
    ///
    /// # Errors
    /// They are not.
    pub(super) fn fits(&self, origin: HashOrigin, path: &Path) -> Result<(), HashFileError> {
        let path = || path.to_owned();
        let (found, expected) = (self.evaluation, origin.evaluation);
        if found != expected {
            return Err(HashFileError::Evaluation { path: path(), found, expected });
        }
        let setting = |option, found: &str, expected: &str| match found == expected {
            true => Ok(()),
            false => Err(HashFileError::Setting {
                path: path(),
                option,
                found: found.to_owned(),
                expected: expected.to_owned(),
            }),
        };
        setting("PathHash", &self.path_mode, origin.path_mode.name())?;
        setting("Syzygy50MoveRule", &self.fifty_rule.to_string(), &origin.fifty_rule.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> HashHeader {
        HashHeader {
            evaluation: 0xABCD,
            path_mode: "fifty80each".to_owned(),
            fifty_rule: false,
            file_id: 0x0123_4567_89AB_CDEF,
            created: 1_766_000_000,
            clusters: 8160,
        }
    }

    fn decoded(change: impl Fn(&mut HeaderBytes)) -> Result<HashHeader, HashFileError> {
        let mut bytes = header().encode();
        change(&mut bytes);
        header::seal(&mut bytes);
        HashHeader::decode(&bytes, Path::new("x"))
    }

    #[test]
    fn a_header_survives_the_disk_and_every_mode_fits_in_it() {
        assert_eq!(decoded(|_| ()).expect("a header"), header());
        for (name, _) in PathHash::NAMED {
            assert!(name.len() <= PATH_MODE.len());
        }
    }

    #[test]
    fn a_file_of_another_kind_is_named() {
        assert!(matches!(decoded(|bytes| bytes[0] = 0), Err(HashFileError::Foreign(_))));
        for at in [10, 12, 16, 21] {
            let other = decoded(|bytes| bytes[at] ^= 1);
            assert!(matches!(other, Err(HashFileError::Header(_, HeaderFault::Layout(_)))), "{at}");
        }
    }

    #[test]
    fn scores_of_another_search_are_refused() {
        let file = Path::new("x");
        let own = HashOrigin { evaluation: 0xABCD, path_mode: PathHash::Fifty80Each, fifty_rule: false };
        assert!(header().fits(own, file).is_ok());
        let other = header().fits(HashOrigin { evaluation: 1, ..own }, file);
        assert!(matches!(other, Err(HashFileError::Evaluation { found: 0xABCD, .. })));
        let other = header().fits(HashOrigin { path_mode: PathHash::Off, ..own }, file);
        assert!(matches!(other, Err(HashFileError::Setting { option: "PathHash", .. })));
        let other = header().fits(HashOrigin { fifty_rule: true, ..own }, file);
        assert!(matches!(other, Err(HashFileError::Setting { option: "Syzygy50MoveRule", .. })));
    }
}
