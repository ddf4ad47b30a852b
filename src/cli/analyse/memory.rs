//! The learning file that an analysis uses: checked before the work begins, counted after it.

use std::path::Path;

use crate::learn::{FileError, LearnFile, Mode};

/// A learning file in use by the workers.
pub struct LearnFileUse<'a> {
    path: &'a Path,
    before: usize,
    write: bool,
}

impl LearnFileUse<'_> {
    /// The file at `path`, if one is named; it is created if it is missing and is to be written.
    ///
    /// # Errors
    /// It cannot be used. Without this check the analysis would silently go on without it.
    pub fn open(path: Option<&Path>, write: bool) -> Result<Option<LearnFileUse<'_>>, FileError> {
        let Some(path) = path else { return Ok(None) };
        let before = if write { LearnFile::open_or_create(path)?.1.len() } else { count(path)? };
        Ok(Some(LearnFileUse { path, before, write }))
    }

    /// How many records were used and added, in a sentence.
    ///
    /// # Errors
    /// The file cannot be read any more.
    pub fn summary(&self) -> Result<String, FileError> {
        let (path, before) = (self.path.display(), self.before);
        if self.write {
            return Ok(format!("{} records in {path}, {before} before", count(self.path)?));
        }
        Ok(format!("{before} records in {path}, which was only read"))
    }
}

/// The number of live records in a file.
fn count(path: &Path) -> Result<usize, FileError> {
    Ok(LearnFile::open(path, Mode::Read)?.recover()?.1.len())
}
