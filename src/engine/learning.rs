//! Learning in the engine: before a search records go from the file into the table, and before its move is announced
//! new records go into the file.
//!
//! The file is opened at `isready`, at the latest by the first search, so a disk that hangs delays `readyok`. Once it
//! is open, reading new records and writing one are system calls of microseconds; whatever has to wait for a lock is
//! done by a thread.

use shakmaty::Move;

use super::{
    Engine,
    game::{BegunSearch, Game},
    learn_state::{LearnOptions, Memory, OpenLearnFile},
    records::{advised, learned_entry, moves_to_uci, preferences, with_contempt},
};
#[cfg(feature = "fleet")]
use crate::fleet::{FleetError, LearningShare};
use crate::{
    learn::{
        FileError, Mode, Origin, Record, Ring, Store, Written,
        game_log::{self, GameLog, LeftGame},
        policy::{self, Conditions, LearningMode, NotLearned},
        session::{Recorder, Root},
    },
    notice::Notice,
    position::PositionPath,
    search::{Limits, Preference, Preferences, Resumed, best_line},
    types::{Bound, Depth, Score},
};

/// The input of a search from learning.
#[derive(Default)]
pub(super) struct SearchInput {
    /// The move to search first.
    pub first_move: Option<Move>,
    /// The moves that are preferred.
    pub preferences: Preferences,
    /// The moves that are advised.
    pub advised: Vec<Move>,
    /// Is the file used?
    learns: bool,
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
        let failed = self.game().memory.failed;
        if failed || !same_file || turned {
            self.close_learning();
        } else if mode != mode_before
            && let Some(open) = &mut self.game().memory.file
        {
            self.table.unlearn(open.store.live().keys());
            open.reported = None;
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
        let mut game = self.game();
        if game.memory.file.is_some() {
            game.end();
        }
        if let Some(open) = &game.memory.file {
            self.table.unlearn(open.store.live().keys());
        }
        let notices = game.memory.close();
        drop(game);
        self.say_all(notices);
    }

    /// Opens the learning file before a search, if there is one. Says at once if that fails, or if the one that the user
    /// has named cannot be made.
    pub fn prepare_learning(&self) {
        let LearnOptions { rules, file, read_only, .. } = &self.learning.options;
        if rules.mode == LearningMode::Off {
            return;
        }
        let mut game = self.game();
        match self.learning.wanted().filter(|path| !path.exists()) {
            None => self.open_learning(&mut game.memory),
            Some(missing) => {
                if file.is_some()
                    && !read_only
                    && game.memory.is_unopened()
                    && let Err(error) = Store::check_missing(missing)
                {
                    game.memory.failed(&error);
                }
            }
        }
        if game.memory.failed {
            self.say_all(std::mem::take(&mut game.memory.notices));
        }
    }

    /// Opens the file, creating a missing one, and learns from games whose processes were killed.
    fn open_learning(&self, memory: &mut Memory) {
        let LearnOptions { rules, read_only, .. } = &self.learning.options;
        if !memory.is_unopened() {
            return;
        }
        let Some(path) = self.learning.wanted() else { return memory.failed(&FileError::NoFolder) };
        memory.evaluation_id = self.evaluation_id();
        let store = match Store::open(path, if *read_only { Mode::Read } else { Mode::Write }) {
            Ok(store) => store,
            Err(error) => return memory.failed(&error),
        };
        if !store.is_read_only() {
            let live = |key| store.live().get(key);
            let recorder = Recorder { live: &live, evaluation_id: memory.evaluation_id };
            match game_log::take_over(path, rules, &recorder) {
                Ok(left) => {
                    let records = left.iter().map(|game| game.records.len()).sum();
                    memory.notices.extend((records > 0).then_some(Notice::LeftGames(records)));
                    for LeftGame { records, kept, log } in left {
                        if store.append_all(records) != Written::Never {
                            store.end_game(kept.as_ref(), Some(log));
                        }
                    }
                }
                Err(error) => log::debug!("games of killed engines cannot be looked for: {error}"),
            }
        }
        memory.file = Some(OpenLearnFile {
            #[cfg(feature = "fleet")]
            share: self
                .learning
                .options
                .server
                .as_ref()
                .filter(|_| !store.is_read_only())
                .map(|server| LearningShare::start(server.clone(), path.clone())),
            store,
            log: GameLog::default(),
            log_failed: false,
            reported: None,
        });
    }

