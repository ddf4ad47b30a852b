//! The thread for everything that an engine must not wait for: locks that others hold, syncs, creating the file.

use std::{
    collections::VecDeque,
    path::Path,
    sync::{Arc, atomic::Ordering::Release},
    thread,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender};

use super::{
    append::{AppendTime, RECORDS_PER_LOCK},
    create::create,
    error::{FileError, refused},
    file::LearnFile,
    kept_games,
    record::{CAPACITY, Record},
    store_state::StoreState,
};
use crate::files::ProcessLog;

/// Records written within this time are synced together.
const SYNC_INTERVAL: Duration = Duration::from_millis(700);
/// How soon a lock that others hold is tried again.
const LOCK_RETRY: Duration = Duration::from_millis(5);
/// How soon a failed operation on the disk is tried again.
const AFTER_ERROR: Duration = Duration::from_secs(1);
/// Others hold the lock for microseconds. A lock held this long belongs to a process that is stopped or stuck.
const LOCK_WARNING_AFTER: Duration = Duration::from_secs(2);
/// The most games that wait to be kept: the log of each is an open file.
const MOST_GAMES: usize = 32;
/// How long a writer whose store is closed continues to try, and how long the store waits for it.
pub(super) const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);

/// A job for the writer thread.
pub(super) enum Job {
    /// Create the file.
    Create,
    /// Append a record.
    Append(Record),
    /// A game is over: when all that came before is written and synced, add it to the file of kept games and remove its
    /// log.
    Game { pgn: Option<String>, log: Option<ProcessLog> },
    /// The engine has appended this record itself: sync it at some time.
    Wrote,
    /// Write and sync everything, then report whether that succeeded.
    Sync(Sender<bool>),
}

/// A game that is over, until it is kept.
struct EndedGame {
    /// As PGN, if it is to be kept.
    pgn: Option<String>,
    log: Option<ProcessLog>,
    /// Does the log say that its records are in the file?
    is_marked: bool,
}

pub(super) struct Writer {
    shared: Arc<StoreState>,
    inbox: Receiver<Job>,
    queue: VecDeque<Record>,
    /// Games that are over.
    games: VecDeque<EndedGame>,
    /// Records that were queued since a game was over: they are of a game that is not over yet.
    since_game: usize,
    /// Were such records given up? Then the log of their game stays.
    gave_up: bool,
    /// Create the file even without records.
    create: bool,
    /// The last sync failed.
    sync_failed: bool,
    sync_at: Option<Instant>,
    retry_at: Option<Instant>,
    busy_since: Option<Instant>,
    waiting: Vec<Sender<bool>>,
}

impl Writer {
    pub(super) fn new(shared: Arc<StoreState>, inbox: Receiver<Job>) -> Writer {
        Writer {
            shared,
            inbox,
            queue: VecDeque::new(),
            games: VecDeque::new(),
            since_game: 0,
            gave_up: false,
            create: false,
            sync_failed: false,
            sync_at: None,
            retry_at: None,
            busy_since: None,
            waiting: Vec::new(),
        }
    }

    /// Works until the store is closed, and a little longer if something is left to write.
    pub(super) fn run(mut self) {
        while self.listen() {
            let now = Instant::now();
            if self.wants_the_file() && self.retry_at.is_none_or(|at| at <= now) {
                self.write();
            }
            let is_awaited = !self.waiting.is_empty() && !self.wants_the_file();
            if self.sync_at.is_some_and(|at| at <= now || is_awaited) {
                self.sync();
            }
            self.keep_games();
            self.answer();
        }
        let give_up = Instant::now() + CLOSE_TIMEOUT;
        while self.wants_the_file() && Instant::now() < give_up {
            self.write();
            if let Some(at) = self.retry_at {
                thread::sleep(at.saturating_duration_since(Instant::now()).min(10 * LOCK_RETRY));
            }
        }
        if self.sync_at.is_some() {
            self.sync();
        }
        while !self.keep_games() && Instant::now() < give_up {
            thread::sleep(LOCK_RETRY);
        }
        self.answer();
    }

    fn wants_the_file(&self) -> bool {
        self.create || !self.queue.is_empty()
    }

    /// Are there games whose records are written and synced?
    fn has_games(&self) -> bool {
        !self.games.is_empty() && !self.wants_the_file() && self.sync_at.is_none()
    }

