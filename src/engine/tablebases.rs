//! The tablebases, probed before a search and in it.

use std::sync::Arc;

use shakmaty::Move;

use super::Engine;
use crate::{
    notice::{Failure, Notice},
    search::{Probing, Tablebases},
    syzygy::Tablebase,
    types::Score,
};

impl Engine {
    /// Uses the Syzygy tables in the folders of `list` (separated as in the variable `PATH`) from the next search on;
    /// none if it is empty. Messages say what was found and what could not be used.
    pub fn set_syzygy_path(&mut self, list: &str) {
        self.tables = None;
        let list = list.trim();
        if list.is_empty() {
            return;
        }
        let (tables, complaints) = Tablebase::open(list);
        for complaint in complaints {
            self.say(Notice::Failed(Failure::Other, complaint));
        }
        let (files, pieces) = (tables.files(), tables.max_pieces());
        if files > 0 {
            self.say(Notice::Tablebases { files, pieces });
            self.tables = Some(Arc::new(tables));
        } else {
            self.say(Notice::NoTablebases);
        }
    }

    /// Does a tablebase result count only if the fifty-move rule does not spoil it? If that changes, the
    /// transposition table is emptied, whose scores rest on the other answer, and a hash file of the other answer is
    /// closed untouched. Waits for a running search.
    pub fn set_syzygy_fifty(&mut self, on: bool) {
        if on != self.settings.probe_rules.fifty {
            self.settings.probe_rules.fifty = on;
            self.clear_hash();
            self.hash_file.reopen();
        }
    }

    /// A line from the current position, extended by the moves of the tables, at most `most` plies in all.
    pub fn with_tablebase_moves(&self, line: &[Move], score: Score, most: usize) -> Vec<Move> {
        match self.probing() {
            Some(probing) => probing.extended(&self.root, &self.path, line, score, most),
            None => line.to_vec(),
        }
    }

    fn probing(&self) -> Option<Probing> {
        let (tables, mut rules) = (Arc::clone(self.tables.as_ref()?), self.settings.probe_rules);
        rules.max_pieces = rules.max_pieces.min(tables.max_pieces());
        Some(Probing { tables, rules })
    }

    /// The ranking of the root moves, and how the search probes the tables; none at limited strength, which would play
    /// endings perfectly. `plays`: a move is to be played, so after a repetition it must make progress; an analysis looks
    /// for the mate.
    pub(super) fn tablebases(&self, plays: bool) -> Tablebases {
        let Some(probing) = self.probing().filter(|_| !self.strength_limits.is_limited()) else {
            return Tablebases::default();
        };
        let ranking = probing.rank(&self.root, &self.path, plays && self.path.has_repeated());
        for complaint in probing.tables.take_messages() {
            self.say(Notice::Failed(Failure::Other, complaint));
        }
        Tablebases::new(Some(probing), ranking)
    }
}
