//! The journal: a line of JSON that says what is tried, then a line for each finished game. It is all that an
//! interrupted experiment needs to go on; a line that was being written when it ended does not count.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use shakmaty::{Move, uci::UciMove};

use super::{ProveError, game::Ending};
use crate::{
    learn::{Record, record},
    position::Position,
};

/// What an engine may remember.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Arm {
    /// Nothing.
    Off,
    /// What it learned in earlier rounds.
    Learn,
    /// As much, but at random.
    Placebo,
}

impl Arm {
    pub const ALL: [Arm; 3] = [Arm::Off, Arm::Learn, Arm::Placebo];

    pub fn name(self) -> &'static str {
        match self {
            Arm::Off => "off",
            Arm::Learn => "learn",
            Arm::Placebo => "placebo",
        }
    }

    fn from_name(name: &str) -> Option<Arm> {
        Arm::ALL.into_iter().find(|arm| arm.name() == name)
    }
}

/// The place of a game in the experiment, in the order in which records count.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Slot {
    /// From 1.
    pub round: u32,
    /// From 0.
    pub opening: usize,
    /// Does Engram play White?
    pub white: bool,
    pub arm: Arm,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub slot: Slot,
    /// Engram's half points: 0, 1, 2.
    pub points: u8,
    pub ending: Ending,
    pub moves: Vec<UciMove>,
    /// What Engram's searches took from its file.
    pub cutoffs: u64,
    /// Mean depth of Engram's searches, in plies.
    pub depth: f64,
    /// What was learned.
    pub records: Vec<Record>,
}

impl Entry {
    /// The positions of the game before each of its moves, and the moves.
    pub fn positions(&self, start: &Position) -> Vec<(Position, Move)> {
        let mut position = start.clone();
        let mut positions = Vec::new();
        for uci in &self.moves {
            let Ok(m) = uci.to_move(position.chess()) else { break };
            let next = position.play(m);
            positions.push((position, m));
            position = next;
        }
        positions
    }

    fn to_json(&self) -> Value {
        let moves: Vec<String> = self.moves.iter().map(ToString::to_string).collect();
        let records: Vec<String> = self.records.iter().map(hexadecimal).collect();
        json!({
            "round": self.slot.round,
            "opening": self.slot.opening,
            "white": self.slot.white,
            "arm": self.slot.arm.name(),
            "points": self.points,
            "ending": self.ending.name(),
            "moves": moves.join(" "),
            "cutoffs": self.cutoffs,
            "depth": self.depth,
            "records": records,
        })
    }

    fn from_json(value: &Value) -> Option<Entry> {
        let moves = value["moves"].as_str()?.split_whitespace();
        let records = value["records"].as_array()?.iter();
        Some(Entry {
            slot: Slot {
                round: value["round"].as_u64()?.try_into().ok()?,
                opening: value["opening"].as_u64()?.try_into().ok()?,
                white: value["white"].as_bool()?,
                arm: Arm::from_name(value["arm"].as_str()?)?,
            },
            points: value["points"].as_u64()?.try_into().ok()?,
            ending: Ending::from_name(value["ending"].as_str()?)?,
            moves: moves.map(|word| word.parse().ok()).collect::<Option<_>>()?,
            cutoffs: value["cutoffs"].as_u64()?,
            depth: value["depth"].as_f64()?,
            records: records.map(|text| from_hexadecimal(text.as_str()?)).collect::<Option<_>>()?,
        })
    }
}

fn hexadecimal(record: &Record) -> String {
    record.payload()[..record::PAYLOAD].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(text: &str) -> Option<Record> {
    let mut bytes = [0; record::RECORD_SIZE];
    if text.len() != 2 * record::PAYLOAD || !text.is_ascii() {
        return None;
    }
    for (index, byte) in bytes[..record::PAYLOAD].iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * index..2 * index + 2], 16).ok()?;
    }
    record::decode(&bytes).ok()
}

/// The journal, open for the next line.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// Everything in it.
    pub entries: Vec<Entry>,
}

