//! The write queue of a hash file: results of the search go to a queue in memory, and from there to the map.
//!
//! The system writes a page of a shared map to the disk some seconds after it was changed, and a search changes all
//! pages of a file within a second: 64 MiB would be written several times a minute for as long as the analysis runs.
//! So the search stores into a queue, which a thread empties when an iteration of an analysis is finished (each takes
//! longer than the one before), when an analysis ends, when the queue is full, and every [`INTERVAL`]. A killed process
//! loses only what is in the queue; what is in the map survives the process.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

use arrayvec::ArrayVec;
use crossbeam::{
    channel::{Receiver, RecvTimeoutError, Sender, bounded},
    queue::ArrayQueue,
};

use super::{
    cell::{CellKind, Entry},
    error::{HashFileError, refused},
    header::HashOrigin,
    map::{Map, line_key},
};
use crate::{
    position::PositionPath,
    tt::{Hit, NodeResult, RootResult, ScoreWindow, Table, entry::Packed},
    types::{Depth, PackedMove, Ply, PositionKey},
};

/// How often the queue may fill up within [`INTERVAL`] before only deeper results are kept: so a short analysis keeps
/// everything, and a long one writes to the disk at a bounded rate.
const QUEUE_FILLS: i32 = 32;
/// Maximum number of entries in the queue: 5 MiB.
const QUEUE: usize = 1 << 17;
/// Entries of a batch, whose clusters are prefetched before the first of them is written.
const BATCH: usize = 32;
/// Longest time that an entry stays in the queue.
const INTERVAL: Duration = Duration::from_secs(60);
/// How long the end of an analysis waits for the queue to be written. Pages in memory take milliseconds.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);
/// How long the end of an iteration waits.
const ITERATION_TIMEOUT: Duration = Duration::from_millis(100);

/// An open hash file: the second level below the table, for entries that are deep or belong to a line.
pub struct HashFile {
    map: Arc<Map>,
    queue: Arc<ArrayQueue<Entry>>,
    /// The smallest depth that is currently kept; see [`QUEUE_FILLS`]. Relaxed: a late change costs a few entries.
    least: Arc<AtomicI32>,
    wake: Option<Sender<Wake>>,
    thread: Option<JoinHandle<()>>,
}

/// A request to the thread.
enum Wake {
    /// The queue is full.
    Full,
    /// Write everything, and confirm it through this channel.
    Tell(Sender<()>),
}

impl HashFile {
    /// Shallower results are not kept, and shallower nodes do not probe the file, unless they belong to a principal
    /// variation. Most nodes are shallower, and for them a probe of the file costs almost as much as searching them.
    pub const LEAST_DEPTH: Depth = Depth(5);

    /// Opens the file at `path`; if there is none, creates it with `mib` MiB. Returns whether it was created.
    ///
    /// # Errors
    /// See [`HashFileError`]; the file is left as it was.
    pub fn open_or_create(
        path: &Path,
        mib: usize,
        origin: HashOrigin,
    ) -> Result<(HashFile, bool), HashFileError> {
        let (map, made) = Map::open_or_create(path, mib, origin)?;
        let (map, queue) = (Arc::new(map), Arc::new(ArrayQueue::new(QUEUE)));
        let least = Arc::new(AtomicI32::new(HashFile::LEAST_DEPTH.get()));
        let (wake, woken) = bounded(4);
        let started = Builder::new().name("hash-file".to_owned()).spawn({
            let (map, queue, least) = (Arc::clone(&map), Arc::clone(&queue), Arc::clone(&least));
            move || write(&map, &queue, &least, &woken)
        });
        let thread = started.map_err(refused(path, "written by a thread of its own"))?;
        Ok((HashFile { map, queue, least, wake: Some(wake), thread: Some(thread) }, made))
    }

    /// The map itself.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// Is this result deep enough to be kept, or an exact score of a PV node?
    #[inline]
    pub fn wants(&self, record: &NodeResult) -> bool {
        record.depth >= self.least.load(Relaxed) || record.was_pv && record.window.exact().is_some()
    }

