//! Learning in the engine: before a search records go from the file into the table, and before its move is announced
//! new records go into the file.
//!
//! The file is opened at `isready`, at the latest by the first search, so a disk that hangs delays `readyok`. Once it
//! is open, reading new records and writing one are system calls of microseconds; whatever has to wait for a lock is
//! done by a thread.

use std::sync::Arc;

use shakmaty::Move;

use super::{
    Engine,
    memory::{FileState, LearnOptions, Memory, OpenLearnFile, counted},
    recall::{advised, learned_entry, names, overruled, preferences, with_contempt},
};
#[cfg(feature = "fleet")]
use crate::fleet::{FleetError, LearningShare};
use crate::{
    learn::{
        Mode, Origin, Record, Ring, Store, Written,
        journal::{self, LeftJournals},
        policy::{self, Conditions, LearningMode, NotLearned},
        session::{LearnSession, Root},
    },
    locks::locked,
    position::Path,
    search::{Event, Limits, OnEnd, Preference, Preferences, Resumed, best_line},
    types::{Bound, Depth, Score},
};

/// The input of a search from learning.
#[derive(Default)]
pub(super) struct SearchInput {
    /// The move to search first.
    pub first_move: Option<Move>,
    /// The moves that are preferred.
    pub preferences: Preferences,
    /// To be called with the result of the search.
    pub on_end: Option<Box<OnEnd>>,
}

impl Engine {
    /// Changes the options of learning. If the file changes, the old one is closed and the next search opens the new
    /// one; then, or if the mode changes, learned entries are removed from the table. The same usable file stays open:
    /// match runners send all options again before each game, when the last game has not been learned from yet. Waits
    /// for a running search.
    pub fn set_learning(&mut self, change: impl FnOnce(&mut LearnOptions)) {
        self.stop_study();
        self.wait();
        let before = self.learning.options.clone();
        change(&mut self.learning.options);
        let now = &self.learning.options;
        let (mode, mode_before) = (now.rules.mode, before.rules.mode);
        let turned = (mode == LearningMode::Off) != (mode_before == LearningMode::Off);
        // The file stays open if only these change.
        let same_file = *now == LearnOptions { rules: now.rules, fuzz: now.fuzz, study: now.study, ..before };
        let failed = matches!(self.learning.memory().file, FileState::Failed);
        if failed || !same_file || turned {
            self.close_learning();
        } else if mode != mode_before
            && let FileState::Open(open) = &mut self.learning.memory().file
        {
            self.table.unlearn(open.store.live().keys());
            open.told = None;
        }
    }

    /// Shares the learning file through a server; an empty address ends that. Waits for a running search.
    ///
    /// # Errors
    /// The address is invalid; the previous setting stays.
    #[cfg(feature = "fleet")]
    pub fn set_learn_share(&mut self, address: &str) -> Result<(), FleetError> {
        let server = if address.is_empty() { None } else { Some(address.parse()?) };
        self.set_learning(|learning| learning.server = server);
        Ok(())
    }

    /// Closes the file, after learning from the game so far, whose records belong in this file.
    pub(super) fn close_learning(&self) {
        let mut memory = self.learning.memory();
        memory.end_game(self.last_played());
        if let FileState::Open(open) = &memory.file {
            self.table.unlearn(open.store.live().keys());
        }
        memory.close(&*self.sink);
    }

    /// Opens the learning file before a search, if there is one.
    pub fn prepare_learning(&self) {
        if self.learning.wanted().is_some_and(|file| file.exists()) {
            self.open_learning(&mut self.learning.memory());
        }
    }

    /// Opens the file, creating a missing one, and learns from games whose processes were killed.
    fn open_learning(&self, memory: &mut Memory) {
        let LearnOptions { rules, read_only, .. } = &self.learning.options;
        let (Some(path), FileState::Closed) = (self.learning.wanted(), &memory.file) else { return };
        memory.session = LearnSession::new(self.evaluation_id());
        let store = match Store::open(path, if *read_only { Mode::Read } else { Mode::Write }) {
            Ok(store) => store,
            Err(error) => {
                memory.messages.push(format!("nothing is learned: {error}"));
                memory.file = FileState::Failed;
                return;
            }
        };
        let mut left_journals = LeftJournals::default();
        if !store.is_read_only() {
            match journal::take_over(path, rules, &memory.session, &|key| store.live().get(key)) {
                Ok((records, journals)) => {
                    if !records.is_empty() {
                        let count = counted(records.len(), "record");
                        memory.messages.push(format!("learning: {count} of games whose engines were killed"));
                    }
                    match store.append_all(records) {
                        Written::Now => journals.remove(),
                        // If this process is killed before, the next one takes them over.
                        Written::Queued => left_journals = journals,
                        Written::Never => {}
                    }
                }
                Err(error) => log::debug!("games of killed engines cannot be looked for: {error}"),
            }
        }
        memory.file = FileState::Open(OpenLearnFile {
            #[cfg(feature = "fleet")]
            share: self
                .learning
                .options
                .server
                .as_ref()
                .filter(|_| !store.is_read_only())
                .map(|server| LearningShare::start(server.clone(), path.clone())),
            store,
            journal: None,
            left_journals,
            told: None,
        });
    }

