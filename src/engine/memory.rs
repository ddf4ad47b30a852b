//! What outlives a search: the learning file, and the games being played.

#[cfg(feature = "fleet")]
use crate::fleet::LearningShare;
use crate::{
    learn::{
        Record, Store, Written,
        game::{GameSearch, Line},
        journal::SearchJournal,
        policy::{LearningMode, NotLearned, Trigger},
        session::{LearnSession, Live, Root},
    },
    position::Position,
    search::{Ending, Event, EventSink},
    types::Score,
};

/// The file and the games being played: used by the engine, and at the end of a search by its thread.
#[derive(Default)]
pub(super) struct Memory {
    pub file: FileState,
    /// Messages that the next search reports.
    pub messages: Vec<String>,
    pub session: LearnSession,
}

#[derive(Default)]
pub(super) enum FileState {
    /// Not opened yet.
    #[default]
    Closed,
    /// In use.
    Open(OpenLearnFile),
    /// It could not be opened.
    Failed,
}

/// A file in use.
pub(super) struct OpenLearnFile {
    pub store: Store,
    #[cfg(feature = "fleet")]
    pub share: Option<LearningShare>,
    pub journal: Option<SearchJournal>,
    /// The number of records last reported to the user.
    pub told: Option<usize>,
}

impl Memory {
    /// Ends the games that a search at the end of `line` does not continue.
    pub fn leave_games(&mut self, line: &Line, analysis: bool) {
        self.end(|session, live| session.leave_games(line, analysis, live));
    }

    pub fn end_game(&mut self, last: Option<(&Position, &Line)>) {
        self.end(|session, live| session.end_game(last, live));
        if let FileState::Open(open) = &self.file {
            open.store.sync();
        }
    }

    /// Writes the records of games that have ended.
    fn end(&mut self, end: impl FnOnce(&mut LearnSession, &Live<'_>) -> Vec<Record>) {
        let FileState::Open(open) = &mut self.file else {
            self.session = LearnSession::default();
            return;
        };
        // Another process may have written better records.
        open.store.read_forward();
        let records = end(&mut self.session, &|key| open.store.live().get(key));
        open.store.append_all(records);
        if let Some(journal) = open.journal.as_mut().filter(|_| !self.session.is_playing()) {
            journal.clear();
        }
    }

    /// Learns from a search that has ended. Returns a message for the user.
    pub fn search_ended(&mut self, root: &Root, ending: &Ending, draw: Score) -> Option<String> {
        let FileState::Open(open) = &mut self.file else { return None };
        open.store.read_forward();
        let mut root = root.clone();
        if ending.pondering {
            root.conditions.not_learned = Some(NotLearned::PonderedInVain);
        }
        let result = ending.result.without_contempt(draw);
        let outcome = self.session.search_ended(&root, &result, &|key| open.store.live().get(key));
        if let Some(search) = outcome.search.filter(|_| !root.conditions.analysis) {
            open.write_journal(&root.line, &search);
        }
        let written = open.store.append_all(outcome.records);
        let trigger = outcome.drop?;
        let when = if trigger == Trigger::InsideSearch { "during the search" } else { "since the last move" };
        let waits = match written {
            Written::Now => "",
            Written::Queued => "; it waits until the file is free",
            Written::Never => return None,
        };
        Some(format!("learning: this position, the score fell {when}{waits}"))
    }

    /// Closes the file; what was learned is written first, for at most a second.
    pub fn close(&mut self, sink: &EventSink) {
        let FileState::Open(open) = std::mem::take(&mut self.file) else { return };
        let mut messages = open.other_messages();
        let path = open.store.path().display().to_string();
        let lost = open.store.close();
        if lost > 0 {
            let lost = counted(lost, "record");
            messages.push(format!(
                "learning: {lost} could not be written to {path}: another process holds its lock, or it cannot be written"
            ));
        }
        messages.into_iter().for_each(|message| sink(Event::Message(message)));
    }
}

impl OpenLearnFile {
    /// Writes a search of the game to the journal, in case the process is killed.
    fn write_journal(&mut self, line: &Line, search: &GameSearch) {
        if self.store.is_read_only() {
            return;
        }
        let journal = match &mut self.journal {
            Some(journal) => Ok(journal),
            none => SearchJournal::beside(self.store.path()).map(|journal| none.insert(journal)),
        };
        if let Err(error) = journal.and_then(|journal| journal.write(line, search)) {
            log::debug!("the game in progress cannot be taken down: {error}");
        }
    }

    /// Messages before a search: first what is used, later only what changed.
    pub fn messages(&mut self, mode: LearningMode) -> Vec<String> {
        let count = self.store.live().len();
        let records = counted(count, "record");
        let mode = if mode == LearningMode::All { "all" } else { "drop" };
        let change = match self.told.replace(count) {
            None => Some(format!("learning {mode}: {records} in {}", self.store.path().display())),
            Some(before) => (before != count).then(|| format!("learning: {records} now, {before} before")),
        };
        change.into_iter().chain(self.other_messages()).collect()
    }

    /// Messages of the threads that work on the file.
    fn other_messages(&self) -> Vec<String> {
        #[cfg(feature = "fleet")]
        let shared = self.share.iter().flat_map(LearningShare::take_messages);
        #[cfg(not(feature = "fleet"))]
        let shared = std::iter::empty();
        self.store.take_messages().into_iter().chain(shared).collect()
    }
}

/// `1 record`, `2 records`.
pub(super) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
