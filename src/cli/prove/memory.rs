//! What an arm remembers: its learning file, created for each round from the records of the earlier rounds and
//! copied for each game. So the records of a round become visible at its end, in the same order no matter how many
//! games run at once.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    game_journal::{GameEntry, GameSlot},
    statistics::seeded,
};
use crate::{
    cli::{CliError, refused, write_records},
    learn::{Flags, LearnFile, Mode, Record},
    position::Position,
    types::PackedMove,
};

/// The name of each file, in its folder.
const NAME: &str = "learn.bin";

/// The learning file of an arm in one round; each game gets a copy.
pub(super) struct ArmFile {
    folder: TempDir,
    /// Sequence number of its newest record.
    newest: u64,
}

impl ArmFile {
    /// Makes the file, in a folder of its own within `work`.
    pub fn make(work: &Path, records: &[Record]) -> Result<ArmFile, CliError> {
        let folder = TempDir::new_in(work).map_err(refused(work, "written"))?;
        let newest = write_records(&folder.path().join(NAME), records)?;
        Ok(ArmFile { folder, newest })
    }

    /// A copy for one game.
    pub fn copy(&self, work: &Path) -> Result<GameFile, CliError> {
        let folder = TempDir::new_in(work).map_err(refused(work, "written"))?;
        let copy = GameFile { folder, before: self.newest };
        fs::copy(self.folder.path().join(NAME), copy.path()).map_err(refused(work, "written"))?;
        Ok(copy)
    }
}

/// Engram itself cannot be started.
pub(super) fn not_found(error: io::Error) -> CliError {
    CliError::Task(format!("this program cannot be started again: {error}"))
}

/// The learning file of one game, removed when dropped.
pub(super) struct GameFile {
    folder: TempDir,
    before: u64,
}

impl GameFile {
    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    /// Has the openings or the last lost game studied by the program at `engram`, and returns the nodes searched.
    pub fn study(&self, engram: &Path, nodes: u64, openings: bool, game: bool) -> Result<u64, CliError> {
        let mut command = Command::new(engram);
        command
            .args(["learn", "study", "--json", "--nodes", &nodes.to_string()])
            .args(["--games", if game { "1" } else { "0" }])
            .args(if openings { &[][..] } else { &["--openings", "0"] })
            .arg("--file")
            .arg(self.path());
        let output = command.output().map_err(not_found)?;
        let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let counted = answer.and_then(|answer| answer["nodes"].as_u64());
        counted.ok_or_else(|| {
            let said = String::from_utf8_lossy(&output.stderr);
            CliError::Task(format!("`engram learn study` failed: {}", said.trim()))
        })
    }

    /// The records that the game added, without session and time, which differ between runs.
    pub fn news(&self) -> Result<Vec<Record>, CliError> {
        let (_, ring, _) = LearnFile::open(&self.path(), Mode::Read)?;
        Ok(ring.since(self.before).map(|(_, record)| Record { session: 0, time: 0, ..record }).collect())
    }
}

/// The records that the placebo arm gets instead of those that it learned in one round.
///
/// Each game gets as many records as it wrote, of random positions of the same game, as many of them with Engram to
/// move. Score, depth and window are those of a random record of this round with the same side to move. So number and
/// scores of the records are as learned, but they belong to the wrong positions.
pub(super) fn placebo(entries: &[&GameEntry], openings: &[Position], seed: u64) -> Vec<Record> {
    // Is it a record of the position after Engram's move?
    let is_reply = |record: &Record| record.since_root % 2 == 1;
    let of = |replies: bool| move |record: &&Record| is_reply(record) == replies;
    let learned = [false, true].map(|replies| {
        let records = entries.iter().flat_map(|entry| &entry.records);
        records.filter(of(replies)).collect::<Vec<_>>()
    });
    let mut given = Vec::new();
    for entry in entries {
        let GameSlot { round, opening, white, .. } = entry.slot;
        let mut random = seeded(&[seed, u64::from(round), opening as u64, u64::from(white), 1]);
        let positions = entry.positions(&openings[opening]);
        for (replies, models) in [false, true].into_iter().zip(&learned) {
            let mut drawn: Vec<_> = positions
                .iter()
                .filter(|(position, _)| (position.turn().is_white() == white) != replies)
                .collect();
            let number = entry.records.iter().filter(of(replies)).count();
            random.shuffle(&mut drawn);
            for (position, m) in drawn.into_iter().take(number) {
                let model = models[random.usize(..models.len())];
                let Ok(blank) = Record::new(position, model.origin) else { continue };
                given.push(Record {
                    best: PackedMove::pack(*m),
                    lower: model.lower,
                    upper: model.upper,
                    depth: model.depth,
                    since_root: model.since_root,
                    log2_nodes: model.log2_nodes,
                    evaluation_id: model.evaluation_id,
                    flags: Flags { confirmed: model.flags.confirmed, ..blank.flags },
                    ..blank
                });
            }
        }
    }
    given
}
