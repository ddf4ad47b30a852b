//! The state of learning between searches: the options, the learning file, and the log of the game.

use std::path::PathBuf;

use crossbeam::channel::Receiver;
use shakmaty::Color;

use super::game::{BegunSearch, Followed};
#[cfg(feature = "fleet")]
use crate::fleet::{LearningShare, ServerAddress};
use crate::{
    learn::{
        FileError, Store, Written,
        game::{GameSearch, PlayedGame},
        game_log::GameLog,
        kept_games::KeptGame,
        policy::{LearningMode, Rules, Trigger},
        session::Recorder,
    },
    notice::{Failure, Notice},
    types::{Depth, SearchResult},
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
    pub limit_reported: bool,
}

impl Learning {
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

/// The file, while it is in use. Used by the engine, and at the end of a search by the main search thread.
#[derive(Default)]
pub(super) struct Memory {
    pub file: Option<OpenLearnFile>,
    /// Could it not be opened? Then it is not tried again before it is closed.
    pub failed: bool,
    /// What the next search reports.
    pub notices: Vec<Notice>,
    /// The evaluation that scores in records come from.
    pub evaluation_id: u16,
}

/// A file in use.
pub(super) struct OpenLearnFile {
    pub store: Store,
    #[cfg(feature = "fleet")]
    pub share: Option<LearningShare>,
    pub log: GameLog,
    /// Was it reported that the log cannot be written?
    pub log_failed: bool,
    /// The number of records last reported to the user.
    pub reported: Option<usize>,
}

impl Memory {
    /// The file cannot be used.
    pub fn failed(&mut self, error: &FileError) {
        self.notices.push(Notice::Failed(Failure::Learning, error.to_string()));
        self.failed = true;
    }

    /// Is the file still to be opened?
    pub fn is_unopened(&self) -> bool {
        self.file.is_none() && !self.failed
    }

    /// The channel on which it is told that everything learned so far is in the file; none if the file is not in use.
    pub fn flushed(&self) -> Option<Receiver<bool>> {
        self.file.as_ref().map(|open| open.store.flushed())
    }

    /// Learns from a search that has ended, which is added to its game; `in_game`: to the game that is played.
    pub fn search_ended(
        &mut self,
        followed: &mut Followed,
        search: &BegunSearch,
        result: &SearchResult,
        in_game: bool,
    ) -> Vec<Notice> {
        let (game, stored) = (&mut followed.played, result.without_contempt(search.draw));
        let evaluation_id = self.evaluation_id;
        let Some(open) = self.file.as_mut().filter(|_| search.learns) else {
            // The search shows how the game stands.
            Recorder { live: &|_| None, evaluation_id }.search_ended(game, &search.root, &stored);
            return Vec::new();
        };
        let cutoffs = result.learned_cutoffs;
        let mut notices = Vec::new();
        notices.extend((cutoffs > 0).then_some(Notice::LearnedCutoffs(cutoffs)));
        notices.extend(search.overruled(result.line.first()));
        open.store.read_forward();
        let live = |key| open.store.live().get(key);
        let outcome = Recorder { live: &live, evaluation_id }.search_ended(game, &search.root, &stored);
        if let Some(made) = outcome.search.filter(|_| in_game) {
            notices.extend(open.log(&made, &followed.opponent));
        }
        let written = open.store.append_all(outcome.records);
        if let Some(trigger) = outcome.drop.filter(|_| written != Written::Never) {
            let (inside, waits) = (trigger == Trigger::InsideSearch, written == Written::Queued);
            notices.push(Notice::ScoreFell { inside, waits });
        }
        notices
    }

    /// Writes a search of the game to its log.
    pub fn log(&mut self, search: &GameSearch, opponent: &str) {
        if let Some(open) = &mut self.file {
            let notice = open.log(search, opponent);
            self.notices.extend(notice);
        }
    }

    /// Learns from a game that is over, and keeps it.
    pub fn end_game(&mut self, game: &PlayedGame, winner: Option<Color>, kept: Option<&KeptGame>) {
        let Some(open) = &mut self.file else { return };
        // Another process may have written better records.
        open.store.read_forward();
        let live = |key| open.store.live().get(key);
        let recorder = Recorder { live: &live, evaluation_id: self.evaluation_id };
        let records = winner.map(|winner| recorder.game_ended(game, winner)).unwrap_or_default();
        open.store.append_all(records);
        open.store.end_game(kept, open.log.ended(winner));
    }

    /// Closes the file. Queued records are written first, for at most a second; if that is not enough, the logs of their
    /// games stay for the next process.
    pub fn close(&mut self) -> Vec<Notice> {
        self.failed = false;
        let Some(open) = self.file.take() else { return Vec::new() };
        let mut notices = open.other_notices();
        let path = open.store.path().to_owned();
        let records = open.store.close();
        notices.extend((records > 0).then_some(Notice::NotWritten { records, path }));
        notices
    }
}

impl OpenLearnFile {
    /// Writes a search of the game to its log, in case the process is killed. Returns what the user should be told.
    fn log(&mut self, search: &GameSearch, opponent: &str) -> Option<Notice> {
        if self.store.is_read_only() {
            return None;
        }
        let written = self.log.searched(self.store.path(), search, opponent);
        let was_reported = std::mem::replace(&mut self.log_failed, written.is_err());
        written.err().filter(|_| !was_reported).map(|error| Notice::NoGameLog(error.to_string()))
    }

    /// What is said before a search: at first the state of the file, later only changes.
    pub fn notices(&mut self, mode: LearningMode) -> Vec<Notice> {
        let now = self.store.live().len();
        let change = match self.reported.replace(now) {
            None => Some(Notice::Learning {
                path: self.store.path().to_owned(),
                all: mode == LearningMode::All,
                records: now,
            }),
            Some(before) => (before != now).then_some(Notice::Records { now, before }),
        };
        change.into_iter().chain(self.other_notices()).collect()
    }

    /// What the threads that work on the file have to say.
    fn other_notices(&self) -> Vec<Notice> {
        #[cfg(feature = "fleet")]
        let shared = self.share.iter().flat_map(LearningShare::take_messages);
        #[cfg(not(feature = "fleet"))]
        let shared = std::iter::empty();
        let messages = self.store.take_messages().into_iter().chain(shared);
        messages.map(|text| Notice::Failed(Failure::Other, text)).collect()
    }
}
