//! The study between games, on a thread of its own (`LearnStudy`).

use std::{
    path::Path,
    sync::{Arc, RwLock},
};

use crossbeam::channel::{Receiver, RecvTimeoutError};

use super::{
    Engine,
    blocking::POLL,
    evaluation::EvaluationChoice,
    stop::Background,
    study::{Study, StudyError},
};
use crate::{
    learn::{FileError, LearnFile, Mode},
    notice::{Failure, Notice},
    search::Event,
    syzygy::Tablebase,
};

impl Engine {
    /// Studies openings and lost games until the next search, if `LearnStudy` is set.
    pub(super) fn start_study(&mut self) {
        let Some(path) = self.learning.study_file().filter(|_| !self.strength_limits.is_limited()) else {
            return;
        };
        let (path, evaluation) = (path.clone(), self.evaluation.clone());
        let (tables, sink) = (self.tables.clone(), Arc::clone(&self.sink));
        let flushed = self.game().memory.flushed();
        let work = move |goes_on: &dyn Fn() -> bool| {
            // The records of the last game may still be in the queue, and a new file may not be there yet.
            let is_waiting =
                |flushed: &Receiver<bool>| flushed.recv_timeout(POLL) == Err(RecvTimeoutError::Timeout);
            while goes_on() && flushed.as_ref().is_some_and(is_waiting) {}
            let said = study_all(&path, evaluation, tables, goes_on);
            let broke_off = |error: StudyError| Notice::Failed(Failure::StudyBrokeOff, error.to_string());
            said.unwrap_or_else(|error| Some(broke_off(error)))
                .into_iter()
                .for_each(|said| sink(Event::Notice(said)));
        };
        match Background::start("study", self.study.take(), work) {
            Ok(study) => self.study = Some(study),
            Err(error) => self.say(Notice::Failed(Failure::Study, error.to_string())),
        }
    }

    /// Ends the study in the background, if there is one.
    pub(super) fn stop_study(&self) {
        self.study.iter().for_each(Background::stop);
    }
}

/// Studies the openings and the lost games in a file as long as `goes_on` returns true, with the evaluation and the
/// tablebases of the engine that plays. Returns what was done, if anything.
fn study_all(
    path: &Path,
    evaluation: EvaluationChoice,
    tables: Option<Arc<Tablebase>>,
    goes_on: &dyn Fn() -> bool,
) -> Result<Option<Notice>, StudyError> {
    let opened = if goes_on() { LearnFile::open(path, Mode::Write) } else { return Ok(None) };
    let (file, ring, _) = match opened {
        Err(FileError::Missing(_)) => return Ok(None),
        opened => opened?,
    };
    let mut study = Study::new(file, RwLock::new(ring), Study::DEFAULT_NODES);
    study.searcher.engine.evaluate_as(evaluation, tables);
    let (mut openings, mut games, mut held) = (0, 0, 0);
    for opening in study.openings()?.into_iter().take_while(|_| goes_on()) {
        openings += study.study_opening(&opening, goes_on)?.positions;
    }
    for mut game in study.lost_games(goes_on).into_iter().take_while(|_| goes_on()) {
        let studied = study.study(&mut game, goes_on)?;
        games += u32::from(studied.is_finished);
        held += u32::from(studied.found.is_some());
    }
    Ok((openings > 0 || games > 0).then_some(Notice::Studied { openings, games, held }))
}
