//! Shared learning: a thread that keeps the learning file of this machine and a stream on a server equal.
//!
//! The file stays the truth for the search. To it the thread is one more process that reads it forward and merges into
//! it, in the order that [`learn::beats`] says; the engine never waits for it. Each round, once a second:
//!
//! 1. Is the last entry that was read still there? If not, the server has lost what it had: the stream is read from its
//!    beginning again, and what this file has and the stream lacks is sent.
//! 2. What came is read, checked like the records of a file, and merged.
//! 3. What is new in the file and beats what the stream says of its position is sent: at once what this process learned,
//!    a little later what another process did, which may send it itself.
//!
//! So an answer that is lost costs nothing but a second entry, and no record is counted twice. What has gone from a full
//! stream is not brought back: only what was learned after its oldest entry was written is sent then.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
    thread,
    time::{Duration, Instant},
};

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, bounded};
use thiserror::Error;

use super::{
    FleetError, ServerAddress,
    learn_stream::{self, BATCH, Batch, LearnStream, Received},
};
use crate::learn::{self, BEFORE_FIRST, FileError, LearnFile, Mode, Record, Ring, record::CAPACITY};

/// Time between two rounds.
const ROUND: Duration = Duration::from_secs(1);
/// Between two rounds if the server is not there: at first, and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LAST_RETRY: Duration = Duration::from_secs(30);
/// What another process learned is sent only if it has not done so itself after this time.
const OTHERS_FIRST: Duration = Duration::from_millis(2500);
/// Machines that find the server empty do not all send what all of them have at the same moment.
const MOST_DELAY: Duration = Duration::from_secs(3);
/// How long whoever leaves waits for what is still to be sent.
const PARTING: Duration = Duration::from_millis(500);
/// Sentences that wait for the user at most.
const MOST_MESSAGES: usize = 20;

/// A learning file that is being shared. Dropping it ends that, after up to half a second for what is left to send.
pub struct LearningShare {
    messages: Messages,
    leave: Option<Sender<()>>,
    gone: Receiver<()>,
}

type Messages = Arc<Mutex<Vec<String>>>;

impl LearningShare {
    /// Begins to share the learning file at `path` through the server. Nothing is waited for; if the system gives no
    /// thread, that is the first message.
    pub fn start(server: ServerAddress, path: PathBuf) -> LearningShare {
        let messages = Messages::default();
        let ((leave, leaving), (going, gone)) = (bounded(0), bounded(0));
        let sharer = Sharer::new(server, path, Arc::clone(&messages));
        let started = thread::Builder::new().name("learn-share".to_owned()).spawn(move || {
            sharer.run(&leaving);
            drop(going);
        });
        if let Err(error) = started {
            locked(&messages).push(format!("learning is not shared: the system gives no thread ({error})"));
        }
        LearningShare { messages, leave: Some(leave), gone }
    }

    /// What the user should be told.
    pub fn take_messages(&self) -> Vec<String> {
        std::mem::take(&mut locked(&self.messages))
    }
}

impl Drop for LearningShare {
    fn drop(&mut self) {
        self.leave = None;
        // Ends with an error as soon as the thread has left. One that hangs in the network ends with the process.
        let _ = self.gone.recv_timeout(PARTING);
    }
}

/// Why a round did not come to its end.
#[derive(Debug, Error)]
enum RoundError {
    /// The server or the way to it.
    #[error(transparent)]
    Server(#[from] FleetError),
    /// The learning file.
    #[error(transparent)]
    File(#[from] FileError),
}

/// The thread's own.
struct Sharer {
    path: PathBuf,
    messages: Messages,
    stream: LearnStream,
    file: Option<(LearnFile, RwLock<Ring>)>,
    /// Up to this sequence number the file was looked at for something to send.
    looked: u64,
    /// To be sent, each not before its time.
    backlog: VecDeque<(Instant, Record)>,
    /// Is the user told that it works?
    told_well: bool,
    trouble_told: String,
    /// Entries that were no records of ours, and at how many the user is told next.
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
            trouble_told: String::new(),
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
                    retry = FIRST_RETRY;
                    if more { Duration::ZERO } else { ROUND }
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
            // What was learned last. If it does not arrive, the next process at this file sends it.
            let _ = self.look().and_then(|()| self.send());
        }
    }