    /// Stores a search result, which is never a learned entry.
    pub fn keep(&self, key: PositionKey, record: &NodeResult) {
        let packed = Packed::pack(key, record, None, 0);
        let entry = Entry::new(key, CellKind::Node, self.map.generation(), packed);
        if let Err(entry) = self.queue.push(entry) {
            self.map.put(&entry);
            if let Some(sender) = &self.wake {
                // If the channel is full, the thread is awake already.
                let _ = sender.try_send(Wake::Full);
            }
        }
    }

    /// Stores the result of an analysis of `root`, and its line. They are in the map when this returns, and so are all
    /// queued nodes: a killed analysis resumes with all of them.
    pub fn keep_root(&self, root: PositionKey, record: &NodeResult, line: &[PackedMove]) {
        self.flush_queue_within(ITERATION_TIMEOUT);
        let generation = self.map.generation();
        let packed = Packed::pack(root, record, None, 0);
        for (index, &best) in line.iter().skip(1).chain([&PackedMove::NONE]).enumerate() {
            let key = line_key(root, packed, index);
            let packed =
                Packed::pack(key, &NodeResult { best, window: ScoreWindow::OPEN, ..*record }, None, 0);
            self.map.put(&Entry::new(key, CellKind::LineMove, generation, packed));
        }
        self.map.put(&Entry::new(root, CellKind::Iteration, generation, packed));
    }

    /// See [`Map::find_root`].
    pub fn find_root(&self, root: PositionKey, path: &PositionPath, ply: Ply) -> Option<RootResult> {
        self.map.find_root(root, path, ply)
    }

    /// The entry of a position if it is deeper than `hit`, the entry of the table; it is copied to the table.
    #[inline(never)]
    pub fn probe_into(&self, table: &Table, key: PositionKey, hit: Option<Hit>) -> Option<Hit> {
        let Some(entry) = self.map.find(key, CellKind::Node).next() else { return hit };
        if hit.is_some_and(|hit| hit.learned || hit.depth >= entry.depth()) {
            return hit;
        }
        let generation = self.map.generation();
        if entry.generation != generation {
            // It was used, so it gets the current generation, unless the queue is full.
            let _ = self.queue.push(Entry { generation, ..entry });
        }
        table.restore(key, entry.to_packed(table.generation()));
        Some(entry.to_packed(0).unpack())
    }

    /// Writes the queue to the map, and waits for that, but not long.
    pub fn flush_queue(&self) {
        self.flush_queue_within(FLUSH_TIMEOUT);
    }

    fn flush_queue_within(&self, timeout: Duration) {
        let (done, wait) = bounded(1);
        if let Some(sender) = &self.wake {
            let _ = sender.send_timeout(Wake::Tell(done), timeout);
        }
        let _ = wait.recv_timeout(timeout);
    }

    /// A new game begins: all entries in the file become older.
    pub fn begin_generation(&self) {
        self.map.begin_generation();
    }
}

impl Drop for HashFile {
    /// Writes the whole queue to the map.
    fn drop(&mut self) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Which results are kept, so that the queue does not fill up more than [`QUEUE_FILLS`] allows.
struct Pace {
    /// The smallest depth that is kept.
    least: i32,
    /// How often the queue may still fill up.
    credit: i32,
    last_full: Instant,
    /// The beginning of the current [`INTERVAL`].
    since: Instant,
}

impl Pace {
    fn new(now: Instant) -> Pace {
        Pace { least: HashFile::LEAST_DEPTH.get(), credit: QUEUE_FILLS, last_full: now, since: now }
    }

    /// Counts the intervals that are over; `has_room`: the queue is far from full.
    fn pass(&mut self, now: Instant, has_room: bool) {
        while now.duration_since(self.since) >= INTERVAL {
            self.since += INTERVAL;
            self.credit = (self.credit + 1).min(QUEUE_FILLS);
            if has_room {
                self.least = (self.least - 1).max(HashFile::LEAST_DEPTH.get());
            }
        }
    }

