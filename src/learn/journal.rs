//! The game in progress, in a file beside the learning file, so that it is learned from even if its process is killed.
//!
//! `NAME.game-SESSION` holds one line for each search of the games being played: the start of the game, its moves,
//! the result of the search. Its process holds its lock while it lives, empties it when the games are over and
//! removes it when it exits. The next process that opens the learning file takes over files without a living owner:
//! their games are over.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use shakmaty::{Position as _, uci::UciMove};

use super::{
    exchange,
    game::{GameSearch, Line},
    policy::{Conditions, Rules},
    record::Record,
    score::LearnedScore,
    session::{LearnSession, Live},
    stamp,
};
use crate::{files, types::Depth};

/// The journal of this process.
#[derive(Debug, Default)]
pub struct SearchJournal {
    path: PathBuf,
    file: Option<File>,
}

impl SearchJournal {
    /// The journal beside a learning file. Its file is created only when there is something to write.
    ///
    /// # Errors
    /// The path of the learning file cannot be resolved.
    pub fn beside(learn_file: &Path) -> io::Result<SearchJournal> {
        let mut path = files::resolve(learn_file)?.into_os_string();
        path.push(format!(".game-{:08x}", stamp::session()));
        Ok(SearchJournal { path: PathBuf::from(path), file: None })
    }

    /// Writes a search of a game.
    ///
    /// # Errors
    /// The system refuses, or another engine of this process holds the journal: then this search is not learned from if
    /// the process is killed.
    pub fn write(&mut self, line: &Line, search: &GameSearch) -> io::Result<()> {
        let mut line = serde_json::to_string(&SavedSearch::new(line, search))?;
        line.push('\n');
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(create(&self.path)?),
        };
        // In one call: a kill in between leaves half a line, which is ignored.
        file.write_all(line.as_bytes())
    }

    /// Empties the journal: the games are over, and their records are written.
    pub fn clear(&mut self) {
        let emptied = self.file.as_mut().map(|file| file.set_len(0).and_then(|()| file.rewind()));
        if let Some(Err(error)) = emptied {
            log::debug!("{} cannot be emptied: {error}", self.path.display());
        }
    }
}

impl Drop for SearchJournal {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens or creates a journal and locks it, without waiting: a move is about to be announced.
fn create(path: &Path) -> io::Result<File> {
    // On Windows a file that was opened to append cannot be truncated.
    let mut options = OpenOptions::new();
    let mut file = options.read(true).write(true).create(true).truncate(false).open(path)?;
    file.try_lock()?;
    // A process that has just opened the learning file may have taken it for that of a killed one, and removed it.
    if files::info_at(path)?.identity != files::info(&file)?.identity {
        return Err(io::ErrorKind::NotFound.into());
    }
    file.seek(SeekFrom::End(0))?;
    Ok(file)
}

/// The journals of killed processes beside a learning file, locked.
#[derive(Debug, Default)]
pub struct LeftJournals(Vec<(PathBuf, File)>);

impl LeftJournals {
    /// Removes them: the records of their games are written.
    pub fn remove(self) {
        for (path, file) in self.0 {
            // Emptied before it is removed: another process may have opened it already.
            if let Err(error) = file.set_len(0).and_then(|()| fs::remove_file(&path)) {
                log::debug!("{} cannot be removed: {error}", path.display());
            }
        }
    }
}

/// The records of games whose processes were killed, and the journals beside `learn_file` from which they are.
///
/// # Errors
/// The folder cannot be read.
pub fn take_over(
    learn_file: &Path,
    rules: &Rules,
    session: &LearnSession,
    live: &Live<'_>,
) -> io::Result<(Vec<Record>, LeftJournals)> {
    let path = files::resolve(learn_file)?;
    let (mut records, mut journals) = (Vec::new(), LeftJournals::default());
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok((records, journals));
    };
    let prefix = format!("{}.game-", name.to_string_lossy());
    for entry in fs::read_dir(folder)?.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        let name = entry.file_name().to_string_lossy().into_owned();
        if !is_file || !name.starts_with(&prefix) {
            continue;
        }
        let Ok(mut file) = OpenOptions::new().read(true).write(true).open(entry.path()) else { continue };
        if file.try_lock().is_err() {
            // Its game is still being played.
            continue;
        }
        let mut bytes = Vec::new();
        if let Err(error) = file.read_to_end(&mut bytes) {
            log::debug!("{} cannot be read: {error}", entry.path().display());
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        // All records of a game are of one session: that of the process that played it.
        let of_game = u32::from_str_radix(&name[prefix.len()..], 16).unwrap_or_else(|_| stamp::session());
        let replayed = replay(&text, rules, session.clone(), live);
        records.extend(replayed.into_iter().map(|record| Record { session: of_game, ..record }));
        journals.0.push((entry.path(), file));
    }
    Ok((records, journals))
}

