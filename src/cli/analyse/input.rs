//! The input of an analysis: a position, files of positions, files of games.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, BufRead as _, BufReader, Cursor, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicU64},
};

use super::{
    epd::EpdRecord,
    variations::{self, Branch, Variation},
};
use crate::{
    cli::{
        CliError, complain,
        pgn::{Game, Games, Lines},
        refused,
        source::{self, Reader},
    },
    files::is_hidden,
    position::notation::begins_position,
    uci::translate,
};

/// Something to analyse.
#[derive(Clone, Debug)]
pub enum Item {
    /// A position, perhaps with a task.
    Position(EpdRecord),
    /// A game, its variations, and how many of them come behind it to be searched.
    Game(Game, Vec<Variation>, usize),
    /// A variation of the game before it.
    Variation(Branch),
}

impl Item {
    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Item::Position(record) if record.file.is_empty() => record.id.clone(),
            Item::Position(record) => format!("{}: {}", record.file, record.id),
            Item::Variation(branch) => format!("a variation at ply {}", branch.before + 1),
            Item::Game(game, ..) => format!("{}: game {} (line {})", game.file, game.number, game.line),
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
    /// Files, or the standard input as `-`; of games the variations too?
    Files(Vec<PathBuf>, bool),
}

/// An item, or why one has to be skipped.
pub type Read = Result<Item, String>;

impl AnalysisInput {
    /// Interprets the arguments; `variations`: those of games are items too. Files of a folder that are `outputs` of this
    /// run are no input.
    ///
    /// # Errors
    /// They are neither readable files nor a position.
    pub fn open(words: &[OsString], variations: bool, outputs: &[&Path]) -> Result<AnalysisInput, CliError> {
        let Some(missing) = words.iter().find(|word| *word != "-" && !Path::new(word).exists()) else {
            let paths = input_files(words, outputs)?;
            // Checked first: no output may be touched for an input that cannot be read. What is read from a pipe
            // would be missing later.
            for path in paths.iter().filter(|path| path.is_file()) {
                let begin = source::reader(path).and_then(|mut reader| reader.fill_buf().map(|_| ()));
                begin.map_err(refused(path, "read"))?;
            }
            return Ok(AnalysisInput::Files(paths, variations));
        };
        let text = text(words);
        let is_position = EpdRecord::begins(&text);
        let is_file = |word: &OsString| Path::new(word).is_file();
        // A position has four fields.
        if !is_position && (text.split_whitespace().count() < 4 || words.iter().any(is_file)) {
            return Err(CliError::Task(format!(
                "`{}` is neither a file nor a position; name a file (.pgn, .epd, .fen), or write a FEN, or moves such as e4 e5",
                missing.to_string_lossy()
            )));
        }
        let advice = if is_position { "" } else { ", or name a .pgn or .epd file" };
        let advise = |reason| CliError::Task(format!("{reason}{advice}"));
        let record = if is_position { EpdRecord::named(&text) } else { EpdRecord::with_moves(&text) };
        let record = record.map_err(advise)?;
        translate::assumed(&text, false).into_iter().for_each(complain);
        Ok(AnalysisInput::Single(Box::new(record)))
    }

    /// Is it one position?
    pub fn is_single(&self) -> bool {
        matches!(self, AnalysisInput::Single(_))
    }

    /// Identifies this input by what is in its files, wherever they are; `None` if it cannot be read again.
    pub fn fingerprint(&self) -> Option<String> {
        let AnalysisInput::Files(paths, _) = self else { return None };
        let description = |path: &PathBuf| {
            let file = path.is_file().then(|| File::open(path).ok())??;
            let mut file = BufReader::with_capacity(1 << 18, file);
            let (mut length, mut sum) = (0, crc32fast::Hasher::new());
            loop {
                let bytes = file.fill_buf().ok()?;
                if bytes.is_empty() {
                    return Some(format!("{length} bytes with CRC-32 {:08x}", sum.finalize()));
                }
                sum.update(bytes);
                let count = bytes.len();
                length += count as u64;
                file.consume(count);
            }
        };
        paths.iter().map(description).collect::<Option<Vec<_>>>().map(|files| files.join("; "))
    }

