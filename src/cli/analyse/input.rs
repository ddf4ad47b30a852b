//! What is analysed: a position, a file of positions, a file of games.

use std::{
    fs,
    io::{BufRead, Cursor, Read as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use super::epd::EpdRecord;
use crate::cli::{
    CliError,
    book::reader,
    pgn::{Game, Games, refuse_utf_16},
};

/// Something to analyse.
#[derive(Clone, Debug)]
pub enum Item {
    /// A position, perhaps with a task.
    Position(EpdRecord),
    /// A game.
    Game(Game),
}

/// A kind of text.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum TextKind {
    Positions,
    Games,
}

/// The input named by the arguments.
pub enum AnalysisInput {
    /// One position.
    Single(Box<EpdRecord>),
    /// A file, or the standard input as `-`.
    File(PathBuf),
}

/// An item, or why one has to be skipped.
pub type Read = Result<Item, String>;

impl AnalysisInput {
    /// Finds out what the arguments name.
    ///
    /// # Errors
    /// Neither a file that can be opened nor a position, or a file in UTF-16.
    pub fn open(words: &[String]) -> Result<AnalysisInput, CliError> {
        let text = words.join(" ");
        if let [word] = words
            && (word == "-" || Path::new(word).is_file())
        {
            return AnalysisInput::file(PathBuf::from(word));
        }
        if text == "startpos" {
            let start = crate::position::Position::default().fen();
            return AnalysisInput::open(&[start]);
        }
        if text.split_whitespace().count() < 2 {
            return Err(CliError::Task(format!(
                "`{text}` is neither a file nor a position; name a .pgn or .epd file, or write a FEN"
            )));
        }
        let advise = |reason| CliError::Task(format!("{reason}, and no file: name one, or write a FEN"));
        let mut record = EpdRecord::read(&text, 1).map_err(advise)?;
        record.is_single = true;
        Ok(AnalysisInput::Single(Box::new(record)))
    }

    /// A file, once it is known to be text: no output is touched for one that is none.
    fn file(path: PathBuf) -> Result<AnalysisInput, CliError> {
        if path != Path::new("-") {
            let mut reader = reader(&path)?;
            let begin = reader.fill_buf().and_then(refuse_utf_16);
            begin.map_err(|error| CliError::file("read", &path, error))?;
        }
        Ok(AnalysisInput::File(path))
    }

    /// Is it one position?
    pub fn is_single(&self) -> bool {
        matches!(self, AnalysisInput::Single(_))
    }

    /// What tells this input from others; nothing where it cannot be read again.
    pub fn fingerprint(&self) -> Option<String> {
        let AnalysisInput::File(path) = self else { return None };
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let whole = path.canonicalize().unwrap_or_else(|_| path.clone());
        let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).unwrap_or_default();
        Some(format!("{} of {} bytes, changed {} s", whole.display(), metadata.len(), changed.as_secs_f64()))
    }

    /// The number of positions, if the input can be read twice.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn count(&self) -> Result<Option<u64>, CliError> {
        if self.is_single() {
            return Ok(None);
        }
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
    pub fn items(&self) -> Box<dyn Iterator<Item = Result<Read, CliError>>> {
        match self {
            AnalysisInput::Single(record) => {
                Box::new(std::iter::once(Ok(Ok(Item::Position((**record).clone())))))
            }
            AnalysisInput::File(path) => match reader(path).and_then(|reader| detect(path, reader)) {
                Ok((TextKind::Games, reader)) => games(path.clone(), reader),
                Ok((TextKind::Positions, reader)) => positions(path.clone(), reader),
                Err(error) => Box::new(std::iter::once(Err(error))),
            },
        }
    }
}

type Reader = Box<dyn BufRead + Send>;

/// Games or positions? The ending of the name tells, else the first line that is not empty.
fn detect(path: &Path, mut reader: Reader) -> Result<(TextKind, Reader), CliError> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("pgn") => return Ok((TextKind::Games, reader)),
        Some("epd" | "fen") => return Ok((TextKind::Positions, reader)),
        _ => {}
    }
    let mut read = Vec::new();
    loop {
        let before = read.len();
        let count =
            reader.read_until(b'\n', &mut read).map_err(|error| CliError::file("read", path, error))?;
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

fn games(path: PathBuf, reader: Reader) -> Box<dyn Iterator<Item = Result<Read, CliError>>> {
    Box::new(Games::new(reader).map(move |game| match game {
        Ok(Ok(game)) => Ok(Ok(Item::Game(game))),
        Ok(Err(broken)) => Ok(Err(format!("{}: {broken}", path.display()))),
        Err(error) => Err(CliError::file("read", &path, error)),
    }))
}

fn positions(path: PathBuf, reader: Reader) -> Box<dyn Iterator<Item = Result<Read, CliError>>> {
    let lines = reader.split(b'\n').enumerate();
    Box::new(lines.filter_map(move |(index, line)| {
        let line = match line {
            Ok(line) => String::from_utf8_lossy(&line).into_owned(),
            Err(error) => return Some(Err(CliError::file("read", &path, error))),
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
