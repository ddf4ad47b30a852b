//! A mapped hash file: probes, stores, clears, and visits all entries.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use super::{
    cell::{CellKind, Cluster, Entry},
    disk::{self, FileLocation, OpenFile, Use},
    error::{HashFileError, refused},
    guard,
    header::{CLUSTERS_AT, GENERATION_WORD, HashHeader, HashOrigin},
};
use crate::{
    files::{self, Access, header::HeaderFault},
    position::{PathHash, PositionPath},
    tt::{
        RootResult,
        backing::{Backing, SharedWords},
        deepest,
        entry::Packed,
    },
    types::{MAX_PLY, Ply, PositionKey, spread},
};

/// Words of the first page.
const PAGE_WORDS: usize = CLUSTERS_AT as usize / 8;

#[repr(C, align(64))]
struct HeaderPage([AtomicU64; PAGE_WORDS]);

// SAFETY: nothing but `AtomicU64`s, aligned to 64 bytes.
#[allow(unsafe_code)]
unsafe impl SharedWords for HeaderPage {}

/// A mapped hash file. Every process that maps it sees what the others write at once.
pub struct Map {
    clusters: Backing<Cluster>,
    page: Backing<HeaderPage>,
    header: HashHeader,
    path: PathBuf,
    /// Holds the lock.
    file: File,
}

impl Map {
    /// Opens the file at `path` for an engine; if there is none, creates it with `mib` MiB. Returns whether it was
    /// created.
    ///
    /// # Errors
    /// See [`HashFileError`]; the file is left as it was.
    pub(super) fn open_or_create(
        path: &Path,
        mib: usize,
        origin: HashOrigin,
    ) -> Result<(Map, bool), HashFileError> {
        let there = files::info_at(path).is_ok_and(|info| info.length > 0 || info.not_a_file.is_some());
        if !there {
            let new = disk::begin(path, mib, origin)?;
            // Where no file can be mapped, none is left behind.
            Map::new(disk::open(new.unfinished_path(), Use::Engine)?, path, Access::Write)?;
            disk::publish(new, path)?;
        }
        let open = disk::open(path, Use::Engine)?;
        open.header.fits(origin, path)?;
        let map = Map::new(open, path, Access::Write)?;
        map.begin_generation();
        Ok((map, !there))
    }

    /// Opens the file at `path` read-only; engines may be using it.
    ///
    /// # Errors
    /// See [`HashFileError`].
    pub fn look(path: &Path) -> Result<Map, HashFileError> {
        Map::new(disk::open(path, Use::Look)?, path, Access::Read)
    }

    /// Opens the file at `path` to rewrite it. No engine may be using it.
    pub(super) fn open_alone(path: &Path) -> Result<Map, HashFileError> {
        Map::new(disk::open(path, Use::Alone)?, path, Access::Write)
    }

