//! The state of learning between searches: the options, the learning file, and the games being played.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard},
};

use crossbeam::channel::Receiver;

#[cfg(feature = "fleet")]
use crate::fleet::{LearningShare, ServerAddress};
use crate::{
    learn::{
        Record, Store, Written,
        game::{GameSearch, Line},
        journal::{LeftJournals, SearchJournal},
        policy::{LearningMode, NotLearned, Rules, Trigger},
        session::{LearnSession, Live, Root},
    },
    locks::locked,
    position::Position,
    search::{Ending, Event, EventSink},
    types::{Depth, Score},
};

/// The options of learning.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnOptions {
    /// What is learned; nothing by default.
    pub rules: Rules,
    /// By how much a learned window is widened, in printed centipawns.
    pub fuzz: i32,
    /// The file; none for the default one.
    pub file: Option<PathBuf>,
    /// The file if none is named. Without either nothing is learned.
    pub default_file: Option<PathBuf>,
    /// Is the file used without writing to it?
    pub read_only: bool,
    /// Are openings and lost games studied between games?
    pub study: bool,
    /// The server through which the file is shared with other machines.
    #[cfg(feature = "fleet")]
    pub server: Option<ServerAddress>,
}

impl LearnOptions {
    /// Default drop of the score that is learned, in printed centipawns.
    pub const DEFAULT_DROP: i32 = 33;
    /// Default least depth of a search that is learned from.
    pub const DEFAULT_MIN_DEPTH: Depth = Depth(4);
    /// Default widening of a learned window, in printed centipawns.
    pub const DEFAULT_FUZZ: i32 = 20;
}

impl Default for LearnOptions {
    fn default() -> LearnOptions {
        let (drop, min_depth) = (LearnOptions::DEFAULT_DROP, LearnOptions::DEFAULT_MIN_DEPTH);
        LearnOptions {
            rules: Rules { mode: LearningMode::Off, drop, min_depth },
            fuzz: LearnOptions::DEFAULT_FUZZ,
            file: None,
            default_file: None,
            read_only: false,
            study: false,
            #[cfg(feature = "fleet")]
            server: None,
        }
    }
}

/// The state of learning.
#[derive(Default)]
pub(super) struct Learning {
    pub options: LearnOptions,
    /// Was it reported that an engine of limited strength does not learn?
    pub limit_told: bool,
    pub memory: Arc<Mutex<Memory>>,
}

impl Learning {
    pub fn memory(&self) -> MutexGuard<'_, Memory> {
        locked(&self.memory)
    }

    /// The file, if something is to be learned.
    pub fn wanted(&self) -> Option<&PathBuf> {
        let LearnOptions { rules, file, default_file, .. } = &self.options;
        file.as_ref().or(default_file.as_ref()).filter(|_| rules.mode != LearningMode::Off)
    }

    /// The file whose openings and lost games are studied between games.
    pub fn study_file(&self) -> Option<&PathBuf> {
        let LearnOptions { study, read_only, .. } = &self.options;
        self.wanted().filter(|_| *study && !read_only)
    }
}

/// The file and the games being played. Used by the engine, and at the end of a search by the main search thread.
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
    /// Those of killed processes whose records wait to be written.
    pub left_journals: LeftJournals,
    /// The number of records last reported to the user.
    pub told: Option<usize>,
}

impl Memory {
    /// Ends the games that a search at the end of `line` does not continue.
    pub fn leave_games(&mut self, line: &Line, analysis: bool) {
        self.end(|session, live| session.leave_games(line, analysis, live));
    }

    /// The channel on which it is told that everything learned so far is in the file; none if the file is not in use.
    pub fn flushed(&self) -> Option<Receiver<bool>> {
        match &self.file {
            FileState::Open(open) => Some(open.store.flushed()),
            FileState::Closed | FileState::Failed => None,
        }
    }

    pub fn end_game(&mut self, last: Option<(&Position, &Line)>) {
        self.end(|session, live| session.end_game(last, live));
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

    /// Closes the file. Queued records are written first, for at most a second.
    pub fn close(&mut self, sink: &EventSink) {
        let FileState::Open(open) = std::mem::take(&mut self.file) else { return };
        let mut messages = open.other_messages();
        let path = open.store.path().display().to_string();
        let lost = open.store.close();
        if lost == 0 {
            open.left_journals.remove();
        } else {
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

    /// Messages before a search: at first the state of the file, later only changes.
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