    /// The queue is full.
    fn full(&mut self, now: Instant) {
        if now.duration_since(self.last_full) < INTERVAL {
            self.credit = (self.credit - 1).max(0);
            self.least += i32::from(self.credit == 0);
        }
        self.last_full = now;
    }
}

fn write(map: &Map, queue: &ArrayQueue<Entry>, least: &AtomicI32, woken: &Receiver<Wake>) {
    let mut pace = Pace::new(Instant::now());
    let mut cold = Some(0);
    loop {
        let wake = woken.recv_timeout(if cold.is_some() { Duration::ZERO } else { INTERVAL });
        if let (Some(from), Err(RecvTimeoutError::Timeout)) = (cold, &wake) {
            // Nothing to write yet.
            cold = map.prefault(from);
            continue;
        }
        let now = Instant::now();
        pace.pass(now, queue.len() < QUEUE / 4);
        // Each thread that met the full queue has said so; it is full for the first of them.
        if matches!(wake, Ok(Wake::Full)) && queue.is_full() {
            pace.full(now);
        }
        least.store(pace.least, Relaxed);
        drain(map, queue);
        match wake {
            Ok(Wake::Tell(done)) => drop(done.send(())),
            Ok(Wake::Full) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Writes the current content of the queue; the search may add more meanwhile.
fn drain(map: &Map, queue: &ArrayQueue<Entry>) {
    let mut left = queue.len();
    while left > 0 {
        let batch: ArrayVec<Entry, BATCH> =
            std::iter::from_fn(|| queue.pop()).take(BATCH.min(left)).collect();
        if batch.is_empty() {
            return;
        }
        left -= batch.len();
        map.put_all(&batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        position::{PathHash, Position},
        tt::PathCheck,
        types::Score,
    };

    #[test]
    fn a_line_has_no_moves_of_an_earlier_iteration() {
        let folder = tempfile::tempdir().expect("a folder");
        let origin = HashOrigin { evaluation: 1, path_mode: PathHash::default(), fifty_rule: true };
        let (file, _) = HashFile::open_or_create(&folder.path().join("hash"), 1, origin).expect("a file");
        let root = Position::default();
        let path = PositionPath::new(&root);
        let moves = [1, 2, 3].map(PackedMove::from_bits);
        let result = |depth| NodeResult {
            best: moves[0],
            window: ScoreWindow::exactly(Score(10)),
            depth: Depth(depth),
            was_pv: true,
            path: PathCheck::new(&path, Depth(depth)),
            ..NodeResult::default()
        };
        let line = || file.find_root(root.key(), &path, Ply::ROOT).expect("a result").line;
        file.keep_root(root.key(), &result(6), &moves);
        assert_eq!(line(), moves);
        // The iteration two plies deeper, which reached the disk before the moves of its line.
        let packed = Packed::pack(root.key(), &result(8), None, 0);
        file.map.put(&Entry::new(root.key(), CellKind::Iteration, file.map.generation(), packed));
        assert_eq!(line(), moves[..1]);
        // As deep, by an engine that was interrupted after its moves, while this one wrote others.
        let other = [4, 5, 6].map(PackedMove::from_bits);
        file.keep_root(root.key(), &NodeResult { best: other[0], ..result(8) }, &other);
        file.map.put(&Entry::new(root.key(), CellKind::Iteration, file.map.generation(), packed));
        assert_eq!(line(), moves[..1]);
    }

    #[test]
    fn fills_and_intervals_decide_how_deep_a_kept_result_is() {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        let least = HashFile::LEAST_DEPTH.get();
        for _ in 0..QUEUE_FILLS + 2 {
            pace.full(now);
        }
        assert_eq!(pace.least, least + 3, "once with the last of the credit, and with each fill after it");
        // However often the thread is woken, each interval counts once.
        for _ in 0..4 {
            now += INTERVAL / 2;
            pace.pass(now, true);
        }
        assert_eq!((pace.least, pace.credit), (least + 1, 2));
        now += INTERVAL;
        pace.pass(now, false);
        assert_eq!((pace.least, pace.credit), (least + 1, 3));
        now += INTERVAL * 100;
        pace.pass(now, true);
        assert_eq!((pace.least, pace.credit), (least, QUEUE_FILLS));
    }
}
