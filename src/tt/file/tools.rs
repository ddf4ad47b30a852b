//! Statistics, copies and other sizes of a hash file, without an engine.

use std::{collections::BTreeMap, io, path::Path};

use super::{
    cell::{CellKind, ENTRY_SIZE, WAYS},
    disk,
    error::{HashFileError, refused},
    header::HashHeader,
    map::Map,
};
use crate::files::NewFile;

/// Statistics of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Slots for entries.
    pub places: u64,
    /// Empty slots.
    pub empty: u64,
    /// Good entries.
    pub entries: u64,
    /// Of these, finished iterations, from which an analysis resumes.
    pub iterations: u64,
    /// Of these, exact scores and nodes of principal variations.
    pub focus: u64,
    /// Entries that fail their checksum, or are in the wrong cluster. They are never used.
    pub damaged: u64,
    /// Number of good entries of each depth.
    pub depths: BTreeMap<i32, u64>,
    /// Good entries by age: the number of sessions or games since their last use.
    pub ages: BTreeMap<u16, u64>,
}

impl Map {
    /// Counts all entries.
    pub fn survey(&self) -> Survey {
        let mut survey = Survey::default();
        let generation = self.generation();
        for (words, entry) in self.places() {
            survey.places += 1;
            let Some(entry) = entry else {
                let count = if words == [0; 4] { &mut survey.empty } else { &mut survey.damaged };
                *count += 1;
                continue;
            };
            survey.entries += 1;
            survey.iterations += u64::from(entry.kind == CellKind::Iteration);
            survey.focus += u64::from(entry.is_focus());
            *survey.depths.entry(entry.depth().get()).or_default() += 1;
            *survey.ages.entry(generation.wrapping_sub(entry.generation)).or_default() += 1;
        }
        survey
    }

    /// Creates a file at `path` of `mib` MiB, or of the same size, with the most valuable entries of this one, and
    /// returns their number. The file appears at `path` when it is complete.
    ///
    /// # Errors
    /// Something is at `path` already, or there is no room.
    pub fn copy(&self, path: &Path, mib: Option<usize>) -> Result<u64, HashFileError> {
        let exists = || HashFileError::Exists(path.to_owned());
        if path.symlink_metadata().is_ok() {
            return Err(exists());
        }
        let (new, entries) = self.copied(path, mib)?;
        new.finish().map(|()| entries).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(),
            _ => refused(path, "made")(error),
        })
    }

    fn copied(&self, path: &Path, mib: Option<usize>) -> Result<(NewFile, u64), HashFileError> {
        let origin = self.origin()?;
        let mib = mib.unwrap_or_else(|| self.header().file_size().div_ceil(1 << 20) as usize);
        let new = disk::begin(path, mib, origin)?;
        let copy = Map::open_alone(new.unfinished_path())?;
        copy.set_generation(self.generation());
        self.places().filter_map(|(_, entry)| entry).for_each(|entry| copy.put(&entry));
        let entries = copy.places().filter(|(words, _)| *words != [0; 4]).count() as u64;
        Ok((new, entries))
    }
}

/// Replaces the file at `path` (or the target of a link there) by a new one of `mib` MiB with its most valuable
/// entries, and returns their number. The old file itself is not changed, since that would kill an engine that has it
/// mapped.
///
/// # Errors
/// An engine uses the file, or there is no room for the new one beside it.
pub fn resize(path: &Path, mib: usize) -> Result<u64, HashFileError> {
    // Open, and so locked, until the new file has the name: no engine may begin to use this one.
    let old = Map::open_alone(path)?;
    let (new, entries) = old.copied(path, Some(mib))?;
    // Windows replaces no open file.
    #[cfg(windows)]
    drop(old);
    new.replace().map(|()| entries).map_err(refused(path, "replaced"))
}

/// Empties the file at `path`. It belongs to the engine with this `evaluation` from then on.
///
/// # Errors
/// An engine uses the file, or it cannot be written.
pub fn clear(path: &Path, evaluation: u16) -> Result<(), HashFileError> {
    let map = Map::open_alone(path)?;
    map.clear();
    map.set_generation(0);
    // After a power failure no old entry may be taken for one of this evaluation.
    map.flush().map_err(refused(path, "written"))?;
    map.write_header(&HashHeader { evaluation, ..map.header().clone() });
    Ok(())
}

/// Bytes of an entry, and entries of a cluster.
pub const DIMENSIONS: (usize, usize) = (ENTRY_SIZE, WAYS);
