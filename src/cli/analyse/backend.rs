//! Where the positions are searched: by threads of this process, or on other machines.

use std::{ops::Range, path::Path, sync::Arc, time::Duration};

use crossbeam::channel::RecvTimeoutError;
use serde_json::Value;

#[cfg(feature = "fleet")]
use super::remote::{self, RemoteWorkers};
use super::{
    arguments::Analyse,
    pool::{Arrival, MoveList, SearchBudget, SearchKind, SearchSettings, Workers},
};
use crate::{cli::CliError, search::Event};

/// How long a result is waited for at a time.
const WAIT: Duration = Duration::from_millis(500);

/// Where the positions are searched.
pub(super) enum SearchBackend {
    /// By threads of this process.
    Local(Workers, SearchBudget),
    /// On other machines, through a queue.
    #[cfg(feature = "fleet")]
    Remote(Box<RemoteWorkers>),
}

impl SearchBackend {
    /// Starts it. `setup` identifies this work, if it can be resumed.
    ///
    /// # Errors
    /// No thread can be started, or the server cannot be reached.
    pub(super) fn start(
        arguments: &Analyse,
        settings: &SearchSettings,
        setup: Option<(&Path, Value)>,
        watch: Arc<dyn Fn(&Event) + Send + Sync>,
    ) -> Result<SearchBackend, CliError> {
        #[cfg(feature = "fleet")]
        if let Some(server) = &arguments.queue {
            let work = setup.map_or_else(|| fastrand::u128(..).to_string(), |(_, setup)| setup.to_string());
            let workers = RemoteWorkers::start(server, &work, settings, arguments.cache);
            let workers = workers.map_err(|error| CliError::Task(format!("{server}: {error}")))?;
            return Ok(SearchBackend::Remote(Box::new(workers)));
        }
        #[cfg(not(feature = "fleet"))]
        let _ = (arguments, setup);
        Ok(SearchBackend::Local(Workers::start(settings, watch)?, settings.budget.clone()))
    }

    /// How many items may be in progress at a time.
    pub(super) fn window(&self) -> usize {
        match self {
            SearchBackend::Local(workers, _) => 2 * workers.count() + 2,
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(_) => remote::WINDOW,
        }
    }

    /// Sends positions of a move list to one worker, which searches them in order.
    pub(super) fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind) {
        match self {
            SearchBackend::Local(workers, budget) => workers.send(work, plies, kind, budget.of(kind)),
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(workers) => workers.send(work, plies, kind),
        }
    }

    /// What comes within a second; `None` if no worker is left.
    pub(super) fn receive(&mut self) -> Option<Arrival> {
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

    /// The work is done.
    pub(super) fn finish(self) {
        match self {
            // Dropped engines flush their learning files.
            SearchBackend::Local(workers, _) => drop(workers),
            #[cfg(feature = "fleet")]
            SearchBackend::Remote(workers) => workers.finish(),
        }
    }
}