    /// Takes all waiting jobs, or waits for one until the next retry or sync is due. Returns whether the store still
    /// exists.
    fn listen(&mut self) -> bool {
        let is_work_left = self.wants_the_file() || self.has_games();
        let retry = is_work_left.then(|| self.retry_at.unwrap_or_else(Instant::now));
        let first = match [retry, self.sync_at].into_iter().flatten().min() {
            Some(at) => self.inbox.recv_deadline(at),
            None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        let is_open = !matches!(first, Err(RecvTimeoutError::Disconnected));
        let jobs: Vec<Job> = first.into_iter().chain(self.inbox.try_iter()).collect();
        jobs.into_iter().for_each(|job| self.take(job));
        is_open
    }

    fn take(&mut self, job: Job) {
        match job {
            Job::Create => self.create = true,
            Job::Append(record) => {
                if self.queue.len() == CAPACITY {
                    // Nothing could be written for so long that the ring would have overwritten it anyway.
                    self.queue.pop_front();
                    self.shared.queued.fetch_sub(1, Release);
                }
                self.queue.push_back(record);
                self.since_game += 1;
            }
            Job::Game { pgn, log } => {
                self.since_game = 0;
                // Records that were known already may not be synced.
                self.wrote();
                // Without its records a game is left to the next process, by its log; so is one that waits too long.
                if !std::mem::take(&mut self.gave_up) {
                    self.games.push_back(EndedGame { pgn, log, is_marked: false });
                }
                if self.games.len() > MOST_GAMES {
                    self.games.pop_front();
                }
            }
            Job::Wrote => self.wrote(),
            Job::Sync(done) => self.waiting.push(done),
        }
    }

    fn wrote(&mut self) {
        self.sync_at.get_or_insert_with(|| Instant::now() + SYNC_INTERVAL);
    }

    /// Writes the queued records, as far as lock and disk allow.
    fn write(&mut self) {
        let shared = Arc::clone(&self.shared);
        let mut file = shared.file();
        let before = self.queue.len();
        let outcome = self.write_turn(&mut file);
        shared.queued.fetch_sub(before - self.queue.len(), Release);
        match outcome {
            Ok(()) => {
                self.create = false;
                (self.busy_since, self.retry_at) = (None, None);
            }
            Err(FileError::Busy(path)) => self.wait_for_lock(&path),
            Err(replaced @ FileError::Replaced(_)) => {
                // The next attempt uses the file that is there now, or a new one.
                shared.let_go(&mut file, &replaced);
                self.retry_at = None;
            }
            Err(error) => {
                shared.say(error.to_string());
                // An error of the system may go away; a file of another kind will not.
                if !matches!(error, FileError::Io(..) | FileError::Missing(_) | FileError::Unfinished(_)) {
                    let lost = self.queue.len();
                    shared.queued.fetch_sub(lost, Release);
                    shared.given_up.fetch_add(lost, Release);
                    self.queue.clear();
                    // The games whose records these are: their logs stay for the next process.
                    self.gave_up |= self.since_game.min(lost) > 0;
                    self.since_game = 0;
                    self.games.clear();
                    self.create = false;
                }
                self.retry_at = Some(Instant::now() + AFTER_ERROR);
            }
        }
    }

    /// Another process holds the lock of the file at `path`: it is tried again soon.
    fn wait_for_lock(&mut self, path: &Path) {
        let since = *self.busy_since.get_or_insert_with(Instant::now);
        if since.elapsed() > LOCK_WARNING_AFTER {
            let path = path.display();
            self.shared
                .say(format!("another process holds the lock of {path}; what is learned waits for it"));
        }
        self.retry_at = Some(Instant::now() + LOCK_RETRY);
    }

    fn write_turn(&mut self, file: &mut Option<LearnFile>) -> Result<(), FileError> {
        if file.is_none() {
            match self.shared.reopen(file) {
                Err(FileError::Missing(_) | FileError::Unfinished(_)) => {
                    create(&*self.shared.disk, &self.shared.path)?;
                    self.shared.reopen(file)?;
                }
                other => other?,
            }
        }
        let Some(file) = file.as_mut().filter(|_| !self.queue.is_empty()) else { return Ok(()) };
        let shared = Arc::clone(&self.shared);
        let mut locked = file.lock(&shared.ring, AppendTime::Any)?;
        for _ in 0..RECORDS_PER_LOCK {
            let Some(record) = self.queue.front() else { break };
            locked.append(record)?;
            self.queue.pop_front();
            self.wrote();
        }
        Ok(())
    }

    /// Adds the games whose records are written and synced to their file, and removes their logs: until then the next
    /// process takes them over if this one is killed. The log of a game that cannot be added stays for the next process
    /// to add. Returns false if another process holds the lock.
    fn keep_games(&mut self) -> bool {
        while self.has_games()
            && let Some(game) = self.games.pop_front()
        {
            let path = kept_games::path(&self.shared.path);
            match game.pgn.as_ref().map_or(Ok(()), |pgn| kept_games::append(&path, pgn)) {
                Err(FileError::Busy(path)) => {
                    self.games.push_front(game);
                    self.wait_for_lock(&path);
                    return false;
                }
                Err(error) => self.shared.say(format!("{error}; the next process tries to keep the game")),
                Ok(()) => {
                    self.busy_since = None;
                    game.log.into_iter().for_each(ProcessLog::remove);
                }
            }
        }
        true
    }

    /// Answers those who wait, when everything is done or nothing can be synced.
    fn answer(&mut self) {
        if !self.wants_the_file() && (self.sync_failed || self.games.is_empty()) {
            for waiting in self.waiting.drain(..) {
                // The receiver is gone if the caller's timeout has passed.
                let _ = waiting.send(!self.sync_failed);
            }
        }
    }

    /// Syncs what was written, without holding a lock.
    fn sync(&mut self) {
        self.sync_at = None;
        let outcome = self.sync_file();
        self.sync_failed = outcome.is_err();
        match outcome {
            Ok(()) if self.wants_the_file() => {}
            Ok(()) => {
                // Their games may still be left to the next process, which then has nothing to learn from them.
                for game in self.games.iter_mut().filter(|game| !game.is_marked) {
                    game.is_marked = true;
                    if let Some(Err(error)) = game.log.as_mut().map(|log| log.write(kept_games::LEARNED)) {
                        log::debug!("a game may be learned again: {error}");
                    }
                }
            }
            Err(error) => {
                self.sync_at = Some(Instant::now() + AFTER_ERROR);
                self.shared
                    .say(format!("{error}; until that works a power failure may lose what was learned last"));
            }
        }
    }

    fn sync_file(&self) -> Result<(), FileError> {
        let data = match self.shared.file().as_mut().filter(|file| file.read_only().is_none()) {
            Some(file) => {
                file.restore(&self.shared.ring)?;
                Arc::clone(&file.data)
            }
            None => return Ok(()),
        };
        data.sync().map_err(refused(&self.shared.path, "synced"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        files::left_logs,
        learn::{Mode, Origin, Store, disk::SystemDisk},
        position::Position,
    };

    /// How many logs of games lie in a folder.
    fn logs(folder: &Path) -> usize {
        let names = std::fs::read_dir(folder).expect("a folder").flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().contains(".game-")).count()
    }

    #[test]
    fn the_log_of_a_game_stays_until_its_records_are_synced() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("learn.bin");
        let shared = StoreState::new(Arc::new(SystemDisk), &path, Mode::Write);
        let mut writer = Writer::new(Arc::new(shared), crossbeam::channel::unbounded().1);
        // Also where none was written: another process may have written them, and not synced.
        writer.take(Job::Game { pgn: None, log: Some(ProcessLog::begin(&path, 7).expect("a log")) });
        writer.keep_games();
        assert_eq!(logs(folder.path()), 1);
        writer.sync();
        writer.keep_games();
        assert_eq!(logs(folder.path()), 0);
    }

    #[test]
    fn the_log_of_a_game_that_cannot_be_kept_is_left_to_the_next_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("learn.bin");
        std::fs::create_dir(kept_games::path(&path)).expect("made");
        let shared = StoreState::new(Arc::new(SystemDisk), &path, Mode::Write);
        let mut writer = Writer::new(Arc::new(shared), crossbeam::channel::unbounded().1);
        let log = Some(ProcessLog::begin(&path, 7).expect("a log"));
        writer.take(Job::Game { pgn: Some("1. e4 *\n".to_owned()), log });
        writer.sync();
        writer.keep_games();
        assert_eq!((writer.games.len(), writer.shared.take_messages().len()), (0, 1));
        let left = left_logs(&path).expect("a folder");
        assert_eq!((left.len(), &left[0].lines[..]), (1, &[kept_games::LEARNED.to_owned()][..]));
    }

