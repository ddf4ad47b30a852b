//! Which evaluation the threads use: the network inside the program, one from a file, or the classical one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use thiserror::Error;

use super::Engine;
use crate::eval::{
    Evaluation,
    net::{Network, NetworkError},
};

/// The kinds of evaluation.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum EvaluationKind {
    /// The network.
    #[default]
    Network,
    /// The terms written by hand.
    Classical,
}

/// Why a network was not loaded.
#[derive(Debug, Error)]
pub enum EvalFileError {
    /// The file cannot be read.
    #[error("the network `{0}` cannot be read ({1})")]
    Unreadable(PathBuf, io::Error),
    /// It is no network for this engine.
    #[error("the network `{0}` is not used: {1}")]
    Unfit(PathBuf, NetworkError),
}

/// What the user chose.
#[derive(Clone, Default)]
pub(super) struct EvaluationChoice {
    kind: EvaluationKind,
    /// `None`: the one inside the program.
    network: Option<Arc<Network>>,
}

impl EvaluationChoice {
    /// The evaluation to use.
    pub(super) fn evaluation(&self) -> Evaluation {
        match self.kind {
            EvaluationKind::Classical => Evaluation::Classical,
            EvaluationKind::Network => Evaluation::Network(self.network()),
        }
    }

    /// The network to use where one is used.
    fn network(&self) -> Arc<Network> {
        self.network.as_ref().map_or_else(Network::embedded, Arc::clone)
    }
}

impl Engine {
    /// The network: that of the file set last, or the one inside the program.
    pub fn network(&self) -> Arc<Network> {
        self.evaluation.network()
    }

    /// Takes over the evaluation and the tablebases of another engine.
    pub(super) fn evaluate_as(&mut self, other: &Engine) {
        self.evaluation = other.evaluation.clone();
        self.tables.clone_from(&other.tables);
        self.renew_evaluation();
    }

    /// Sets the kind of evaluation. The table is emptied: its scores come from the other one. Waits for a running
    /// search.
    pub fn set_evaluation(&mut self, kind: EvaluationKind) {
        if kind != self.evaluation.kind {
            self.evaluation.kind = kind;
            self.renew_evaluation();
        }
    }

    /// Sets the network from a file, or the one inside the program. Waits for a running search.
    ///
    /// # Errors
    /// The file cannot be read or is no network for this engine: the network before stays.
    pub fn set_eval_file(&mut self, file: Option<&Path>) -> Result<(), EvalFileError> {
        // Some GUIs send every option, unchanged ones too.
        if file.is_none() && self.evaluation.network.is_none() {
            return Ok(());
        }
        let read = |path: &Path| {
            let bytes = fs::read(path).map_err(|error| EvalFileError::Unreadable(path.to_owned(), error))?;
            let network = Network::from_bytes(&bytes);
            network.map(Arc::new).map_err(|error| EvalFileError::Unfit(path.to_owned(), error))
        };
        let network = file.map(read).transpose()?;
        self.evaluation.network = network;
        self.renew_evaluation();
        Ok(())
    }

    fn renew_evaluation(&mut self) {
        self.wait();
        // The scores of the game so far rest on the old evaluation: it is learned from before the change.
        self.close_learning();
        self.pool.set_evaluation(self.evaluation.evaluation());
        self.clear_hash();
        self.persistent.reopen();
    }
}
