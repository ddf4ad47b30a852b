//! What can be done with a hash file without an engine.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{
    cell::{ENTRY_SIZE, Entry, Kind, WAYS},
    disk,
    error::HashFileError,
    header::{Header, Origin},
    map::Map,
};
use crate::position::PathHash;

/// What lies in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Places for entries.
    pub places: u64,
    /// Places without one.
    pub empty: u64,
    /// Good entries.
    pub entries: u64,
    /// Of these, finished iterations, from which an analysis resumes.
    pub iterations: u64,
    /// Of these, exact scores and nodes of principal variations.
    pub focus: u64,
    /// Entries that fail their checksum, or lie where no probe looks. They are never used.
    pub damaged: u64,
    /// How many good entries there are of each depth.
    pub depths: BTreeMap<i32, u64>,
    /// How many good entries were last used so many sessions or games ago.
    pub ages: BTreeMap<u16, u64>,
}

/// A file that a tool looks at.
pub struct Archive(Map);

impl Archive {
    /// Opens a file to look at it; engines may be using it.
    ///
    /// # Errors
    /// See [`HashFileError`].
    pub fn open(path: &Path) -> Result<Archive, HashFileError> {
        Map::open(path, false).map(Archive)
    }

    /// What its header says.
    pub fn header(&self) -> &Header {
        self.0.header()
    }

    /// How many sessions and games it has seen (the count begins again after 65,535).
    pub fn generation(&self) -> u16 {
        self.0.generation()
    }

    /// Looks at every place.
    pub fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        let generation = self.0.generation();
        for (words, index) in self.0.cells() {
            survey.places += 1;
            if words == [0; 4] {
                survey.empty += 1;
                continue;
            }
            let Some(entry) = Entry::decode(words).filter(|entry| self.0.index(entry.key) == index) else {
                survey.damaged += 1;
                continue;
            };
            survey.entries += 1;
            survey.iterations += u64::from(entry.kind == Kind::Iteration);
            survey.focus += u64::from(entry.is_focus());
            *survey.depths.entry(entry.depth().get()).or_default() += 1;
            *survey.ages.entry(generation.wrapping_sub(entry.generation)).or_default() += 1;
        }
        survey
    }

    /// Makes a new file at `path` of `mib` MiB, or of the same size, with the most valuable entries of this
    /// one. Gives back how many they are. It bears its name when it is complete.
    ///
    /// # Errors
    /// Something lies at `path` already, or there is no room.
    pub fn copy(&self, path: &Path, mib: Option<usize>) -> Result<u64, HashFileError> {
        let exists = || HashFileError::Exists { path: path.to_owned() };
        let is_there = || fs::symlink_metadata(path).is_ok();
        if is_there() {
            return Err(exists());
        }
        let unfinished = unfinished_name(path);
        let copied = self.fill(&unfinished, mib).and_then(|entries| {
            match fs::hard_link(&unfinished, path) {
                Ok(()) => return Ok(entries),
                Err(_) if is_there() => return Err(exists()),
                // A file system without links.
                Err(_) => fs::rename(&unfinished, path),
            }
            .map(|()| entries)
            .map_err(|source| HashFileError::Io { path: path.to_owned(), doing: "made", source })
        });
        let _ = fs::remove_file(&unfinished);
        copied
    }

    fn fill(&self, path: &Path, mib: Option<usize>) -> Result<u64, HashFileError> {
        let header = self.header();
        let Some(path_mode) = PathHash::from_name(&header.path_mode) else {
            let what = "a way of comparing paths";
            return Err(HashFileError::Layout { path: self.0.path().to_owned(), what });
        };
        let mib = mib.unwrap_or_else(|| header.file_size().div_ceil(1 << 20) as usize);
        disk::create(path, mib, Origin { evaluation: header.evaluation, path_mode })?;
        let copy = Map::open(path, true)?;
        copy.set_generation(self.generation());
        for (words, index) in self.0.cells() {
            if let Some(entry) = Entry::decode(words).filter(|entry| self.0.index(entry.key) == index) {
                copy.put(&entry);
            }
        }
        Ok(copy.cells().filter(|(words, _)| *words != [0; 4]).count() as u64)
    }
}

/// Puts a new file of `mib` MiB in the place of the one at `path`, with its most valuable entries. Gives back
/// how many they are. The old file itself is not changed: an engine that had it mapped could not survive that.
///
/// # Errors
/// An engine uses the file, or there is no room for the new one beside it.
pub fn resize(path: &Path, mib: usize) -> Result<u64, HashFileError> {
    // Links are followed, so that the file is replaced and not the link to it.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = Archive(Map::open(path, true)?);
    let new = unfinished_name(path);
    let moved = old.fill(&new, Some(mib)).and_then(|entries| {
        fs::rename(&new, path).map(|()| entries).map_err(|source| HashFileError::Io {
            path: path.clone(),
            doing: "replaced",
            source,
        })
    });
    if moved.is_err() {
        let _ = fs::remove_file(&new);
    }
    moved
}

fn unfinished_name(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".unfinished-{}", std::process::id()));
    path.with_file_name(name)
}

/// Empties the file at `path`. It belongs to the engine with this `evaluation` from then on.
///
/// # Errors
/// An engine uses the file, or it cannot be written.
pub fn clear(path: &Path, evaluation: u16) -> Result<(), HashFileError> {
    let map = Map::open(path, true)?;
    map.clear();
    map.set_generation(0);
    map.write_header(&Header { evaluation, ..map.header().clone() });
    Ok(())
}

/// Bytes of an entry and entries of a bucket, as the manual names them.
pub const DIMENSIONS: (usize, usize) = (ENTRY_SIZE, WAYS);
