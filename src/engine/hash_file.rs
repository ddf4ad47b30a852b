//! The hash file of the engine: named, opened, used by a search.

use std::{path::PathBuf, sync::Arc};

use super::Engine;
use crate::{
    notice::{Failure, Notice},
    position::{PathHash, PositionPath},
    search::{Limits, ResultStore, Resumed, Strength, Tablebases},
    tt::file::{FileLocation, HashFile, HashOrigin},
};

/// The file that is wanted and, once it was needed, open.
#[derive(Default)]
pub(super) struct NamedHashFile {
    pub path: Option<PathBuf>,
    /// Size of a new file.
    pub mib: usize,
    pub open: Option<Arc<HashFile>>,
    /// Was something changed since the file was opened?
    pub changed: bool,
    /// Was something searched since the last game began?
    pub used: bool,
    /// Was the user told that the file is not used with contempt or at limited strength?
    pub unused_reported: bool,
}

impl NamedHashFile {
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

impl Engine {
    /// Names the file that keeps what the table knows, none for RAM alone. The present one is closed at once, the new
    /// one opened by the next search or by [`Engine::open_hash_file`]: its size may be set later. Naming one that did
    /// not open tries it again. Waits for a running search.
    pub fn set_hash_file(&mut self, file: Option<PathBuf>) {
        self.wait();
        if file != self.hash_file.path || self.hash_file.open.is_none() {
            self.hash_file.path = file;
            self.hash_file.reopen();
        }
    }

    /// Sets the size of a new hash file in MiB; one that is there keeps its own.
    pub fn set_hash_file_size(&mut self, mib: usize) {
        self.wait();
        self.hash_file.mib = mib;
        self.hash_file.changed |= self.hash_file.open.is_none();
    }

    /// Opens the hash file that was named and is not open, or no longer there, and reports the result.
    pub fn open_hash_file(&mut self) {
        if let Some(map) = self.hash_file.open.as_ref().map(|file| file.map()) {
            let replaced = match map.place() {
                FileLocation::Ours => None,
                FileLocation::Removed => Some(false),
                FileLocation::Replaced => Some(true),
            };
            if let Some(replaced) = replaced {
                self.say(Notice::HashFileGone { path: map.path().to_owned(), replaced });
                self.hash_file.reopen();
            }
        }
        if !std::mem::take(&mut self.hash_file.changed) {
            return;
        }
        let Some(path) = &self.hash_file.path else { return };
        let evaluation = self.evaluation.evaluation().fingerprint();
        let fifty_rule = self.settings.probe_rules.fifty;
        let origin = HashOrigin { evaluation, path_mode: self.path_hash, fifty_rule };
        match HashFile::open_or_create(path, self.hash_file.mib, origin) {
            Ok((file, made)) => {
                let map = file.map();
                let (path, mib) = (map.path().to_owned(), map.header().file_size() >> 20);
                self.say(match made {
                    true => Notice::NewHashFile { path, mib },
                    false => {
                        let (fill, generation) = ((10.0 * map.fill()).round() as u32, map.generation());
                        Notice::HashFile { path, mib, fill, generation: generation.into() }
                    }
                });
                self.hash_file.open = Some(Arc::new(file));
            }
            Err(error) => self.say(Notice::Failed(Failure::HashFile, error.to_string())),
        }
    }

    /// Which part of the path must match before a stored score is used.
    pub fn path_hash(&self) -> PathHash {
        self.path_hash
    }

    /// The file for a search; none with contempt or at limited strength, whose scores must not reach other searches.
    pub(super) fn hash_file(&mut self) -> Option<Arc<HashFile>> {
        self.open_hash_file();
        self.hash_file.used = true;
        let full_strength = self.strength_limits.strength() == Strength::default();
        let unused = !full_strength && self.hash_file.open.is_some();
        if unused && !std::mem::replace(&mut self.hash_file.unused_reported, true) {
            self.say(Notice::HashFileUnused);
        }
        self.hash_file.open.clone().filter(|_| full_strength)
    }

    /// The result of an earlier analysis of this root, where a search under `limits` may resume from it. Not if the
    /// tables, which that analysis perhaps did not have, know a better move.
    pub(super) fn resume(
        &self,
        limits: &Limits,
        path: &PositionPath,
        file: Option<&HashFile>,
        tablebases: &Tablebases,
    ) -> Option<Resumed> {
        if self.settings.multi_pv > 1 || !limits.search_moves.is_empty() {
            return None;
        }
        let memory = ResultStore { table: &self.table, file };
        memory.share(self.root.key(), path);
        let kept = memory.resumed(&self.root, path);
        let learned = self.learned_result(path);
        let is_usable = |resumed: &Resumed| {
            limits.depth.is_none_or(|most| resumed.depth <= most) && tablebases.is_among_best(resumed.line[0])
        };
        let resumed =
            learned.into_iter().chain(kept).filter(is_usable).max_by_key(|resumed| resumed.depth)?;
        self.say(Notice::Resumed(resumed.depth));
        Some(resumed)
    }
}