    /// The length of its files in bytes; `None` if it is not known, as that of a pipe, or says little, as that of a
    /// compressed file: of one that is small, all bytes are read for the first game.
    pub fn bytes(&self) -> Option<u64> {
        let AnalysisInput::Files(paths, _) = self else { return None };
        let length = |path: &PathBuf| match fs::metadata(path).ok()? {
            file if file.is_file() => source::plain_length(path),
            _ => None,
        };
        paths.iter().map(length).sum()
    }

    /// The items, one after another; `read` counts the bytes of the files that were used for them.
    pub fn items(&self, read: &Arc<AtomicU64>) -> Items {
        match self {
            AnalysisInput::Single(record) => {
                Box::new(std::iter::once(Ok(Ok(Item::Position((**record).clone())))))
            }
            AnalysisInput::Files(paths, variations) => {
                let (read, variations) = (Arc::clone(read), *variations);
                Box::new(paths.clone().into_iter().flat_map(move |path| readable(path, &read, variations)))
            }
        }
    }
}

/// The extensions of files of games and positions.
const ENDINGS: [&str; 3] = ["pgn", "epd", "fen"];
/// Bytes in which the first line of a file is looked for; they are in memory.
const MAX_HEAD: u64 = 1 << 20;

type Items = Box<dyn Iterator<Item = Result<Read, CliError>>>;