    /// A round, as above. Is there more to do at once?
    fn round(&mut self) -> Result<bool, RoundError> {
        self.open_file()?;
        if self.file.is_none() {
            // The engine makes it in a moment.
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
        self.send()?;
        if !std::mem::replace(&mut self.told_well, true) {
            let again = if self.trouble_told.is_empty() { "" } else { " again" };
            self.trouble_told.clear();
            self.say(format!("learning is shared{again} through {}", self.stream.server));
        }
        Ok(self.backlog.iter().any(|&(due, _)| due <= Instant::now()))
    }

    /// Opens the learning file if it is not open, or another lies in its place.
    fn open_file(&mut self) -> Result<(), RoundError> {
        if let Some((file, ring)) = &mut self.file {
            match file.refresh(ring) {
                Ok(()) => return Ok(()),
                Err(FileError::Replaced(_)) => self.file = None,
                Err(error) => return Err(error.into()),
            }
        }
        match LearnFile::open(&self.path, Mode::Write).and_then(|file| file.recover()) {
            Ok((file, ring, _)) => {
                if let Some(reason) = file.read_only() {
                    return Err(FileError::ReadOnly(reason.to_owned()).into());
                }
                self.file = Some((file, RwLock::new(ring)));
                self.begin_anew();
                Ok(())
            }
            Err(FileError::Missing(_) | FileError::Unfinished(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Everything in the file is to be compared with everything in the stream.
    fn begin_anew(&mut self) {
        self.stream.rewind();
        self.backlog.clear();
        self.wrong = 0;
        self.looked = BEFORE_FIRST;
    }

    /// Merges what came into the file.
    fn merge(&mut self, batch: Batch) -> Result<(), RoundError> {
        let Some((file, ring)) = &mut self.file else { return Ok(()) };
        let new: Vec<Record> = {
            let ring = learn::read(ring);
            let came = batch.iter().filter_map(|(_, record)| record.as_ref());
            came.filter(|record| ring.lacks(record)).cloned().collect()
        };
        if !new.is_empty() {
            // If this fails, the same entries are read again.
            self.refused_advice += file.take_in(ring, &new)?.refused;
        }
        self.wrong += batch.iter().filter(|(_, record)| record.is_none()).count() as u64;
        self.stream.taken(batch);
        self.tell_wrong();
        Ok(())
    }

    /// Looks for what is new in the file and not in the stream.
    fn look(&mut self) -> Result<(), RoundError> {
        let Some((file, ring_lock)) = &mut self.file else { return Ok(()) };
        file.read_forward(ring_lock)?;
        let ring = learn::read(ring_lock);
        if ring.sequence() < self.looked {
            self.looked = BEFORE_FIRST;
        }
        let (now, everything) = (Instant::now(), self.looked == BEFORE_FIRST);
        let delay = if everything { MOST_DELAY.mul_f64(fastrand::f64()) } else { OTHERS_FIRST };
        let due = |record: &Record| if record.session == learn::session() { now } else { now + delay };
        let mirror = &self.stream.mirror;
        let complete_since = mirror.complete_since();
        let lacking = ring
            .since(self.looked)
            .map(|(_, record)| record)
            .filter(|record| mirror.lacks(record) && u64::from(record.time) >= complete_since);
        let mut lacking: Vec<(Instant, Record)> = lacking.map(|record| (due(&record), record)).collect();
        if everything && complete_since == 0 {
            // As much as there is room for, the newest first; in an order of our own, so that several machines do not send
            // the same at the same time.
            lacking.drain(..lacking.len().saturating_sub(mirror.room()));
            let start = fastrand::usize(..=lacking.len());
            lacking.rotate_left(start);
        }
        // What this machine wrote last is not what counts if the stream has something later: a shallower search of the
        // same second, or of a clock that is behind.
        let overruled: Vec<Record> =
            ring.since(self.looked).filter_map(|(_, record)| mirror.later(&record).cloned()).collect();
        self.looked = ring.sequence();
        drop(ring);
        if !overruled.is_empty() {
            file.take_in(ring_lock, &overruled)?;
        }
        self.backlog.extend(lacking);
        self.backlog.drain(..self.backlog.len().saturating_sub(CAPACITY));
        Ok(())
    }

    /// Sends a batch of what is due, unless it has come from elsewhere meanwhile.
    fn send(&mut self) -> Result<(), RoundError> {
        let now = Instant::now();
        let mut batch: Vec<Record> = Vec::new();
        let mirror = &self.stream.mirror;
        self.backlog.retain(|(due, record)| {
            let take = *due <= now && batch.len() < BATCH;
            if take && mirror.lacks(record) {
                batch.push(record.clone());
            }
            !take
        });
        if batch.is_empty() {
            return Ok(());
        }
        let sent = self.stream.send(&batch);
        if sent.is_err() {
            // Some of it may have arrived; that is seen when the stream is read again.
            self.backlog.extend(batch.into_iter().map(|record| (now, record)));
        }
        Ok(sent?)
    }

    fn tell_trouble(&mut self, error: RoundError) {
        self.told_well = false;
        let text = match error {
            RoundError::Server(error) => {
                self.stream.disconnect();
                let server = &self.stream.server;
                format!(
                    "learning is not shared through {server} now: {error}; it goes on in the file, and is shared later"
                )
            }
            RoundError::File(error) => {
                // A lock that others hold is tried again; else the file is opened again.
                if !matches!(error, FileError::Busy(_)) {
                    self.file = None;
                }
                format!("learning is not shared now: {error}")
            }
        };
        if text != self.trouble_told {
            self.say(text.clone());
            self.trouble_told = text;
        }
    }

    fn tell_wrong(&mut self) {
        if self.wrong >= self.tell_wrong_at {
            self.tell_wrong_at = 2 * self.wrong;
            self.say(format!(
                "learning: {} entries of the stream {} at {} are no sound records and were left out; who else \
                 writes there?",
                self.wrong,
                learn_stream::NAME,
                self.stream.server
            ));
        }
        if self.refused_advice > 0 {
            let refused = std::mem::take(&mut self.refused_advice);
            self.say(format!(
                "learning: {refused} pieces of advice from others were refused: a file holds at most {}",
                learn::MOST_ADVICE
            ));
        }
    }

    fn say(&self, message: String) {
        log::info!("{message}");
        let mut messages = locked(&self.messages);
        if messages.len() < MOST_MESSAGES {
            messages.push(message);
        }
    }
}

fn locked(messages: &Messages) -> MutexGuard<'_, Vec<String>> {
    messages.lock().unwrap_or_else(PoisonError::into_inner)
}
