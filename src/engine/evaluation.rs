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
    net::{FileError, Network},
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
    #[error("the network `{path}` cannot be read ({error})")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        error: io::Error,
    },
    /// It is no network for this engine.
    #[error("the network `{path}` is not used: {error}")]
    Unfit {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: FileError,
    },
}

/// What the user chose.
#[derive(Default)]
pub(super) struct EvaluationChoice {
    kind: EvaluationKind,
    /// `None`: the one inside the program.
    network: Option<Arc<Network>>,
}

impl EvaluationChoice {
    /// The evaluation to use.
    pub(super) fn evaluation(&self) -> Evaluation {
        match (self.kind, &self.network) {
            (EvaluationKind::Classical, _) => Evaluation::Classical,
            (EvaluationKind::Network, Some(network)) => Evaluation::Network(Arc::clone(network)),
            (EvaluationKind::Network, None) => Evaluation::default(),
        }
    }
}

impl Engine {
    /// Sets the kind of evaluation. The table is emptied: it holds what another one said. Waits for a running
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
        let network = match file {
            // Some GUIs say each option, also where it stays as it is.
            None if self.evaluation.network.is_none() => return Ok(()),
            None => None,
            Some(path) => {
                let path = path.to_owned();
                let bytes = match fs::read(&path) {
                    Ok(bytes) => bytes,
                    Err(error) => return Err(EvalFileError::Unreadable { path, error }),
                };
                match Network::from_bytes(&bytes) {
                    Ok(network) => Some(Arc::new(network)),
                    Err(error) => return Err(EvalFileError::Unfit { path, error }),
                }
            }
        };
        self.evaluation.network = network;
        self.renew_evaluation();
        Ok(())
    }

    fn renew_evaluation(&mut self) {
        self.wait();
        let evaluation = self.evaluation.evaluation();
        self.change_learning(|learning, present| learning.set_evaluation(evaluation.clone(), present));
        self.pool.set_evaluation(evaluation);
        self.clear_hash();
        self.persistent.reopen();
    }
}
