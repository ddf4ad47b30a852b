//! Where the positions are searched: by threads of this process, or on other machines.

use std::{ops::Range, sync::Arc, time::Duration};

use crossbeam::channel::RecvTimeoutError;

use super::pool::{Arrival, MoveList, SearchBudget, SearchKind, SearchSettings, Workers};
#[cfg(feature = "fleet")]
use super::remote::{self, RemoteWorkers};
#[cfg(feature = "fleet")]
use crate::fleet::ServerAddress;
use crate::{cli::CliError, search::Event};

/// How long a result is waited for at a time.
const WAIT: Duration = Duration::from_millis(500);

/// Where the positions are searched.
pub enum SearchBackend {
    /// By threads of this process.
    Local(Workers, SearchBudget),
    /// On other machines, through a queue.
    #[cfg(feature = "fleet")]
    Remote(Box<RemoteWorkers>),
}

impl SearchBackend {
    /// Threads of this process.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn local(
        settings: &SearchSettings,
        watch: Arc<dyn Fn(&Event) + Send + Sync>,
    ) -> Result<SearchBackend, CliError> {
        Ok(SearchBackend::Local(Workers::start(settings, watch)?, settings.budget.clone()))
    }

    /// Other machines, through this server; `work` identifies what is done, for who resumes it. With `cached` results of
    /// earlier work are used, and kept.
    ///
    /// # Errors
    /// The server cannot be reached.
    #[cfg(feature = "fleet")]
    pub fn remote(
        server: &ServerAddress,
        work: Option<&str>,
        settings: &SearchSettings,
        cached: bool,
    ) -> Result<SearchBackend, CliError> {
        let work = work.map_or_else(|| fastrand::u128(..).to_string(), str::to_owned);
        let workers = RemoteWorkers::start(server, &work, settings, cached);
        let workers = workers.map_err(|error| CliError::Task(format!("{server}: {error}")))?;
        Ok(SearchBackend::Remote(Box::new(workers)))
    }

    /// How many items may be in progress at a time.
    pub fn window(&self) -> usize {
        match self {
            SearchBackend::Local(workers, _) => 2 * workers.count() + 2,
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(_) => remote::WINDOW,
        }
    }

    /// Sends positions of a move list to one worker, which searches them in order.
    pub fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind) {
        let budget = match self {
            SearchBackend::Local(_, budget) => budget,
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(workers) => &workers.budget,
        };
        let budget = budget.of(kind);
        self.send_with(work, plies, kind, budget);
    }

    /// The same with limits of their own.
    pub fn send_with(
        &mut self,
        work: &Arc<MoveList>,
        plies: Range<usize>,
        kind: SearchKind,
        budget: SearchBudget,
    ) {
        match self {
            SearchBackend::Local(workers, _) => workers.send(work, plies, kind, budget),
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(workers) => workers.send(work, plies, kind, &budget),
        }
    }

    /// What comes within a moment; `None` if a worker has failed, or none is left.
    pub fn receive(&mut self) -> Option<Arrival> {
        match self {
            SearchBackend::Local(workers, _) => match workers.receive_within(WAIT) {
                Ok(found) => Some(Arrival::Found(found)),
                Err(RecvTimeoutError::Timeout) => Some(Arrival::Nothing),
                Err(RecvTimeoutError::Disconnected) => None,
            },
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(workers) => workers.receive(),
        }
    }

    /// The work is done, or nobody will resume it.
    pub fn finish(self) {
        match self {
            // Dropped engines flush their learning files.
            SearchBackend::Local(workers, _) => drop(workers),
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(workers) => workers.finish(),
        }
    }
}
