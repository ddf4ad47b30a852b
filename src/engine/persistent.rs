//! Which hash file is wanted, and which one is open.

use std::{path::PathBuf, sync::Arc};

use crate::tt::file::HashFile;

/// The file that is wanted and, once it was needed, open.
#[derive(Default)]
pub(super) struct Persistent {
    pub path: Option<PathBuf>,
    /// Size of a new file.
    pub mib: usize,
    pub open: Option<Arc<HashFile>>,
    /// Was something changed since the file was opened?
    pub changed: bool,
    /// Was something searched since the last game began?
    pub used: bool,
    /// Was the user told that the file is not used with contempt or at limited strength?
    pub unused_told: bool,
}

impl Persistent {
    /// Closes the file; it is opened again, if it fits, when it is needed.
    pub fn reopen(&mut self) {
        self.open = None;
        self.changed = true;
    }

    /// A new game begins: entries of earlier games age.
    pub fn new_game(&mut self) {
        if let (Some(file), true) = (&self.open, std::mem::take(&mut self.used)) {
            file.begin_generation();
        }
    }
}