    fn new(open: OpenFile, path: &Path, access: Access) -> Result<Map, HashFileError> {
        let OpenFile { file, header } = open;
        let mapped = || {
            let count = usize::try_from(header.clusters).map_err(|_| io::ErrorKind::FileTooLarge)?;
            let clusters = Backing::of_file(&file, CLUSTERS_AT, count, access)?;
            Ok((Backing::of_file(&file, 0, 1, access)?, clusters))
        };
        let (page, clusters) = mapped().map_err(refused(path, "mapped"))?;
        guard::watch(page.as_slice(), clusters.as_slice());
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Ok(Map { clusters, page, header, path, file })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Is the file still at its path?
    pub fn place(&self) -> FileLocation {
        disk::place_of(&self.file, &self.path)
    }

    /// Its header.
    pub fn header(&self) -> &HashHeader {
        &self.header
    }

    /// The search that the scores belong to.
    ///
    /// # Errors
    /// It compared paths in a way that this engine does not know.
    pub fn origin(&self) -> Result<HashOrigin, HashFileError> {
        let HashHeader { evaluation, ref path_mode, fifty_rule, .. } = self.header;
        let unknown =
            || HashFileError::Header(self.path.clone(), HeaderFault::Layout("a way of comparing paths"));
        let path_mode = PathHash::from_name(path_mode).ok_or_else(unknown)?;
        Ok(HashOrigin { evaluation, path_mode, fifty_rule })
    }

    /// The number of sessions and games that used it (the count wraps after 65,535).
    pub fn generation(&self) -> u16 {
        u64::from_le(self.generation_word().load(Relaxed)) as u16
    }

    /// A session or game begins: all entries become older.
    pub(super) fn begin_generation(&self) {
        if cfg!(target_endian = "little") {
            self.generation_word().fetch_add(1, Relaxed);
        } else {
            let next = u64::from(self.generation().wrapping_add(1));
            self.generation_word().store(next.to_le(), Relaxed);
        }
    }

    pub(super) fn set_generation(&self, generation: u16) {
        self.generation_word().store(u64::from(generation).to_le(), Relaxed);
    }

    /// Replaces the unchanging part of the header; only while no other process uses the file.
    pub(super) fn write_header(&self, header: &HashHeader) {
        let bytes = header.encode();
        for (place, word) in self.page.as_slice()[0].0.iter().zip(bytes.chunks_exact(8)) {
            let word = word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
            place.store(word.to_le(), Relaxed);
        }
    }

    fn generation_word(&self) -> &AtomicU64 {
        // The page is there: `of_file` checked its length.
        &self.page.as_slice()[0].0[GENERATION_WORD]
    }

    /// Reads a part of a large file into memory, from byte `from` of the clusters on, so that the search need not wait
    /// for it. Returns where the next part begins, if there is one.
    pub(super) fn prefault(&self, from: usize) -> Option<usize> {
        self.clusters.prefault(from)
    }

    /// How full it is, in per cent of a sample.
    pub fn fill(&self) -> f64 {
        const SAMPLE: usize = 250;
        let clusters = self.clusters.as_slice();
        let step = clusters.len().div_ceil(SAMPLE);
        let cells = || clusters.iter().step_by(step).flat_map(|cluster| &cluster.0);
        let full = cells().filter(|cell| cell.words() != [0; 4]).count();
        100.0 * full as f64 / cells().count().max(1) as f64
    }

    fn cluster(&self, key: PositionKey) -> &Cluster {
        &self.clusters.as_slice()[self.index(key)]
    }

    /// The entries of a position: at most one node, or one iteration for each path to it.
    pub(super) fn find(&self, key: PositionKey, kind: CellKind) -> impl Iterator<Item = Entry> {
        self.cluster(key).0.iter().filter_map(move |cell| cell.find(key, kind))
    }

    /// The result of an analysis of `root` by any process: the deepest one that is valid at the end of `path`, `ply`
    /// plies from the root of the current search.
    pub fn find_root(&self, root: PositionKey, path: &PositionPath, ply: Ply) -> Option<RootResult> {
        let entries = self.find(root, CellKind::Iteration).map(|entry| entry.to_packed(0));
        let packed = deepest(entries, |packed| packed.unpack(), path, ply)?;
        let hit = packed.unpack();
        let next = |index| {
            let mut found = self.find(line_key(root, packed, index), CellKind::LineMove);
            // After a power failure, moves of an earlier iteration may be there instead.
            let entry = found.next().filter(|entry| entry.depth() == hit.depth)?;
            Some(entry.to_packed(0).unpack().best).filter(|best| !best.is_none())
        };
        let line = std::iter::once(hit.best).chain((0..MAX_PLY).map_while(next)).collect();
        Some(RootResult { hit, line })
    }

    /// Stores an entry, unless all entries of its cluster are worth more.
    pub(super) fn put(&self, entry: &Entry) {
        self.cluster(entry.key).put(entry, self.generation());
    }

    /// Stores many entries, whose clusters are prefetched first.
    pub(super) fn put_all(&self, entries: &[Entry]) {
        for entry in entries {
            self.cluster(entry.key).prefetch();
        }
        let generation = self.generation();
        for entry in entries {
            self.cluster(entry.key).put(entry, generation);
        }
    }

    /// Empties it.
    pub(super) fn clear(&self) {
        for cell in self.clusters.as_slice().iter().flat_map(|cluster| &cluster.0) {
            cell.write([0; 4]);
        }
    }

    /// Waits until the entries are on the disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.clusters.flush()?;
        // On macOS the disk may still have it in a cache.
        files::sync(&self.file)
    }

    /// All slots in the order of the file: the words, and the entry if they are a valid one.
    pub(super) fn places(&self) -> impl Iterator<Item = ([u64; 4], Option<Entry>)> + '_ {
        let clusters = self.clusters.as_slice().iter().enumerate();
        let cells =
            clusters.flat_map(|(index, cluster)| cluster.0.iter().map(move |cell| (index, cell.words())));
        cells.map(|(index, words)| {
            (words, Entry::decode(words).filter(|entry| self.index(entry.key) == index))
        })
    }

    /// The cluster of `key`. The high bits choose it, so that a larger file holds the entries in the same
    /// order.
    fn index(&self, key: PositionKey) -> usize {
        ((u128::from(key.0) * self.clusters.as_slice().len() as u128) >> 64) as usize
    }
}

/// The key of one move of a stored line. Two sets of keys alternate, so that the line of an iteration stays complete
/// until that of the next one is stored; another engine's line that begins with another move has other keys.
pub(super) fn line_key(root: PositionKey, iteration: Packed, index: usize) -> PositionKey {
    let first = u64::from(iteration.unpack().best.bits());
    let set =
        first << 33 | (iteration.depth().get() as u64 & 1) << 32 | iteration.w1 >> 48 << 8 | index as u64;
    PositionKey((root.0 ^ spread(set)).rotate_left(23).wrapping_mul(0xD6E8_FEB8_6659_FD93))
}