    /// Loads the records of positions that can still occur into the table, and returns the other input of the search.
    /// `analysis`: the search is not made to play a move.
    pub(super) fn search_input(&mut self, limits: &Limits, analysis: bool) -> SearchInput {
        if self.learning.wanted().is_none() {
            return SearchInput::default();
        }
        if self.strength_limits.is_limited() {
            if !std::mem::replace(&mut self.learning.limit_told, true) {
                self.say("learning: an engine of limited strength uses no memory and adds none".to_owned());
            }
            return SearchInput::default();
        }
        let mode = self.learning.options.rules.mode;
        let mut memory = self.learning.memory();
        self.open_learning(&mut memory);
        std::mem::take(&mut memory.messages).into_iter().for_each(|message| self.say(message));
        memory.leave_games(&self.line, analysis);
        let FileState::Open(open) = &mut memory.file else { return SearchInput::default() };
        open.store.read_forward();
        self.table.unlearn(open.store.take_gone());
        open.messages(mode).into_iter().for_each(|message| self.say(message));
        let ring = open.store.live();
        self.fill_table(&ring);
        let known = ring.get(self.root.key());
        let advised = known.as_ref().map(|record| advised(record, &self.root)).unwrap_or_default();
        if !advised.is_empty() {
            self.say(format!("learning: advised here: {}", names(&advised, &self.root)));
        }
        let known = known.filter(|record| policy::is_used(mode, record));
        let first_move = known.and_then(|record| self.root.unpack(record.best));
        let preferences = if !advised.is_empty() {
            Preferences(advised.iter().map(|&m| (m, Preference::Advised)).collect())
        } else if analysis {
            Preferences::default()
        } else {
            preferences(&ring, &self.root, &self.path)
        };
        SearchInput { first_move, preferences, on_end: Some(self.on_end(limits, analysis, advised)) }
    }

    /// Loads the records of positions that can still occur into the table. Outcomes of games are left out: they are
    /// preferences for moves, not scores.
    fn fill_table(&self, ring: &Ring) {
        let LearnOptions { rules, fuzz, .. } = self.learning.options;
        let relevant = ring.relevant(&self.root, self.table.learned_share());
        let is_used =
            |record: &&Record| record.origin != Origin::Outcome && policy::is_used(rules.mode, record);
        let (evaluation_id, strength) = (self.evaluation_id(), self.strength_limits.strength());
        let brought = self.table.insert_learned(relevant.iter().filter(is_used).filter_map(|record| {
            Some(with_contempt(learned_entry(record, evaluation_id, fuzz)?, record, &strength, &self.root))
        }));
        if self.settings.debug {
            let in_reach = counted(relevant.len(), "record");
            self.say(format!("learning: {in_reach} in reach, {brought} new in the table"));
        }
    }

    /// The learned result of an earlier analysis of the root, if it has a move and is valid at the end of `path`.
    pub(super) fn learned_result(&self, path: &Path) -> Option<Resumed> {
        let memory = self.learning.memory();
        let FileState::Open(open) = &memory.file else { return None };
        let (ring, root, evaluation_id) = (open.store.live(), &self.root, self.evaluation_id());
        let searched = |key| ring.get(key).filter(|record| record.is_search_with(evaluation_id));
        let record = searched(root.key())?;
        let window = learned_entry(&record, evaluation_id, 0)?.at_root(path)?;
        let (score, bound) = match window.exact() {
            Some(score) => (score, Bound::Exact),
            None => (window.lower, Bound::Lower),
        };
        if bound == Bound::Lower && window.upper < Score::INFINITE || score == -Score::INFINITE {
            return None;
        }
        let (depth, first) = (Depth(i32::from(record.depth)), root.unpack(record.best)?);
        let line = best_line(root, first, depth, |key| Some(searched(key)?.best));
        Some(Resumed { depth, score, bound, line })
    }

    /// The function that learns from the result of the search.
    fn on_end(&self, limits: &Limits, analysis: bool, advised: Vec<Move>) -> Box<OnEnd> {
        let (memory, sink) = (Arc::clone(&self.learning.memory), Arc::clone(&self.sink));
        let reasons = [
            (!limits.search_moves.is_empty(), NotLearned::SearchMoves),
            (limits.mate.is_some(), NotLearned::Mate),
            (self.path.has_repeated(), NotLearned::Repetition),
        ];
        let not_learned = reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason));
        let conditions = Conditions { rules: self.learning.options.rules, analysis, not_learned };
        let root = Root { position: self.root.clone(), line: self.line.clone(), conditions };
        let draw = self.strength_limits.strength().draw(&self.root, &self.root);
        Box::new(move |ending| {
            let cutoffs = (ending.learned_cutoffs > 0)
                .then(|| counted(ending.learned_cutoffs as usize, "cutoff"))
                .map(|cutoffs| format!("learning: {cutoffs} by learned entries"));
            let overruled = overruled(&advised, ending.result.line.first(), &root.position);
            let learned = locked(&memory).search_ended(&root, ending, draw);
            let messages = [cutoffs, overruled, learned].into_iter().flatten();
            messages.for_each(|message| sink(Event::Message(message)));
        })
    }

    /// The evaluation that scores in records come from.
    pub(super) fn evaluation_id(&self) -> u16 {
        self.evaluation.evaluation().fingerprint()
    }
}
