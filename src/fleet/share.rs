//! Shared learning: a thread that synchronises the learning file of this machine with a stream on a server.
//!
//! The search uses only the file. The thread reads it forward and merges into it like any other process, in the order
//! of [`learn::beats`]; the engine never waits for it. Each round, once a second:
//!
//! 1. If the last entry that was read is gone, the server has lost its data: the stream is read from its beginning
//!    again, and the records of this file that it lacks are sent.
//! 2. New entries are read, checked like the records of a file, and merged.
//! 3. New records of the file that beat those of the stream are sent: those of this process at once, those of another
//!    process a little later, since it may send them itself. After a failure all records of the file are compared: the
//!    server may have lost what it confirmed last.
//!
//! So a lost answer costs only a duplicate entry, and no record is counted twice. Records that a full stream has
//! dropped are not sent again: only those learned after its oldest entry was written are sent then.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, RwLock},
    thread,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use thiserror::Error;

use super::{
    FleetError, ServerAddress,
    learn_stream::{self, BATCH, Batch, LearnStream, Received},
};
use crate::{
    learn::{self, BEFORE_FIRST, CLOCK_ERROR, FileError, LearnFile, Record, Ring, record::CAPACITY},
    locks::{locked, read},
};

/// Time between two rounds.
const SHARE_INTERVAL: Duration = Duration::from_secs(1);
/// Delay of the next attempt if the server cannot be reached: the first, and the longest.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);
/// A record of another process is sent only if that process has not sent it after this time.
const RELAY_DELAY: Duration = Duration::from_millis(2500);
/// Maximum random delay before a machine that finds the server empty sends its records, so that not all send at once.
const MAX_DELAY: Duration = Duration::from_secs(3);
/// How long the end of sharing waits for records that are still to be sent.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum number of messages kept for the user.
const MAX_MESSAGES: usize = 20;

/// A learning file that is being shared. Dropping it ends that, after up to half a second for what is left to send.
pub struct LearningShare {
    messages: Messages,
    leave: Option<Sender<()>>,
    gone: Receiver<()>,
}

type Messages = Arc<Mutex<Vec<String>>>;

impl LearningShare {
    /// Begins to share the learning file at `path` through the server, without waiting. If no thread can be started, a
    /// message says so.
    pub fn start(server: ServerAddress, path: PathBuf) -> LearningShare {
        let messages = Messages::default();
        let ((leave, leaving), (going, gone)) = (bounded(0), bounded(0));
        let sharer = Sharer::new(server, path, Arc::clone(&messages));
        let started = thread::Builder::new().name("learn-share".to_owned()).spawn(move || {
            sharer.run(&leaving);
            drop(going);
        });
        if let Err(error) = started {
            locked(&messages).push(format!("learning is not shared: no thread can be started ({error})"));
        }
        LearningShare { messages, leave: Some(leave), gone }
    }

    /// Messages for the user.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.messages))
    }
}

impl Drop for LearningShare {
    fn drop(&mut self) {
        self.leave = None;
        // Ends with an error as soon as the thread has ended. One that hangs in the network ends with the process.
        let _ = self.gone.recv_timeout(CLOSE_TIMEOUT);
    }
}

