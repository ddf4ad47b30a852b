use std::{
    fs,
    path::Path,
    sync::{RwLock, RwLockReadGuard},
};

use crate::{
    cli::{CliError, refuse_input, refused},
    learn::{self, LearnFile, Mode, Report, Ring},
    locks::read,
    types::PositionKey,
};

/// A learning file and its records.
pub(super) struct Opened {
    pub file: LearnFile,
    pub ring: RwLock<Ring>,
    pub report: Report,
}

impl Opened {
    /// Opens it for reading.
    pub fn read(path: &Path) -> Result<Opened, CliError> {
        Ok(Opened::from(LearnFile::open(path, Mode::Read)?))
    }

    /// Opens an existing file for writing.
    pub fn change(path: &Path) -> Result<Opened, CliError> {
        Ok(Opened::from(LearnFile::open_to_write(path)?))
    }

    /// Opens it for writing, created if it is missing.
    pub fn write(path: &Path) -> Result<Opened, CliError> {
        Ok(Opened::from(LearnFile::open_or_create(path)?))
    }

    /// Opens it for writing the records of `source`, which must exist (a mistyped name must not create a learning file)
    /// and must be another file.
    pub fn for_source(path: &Path, source: &Path) -> Result<Opened, CliError> {
        if source != Path::new("-") {
            fs::metadata(source).map_err(refused(source, "read"))?;
        }
        refuse_input(path, [source])?;
        Opened::write(path)
    }

    fn from((file, ring, report): (LearnFile, Ring, Report)) -> Opened {
        Opened { file, ring: RwLock::new(ring), report }
    }

    pub fn ring(&self) -> RwLockReadGuard<'_, Ring> {
        read(&self.ring)
    }

    /// The time of new advice for a position: now, but later than the record or tombstone that it replaces, so that every
    /// file into which both are merged keeps the advice.
    pub fn time_of_advice(&self, key: PositionKey) -> u32 {
        let present = self.ring().newest_of(key).map_or(0, |present| present.time.saturating_add(1));
        learn::now().max(present)
    }
}
