//! Stops work on other threads: searches and background jobs.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::files::retry_within;

/// Work on a thread of its own.
pub(super) struct Background {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Background {
    /// Begins `work`, which asks whether it goes on, as soon as `previous` has ended.
    pub fn start(
        name: &str,
        previous: Option<Background>,
        work: impl FnOnce(&dyn Fn() -> bool) + Send + 'static,
    ) -> io::Result<Background> {
        let over = Arc::<AtomicBool>::default();
        let is_over = Arc::clone(&over);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            if let Some(previous) = previous {
                previous.join();
            }
            work(&|| !is_over.load(Relaxed));
        })?;
        Ok(Background { over, thread })
    }

    /// Tells the work to end. Does not wait for that: it may be waiting for a lock or for a disk.
    pub fn stop(&self) {
        self.over.store(true, Relaxed);
    }

    /// Waits for the end of the work, but no longer than this.
    pub fn join_within(self, limit: Duration) {
        let _ = retry_within(limit, |()| true, || if self.thread.is_finished() { Ok(()) } else { Err(()) });
    }

    /// Waits for the end of the work.
    pub fn join(self) {
        // A panic was reported by its thread.
        let _ = self.thread.join();
    }
}

#[cfg(test)]
mod tests {
    use crossbeam::channel::unbounded;

    use super::*;

    #[test]
    fn work_that_waits_is_not_waited_for_and_the_next_begins_after_it() {
        let (sender, receiver) = unbounded();
        let (release, waiting) = unbounded::<()>();
        let work = |name: &'static str| {
            let (sender, waiting) = (sender.clone(), waiting.clone());
            move |goes_on: &dyn Fn() -> bool| {
                let _ = waiting.recv();
                let _ = sender.send((name, goes_on()));
            }
        };
        let first = Background::start("first", None, work("first")).expect("a thread");
        first.stop();
        let second = Background::start("second", Some(first), work("second")).expect("a thread");
        drop(release);
        second.join();
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [("first", false), ("second", true)]);
    }
}
