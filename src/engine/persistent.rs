//! The hash file, as the engine carries it: which one is wanted, which one is open.

use std::{path::PathBuf, sync::Arc};

use crate::{
    eval,
    position::PathHash,
    search::{Event, Sink},
    tt::file::{HashFile, Origin},
};

/// The file that is wanted and, once somebody needed it, open.
pub(super) struct Persistent {
    path: Option<PathBuf>,
    /// Size of a new file.
    mib: usize,
    open: Option<Arc<HashFile>>,
    /// Was something changed since the file was opened?
    changed: bool,
    /// Was something searched since the last game began?
    used: bool,
}

impl Persistent {
    /// No file.
    pub fn new(mib: usize) -> Persistent {
        Persistent { path: None, mib, open: None, changed: false, used: false }
    }

    /// Names the file, or none. The present one is closed at once, the new one opened when it is needed: its
    /// size may be said later.
    pub fn set_path(&mut self, path: Option<PathBuf>) {
        if path != self.path {
            self.path = path;
            self.reopen();
        }
    }

    /// Sets the size of a new file in MiB; one that is there keeps its own.
    pub fn set_size(&mut self, mib: usize) {
        self.mib = mib;
        self.changed |= self.open.is_none();
    }

    /// Closes the file; it is opened again, if it fits, when it is needed.
    pub fn reopen(&mut self) {
        self.open = None;
        self.changed = true;
    }

    /// Opens what was named, and says what came of that.
    pub fn settle(&mut self, path_mode: PathHash, sink: &Arc<Sink>) {
        if !std::mem::take(&mut self.changed) {
            return;
        }
        self.open = None;
        let Some(path) = &self.path else { return };
        let origin = Origin { evaluation: eval::fingerprint(), path_mode };
        let message = match HashFile::open_or_create(path, self.mib, origin) {
            Ok((file, made)) => {
                let map = file.map();
                let message = format!(
                    "hash file {}: {} MiB, {}",
                    map.path().display(),
                    map.header().file_size() >> 20,
                    if made {
                        "new".to_owned()
                    } else {
                        format!("{:.1} % full, session {}", map.fill(), map.generation())
                    }
                );
                self.open = Some(Arc::new(file));
                message
            }
            Err(error) => format!("{error}; the hash stays in RAM"),
        };
        sink(Event::Message(message));
    }

    /// The file for a search.
    pub fn for_search(&mut self) -> Option<Arc<HashFile>> {
        self.used = true;
        self.open.clone()
    }

    /// A new game begins: what was found for others grows older.
    pub fn new_game(&mut self) {
        if let (Some(file), true) = (&self.open, std::mem::take(&mut self.used)) {
            file.begin_generation();
        }
    }

    /// Empties the file.
    pub fn clear(&self) {
        if let Some(file) = &self.open {
            file.clear();
        }
    }
}
