//! Brings learned positions into the table. Many of them into a table that was never used take a while, since the
//! system has yet to find the memory: that goes on beside the search.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use crossbeam::channel::bounded;

use crate::tt::{Learned, Table};

/// So many are brought in at once; more are the work of a thread.
const AT_ONCE: usize = 2048;
/// After so many a thread looks whether it is still wanted.
pub(super) const PORTION: usize = 512;

/// At most one thread that brings in.
#[derive(Default)]
pub(super) struct Teacher {
    dismissed: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Teacher {
    /// Brings `learned` into `table`, the first the most important, and waits for that until `deadline`.
    pub fn teach(&mut self, table: &Arc<Table>, learned: Vec<Learned>, deadline: Instant) {
        self.dismiss();
        if learned.len() <= AT_ONCE {
            table.teach(learned);
            return;
        }
        let (portions, table) = (Arc::new(learned), Arc::clone(table));
        let (done, waiting) = bounded::<()>(1);
        let dismissed = Arc::clone(&self.dismissed);
        let (learned, room) = (Arc::clone(&portions), Arc::clone(&table));
        let started = thread::Builder::new().name("learn-teach".to_owned()).spawn(move || {
            for portion in learned.chunks(PORTION) {
                // Relaxed: who dismisses waits for the end of this thread.
                if dismissed.load(Relaxed) {
                    return;
                }
                room.teach(portion.iter().copied());
            }
            drop(done);
        });
        match started {
            Ok(thread) => {
                self.thread = Some(thread);
                // Ends with an error when the thread is done, or it is time to search.
                let _ = waiting.recv_deadline(deadline);
            }
            Err(_) => {
                table.teach(portions.iter().copied());
            }
        }
    }

    /// Sends the thread away; when this returns, nothing is brought in any more.
    pub fn dismiss(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.dismissed.store(true, Relaxed);
            // It does not panic; if it did, there is nothing of it to save.
            let _ = thread.join();
            self.dismissed.store(false, Relaxed);
        }
    }
}

impl Drop for Teacher {
    fn drop(&mut self) {
        self.dismiss();
    }
}
