//! How what runs on other threads is ended.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::search::Signals;

/// Interval at which a search in the background is told to stop, until it does.
const STOP_PAUSE: Duration = Duration::from_millis(1);

/// Stops a search from another thread.
#[derive(Clone)]
pub struct StopHandle(pub(super) Arc<Signals>);

impl StopHandle {
    /// Ends the present search as soon as possible; nothing happens if there is none.
    pub fn stop(&self) {
        self.0.stop.store(true, Relaxed);
    }
}

/// Work on a thread of its own, which searches with an engine of its own.
pub(super) struct Background {
    over: Arc<AtomicBool>,
    search: StopHandle,
    thread: JoinHandle<String>,
}

impl Background {
    /// Begins `work`, which asks whether it goes on, and returns a message, if there is one. `search` stops its engine.
    pub fn start(
        name: &str,
        search: StopHandle,
        work: impl FnOnce(&dyn Fn() -> bool) -> String + Send + 'static,
    ) -> io::Result<Background> {
        let over = Arc::<AtomicBool>::default();
        let is_over = Arc::clone(&over);
        let thread = thread::Builder::new().name(name.to_owned());
        let thread = thread.spawn(move || work(&|| !is_over.load(Relaxed)))?;
        Ok(Background { over, search, thread })
    }

    /// Ends it within milliseconds, the search in progress given up. Returns its message.
    pub fn stop(self) -> Option<String> {
        self.over.store(true, Relaxed);
        while !self.thread.is_finished() {
            // A search that was about to begin misses the first stop.
            self.search.stop();
            thread::sleep(STOP_PAUSE);
        }
        self.thread.join().ok().filter(|text| !text.is_empty())
    }
}