/// Why a round failed.
#[derive(Debug, Error)]
enum RoundError {
    /// The server or the network.
    #[error(transparent)]
    Server(#[from] FleetError),
    /// The learning file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The state of the thread.
struct Sharer {
    path: PathBuf,
    messages: Messages,
    stream: LearnStream,
    file: Option<(LearnFile, RwLock<Ring>)>,
    /// The file was searched for records to send up to this sequence number.
    looked: u64,
    /// Records to be sent, each not before its time.
    backlog: VecDeque<(Instant, Record)>,
    /// Was the user told that it works?
    told_well: bool,
    reported_trouble: String,
    /// Number of invalid entries, and the number at which the user is told next.
    wrong: u64,
    tell_wrong_at: u64,
    refused_advice: usize,
}

impl Sharer {
    fn new(server: ServerAddress, path: PathBuf, messages: Messages) -> Sharer {
        Sharer {
            path,
            messages,
            stream: LearnStream::new(server),
            file: None,
            looked: BEFORE_FIRST,
            backlog: VecDeque::new(),
            told_well: false,
            reported_trouble: String::new(),
            wrong: 0,
            tell_wrong_at: 1,
            refused_advice: 0,
        }
    }

    fn run(mut self, leaving: &Receiver<()>) {
        let mut retry = FIRST_RETRY;
        loop {
            let wait = match self.round() {
                Ok(more) => {
                    if self.told_well {
                        retry = FIRST_RETRY;
                    }
                    if more { Duration::ZERO } else { SHARE_INTERVAL }
                }
                Err(error) => {
                    self.tell_trouble(error);
                    let wait = retry;
                    retry = (2 * retry).min(LAST_RETRY);
                    wait
                }
            };
            match leaving.recv_timeout(wait) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.stream.is_caught_up() {
            // The last records. If they do not arrive, the next process that uses this file sends them.
            let _ = self.look().and_then(|()| self.send());
        }
    }

    /// A round, as above; true if the next one should follow at once.
    fn round(&mut self) -> Result<bool, RoundError> {
        self.open_file()?;
        if self.file.is_none() {
            // The engine is about to create it.
            return Ok(false);
        }
        match self.stream.receive()? {
            Received::Lost => self.begin_anew(),
            Received::Batch(batch) => self.merge(batch)?,
        }
        if !self.stream.is_caught_up() {
            return Ok(true);
        }
        self.look()?;
        let was_due = self.send()?;
        // A server that can be read may still refuse what is to be sent.
        if (was_due || self.backlog.is_empty()) && !std::mem::replace(&mut self.told_well, true) {
            let again = if self.reported_trouble.is_empty() { "" } else { " again" };
            self.reported_trouble.clear();
            self.say(format!("learning is shared{again} through {}", self.stream.link.server));
        }
        Ok(self.backlog.iter().any(|&(due, _)| due <= Instant::now()))
    }

    /// Opens the learning file if it is not open or was replaced by another.
    fn open_file(&mut self) -> Result<(), RoundError> {
        if let Some((file, ring)) = &mut self.file {
            // What a failed sync may have lost is written again.
            let in_place = file.refresh(ring);
            match in_place.and_then(|()| if file.sync_failed() { file.sync(ring) } else { Ok(()) }) {
                Ok(()) => return Ok(()),
                Err(FileError::Replaced(_)) => self.file = None,
                Err(error) => return Err(error.into()),
            }
        }
        match LearnFile::open_to_write(&self.path) {
            Ok((file, ring, _)) => {
                self.file = Some((file, RwLock::new(ring)));
                self.begin_anew();
                Ok(())
            }
            Err(FileError::Missing(_) | FileError::Unfinished(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Has the whole file compared with the whole stream.
    fn begin_anew(&mut self) {
        self.stream.rewind();
        self.backlog.clear();
        self.wrong = 0;
        self.looked = BEFORE_FIRST;
    }

    /// Merges the new entries into the file.
    fn merge(&mut self, batch: Batch) -> Result<(), RoundError> {
        let Some((file, ring)) = &mut self.file else { return Ok(()) };
        let new: Vec<Record> = {
            let ring = read(ring);
            let came = batch.iter().filter_map(|(_, record)| record.as_ref());
            came.filter(|record| ring.is_improved_by(record)).cloned().collect()
        };
        if !new.is_empty() {
            // If this fails, the same entries are read again.
            self.refused_advice += file.merge(ring, &new)?.refused;
        }
        self.wrong += batch.iter().filter(|(_, record)| record.is_none()).count() as u64;
        self.stream.taken(batch);
        self.tell_wrong();
        Ok(())
    }

    /// Looks for records in the file that the stream lacks.
    fn look(&mut self) -> Result<(), RoundError> {
        let Some((file, ring_lock)) = &mut self.file else { return Ok(()) };
        file.read_forward(ring_lock)?;
        let ring = read(ring_lock);
        if ring.sequence() < self.looked {
            self.looked = BEFORE_FIRST;
        }
        let (now, everything) = (Instant::now(), self.looked == BEFORE_FIRST);
        let delay = if everything { MAX_DELAY.mul_f64(fastrand::f64()) } else { RELAY_DELAY };
        let due = |record: &Record| if record.session == learn::session() { now } else { now + delay };
        let mirror = &self.stream.mirror;
        let complete_since = mirror.complete_since();
        // What the others would refuse stays here.
        let latest = u64::from(learn::now()) + u64::from(CLOCK_ERROR);
        let lacking = ring
            .since(self.looked)
            .map(|(_, record)| record)
            .filter(|record| mirror.is_improved_by(record) && u64::from(record.time) >= complete_since)
            .filter(|record| learn_stream::is_sound(record, latest));
        let mut lacking: Vec<(Instant, Record)> = lacking.map(|record| (due(&record), record)).collect();
        if everything && complete_since == 0 {
            // As much as there is room for, the newest first; in an order of our own, so that several machines do not
            // send the same at the same time.
            lacking.drain(..lacking.len().saturating_sub(mirror.room()));
            let start = fastrand::usize(..=lacking.len());
            lacking.rotate_left(start);
        }
        // Our newest record of a position does not count if the stream has a later one: it may be a shallower search of
        // the same second, or our clock may be slow.
        let overruled: Vec<Record> =
            ring.since(self.looked).filter_map(|(_, record)| mirror.later(&record).cloned()).collect();
        let looked = ring.sequence();
        drop(ring);
        // If this fails, the same records are looked at again.
        if !overruled.is_empty() {
            file.merge(ring_lock, &overruled)?;
        }
        self.looked = looked;
        self.backlog.extend(lacking);
        self.backlog.drain(..self.backlog.len().saturating_sub(CAPACITY));
        Ok(())
    }

    /// Sends a batch of due records, except those that the stream got from elsewhere meanwhile. False if none was due.
    fn send(&mut self) -> Result<bool, RoundError> {
        let (now, before) = (Instant::now(), self.backlog.len());
        let mut batch: Vec<Record> = Vec::new();
        let mirror = &self.stream.mirror;
        self.backlog.retain(|(due, record)| {
            let take = *due <= now && batch.len() < BATCH;
            if take && mirror.is_improved_by(record) {
                batch.push(record.clone());
            }
            !take
        });
        if !batch.is_empty() {
            self.stream.send(&batch)?;
        }
        Ok(self.backlog.len() < before)
    }

    fn tell_trouble(&mut self, error: RoundError) {
        self.told_well = false;
        let text = match error {
            RoundError::Server(error) => {
                // It may not have got what was sent last, or have lost it: reading the stream on shows which, and what
                // it lacks is found again in the file.
                self.backlog.clear();
                self.looked = BEFORE_FIRST;
                let server = &self.stream.link.server;
                format!(
                    "learning is not shared through {server} now: {error}; new records stay in the local file and are shared later"
                )
            }
            RoundError::File(error) => {
                format!("learning is not shared now: {error}")
            }
        };
        if text != self.reported_trouble {
            self.say(text.clone());
            self.reported_trouble = text;
        }
    }

    fn tell_wrong(&mut self) {
        if self.wrong >= self.tell_wrong_at {
            self.tell_wrong_at = 2 * self.wrong;
            self.say(format!(
                "learning: {} entries of the stream {} at {} are not sound records and were skipped; is another \
                 program writing there?",
                self.wrong,
                learn_stream::NAME,
                self.stream.link.server
            ));
        }
        if self.refused_advice > 0 {
            let refused = std::mem::take(&mut self.refused_advice);
            self.say(format!(
                "learning: {refused} pieces of advice from others were refused: a file holds at most {}",
                learn::MAX_ADVICE
            ));
        }
    }

    fn say(&self, message: String) {
        log::info!("{message}");
        let mut messages = locked(&self.messages);
        if messages.len() < MAX_MESSAGES {
            messages.push(message);
        }
    }
}
