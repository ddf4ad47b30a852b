//! Findings in the [journal](crate::cli::journal), by item, ply and what the search was for.
//!
//! They are written as they come, but an item is begun only when all those [`MAX_PENDING`] or more before it are
//! done. So reading back a journal of any length keeps at most that many items in memory, and only a few where nothing
//! is missing.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shakmaty::{CastlingMode, Move};

use super::pool::{Finding, FoundAt, MAX_PENDING, SearchKind};
use crate::{
    cli::{
        CliError,
        journal::{self, EarlierRun, Results},
    },
    files::{resolve, with_suffix},
    position::Position,
    types::{Depth, Score, ScoredLine},
};

const ADVICE: &str =
    "finish that run with its settings and input, delete the file and add --force, or name other outputs";

/// Looks for the journal of an earlier run of the same work beside an output file.
pub(super) fn find(output: &Path, setup: &Value) -> Result<EarlierRun, CliError> {
    // Beside the file itself, not beside a link to it (`/dev/fd/3` is one).
    let target =
        if output.is_symlink() { output.canonicalize().or_else(|_| resolve(output)).ok() } else { None };
    let journal = with_suffix(target.unwrap_or_else(|| output.to_owned()), ".unfinished");
    EarlierRun::find(journal, setup, ADVICE)
}

/// The journal of one run.
pub(super) struct FindingJournal {
    journal: journal::Journal,
    earlier: Results,
    /// Findings that were read and not asked for yet.
    known: BTreeMap<(usize, usize, SearchKind), WrittenFinding>,
}

/// A finding as it is written: scores in internal units, moves in UCI notation.
#[derive(Serialize, Deserialize)]
pub(super) struct WrittenFinding {
    item: usize,
    ply: usize,
    #[serde(default, skip_serializing_if = "SearchKind::is_analysis")]
    kind: SearchKind,
    depth: i32,
    nodes: u64,
    millis: u64,
    lines: Vec<(i32, bool, Vec<String>)>,
    changes: Vec<(u64, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mates: Vec<(u64, i32)>,
}

impl FindingJournal {
    /// Resumes `earlier`, or begins a new one.
    pub(super) fn resume(earlier: EarlierRun) -> Result<FindingJournal, CliError> {
        let (journal, earlier) = earlier.resume()?;
        Ok(FindingJournal { journal, earlier, known: BTreeMap::new() })
    }

    /// The finding of an earlier run about `position`, if there is one. Items are begun in ascending order; findings
    /// about earlier items are dropped then.
    pub(super) fn take(
        &mut self,
        item: usize,
        ply: usize,
        kind: SearchKind,
        position: &Position,
    ) -> Option<Finding> {
        self.known = self.known.split_off(&(item, 0, SearchKind::Analysis));
        let place = (item, ply, kind);
        while !self.known.contains_key(&place)
            && self.known.last_key_value().is_none_or(|(&(last, ..), _)| last < item + MAX_PENDING)
        {
            let Some(entry) = self.earlier.next::<WrittenFinding>() else { break };
            self.known.insert((entry.item, entry.ply, entry.kind), entry);
        }
        self.known.remove(&place)?.finding(position)
    }

    /// Adds a finding.
    pub(super) fn add(&mut self, answer: &FoundAt) -> Result<(), CliError> {
        let FoundAt { item, ply, kind, ref finding } = *answer;
        self.journal.add(&WrittenFinding { kind, ..WrittenFinding::of(item, ply, finding) })
    }

    /// Removes the journal: the work is done.
    pub(super) fn remove(self) {
        self.journal.remove();
    }
}

impl WrittenFinding {
    /// The finding of an analysis about the position after `ply` moves of an item.
    pub(super) fn of(item: usize, ply: usize, finding: &Finding) -> WrittenFinding {
        let line = |found: &ScoredLine| {
            (found.score.0, found.is_drawn, found.moves.iter().copied().map(uci).collect())
        };
        WrittenFinding {
            item,
            ply,
            kind: SearchKind::Analysis,
            depth: finding.depth,
            nodes: finding.nodes,
            millis: finding.millis,
            lines: finding.lines.iter().map(line).collect(),
            changes: finding.changes.iter().map(|&(millis, m)| (millis, uci(m))).collect(),
            mates: finding.mates.clone(),
        }
    }

    /// The finding about `position`; `None` if a move is not legal there, or a number is none of a search.
    pub(super) fn finding(self, position: &Position) -> Option<Finding> {
        let is_score = |score: i32| (-Score::INFINITE.0..=Score::INFINITE.0).contains(&score);
        let are_scores = self.lines.iter().all(|&(score, ..)| is_score(score));
        if !are_scores || !(0..=Depth::MAX.0).contains(&self.depth) {
            return None;
        }
        let line = |(score, is_drawn, moves): (i32, bool, Vec<String>)| {
            let moves = moves.iter().map(|uci| uci.parse().ok()).collect::<Option<Vec<_>>>()?;
            Some(ScoredLine { score: Score(score), is_drawn, moves: position.line(&moves)? })
        };
        let change = |(millis, uci): (u64, String)| Some((millis, position.legal_move(&uci)?));
        Some(Finding {
            depth: self.depth,
            nodes: self.nodes,
            millis: self.millis,
            lines: self.lines.into_iter().map(line).collect::<Option<_>>()?,
            changes: self.changes.into_iter().map(change).collect::<Option<_>>()?,
            mates: self.mates,
            first_confirmation: None,
        })
    }
}

fn uci(m: Move) -> String {
    m.to_uci(CastlingMode::Chess960).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer() -> FoundAt {
        let position = Position::default();
        let m = |text: &str| position.legal_move(text).unwrap();
        let finding = Finding {
            depth: 7,
            nodes: 12_345,
            millis: 60,
            lines: vec![
                ScoredLine { score: Score(31), is_drawn: false, moves: vec![m("e2e4")] },
                ScoredLine { score: Score(-4), is_drawn: true, moves: vec![m("d2d4")] },
            ],
            changes: vec![(1, m("g1f3")), (40, m("e2e4"))],
            mates: vec![(40, 3)],
            first_confirmation: None,
        };
        FoundAt { item: 3, ply: 0, kind: SearchKind::Analysis, finding }
    }

    fn open(output: &Path) -> FindingJournal {
        FindingJournal::resume(find(output, &json!({ "engram": "0" })).unwrap()).unwrap()
    }

    #[test]
    fn a_long_journal_is_read_with_little_of_it_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let items = 3 * MAX_PENDING;
        // Each block of items backwards: as a few workers write them, and as far out of order as possible.
        for block in [10, MAX_PENDING] {
            let output = folder.path().join(format!("{block}.pgn"));
            let mut journal = open(&output);
            let numbers: Vec<usize> = (0..items).collect();
            for item in numbers.chunks(block).flat_map(|block| block.iter().rev()) {
                journal.add(&FoundAt { item: *item, ..answer() }).unwrap();
            }
            drop(journal);
            let mut journal = open(&output);
            for item in 0..items {
                let found = journal.take(item, 0, SearchKind::Analysis, &Position::default());
                assert_eq!(found, Some(answer().finding), "{item}");
                assert!(journal.known.len() < block, "{}", journal.known.len());
            }
            assert_eq!(journal.take(items, 0, SearchKind::Analysis, &Position::default()), None);
        }
    }
}
