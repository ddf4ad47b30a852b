//! A batch of positions as a task for another machine, and the findings as its result: portable text that is validated
//! when it is read.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use shakmaty::{CastlingMode, Position as _, fen::Fen, uci::UciMove};

use super::{
    finding_journal::WrittenFinding,
    pool::{Finding, MoveList, SearchBudget, SearchSettings},
};
use crate::{cli::json, eval, position::Position};

/// Positions of one start and moves from it.
#[derive(Serialize, Deserialize)]
pub(in crate::cli) struct BatchTask {
    start: String,
    chess960: bool,
    moves: String,
    /// Moves before the first position that may be searched.
    lead: usize,
    first: usize,
    count: usize,
    /// How they are searched.
    pub settings: SearchBudget,
}

impl BatchTask {
    /// The positions of `work` after each number of moves in `plies`.
    pub(super) fn new(work: &MoveList, plies: &Range<usize>, settings: &SearchBudget) -> BatchTask {
        // Moves after the last position are not part of the task.
        let moves = work.moves.iter().take(work.lead + plies.end - 1).map(UciMove::to_string);
        BatchTask {
            start: work.start.fen(),
            chess960: work.start.chess().castles().mode().is_chess960(),
            moves: moves.collect::<Vec<_>>().join(" "),
            lead: work.lead,
            first: plies.start,
            count: plies.len(),
            settings: settings.clone(),
        }
    }

    /// The moves and positions to be searched, as item number `item`.
    ///
    /// # Errors
    /// What is wrong with the task.
    pub(in crate::cli) fn work(&self, item: usize) -> Result<(MoveList, Range<usize>), String> {
        let setup = self.start.parse::<Fen>().map_err(|error| error.to_string())?.into_setup();
        let mode = CastlingMode::from_chess960(self.chess960);
        let start = Position::from_setup(setup, mode).map_err(|_| "its position is not legal")?;
        let moves: Option<Vec<UciMove>> =
            self.moves.split_whitespace().map(|word| word.parse().ok()).collect();
        let moves =
            moves.filter(|moves| start.line(moves).is_some()).ok_or("it has a move that is not legal")?;
        let plies = self.first..self.first.saturating_add(self.count);
        let SearchBudget { depth, nodes, movetime, .. } = self.settings;
        if plies.is_empty()
            || plies.end.saturating_add(self.lead) > moves.len() + 1
            || depth.is_none() && nodes.is_none() && movetime.is_none()
        {
            return Err("it names no positions, or no limit".to_owned());
        }
        Ok((MoveList { item, start, moves, lead: self.lead }, plies))
    }

    /// What each of its searches may use, within the bounds of the engine.
    pub(in crate::cli) fn budget(&self) -> SearchBudget {
        SearchBudget {
            multipv: self.settings.multipv.clamp(1, 256),
            hash: self.settings.hash.clamp(1, 262_144),
            ..self.settings
        }
    }

    /// The settings of `workers` workers of one thread each that search such tasks.
    pub(in crate::cli) fn search_settings(&self, workers: usize) -> SearchSettings {
        let budget = self.budget();
        SearchSettings { budget, workers, threads: 1, ..SearchSettings::default() }
    }
}

/// The version of search and evaluation. Tasks are shared only among programs of the same version, which find the same.
pub(in crate::cli) fn version() -> String {
    format!("{}-{:04x}", env!("CARGO_PKG_VERSION"), eval::fingerprint())
}

/// Findings about consecutive positions, as text.
pub(in crate::cli) fn result(findings: &[Finding]) -> String {
    let written = |(ply, finding)| WrittenFinding::of(0, ply, finding);
    json(&findings.iter().enumerate().map(written).collect::<Vec<_>>())
}

/// The findings in a text about the positions of `work` after `plies` moves; `None` if it is about others, or has
/// illegal moves.
pub(super) fn read_result(text: &str, work: &MoveList, plies: &Range<usize>) -> Option<Vec<Finding>> {
    let written: Vec<WrittenFinding> = serde_json::from_str(text).ok()?;
    if written.len() != plies.len() {
        return None;
    }
    let positions = work.start.along(&work.start.line(work.moves.get(..work.lead + plies.end - 1)?)?);
    written
        .into_iter()
        .zip(&positions[work.lead + plies.start..])
        .map(|(finding, position)| finding.finding(position))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> (MoveList, BatchTask) {
        let moves = "e2e4 e7e5 g1f3".split(' ').map(|m| m.parse().expect("a move")).collect();
        let work = MoveList { item: 4, start: Position::default(), moves, lead: 0 };
        let settings = SearchBudget { depth: Some(3), multipv: 1, hash: 1, ..SearchBudget::default() };
        let task = BatchTask::new(&work, &(1..3), &settings);
        (work, task)
    }

    #[test]
    fn a_task_is_the_same_for_whoever_does_it_and_whatever_comes_behind_it() {
        let (work, task) = task();
        let text = serde_json::to_string(&task).expect("text");
        assert!(!text.contains("g1f3"), "{text}");
        let read: BatchTask = serde_json::from_str(&text).expect("a task");
        let (same, plies) = read.work(9).expect("sound");
        assert_eq!((same.item, &same.moves[..], plies), (9, &work.moves[..2], 1..3));
        assert_eq!(read.settings, task.settings);
    }

    #[test]
    fn tasks_and_results_by_strangers_are_refused() {
        let (work, task) = task();
        for (field, value) in [
            ("start", "\"8/8/8/8/8/8/8/8 w - - 0 1\""),
            ("moves", "\"e2e5\""),
            ("first", "3"),
            ("lead", "18446744073709551615"),
            ("count", "0"),
            ("count", "18446744073709551615"),
            (
                "settings",
                "{\"depth\":null,\"nodes\":null,\"movetime\":null,\"multipv\":1,\"hash\":1,\"check_best\":false}",
            ),
        ] {
            let mut wrong = serde_json::to_value(&task).expect("a value");
            wrong[field] = serde_json::from_str(value).expect("a value");
            let read: BatchTask = serde_json::from_value(wrong).expect("the right fields");
            assert!(read.work(0).is_err(), "{field} {value}");
        }
        let finding = Finding { depth: 3, nodes: 70, ..Finding::default() };
        let text = result(&[finding.clone(), finding.clone()]);
        assert_eq!(read_result(&text, &work, &(1..3)), Some(vec![finding.clone(), finding]));
        assert_eq!(read_result(&text, &work, &(1..2)), None);
        assert_eq!(read_result("[]", &work, &(1..3)), None);
        let illegal = text.replace("\"lines\":[]", "\"lines\":[[5,false,[\"e2e4\"]]]");
        assert_ne!(illegal, text);
        assert_eq!(read_result(&illegal, &work, &(1..3)), None);
    }
}
