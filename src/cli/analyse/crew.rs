//! Who searches: threads of this process, or other machines.

use std::{ops::Range, path::Path, sync::Arc};

use serde_json::Value;

#[cfg(feature = "fleet")]
use super::remote::{self, RemoteWorkers};
use super::{
    Analyse,
    pool::{FoundAt, MoveList, SearchKind, SearchSettings, Workers},
};
use crate::{cli::CliError, search::Event};

/// What comes from the workers.
pub(super) enum Arrival {
    /// Something was found.
    Found(FoundAt),
    /// So many positions of an item could not be searched.
    #[cfg(feature = "fleet")]
    Failed { item: usize, count: usize, reason: String },
}

/// Who searches.
pub(super) enum Crew {
    /// Threads of this process.
    Here(Workers),
    /// Other machines.
    #[cfg(feature = "fleet")]
    Elsewhere(Box<RemoteWorkers>),
}

impl Crew {
    /// Starts them. `setup` tells this work from others, if it can be told.
    ///
    /// # Errors
    /// The system gives no thread, or the server is not there.
    pub(super) fn start(
        arguments: &Analyse,
        settings: &SearchSettings,
        setup: Option<(&Path, Value)>,
        watch: Arc<dyn Fn(&Event) + Send + Sync>,
    ) -> Result<Crew, CliError> {
        #[cfg(feature = "fleet")]
        if let Some(server) = &arguments.queue {
            let work = setup.map_or_else(|| fastrand::u128(..).to_string(), |(_, setup)| setup.to_string());
            let workers = RemoteWorkers::start(server, &work, settings, arguments.cache);
            let workers = workers.map_err(|error| CliError::Task(format!("{server}: {error}")))?;
            return Ok(Crew::Elsewhere(Box::new(workers)));
        }
        #[cfg(not(feature = "fleet"))]
        let _ = (arguments, setup);
        Ok(Crew::Here(Workers::start(settings, watch)?))
    }

    /// How many items may be searched or wait for others at a time.
    pub(super) fn window(&self) -> usize {
        match self {
            Crew::Here(workers) => 2 * workers.count() + 2,
            #[cfg(feature = "fleet")]
            Crew::Elsewhere(_) => remote::WINDOW,
        }
    }

    /// Has positions of a work searched, one after the other, by one worker. Other machines do not check puzzles: the
    /// command line does not let both be asked for.
    pub(super) fn send(&mut self, work: &Arc<MoveList>, plies: Range<usize>, kind: SearchKind) {
        match self {
            Crew::Here(workers) => workers.send(work, plies.collect(), kind),
            #[cfg(feature = "fleet")]
            Crew::Elsewhere(workers) => workers.send(work, plies),
        }
    }

    /// The next that comes; nothing if nobody is left to search.
    pub(super) fn receive(&mut self) -> Option<Arrival> {
        match self {
            Crew::Here(workers) => workers.receive().map(Arrival::Found),
            #[cfg(feature = "fleet")]
            Crew::Elsewhere(workers) => workers.receive(),
        }
    }

    /// The work is done.
    pub(super) fn finish(self) {
        match self {
            // The engines write down what they still hold when they go.
            Crew::Here(workers) => drop(workers),
            #[cfg(feature = "fleet")]
            Crew::Elsewhere(workers) => workers.finish(),
        }
    }
}