impl Journal {
    /// Opens the journal at `path`, or begins it. `setup` says what is tried; one without a game gives way.
    ///
    /// # Errors
    /// It cannot be read or written, belongs to another experiment, or is no journal.
    pub fn open(path: &Path, setup: &Value) -> Result<Journal, ProveError> {
        let failed = |doing| ProveError::file(path, doing);
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(path)
            .map_err(failed("opened"))?;
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let text = "another `engram learn prove` is at it; wait for that or name another --out";
            return Err(failed("used")(std::io::Error::other(text)));
        }
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(failed("read"))?;
        let first = text.split_inclusive(|&byte| byte == b'\n').next().unwrap_or_default();
        let found = serde_json::from_slice::<Value>(first).ok();
        let is_cut_off = !first.ends_with(b"\n") && format!("{setup}\n").as_bytes().starts_with(first);
        if !is_cut_off && found.is_none_or(|value| value["engram"].is_null()) {
            return Err(failed("used")(std::io::Error::other("it is no journal of this command")));
        }
        if first.len() == text.len() {
            text.clear();
        }
        let (mut entries, mut slots) = (Vec::new(), HashSet::new());
        let mut whole = 0;
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            let value = serde_json::from_slice::<Value>(line).ok().filter(|_| line.ends_with(b"\n"));
            match value {
                Some(value) if whole == 0 && value == *setup => {}
                Some(value) if whole == 0 => {
                    return Err(ProveError::Another {
                        path: path.to_owned(),
                        difference: difference(&value, setup),
                    });
                }
                Some(value) => match Entry::from_json(&value) {
                    Some(entry) if slots.insert(entry.slot) => entries.push(entry),
                    Some(_) => {}
                    None => break,
                },
                None => break,
            }
            whole += line.len() as u64;
        }
        // What was cut short is written again.
        file.set_len(whole).map_err(failed("written"))?;
        file.seek(SeekFrom::End(0)).map_err(failed("written"))?;
        let mut journal = Journal { file, path: path.to_owned(), entries };
        if whole == 0 {
            journal.line(setup)?;
        }
        Ok(journal)
    }

    /// Adds a game.
    pub fn push(&mut self, entry: Entry) -> Result<(), ProveError> {
        self.line(&entry.to_json())?;
        self.entries.push(entry);
        Ok(())
    }

    fn line(&mut self, value: &Value) -> Result<(), ProveError> {
        // In one write: a second process would be a mistake, but half a line would be a loss.
        self.file.write_all(format!("{value}\n").as_bytes()).map_err(ProveError::file(&self.path, "written"))
    }
}

/// The names of the settings in which two experiments differ.
fn difference(old: &Value, new: &Value) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (one, other) in [(old, new), (new, old)] {
        let fields = one.as_object().into_iter().flatten();
        names.extend(fields.filter(|(name, value)| other[*name] != **value).map(|(name, _)| name.as_str()));
    }
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::{LearnedScore, Origin};

    fn entry(round: u32) -> Entry {
        let mut record = Record::new(&Position::default(), Origin::Drop).expect("it fits");
        (record.lower, record.depth) = (LearnedScore::from_centipawns(-51), 9);
        Entry {
            slot: Slot { round, opening: 3, white: true, arm: Arm::Placebo },
            points: 1,
            ending: Ending::Repetition,
            moves: vec!["e2e4".parse().expect("a move"), "e7e5".parse().expect("a move")],
            cutoffs: 17,
            depth: 8.25,
            records: vec![record],
        }
    }

    #[test]
    fn what_was_written_whole_is_read_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("journal.jsonl");
        let setup = json!({ "engram": "0", "seed": 1 });
        let mut journal = Journal::open(&path, &setup).expect("a new journal");
        for round in 1..=3 {
            journal.push(entry(round)).expect("written");
        }
        drop(journal);
        let bytes = std::fs::read(&path).expect("a journal");
        for cut in [0, 1, 40] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).expect("written");
            let journal = Journal::open(&path, &setup).expect("the same experiment");
            let expected: Vec<Entry> = (1..=if cut == 0 { 3 } else { 2 }).map(entry).collect();
            assert_eq!(journal.entries, expected, "{cut} bytes missing");
        }
        let mut journal = Journal::open(&path, &setup).expect("the same experiment");
        journal.push(entry(3)).expect("written");
        assert_eq!(std::fs::read(&path).expect("a journal"), bytes, "what was torn is gone");
        // What two processes wrote counts once, and only one may write.
        assert!(Journal::open(&path, &setup).is_err());
        drop(journal);
        let lines = String::from_utf8(bytes).expect("text");
        let last = lines.lines().last().expect("a game");
        std::fs::write(&path, format!("{lines}{last}\n")).expect("written");
        assert_eq!(Journal::open(&path, &setup).expect("the same experiment").entries.len(), 3);
        let foreign = path.with_extension("mine");
        std::fs::write(&foreign, "mine, in one line").expect("written");
        assert!(Journal::open(&foreign, &setup).is_err());
        assert_eq!(std::fs::read_to_string(&foreign).expect("text"), "mine, in one line");
        let other =
            Journal::open(&path, &json!({ "engram": "0", "seed": 2 })).err().expect("another experiment");
        assert!(other.to_string().contains("seed"), "{other}");
    }
}
