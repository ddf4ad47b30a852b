//! The learning file that an analysis uses: checked before the work begins, counted after it.

use std::{path::Path, sync::Arc};

use crate::{
    cli::learn::LearnError,
    learn::{FileError, LearnFile, Mode, OpenError, create_patiently, disk::SystemDisk},
};

/// A learning file in use by the workers.
pub struct LearnFileUse<'a> {
    path: &'a Path,
    before: usize,
    write: bool,
}

impl LearnFileUse<'_> {
    /// The file at `path`, if there is one; it is made if it is missing and is to be written.
    ///
    /// # Errors
    /// It cannot be used as asked. The analysis would go on without it, and nobody would know.
    pub fn open(path: Option<&Path>, write: bool) -> Result<Option<LearnFileUse<'_>>, LearnError> {
        let Some(path) = path else { return Ok(None) };
        let before = match count(path, write) {
            Err(LearnError::Open(OpenError::Missing { .. } | OpenError::Unfinished { .. })) if write => {
                create_patiently(&SystemDisk, path)?;
                count(path, write)?
            }
            counted => counted?,
        };
        Ok(Some(LearnFileUse { path, before, write }))
    }

    /// What was used, and what was added, in a sentence.
    ///
    /// # Errors
    /// The file cannot be read any more.
    pub fn summary(&self) -> Result<String, LearnError> {
        let (path, before) = (self.path.display(), self.before);
        if self.write {
            return Ok(format!("{} records in {path}, {before} before", count(self.path, false)?));
        }
        Ok(format!("{before} records in {path}, which was only read"))
    }
}

/// The records that count in a file.
fn count(path: &Path, write: bool) -> Result<usize, LearnError> {
    let mode = if write { Mode::Write } else { Mode::Read };
    let (file, ring, _) = LearnFile::open_on(Arc::new(SystemDisk), path, mode)?.recover()?;
    match file.read_only() {
        Some(reason) if write => Err(FileError::ReadOnly(reason.to_string()).into()),
        _ => Ok(ring.len()),
    }
}