    /// What a search takes from learning; its game is told that it begins. `analysis`: it is not made to play a move;
    /// `in_tree`: its root was searched in the tree.
    pub(super) fn begin_search(&mut self, limits: &Limits, analysis: bool, in_tree: bool) -> SearchInput {
        let input = self.search_input(limits, analysis);
        let reasons = [
            (!limits.search_moves.is_empty(), NotLearned::SearchMoves),
            (limits.mate.is_some(), NotLearned::Mate),
            (self.path.has_repeated(), NotLearned::Repetition),
        ];
        let not_learned = reasons.into_iter().find_map(|(applies, reason)| applies.then_some(reason));
        let mut rules = self.learning.options.rules;
        if !input.learns {
            rules.mode = LearningMode::Off;
        }
        let draw = self.strength_limits.strength().draw(self.root.turn(), &self.root);
        let mut game = self.game();
        // No game confirms the drops of a side that the engine does not play.
        let analysis = analysis || rules.mode == LearningMode::Drop && game.is_look();
        let conditions = Conditions { rules, analysis, not_learned };
        let (position, line) = (self.root.clone(), game.line().clone());
        let root = Root { position, line, conditions, in_tree };
        game.begin_search(BegunSearch { root, draw, advised: input.advised.clone(), learns: input.learns });
        drop(game);
        input
    }

    /// Loads the records of positions that can still occur into the table, and returns the other input of the search.
    fn search_input(&mut self, limits: &Limits, analysis: bool) -> SearchInput {
        let mode = self.learning.options.rules.mode;
        if mode == LearningMode::Off {
            return SearchInput::default();
        }
        if self.strength_limits.is_limited() {
            if !std::mem::replace(&mut self.learning.limit_reported, true) {
                self.say(Notice::LimitedMemory);
            }
            return SearchInput::default();
        }
        let mut game = self.game();
        let Game { memory, .. } = &mut *game;
        self.open_learning(memory);
        self.say_all(std::mem::take(&mut memory.notices));
        let Some(open) = &mut memory.file else { return SearchInput::default() };
        open.store.read_forward();
        self.table.unlearn(open.store.take_gone());
        self.say_all(open.notices(mode));
        let ring = open.store.live();
        self.fill_table(&ring);
        let known = ring.get(self.root.key());
        let mut advised = known.as_ref().map(|record| advised(record, &self.root)).unwrap_or_default();
        advised.retain(|m| limits.search_moves.is_empty() || limits.search_moves.contains(m));
        if !advised.is_empty() {
            self.say(Notice::Advised(moves_to_uci(&advised, &self.root)));
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
        SearchInput { first_move, preferences, advised, learns: true }
    }

    /// Loads the records of positions that can still occur into the table. Outcomes of games are left out: they are
    /// preferences for moves, not scores.
    fn fill_table(&self, ring: &Ring) {
        let LearnOptions { rules, fuzz, .. } = self.learning.options;
        let relevant = ring.relevant(&self.root, self.table.learned_share());
        let is_used =
            |record: &&Record| record.origin != Origin::Outcome && policy::is_used(rules.mode, record);
        let (evaluation_id, strength) = (self.evaluation_id(), self.strength_limits.strength());
        // A deeper score of the tree, which is in the table already, is better than all but advice.
        let in_tree = &self.tree.in_table;
        let brought = self.table.insert_learned(relevant.iter().filter(is_used).filter_map(|record| {
            let entry = learned_entry(record, evaluation_id, fuzz)?;
            let counts = record.origin == Origin::Advice
                || in_tree.get(&entry.key).is_none_or(|&depth| depth <= entry.depth);
            let turn = || Some(record.position().ok()?.turn());
            counts.then(|| with_contempt(entry, &strength, &self.root, turn))
        }));
        if self.settings.debug {
            self.say(Notice::InReach { records: relevant.len(), new: brought });
        }
    }

    /// The learned result of an earlier analysis of the root, if it has a move and is valid at the end of `path`.
    pub(super) fn learned_result(&self, path: &PositionPath) -> Option<Resumed> {
        let game = self.game();
        let Some(open) = &game.memory.file else { return None };
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

    /// The evaluation that scores in records come from.
    pub(super) fn evaluation_id(&self) -> u16 {
        self.evaluation.evaluation().fingerprint()
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{Arc, mpsc},
        time::Instant,
    };

    use super::*;
    use crate::{notice::Failure, search::Event};

    #[test]
    fn that_there_is_no_place_for_the_file_is_told_once() {
        let (told, hears) = mpsc::channel();
        let mut engine = Engine::new(Arc::new(move |event| {
            if let Event::Notice(notice) = event {
                let _ = told.send(notice);
            }
        }));
        engine.set_learning(|options| options.rules.mode = LearningMode::Drop);
        engine.prepare_learning();
        engine.prepare_learning();
        engine.go(Limits { depth: Some(Depth(1)), infinite: false, ..Limits::default() }, Instant::now());
        engine.wait();
        let notices: Vec<Notice> = hears.try_iter().collect();
        let text = FileError::NoFolder.to_string();
        assert_eq!(notices, [Notice::Failed(Failure::Learning, text)]);
    }
}