    #[test]
    fn games_that_wait_are_not_open_files_without_end() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("learn.bin");
        let (_jobs, inbox) = crossbeam::channel::unbounded();
        let shared = StoreState::new(Arc::new(SystemDisk), &path, Mode::Write);
        let mut writer = Writer::new(Arc::new(shared), inbox);
        for _ in 0..MOST_GAMES + 2 {
            let log = Some(ProcessLog::begin(&path, 7).expect("a log"));
            writer.take(Job::Game { pgn: None, log });
        }
        assert_eq!((writer.games.len(), logs(folder.path())), (MOST_GAMES, MOST_GAMES + 2));
        let left = left_logs(&path).expect("a folder");
        assert_eq!(left.len(), 2, "the next process takes the others");
    }

    #[test]
    fn only_the_log_of_a_game_whose_records_are_given_up_stays() {
        let patience = Duration::from_secs(60);
        let folder = tempfile::tempdir().expect("a folder");
        let (path, aside) = (folder.path().join("learn.bin"), folder.path().join("aside"));
        let logs = || logs(folder.path());
        let store = Store::open(&path, Mode::Write).expect("opened");
        assert!(store.flush(patience));
        let end_game = || {
            store.append(Record::new(&Position::default(), Origin::Drop).expect("it fits"));
            store.end_game(None, Some(ProcessLog::begin(&path, 7).expect("a log")));
            assert!(store.flush(patience));
        };
        end_game();
        assert_eq!(logs(), 0);
        // Something else takes the place of the file.
        std::fs::rename(&path, &aside).expect("moved");
        std::fs::write(&path, "mine").expect("written");
        end_game();
        assert_eq!(logs(), 1);
        std::fs::rename(&aside, &path).expect("moved back");
        end_game();
        assert_eq!((logs(), store.close()), (1, 1));
    }
}
