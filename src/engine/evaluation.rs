//! Which evaluation the threads use: the built-in network, one from a file, or the classical one.

use std::{
    fs::OpenOptions,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use thiserror::Error;

use crate::{
    eval::{
        Evaluation,
        net::{Network, NetworkError},
    },
    files,
};

/// More is never read of a file: the largest networks of other engines are smaller.
const MAX_NETWORK_BYTES: u64 = 1 << 28;

/// The kinds of evaluation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum EvaluationKind {
    /// The network.
    #[default]
    Network,
    /// The hand-written terms.
    Classical,
}

/// Why a network was not loaded.
#[derive(Debug, Error)]
pub enum EvalFileError {
    /// The file cannot be read.
    #[error("the network `{0}` cannot be read ({1}); check the path")]
    Unreadable(PathBuf, io::Error),
    /// It is not a network for this engine.
    #[error("the network `{0}` is not used: {1}")]
    Unfit(PathBuf, NetworkError),
}

/// The user's choice.
#[derive(Clone, Default)]
pub(super) struct EvaluationChoice {
    pub kind: EvaluationKind,
    /// `None`: the one inside the program.
    pub network: Option<Arc<Network>>,
}

impl EvaluationChoice {
    /// The evaluation to use.
    pub fn evaluation(&self) -> Evaluation {
        match self.kind {
            EvaluationKind::Classical => Evaluation::Classical,
            EvaluationKind::Network => Evaluation::Network(self.network()),
        }
    }

    /// The network to use where one is used.
    pub fn network(&self) -> Arc<Network> {
        self.network.as_ref().map_or_else(Network::embedded, Arc::clone)
    }
}

/// Reads a network.
pub(super) fn read_network(path: &Path) -> Result<Arc<Network>, EvalFileError> {
    let read = || -> io::Result<Vec<u8>> {
        let file = files::open(path, OpenOptions::new().read(true))?;
        let mut bytes = Vec::new();
        file.take(MAX_NETWORK_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| EvalFileError::Unreadable(path.to_owned(), error))?;
    let network = Network::from_bytes(&bytes);
    network.map(Arc::new).map_err(|error| EvalFileError::Unfit(path.to_owned(), error))
}
