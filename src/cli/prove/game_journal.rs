//! The games of an experiment in its [journal](crate::cli::journal), from which an interrupted experiment resumes.

use std::{collections::HashSet, path::Path};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use shakmaty::{Move, uci::UciMove};

use super::game::GameEnding;
use crate::{
    cli::{
        CliError,
        journal::{self, EarlierRun},
        value_name,
    },
    learn::{Record, record},
    position::Position,
};

/// An arm of the experiment: what Engram may remember.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Arm {
    /// Nothing.
    Off,
    /// What it learned in earlier rounds.
    Learn,
    /// As many records, but of the wrong positions.
    Placebo,
    /// What it learned in earlier rounds, each opening and lost game studied.
    Study,
}

impl Arm {
    pub fn name(self) -> String {
        value_name(self)
    }
}

/// The place of a game in the experiment, in the order in which records count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct GameSlot {
    /// From 1.
    pub round: u32,
    /// From 0.
    pub opening: usize,
    /// Does Engram play White?
    pub white: bool,
    pub arm: Arm,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct GameEntry {
    #[serde(flatten)]
    pub slot: GameSlot,
    /// Engram's half points: 0, 1, 2.
    pub points: u8,
    pub ending: GameEnding,
    #[serde(with = "moves")]
    pub moves: Vec<UciMove>,
    /// Cutoffs by learned records in Engram's searches.
    pub cutoffs: u64,
    /// Mean depth of Engram's searches, in plies.
    pub depth: f64,
    /// Nodes of the study after it.
    pub study_nodes: u64,
    /// What was learned.
    #[serde(with = "records")]
    pub records: Vec<Record>,
}

impl GameEntry {
    /// The records, with session and time that identify the game.
    pub fn remembered(&self) -> impl Iterator<Item = Record> + '_ {
        let GameSlot { round, opening, white, .. } = self.slot;
        let session = 2 * opening as u32 + u32::from(white);
        self.records.iter().map(move |record| Record { session, time: round, ..record.clone() })
    }

    /// The positions of the game before each of its moves, and the moves.
    pub fn positions(&self, start: &Position) -> Vec<(Position, Move)> {
        let moves = start.line(&self.moves).unwrap_or_default();
        start.along(&moves).into_iter().zip(moves).collect()
    }
}

/// Moves in UCI notation, separated by spaces.
mod moves {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use shakmaty::uci::UciMove;

    pub fn serialize<S: Serializer>(moves: &[UciMove], serializer: S) -> Result<S::Ok, S::Error> {
        let words: Vec<String> = moves.iter().map(ToString::to_string).collect();
        serializer.serialize_str(&words.join(" "))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<UciMove>, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.split_whitespace().map(|word| word.parse().map_err(D::Error::custom)).collect()
    }
}

/// Records in hexadecimal, without their place in a file.
mod records {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::{Record, record};

    pub fn serialize<S: Serializer>(records: &[Record], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(records.iter().map(|record| {
            let bytes = record.payload();
            bytes[..record::PAYLOAD].iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        }))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Record>, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        let read = |text: &String| read(text).ok_or_else(|| D::Error::custom("no record"));
        texts.iter().map(read).collect()
    }

    fn read(text: &str) -> Option<Record> {
        let mut bytes = [0; record::RECORD_SIZE];
        if text.len() != 2 * record::PAYLOAD || !text.is_ascii() {
            return None;
        }
        for (index, byte) in bytes[..record::PAYLOAD].iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
        }
        record::decode(&bytes)
    }
}

/// The journal and its games.
pub(super) struct GameJournal {
    journal: journal::Journal,
    pub entries: Vec<GameEntry>,
}

impl GameJournal {
    /// Opens the journal at `path`, or begins it. `setup` describes the experiment; a journal of another one is
    /// replaced if it has no game.
    pub fn open(path: &Path, setup: &Value) -> Result<GameJournal, CliError> {
        let earlier = EarlierRun::find(path.to_owned(), setup, "name another folder with --out")?;
        let (journal, mut results) = earlier.resume()?;
        let mut slots = HashSet::new();
        // A game that two processes wrote counts once.
        let entries = std::iter::from_fn(|| results.next::<GameEntry>());
        let entries = entries.filter(|entry| slots.insert(entry.slot)).collect();
        Ok(GameJournal { journal, entries })
    }

    /// Adds a game.
    pub fn push(&mut self, entry: GameEntry) -> Result<(), CliError> {
        self.journal.add(&entry)?;
        self.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::learn::{LearnedScore, Origin};

    #[test]
    fn a_game_is_read_as_it_was_written_and_counts_once() {
        let mut record = Record::new(&Position::default(), Origin::Drop).expect("it fits");
        (record.lower, record.depth) = (LearnedScore::from_centipawns(-51), 9);
        let entry = |round| GameEntry {
            slot: GameSlot { round, opening: 3, white: true, arm: Arm::Placebo },
            points: 1,
            ending: GameEnding::Repetition,
            moves: vec!["e2e4".parse().expect("a move"), "e7e5".parse().expect("a move")],
            cutoffs: 17,
            depth: 8.25,
            study_nodes: 0,
            records: vec![record.clone()],
        };
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("journal.jsonl");
        let open = || GameJournal::open(&path, &json!({ "engram": "0" })).expect("the same experiment");
        let mut journal = open();
        for round in [1, 2, 2] {
            journal.push(entry(round)).expect("written");
        }
        drop(journal);
        assert_eq!(open().entries, [entry(1), entry(2)]);
        let text = std::fs::read_to_string(&path).expect("a journal");
        assert!(text.contains("\"ending\":\"threefold repetition\",\"moves\":\"e2e4 e7e5\""), "{text}");
    }
}