/// The arguments as one text.
pub fn text(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The files that are named; a folder means those in it whose names say that they have games or positions, in the order
/// of their names, but for `outputs`.
///
/// # Errors
/// A folder cannot be read, or has no such file.
pub fn input_files(words: &[impl AsRef<Path>], outputs: &[&Path]) -> Result<Vec<PathBuf>, CliError> {
    let outputs: Vec<PathBuf> = outputs.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let is_output = |path: &Path| path.canonicalize().is_ok_and(|path| outputs.contains(&path));
    let mut files = Vec::new();
    for path in words.iter().map(AsRef::as_ref) {
        if !path.is_dir() {
            files.push(path.to_owned());
            continue;
        }
        let in_it = fs::read_dir(path).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let in_it = in_it.map_err(refused(path, "read"))?.into_iter().map(|entry| entry.path());
        let is_input = |path: &PathBuf| {
            source::ending(path).is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
                && !is_hidden(path)
                && path.is_file()
                && !is_output(path)
        };
        let before = files.len();
        files.extend(in_it.filter(is_input));
        if files.len() == before {
            let path = path.display();
            return Err(CliError::Task(format!("{path} is a folder without .pgn, .epd or .fen files")));
        }
        files[before..].sort_unstable();
    }
    Ok(files)
}

/// The items of a file up to its first error: after that a decompressor may say anything.
fn readable(path: PathBuf, read: &Arc<AtomicU64>, variations: bool) -> Items {
    let mut is_readable = true;
    let items = items(path, read, variations);
    Box::new(items.take_while(move |item| std::mem::replace(&mut is_readable, item.is_ok())))
}

/// The items of a file.
fn items(path: PathBuf, read: &Arc<AtomicU64>, variations: bool) -> Items {
    match source::counted_reader(&path, read).and_then(|reader| detect(&path, reader)) {
        Ok((TextKind::Games, reader)) => games(path, reader, variations),
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
    let mut head = reader.by_ref().take(MAX_HEAD);
    loop {
        let before = read.len();
        let count = head.read_until(b'\n', &mut read)?;
        let text = String::from_utf8_lossy(&read[before..]);
        // Lines may end with CR alone.
        let mut lines = text.split('\r').map(|line| line.trim_start_matches('\u{feff}').trim());
        let first = lines.find(|line| !line.is_empty() && !is_comment(line));
        if count == 0 || first.is_some() {
            let word = first.and_then(|line| line.split_whitespace().next());
            let is_position = word.is_some_and(begins_position);
            let kind = if is_position { TextKind::Positions } else { TextKind::Games };
            return Ok((kind, Box::new(Cursor::new(read).chain(reader))));
        }
    }
}

/// Is this line between positions a comment, or one that PGN escapes?
fn is_comment(line: &str) -> bool {
    line.starts_with(['#', '%'])
}

fn games(path: PathBuf, reader: Reader, variations: bool) -> Items {
    Box::new(Games::new(reader).flat_map(move |game| match game {
        Ok(Ok(game)) => {
            let game = Game { file: path.display().to_string(), ..game };
            let list = variations::of_game(&game, &game.positions());
            let branches = if variations { Branch::all(&game, &list) } else { Vec::new() };
            let mut items = vec![Ok(Ok(Item::Game(game, list, branches.len())))];
            items.extend(branches.into_iter().map(|branch| Ok(Ok(Item::Variation(branch)))));
            items
        }
        Ok(Err(broken)) => vec![Ok(Err(format!("{}: {broken}", path.display())))],
        Err(error) => vec![Err(refused(&path, "read")(error))],
    }))
}

fn positions(path: PathBuf, reader: Reader) -> Items {
    let lines = Lines::new(reader).enumerate();
    Box::new(lines.filter_map(move |(index, line)| {
        let line = match line {
            Ok(line) => line,
            Err(error) => return Some(Err(refused(&path, "read")(error))),
        };
        let line = line.trim();
        if line.is_empty() || is_comment(line) {
            return None;
        }
        let number = index + 1;
        let file = path.display().to_string();
        Some(Ok(match EpdRecord::read(line, number) {
            Ok(record) => Ok(Item::Position(EpdRecord { file, ..record })),
            Err(reason) => Err(format!("{file}: line {number} is skipped: {reason}")),
        }))
    }))
}

#[cfg(test)]
mod tests {
    use std::{io::Write, sync::atomic::Ordering::Relaxed};

    use super::*;

    #[test]
    fn the_bytes_used_for_each_game_are_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name).into_os_string();
        let game = "[Event \"x\"]\n\n1. e4 e5 *\n\n";
        fs::write(path("a.pgn"), game.repeat(5)).expect("a file");
        let input = AnalysisInput::open(&[path("a.pgn")], false, &[]).expect("a file");
        let read = Arc::default();
        let used = input.items(&read).map(|item| (item.expect("readable").is_ok(), read.load(Relaxed)));
        let used: Vec<_> = used.collect();
        let end = 5 * game.len() as u64;
        assert_eq!(used.len(), 5);
        for (index, &(is_game, bytes)) in used.iter().enumerate() {
            let own = game.len() as u64 * (index as u64 + 1);
            assert!(is_game && (own..=own + 12).contains(&bytes), "and the first line of the next: {used:?}");
        }
        assert_eq!(input.bytes(), Some(end));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(game.as_bytes()).expect("memory takes it");
        fs::write(path("b.pgn.gz"), packed.finish().expect("memory takes it")).expect("a file");
        let input = AnalysisInput::open(&[path("a.pgn"), path("b.pgn.gz")], false, &[]).expect("files");
        assert_eq!(input.bytes(), None);
    }

    #[test]
    fn a_folder_means_the_games_and_positions_in_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let refused = |path: PathBuf| input_files(&[path], &[]).expect_err("nothing to read").to_string();
        assert!(refused(path("")).contains("is a folder without .pgn, .epd or .fen files"));
        fs::create_dir(path("sub.pgn")).expect("made");
        for name in ["c.PGN", "a.epd", "b.pgn.zst", "d.fen", "._c.pgn", "notes.txt", "e.html"] {
            fs::write(path(name), "").expect("written");
        }
        let expected = ["notes.txt", "a.epd", "b.pgn.zst", "c.PGN", "d.fen"].map(path);
        assert_eq!(input_files(&[path("notes.txt"), path("")], &[]).expect("files"), expected);
        // Not what this run, or the one that it resumes, writes.
        let output = path("sub.pgn").join("../c.PGN");
        assert_eq!(
            input_files(&[path("")], &[&output]).expect("files"),
            ["a.epd", "b.pgn.zst", "d.fen"].map(path)
        );
    }
}