/// The records of the searches of a journal, now that their games are over.
fn replay(text: &str, rules: &Rules, mut session: LearnSession, live: &Live<'_>) -> Vec<Record> {
    let mut records = Vec::new();
    for saved in text.lines() {
        let search = serde_json::from_str(saved).ok().and_then(|saved: SavedSearch| saved.read());
        let Some((line, search)) = search else {
            log::debug!("a line of a game in progress cannot be read: {saved}");
            continue;
        };
        records.extend(session.leave_games(&line, false, live));
        let conditions = Conditions { rules: *rules, analysis: false, not_learned: None };
        session.searched(&line, &conditions, search);
    }
    records.extend(session.end_game(None, live));
    records
}

/// A line of the journal; `learn/FORMAT.md` explains it.
#[derive(Serialize, Deserialize)]
struct SavedSearch {
    start: String,
    chess960: bool,
    moves: String,
    depth: i32,
    score: String,
    teaches: bool,
    drop: Option<String>,
}

impl SavedSearch {
    fn new(line: &Line, search: &GameSearch) -> SavedSearch {
        let moves: Vec<String> = line.moves.iter().map(UciMove::to_string).collect();
        SavedSearch {
            start: line.start.clone(),
            chess960: search.position.chess().castles().mode().is_chess960(),
            moves: moves.join(" "),
            depth: search.depth.get(),
            score: LearnedScore::from_score(search.score).to_string(),
            teaches: search.teaches,
            drop: search.drop.as_ref().and_then(|record| exchange::line(record).ok()),
        }
    }

    fn read(self) -> Option<(Line, GameSearch)> {
        let mut position = exchange::position(&self.start, Some(self.chess960)).ok()?;
        let mut moves = Vec::new();
        for uci in self.moves.split_whitespace() {
            let uci: UciMove = uci.parse().ok()?;
            position = position.play(uci.to_move(position.chess()).ok()?);
            moves.push(uci);
        }
        let search = GameSearch {
            position,
            plies: moves.len(),
            depth: Depth(self.depth.clamp(0, Depth::MAX.get())),
            score: self.score.parse::<LearnedScore>().ok()?.to_score(),
            teaches: self.teaches,
            drop: self.drop.and_then(|line| exchange::parse_line(&line, 0, 0).ok()?),
        };
        Some((Line { start: self.start, moves }, search))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{position::Position, types::Score};

    #[test]
    fn a_journal_that_another_engine_holds_is_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = || SearchJournal::beside(&folder.path().join("learn.bin")).expect("a journal");
        let position = Position::default();
        let line = Line { start: position.fen(), moves: Vec::new() };
        let search =
            GameSearch { position, plies: 0, depth: Depth(5), score: Score::ZERO, teaches: true, drop: None };
        let (mut first, mut second) = (journal(), journal());
        first.write(&line, &search).expect("written");
        // With a lock that waits this would never return.
        assert!(second.write(&line, &search).is_err());
        drop(first);
        second.write(&line, &search).expect("written");
        let written = fs::read_to_string(&second.path).expect("a journal");
        assert_eq!(written.lines().count(), 1);
    }
}
