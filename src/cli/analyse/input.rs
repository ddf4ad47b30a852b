//! The input of an analysis: a position, files of positions, files of games.

use std::{
    fs,
    io::{self, BufRead as _, Cursor, Read as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use super::epd::EpdRecord;
use crate::cli::{
    CliError,
    pgn::{Game, Games},
    refused,
    source::{self, Reader},
};

/// Something to analyse.
#[derive(Clone, Debug)]
pub enum Item {
    /// A position, perhaps with a task.
    Position(EpdRecord),
    /// A game.
    Game(Game),
}

impl Item {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Item::Position(record) => record.id.clone(),
            Item::Game(game) => format!("game {} (line {})", game.number, game.line),
        }
    }
}

/// The format of a file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum TextKind {
    Positions,
    Games,
}

/// The input named by the arguments.
pub enum AnalysisInput {
    /// One position.
    Single(Box<EpdRecord>),
    /// Files, or the standard input as `-`.
    Files(Vec<PathBuf>),
}

/// An item, or why one has to be skipped.
pub type Read = Result<Item, String>;

impl AnalysisInput {
    /// Interprets the arguments.
    ///
    /// # Errors
    /// They are neither readable files nor a position.
    pub fn open(words: &[String]) -> Result<AnalysisInput, CliError> {
        let text = words.join(" ");
        if words.iter().all(|word| word == "-" || Path::new(word).is_file() || Path::new(word).is_dir()) {
            let paths: Vec<PathBuf> = words.iter().map(PathBuf::from).collect();
            // Checked first: no output may be touched for an input that cannot be read.
            for path in paths.iter().filter(|path| path.is_file()) {
                let begin = source::reader(path).and_then(|mut reader| reader.fill_buf().map(|_| ()));
                begin.map_err(refused(path, "read"))?;
            }
            return Ok(AnalysisInput::Files(paths));
        }
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_position = first == "startpos" || first.matches('/').count() == 7;
        if text.split_whitespace().count() < 2 && !is_position {
            return Err(CliError::Task(format!(
                "`{text}` is neither a file nor a position; name a .pgn or .epd file, or write a FEN"
            )));
        }
        let advise = |reason| CliError::Task(format!("{reason}, and no file: name one, or write a FEN"));
        let mut record = EpdRecord::with_moves(&text).map_err(advise)?;
        record.is_single = true;
        Ok(AnalysisInput::Single(Box::new(record)))
    }

    /// Is it one position?
    pub fn is_single(&self) -> bool {
        matches!(self, AnalysisInput::Single(_))
    }

    /// Identifies this input; `None` if it cannot be read again.
    pub fn fingerprint(&self) -> Option<String> {
        let AnalysisInput::Files(paths) = self else { return None };
        let description = |path: &PathBuf| {
            let metadata = fs::metadata(path).ok().filter(|found| found.is_file() || found.is_dir())?;
            let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
            let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
            let (whole, changed) = (whole.display(), changed.as_secs_f64());
            Some(format!("{whole} of {} bytes, changed {changed} s", metadata.len()))
        };
        paths.iter().map(description).collect::<Option<Vec<_>>>().map(|files| files.join("; "))
    }

    /// The number of positions, if the input can be read twice.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn count(&self) -> Result<Option<u64>, CliError> {
        if self.fingerprint().is_none() {
            return Ok(None);
        }
        let mut positions = 0;
        for item in self.items() {
            positions += match item? {
                Ok(Item::Game(game)) if !game.moves.is_empty() => game.moves.len() as u64 + 1,
                Ok(Item::Position(_)) => 1,
                _ => 0,
            };
        }
        Ok(Some(positions))
    }

    /// The items, one after another.
    pub fn items(&self) -> Items {
        match self {
            AnalysisInput::Single(record) => {
                Box::new(std::iter::once(Ok(Ok(Item::Position((**record).clone())))))
            }
            AnalysisInput::Files(paths) => Box::new(paths.clone().into_iter().flat_map(items)),
        }
    }
}

type Items = Box<dyn Iterator<Item = Result<Read, CliError>>>;

/// The items of a file.
fn items(path: PathBuf) -> Items {
    if path.is_dir() {
        let path = path.display();
        let reason =
            format!("{path} is a folder, which is skipped; name the files in it, such as {path}/*.pgn");
        return Box::new(std::iter::once(Ok(Err(reason))));
    }
    match source::reader(&path).and_then(|reader| detect(&path, reader)) {
        Ok((TextKind::Games, reader)) => games(path, reader),
        Ok((TextKind::Positions, reader)) => positions(path, reader),
        Err(error) => Box::new(std::iter::once(Err(refused(&path, "read")(error)))),
    }
}

/// Games or positions? Decided by the file extension, otherwise by the first line that is not empty.
fn detect(path: &Path, mut reader: Reader) -> io::Result<(TextKind, Reader)> {
    match source::ending(path).as_deref() {
        Some("pgn") => return Ok((TextKind::Games, reader)),
        Some("epd" | "fen") => return Ok((TextKind::Positions, reader)),
        _ => {}
    }
    let mut read = Vec::new();
    loop {
        let before = read.len();
        let count = reader.read_until(b'\n', &mut read)?;
        let line = String::from_utf8_lossy(&read[before..]);
        let line = line.trim_start_matches('\u{feff}').trim();
        if count == 0 || (!line.is_empty() && !line.starts_with(['#', '%'])) {
            let is_position =
                line.split_whitespace().next().is_some_and(|word| word.matches('/').count() == 7);
            let kind = if is_position { TextKind::Positions } else { TextKind::Games };
            return Ok((kind, Box::new(Cursor::new(read).chain(reader))));
        }
    }
}

fn games(path: PathBuf, reader: Reader) -> Items {
    Box::new(Games::new(reader).map(move |game| match game {
        Ok(Ok(game)) => Ok(Ok(Item::Game(game))),
        Ok(Err(broken)) => Ok(Err(format!("{}: {broken}", path.display()))),
        Err(error) => Err(refused(&path, "read")(error)),
    }))
}

fn positions(path: PathBuf, reader: Reader) -> Items {
    let lines = reader.split(b'\n').enumerate();
    Box::new(lines.filter_map(move |(index, line)| {
        let line = match line {
            Ok(line) => String::from_utf8_lossy(&line).into_owned(),
            Err(error) => return Some(Err(refused(&path, "read")(error))),
        };
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let number = index + 1;
        let skipped = |reason| format!("{}: line {number} is skipped: {reason}", path.display());
        Some(Ok(EpdRecord::read(line, number).map(Item::Position).map_err(skipped)))
    }))
}
