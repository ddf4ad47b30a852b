//! The game in progress, beside the learning file, so that a game teaches also if its process is killed.
//!
//! `NAME.game-SESSION` holds one line for each search of the games being played: where the game began, its moves,
//! what the search found. Its process holds its lock while it lives, empties it when the games are over and removes it
//! when it leaves. Whoever opens the learning file next takes over what has no living owner: those games are over.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use shakmaty::{Position as _, uci::UciMove};

use super::{
    LearnedScore, Record,
    disk::{Disk, SystemDisk},
    exchange,
    game::Line,
    policy::{Conditions, Rules},
    session::{Live, PlayedTurn, Root, Session},
};
use crate::{position::Position, types::Depth};

/// The journal of this process.
#[derive(Debug, Default)]
pub struct Journal {
    path: PathBuf,
    file: Option<File>,
}

impl Journal {
    /// Beside a learning file; nothing is made before there is something to write.
    ///
    /// # Errors
    /// The system does not say where the learning file lies.
    pub fn beside(learn_file: &Path) -> io::Result<Journal> {
        let mut path = SystemDisk.resolve(learn_file)?.into_os_string();
        path.push(format!(".game-{:08x}", super::session()));
        Ok(Journal { path: PathBuf::from(path), file: None })
    }

    /// Takes down a search of a game.
    ///
    /// # Errors
    /// What the system says: then this game teaches nothing if the process is killed.
    pub fn write(&mut self, root: &Root, turn: &PlayedTurn) -> io::Result<()> {
        let mut line = entry(root, turn).to_string();
        line.push('\n');
        if self.file.is_none() {
            let file = OpenOptions::new().read(true).append(true).create(true).open(&self.path)?;
            file.lock()?;
            self.file = Some(file);
        }
        // In one piece: whoever is killed in between leaves half a line, which is not read.
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(line.as_bytes()))
    }

    /// The games are over, and what they taught is written.
    pub fn clear(&mut self) {
        if let Some(Err(error)) = self.file.as_ref().map(|file| file.set_len(0)) {
            log::debug!("{} cannot be emptied: {error}", self.path.display());
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What the games teach whose processes were killed; their journals beside `learn_file` are gone afterwards.
///
/// # Errors
/// The folder cannot be read.
pub fn take_over(
    learn_file: &Path,
    rules: &Rules,
    session: &Session,
    live: &Live<'_>,
) -> io::Result<Vec<Record>> {
    let path = SystemDisk.resolve(learn_file)?;
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(Vec::new()) };
    let prefix = format!("{}.game-", name.to_string_lossy());
    let mut records = Vec::new();
    for entry in fs::read_dir(folder)?.flatten() {
        if !entry.file_name().to_string_lossy().starts_with(&prefix) || !entry.file_type()?.is_file() {
            continue;
        }
        let Ok(mut file) = OpenOptions::new().read(true).write(true).open(entry.path()) else { continue };
        if file.try_lock().is_err() {
            // Its game goes on.
            continue;
        }
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(0)).and_then(|_| file.read_to_end(&mut bytes))?;
        // Without its lines first: another process may have opened it before its name is gone.
        file.set_len(0).and_then(|()| fs::remove_file(entry.path()))?;
        records.extend(replay(&String::from_utf8_lossy(&bytes), rules, session.clone(), live));
    }
    Ok(records)
}

/// What the searches of a journal teach, now that their games are over.
fn replay(text: &str, rules: &Rules, mut session: Session, live: &Live<'_>) -> Vec<Record> {
    let mut records = Vec::new();
    for line in text.lines() {
        let read = serde_json::from_str(line).ok().and_then(|entry: Value| turn(&entry, rules));
        let Some((root, turn)) = read else {
            log::debug!("a line of a game in progress cannot be read: {line}");
            continue;
        };
        records.extend(session.leave_games(&root.line, false, live));
        session.played(&root, &turn);
    }
    records.extend(session.end_game(None, live));
    records
}

fn entry(root: &Root, turn: &PlayedTurn) -> Value {
    let moves: Vec<String> = root.line.moves.iter().map(UciMove::to_string).collect();
    json!({
        "start": root.line.start,
        "chess960": root.position.chess().castles().mode().is_chess960(),
        "moves": moves.join(" "),
        "depth": turn.depth.get(),
        "score": LearnedScore::from_score(turn.score).to_string(),
        "teaches": turn.teaches,
        "drop": turn.drop.as_ref().and_then(|record| exchange::line(record).ok()),
    })
}

fn turn(entry: &Value, rules: &Rules) -> Option<(Root, PlayedTurn)> {
    let start = entry["start"].as_str()?;
    let mut position: Position = exchange::position(start, entry["chess960"].as_bool()).ok()?;
    let mut moves = Vec::new();
    for uci in entry["moves"].as_str()?.split_whitespace() {
        let uci: UciMove = uci.parse().ok()?;
        position = position.play(uci.to_move(position.chess()).ok()?);
        moves.push(uci);
    }
    let line = Line { start: start.to_owned(), moves };
    let drop = match entry["drop"].as_str() {
        Some(line) => exchange::parse_line(line, 0, 0).ok()?,
        None => None,
    };
    let turn = PlayedTurn {
        depth: Depth(i32::try_from(entry["depth"].as_i64()?).ok()?.clamp(0, Depth::MAX.get())),
        score: entry["score"].as_str()?.parse::<LearnedScore>().ok()?.to_score(),
        teaches: entry["teaches"].as_bool()?,
        drop,
    };
    Some((Root { position, line, rules: *rules, conditions: Conditions::default() }, turn))
}
