//! The hash file, as the engine carries it: which one is wanted, which one is open.

use std::{path::PathBuf, sync::Arc};

use super::Engine;
use crate::{
    position::{Path, PathHash},
    search::{Event, EventSink, Limits, ResultStore, Resumed},
    tt::file::{FileLocation, HashFile, Origin},
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
    /// size may be said later. To name one that did not open tries it again.
    pub fn set_path(&mut self, path: Option<PathBuf>) {
        if path != self.path || self.open.is_none() {
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

    /// Opens what was named and is not open, or not there any more, and says what came of that.
    pub fn settle(&mut self, origin: Origin, sink: &Arc<EventSink>) {
        let said = match self.open.as_ref().map(|file| (file.map().place(), file.map().path())) {
            None | Some((FileLocation::Ours, _)) => None,
            Some((FileLocation::Removed, path)) => Some(format!("hash file {} was removed", path.display())),
            Some((FileLocation::Replaced, path)) => {
                Some(format!("hash file {} was replaced", path.display()))
            }
        };
        if let Some(said) = said {
            sink(Event::Message(said));
            self.reopen();
        }
        if !std::mem::take(&mut self.changed) {
            return;
        }
        self.open = None;
        let Some(path) = &self.path else { return };
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

    /// A new game begins: what was found for others grows older.
    pub fn new_game(&mut self) {
        if let (Some(file), true) = (&self.open, std::mem::take(&mut self.used)) {
            file.begin_generation();
        }
    }
}

impl Engine {
    /// Names the file that keeps what the table knows, none for RAM alone. It is opened by the next search or
    /// by [`Engine::open_hash_file`]. Waits for a running search.
    pub fn set_hash_file(&mut self, file: Option<PathBuf>) {
        self.wait();
        self.persistent.set_path(file);
    }

    /// Sets the size of a new hash file in MiB; one that is there keeps its own.
    pub fn set_hash_file_size(&mut self, mib: usize) {
        self.wait();
        self.persistent.set_size(mib);
    }

    /// Empties the table and the hash file. Waits for a running search.
    pub fn clear_hash_and_file(&mut self) {
        self.clear_hash();
        self.open_hash_file();
        if let Some(file) = &self.persistent.open {
            file.clear();
        }
    }

    /// Which part of the path must fit before a stored score is used.
    pub fn path_hash(&self) -> PathHash {
        self.path_hash
    }

    /// Opens the hash file that was named, if it is not open yet, and reports what came of it.
    pub fn open_hash_file(&mut self) {
        let evaluation = self.evaluation.evaluation().fingerprint();
        self.persistent.settle(Origin { evaluation, path_mode: self.path_hash }, &self.sink);
    }

    /// The file for a search.
    pub(super) fn hash_file(&mut self) -> Option<Arc<HashFile>> {
        self.open_hash_file();
        self.persistent.used = true;
        self.persistent.open.clone()
    }

    /// What an earlier analysis of this root came to, where a search under `limits` may go on from there. Says
    /// so.
    pub(super) fn resume(&self, limits: &Limits, path: &Path, file: Option<&HashFile>) -> Option<Resumed> {
        if self.multi_pv > 1 || !limits.search_moves.is_empty() {
            return None;
        }
        let memory = ResultStore { table: &self.table, file };
        memory.share(self.root.key(), path);
        let kept = memory.resumed(&self.root, path);
        let learned = self.learning.resumed(&self.root, path);
        let resumed = learned.into_iter().chain(kept).max_by_key(|resumed| resumed.depth)?;
        if limits.depth.is_some_and(|most| most < resumed.depth) {
            return None;
        }
        let depth = resumed.depth.get();
        (self.sink)(Event::Message(format!("analysis resumed at depth {depth}")));
        Some(resumed)
    }
}
