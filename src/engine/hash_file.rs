//! The hash file of the engine: named, opened, used by a search.

use std::{path::PathBuf, sync::Arc};

use super::Engine;
use crate::{
    position::{Path, PathHash},
    search::{Failure, Limits, Notice, ResultStore, Resumed, Strength},
    tt::file::{FileLocation, HashFile, HashOrigin},
};

impl Engine {
    /// Names the file that keeps what the table knows, none for RAM alone. The present one is closed at once, the new
    /// one opened by the next search or by [`Engine::open_hash_file`]: its size may be set later. Naming one that did
    /// not open tries it again. Waits for a running search.
    pub fn set_hash_file(&mut self, file: Option<PathBuf>) {
        self.wait();
        if file != self.persistent.path || self.persistent.open.is_none() {
            self.persistent.path = file;
            self.persistent.reopen();
        }
    }

    /// Sets the size of a new hash file in MiB; one that is there keeps its own.
    pub fn set_hash_file_size(&mut self, mib: usize) {
        self.wait();
        self.persistent.mib = mib;
        self.persistent.changed |= self.persistent.open.is_none();
    }

    /// Opens the hash file that was named and is not open, or no longer there, and reports the result.
    pub fn open_hash_file(&mut self) {
        if let Some(map) = self.persistent.open.as_ref().map(|file| file.map()) {
            let replaced = match map.place() {
                FileLocation::Ours => None,
                FileLocation::Removed => Some(false),
                FileLocation::Replaced => Some(true),
            };
            if let Some(replaced) = replaced {
                self.say(Notice::HashFileGone { path: map.path().to_owned(), replaced });
                self.persistent.reopen();
            }
        }
        if !std::mem::take(&mut self.persistent.changed) {
            return;
        }
        let Some(path) = &self.persistent.path else { return };
        let evaluation = self.evaluation.evaluation().fingerprint();
        let origin = HashOrigin { evaluation, path_mode: self.path_hash };
        match HashFile::open_or_create(path, self.persistent.mib, origin) {
            Ok((file, made)) => {
                let map = file.map();
                let (path, mib) = (map.path().to_owned(), map.header().file_size() >> 20);
                self.say(match made {
                    true => Notice::NewHashFile { path, mib },
                    false => {
                        let (fill, session) = ((10.0 * map.fill()).round() as u32, map.generation());
                        Notice::HashFile { path, mib, fill, session: session.into() }
                    }
                });
                self.persistent.open = Some(Arc::new(file));
            }
            Err(error) => self.say(Notice::Failed(Failure::HashFile, error.to_string())),
        }
    }

    /// Empties the table and the hash file. Waits for a running search.
    pub fn clear_hash_and_file(&mut self) {
        self.clear_hash();
        self.open_hash_file();
        if let Some(file) = &self.persistent.open {
            file.clear();
        }
    }

    /// Which part of the path must match before a stored score is used.
    pub fn path_hash(&self) -> PathHash {
        self.path_hash
    }

    /// The file for a search; none with contempt or at limited strength, whose scores must not reach other searches.
    pub(super) fn hash_file(&mut self) -> Option<Arc<HashFile>> {
        self.open_hash_file();
        self.persistent.used = true;
        let full_strength = self.strength_limits.strength() == Strength::default();
        let unused = !full_strength && self.persistent.open.is_some();
        if unused && !std::mem::replace(&mut self.persistent.unused_told, true) {
            self.say(Notice::HashFileUnused);
        }
        self.persistent.open.clone().filter(|_| full_strength)
    }

    /// The result of an earlier analysis of this root, where a search under `limits` may resume from it.
    pub(super) fn resume(&self, limits: &Limits, path: &Path, file: Option<&HashFile>) -> Option<Resumed> {
        if self.settings.multi_pv > 1 || !limits.search_moves.is_empty() {
            return None;
        }
        let memory = ResultStore { table: &self.table, file };
        memory.share(self.root.key(), path);
        let kept = memory.resumed(&self.root, path);
        let learned = self.learned_result(path);
        let resumed = learned.into_iter().chain(kept).max_by_key(|resumed| resumed.depth)?;
        if limits.depth.is_some_and(|most| most < resumed.depth) {
            return None;
        }
        self.say(Notice::Resumed(resumed.depth));
        Some(resumed)
    }
}
