//! What an arm remembers: its learning file, made anew for each round from the records of the rounds before,
//! and copied for each game. So the records of a round become visible at its end, in one order, however
//! many games run at once.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;
use tempfile::TempDir;

use super::{
    ProveError,
    journal::{GameEntry, GameSlot},
    statistics::Random,
};
use crate::{
    cli::{learn::write_records, refused},
    learn::{Flags, LearnFile, Mode, Record},
    position::Position,
    types::PackedMove,
};

/// The name of each file, in its folder.
const NAME: &str = "learn.bin";

/// A learning file that games copy.
pub(super) struct Original {
    folder: TempDir,
    /// Sequence number of its newest record.
    newest: u64,
}

impl Original {
    /// Makes the file, in a folder of its own within `work`.
    pub fn make(work: &Path, records: &[Record]) -> Result<Original, ProveError> {
        let folder = TempDir::new_in(work).map_err(refused(work, "written"))?;
        let newest = write_records(&folder.path().join(NAME), records)?;
        Ok(Original { folder, newest })
    }

    /// A copy for one game.
    pub fn copy(&self, work: &Path) -> Result<Copy, ProveError> {
        let folder = TempDir::new_in(work).map_err(refused(work, "written"))?;
        let copy = Copy { folder, before: self.newest };
        fs::copy(self.folder.path().join(NAME), copy.path()).map_err(refused(work, "written"))?;
        Ok(copy)
    }
}

/// The learning file of one game; it is removed when dropped.
pub(super) struct Copy {
    folder: TempDir,
    before: u64,
}

impl Copy {
    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(NAME)
    }

    /// Has the game that was lost last studied by the program at `engram`. The nodes searched.
    pub fn study(&self, engram: &Path, nodes: u64) -> Result<u64, ProveError> {
        let mut command = Command::new(engram);
        command
            .args(["learn", "study", "--json", "--games", "1", "--nodes", &nodes.to_string(), "--file"])
            .arg(self.path());
        let output = command.output().map_err(ProveError::Executable)?;
        let said: Option<Value> = serde_json::from_slice(&output.stdout).ok();
        let counted = said.and_then(|said| said["nodes"].as_u64());
        counted.ok_or_else(|| ProveError::Study(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
    }

    /// The records that the game added. Who wrote them and when is left out: it is different each time.
    pub fn news(&self) -> Result<Vec<Record>, ProveError> {
        let (_, ring, _) = LearnFile::open(&self.path(), Mode::Read)?.recover()?;
        Ok(ring.since(self.before).map(|(_, record)| Record { session: 0, time: 0, ..record }).collect())
    }
}

/// What the placebo arm gets for what it learned in one round.
///
/// For each game as many records as it wrote, of positions of the same game drawn at random, with Engram to
/// move as often as there; each with the score, depth and window of a record that any game of this round wrote,
/// drawn at random as well, of those with the same side to move. So there is as much said, and as bad and as
/// good, as was learned, but it is said of the wrong positions.
pub(super) fn placebo(entries: &[&GameEntry], openings: &[Position], seed: u64) -> Vec<Record> {
    // A record of the position after a move says so.
    let is_reply = |record: &Record| record.since_root % 2 == 1;
    let of = |replies: bool| move |record: &&Record| is_reply(record) == replies;
    let said = [false, true].map(|replies| {
        let records = entries.iter().flat_map(|entry| &entry.records);
        records.filter(of(replies)).collect::<Vec<_>>()
    });
    let mut given = Vec::new();
    for entry in entries {
        let GameSlot { round, opening, white, .. } = entry.slot;
        let mut random = Random::of(&[seed, u64::from(round), opening as u64, u64::from(white), 1]);
        let positions = entry.positions(&openings[opening]);
        for (replies, models) in [false, true].into_iter().zip(&said) {
            let mut drawn: Vec<_> = positions
                .iter()
                .filter(|(position, _)| (position.turn().is_white() == white) != replies)
                .collect();
            let number = entry.records.iter().filter(of(replies)).count();
            let number = number.min(drawn.len());
            random.choose(&mut drawn, number);
            for (position, m) in &drawn[..number] {
                let model = models[random.below(models.len())];
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
