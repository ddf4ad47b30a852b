//! What was found so far, on disk: interrupted work goes on where it stopped.
//!
//! The first line names the work (input, settings and outputs), each other one a finding:
//!
//! ```text
//! item ply depth nodes millis | score moves... | score moves... | millis move ...
//! ```
//! with scores in internal units and moves in UCI notation. A line that was cut off by the interruption
//! does not end in `;` and is ignored.
//!
//! Findings are written as they come, but an item is begun only when those so far before it are done
//! ([`super::MOST_PENDING`]). So a journal of any length is read back with that much of it in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take, Write},
    path::{Path, PathBuf},
};

use shakmaty::{CastlingMode, Move, uci::UciMove};

use super::{
    MOST_PENDING,
    pool::{Answer, Finding, Found},
};
use crate::{cli::CliError, position::Position, types::Score};

/// What an earlier run of the same work left, if one did.
pub struct Earlier {
    path: PathBuf,
    work: String,
    /// Bytes of the first line: none if there was no such run.
    head: u64,
    /// Bytes of the lines that are whole.
    whole: u64,
    /// How many findings those are.
    len: usize,
    /// The journal, locked, if there is one.
    file: Option<File>,
}

/// The journal of one run.
pub struct Journal {
    path: PathBuf,
    file: File,
    /// What an earlier run has found.
    earlier: BufReader<Take<File>>,
    /// The part of it that was read and not asked for yet, as text, by item and ply.
    known: BTreeMap<(usize, usize), String>,
}

impl Earlier {
    /// Looks for the journal of `work` beside an output file. Nothing is written yet.
    ///
    /// # Errors
    /// It cannot be read, or it belongs to other work.
    pub fn find(output: &Path, work: String) -> Result<Earlier, CliError> {
        let mut name = output.as_os_str().to_owned();
        name.push(".unfinished");
        let path = PathBuf::from(name);
        let file = match OpenOptions::new().read(true).append(true).open(&path) {
            Ok(file) => Some(file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(CliError::file("read", &path, error)),
        };
        file.iter().try_for_each(|file| lock(file, &path))?;
        // Who had the lock may have finished the work.
        let file = file.filter(|_| path.exists());
        let measured = file.as_ref().map_or(Ok(Some((0, 0, 0))), |file| measure(file, &work));
        let measured = measured.map_err(|error| CliError::file("read", &path, error))?;
        let Some((head, whole, len)) = measured else {
            return Err(CliError::Task(format!(
                "{} holds unfinished work with another input, other settings or other outputs; finish that or remove it",
                path.display()
            )));
        };
        Ok(Earlier { path, work, head, whole, len, file })
    }

    /// Was there such a run? Then the outputs that are there are its own.
    pub fn is_there(&self) -> bool {
        self.head > 0
    }

    /// The number of its findings.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Goes on with it, or begins.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn go_on(self) -> Result<Journal, CliError> {
        let Earlier { path, work, head, whole, file, .. } = self;
        let make = || {
            let made = OpenOptions::new().create(true).append(true).open(&path);
            let made = made.map_err(|error| CliError::file("write", &path, error))?;
            lock(&made, &path).map(|()| made)
        };
        let mut file = file.map_or_else(make, Ok)?;
        let mut open = || {
            // A handle that only appends may not do that everywhere.
            OpenOptions::new().write(true).open(&path)?.set_len(whole)?;
            if whole == 0 {
                file.write_all(format!("{work}\n").as_bytes())?;
            }
            let mut earlier = File::open(&path)?;
            earlier.seek(SeekFrom::Start(head))?;
            Ok(BufReader::new(earlier.take(whole - head)))
        };
        let earlier = open().map_err(|error| CliError::file("write", &path, error))?;
        Ok(Journal { path, file, earlier, known: BTreeMap::new() })
    }
}

/// One process at a time. (Where a lock keeps out the reader as well, which goes on beside it, there is none.)
fn lock(file: &File, path: &Path) -> Result<(), CliError> {
    if cfg!(unix) && matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        let path = path.display();
        return Err(CliError::Task(format!(
            "another `engram analyse` is at this work and writes {path}; wait for it or name other outputs"
        )));
    }
    Ok(())
}

/// Of the journal of `work`: the bytes of its first line and of all lines that are whole, and how many findings
/// those are. None if it belongs to other work.
fn measure(file: &File, work: &str) -> io::Result<Option<(u64, u64, usize)>> {
    let mut lines = BufReader::new(file);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    if work.starts_with(&line) {
        // Cut off before its first line was whole.
        return Ok(Some((0, 0, 0)));
    }
    if line.strip_suffix('\n') != Some(work) {
        // Work of which nothing was done gives way.
        let is_ours = line.starts_with("engram ") && line.ends_with('\n');
        line.clear();
        let is_empty = is_ours && lines.read_line(&mut line)? == 0;
        return Ok(is_empty.then_some((0, 0, 0)));
    }
    let head = line.len() as u64;
    let (mut whole, mut len) = (head, 0);
    // A stretch that was interrupted is searched and written again.
    let mut recent = BTreeSet::new();
    loop {
        line.clear();
        if lines.read_line(&mut line)? == 0 || !line.ends_with(";\n") {
            return Ok(Some((head, whole, len)));
        }
        whole += line.len() as u64;
        if let Some((place, _)) = place(&line) {
            len += usize::from(recent.insert(place));
            recent = recent.split_off(&(place.0.saturating_sub(MOST_PENDING), 0));
        }
    }
}

impl Journal {
    /// What an earlier run has found about `position`, if it did. Items are asked for in ascending order.
    pub fn take(&mut self, item: usize, ply: usize, position: &Position) -> Option<Finding> {
        self.known = self.known.split_off(&(item, 0));
        let is_enough = |&(last, _): &(usize, usize)| last >= item + MOST_PENDING;
        let mut line = String::new();
        while !self.known.last_key_value().is_some_and(|(place, _)| is_enough(place)) {
            line.clear();
            // What cannot be read is searched again.
            if self.earlier.read_line(&mut line).unwrap_or(0) == 0 {
                break;
            }
            if let Some((place, rest)) = place(&line) {
                self.known.insert(place, rest.to_owned());
            }
        }
        parse(&self.known.remove(&(item, ply))?, position)
    }

    /// Adds a finding.
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&mut self, answer: &Answer) -> Result<(), CliError> {
        let Answer { item, ply, finding } = answer;
        let mut line = format!("{item} {ply} {} {} {}", finding.depth, finding.nodes, finding.millis);
        for found in &finding.lines {
            line.push_str(&format!(" | {}", found.score.0));
            found.moves.iter().for_each(|m| line.push_str(&format!(" {}", uci(*m))));
        }
        line.push_str(" |");
        finding.changes.iter().for_each(|(millis, m)| line.push_str(&format!(" {millis} {}", uci(*m))));
        line.push_str(" ;\n");
        // One write: a line is whole or it is the last.
        self.file.write_all(line.as_bytes()).map_err(|error| CliError::file("write", &self.path, error))
    }

    /// The work is done: nothing is left to go on with.
    pub fn finish(self) {
        // A journal that stays behind does no harm.
        let _ = fs::remove_file(&self.path);
    }
}

fn uci(m: Move) -> UciMove {
    m.to_uci(CastlingMode::Chess960)
}

fn place(line: &str) -> Option<((usize, usize), &str)> {
    let (item, rest) = line.split_once(' ')?;
    let (ply, rest) = rest.split_once(' ')?;
    Some(((item.parse().ok()?, ply.parse().ok()?), rest.strip_suffix(" ;\n")?))
}

fn parse(text: &str, position: &Position) -> Option<Finding> {
    let mut parts: Vec<&str> = text.split('|').collect();
    let changes = parts.pop()?;
    let (numbers, lines) = parts.split_first()?;
    let mut numbers = numbers.split_whitespace();
    let mut finding = Finding {
        depth: numbers.next()?.parse().ok()?,
        nodes: numbers.next()?.parse().ok()?,
        millis: numbers.next()?.parse().ok()?,
        ..Finding::default()
    };
    let legal = |position: &Position, text: &str| -> Option<Move> {
        text.parse::<UciMove>().ok()?.to_move(position.chess()).ok()
    };
    for line in lines {
        let mut words = line.split_whitespace();
        let score = Score(words.next()?.parse().ok()?);
        let mut at = position.clone();
        let mut moves = Vec::new();
        for word in words {
            let m = legal(&at, word)?;
            at = at.play(m);
            moves.push(m);
        }
        finding.lines.push(Found { score, moves });
    }
    let words: Vec<&str> = changes.split_whitespace().collect();
    for pair in words.chunks_exact(2) {
        finding.changes.push((pair[0].parse().ok()?, legal(position, pair[1])?));
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer() -> Answer {
        let position = Position::default();
        let m = |text: &str| text.parse::<UciMove>().unwrap().to_move(position.chess()).unwrap();
        let finding = Finding {
            depth: 7,
            nodes: 12_345,
            millis: 60,
            lines: vec![
                Found { score: Score(31), moves: vec![m("e2e4")] },
                Found { score: Score(-4), moves: vec![m("d2d4")] },
            ],
            changes: vec![(1, m("g1f3")), (40, m("e2e4"))],
        };
        Answer { item: 3, ply: 0, finding }
    }

    fn open(output: &Path) -> Journal {
        Earlier::find(output, "work A".to_owned()).unwrap().go_on().unwrap()
    }

    #[test]
    fn findings_survive_an_interruption_and_cut_lines_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("games.pgn");
        let find = |work: &str| Earlier::find(&output, work.to_owned());
        assert!(!find("work A").unwrap().is_there());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "to look leaves nothing");
        fs::write(folder.path().join("games.pgn.unfinished"), "wor").unwrap();
        assert!(!find("work A").unwrap().is_there(), "cut off in its first line");
        let journal = open(&output);
        if cfg!(unix) {
            assert!(find("work A").is_err(), "another process is at it");
        }
        drop(journal);
        assert!(find("work A").unwrap().is_there(), "begun, without a finding");
        let mut journal = open(&output);
        journal.add(&answer()).unwrap();
        journal.file.write_all(b"4 0 7 12345").unwrap();
        drop(journal);
        assert_eq!(find("work A").unwrap().len(), 1);
        let mut journal = open(&output);
        assert_eq!(journal.take(3, 0, &Position::default()), Some(answer().finding));
        assert_eq!(journal.take(4, 0, &Position::default()), None);
        journal.add(&Answer { item: 4, ..answer() }).unwrap();
        drop(journal);
        assert_eq!(find("work A").unwrap().len(), 2);
        for other in ["work B", "work", "work A and more"] {
            assert!(find(other).is_err(), "other settings");
        }
        open(&output).finish();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_long_journal_is_read_with_little_of_it_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("games.pgn");
        let mut journal = open(&output);
        let items = 3 * MOST_PENDING;
        // Out of order, as far as workers can be: each block of pending items backwards.
        let blocks: Vec<usize> = (0..items).collect();
        for item in blocks.chunks(MOST_PENDING).flat_map(|block| block.iter().rev()) {
            journal.add(&Answer { item: *item, ..answer() }).unwrap();
        }
        drop(journal);
        let mut journal = open(&output);
        for item in 0..items {
            assert!(journal.take(item, 0, &Position::default()).is_some(), "{item}");
            assert!(journal.known.len() <= 2 * MOST_PENDING, "{}", journal.known.len());
        }
        assert_eq!(journal.take(items, 0, &Position::default()), None);
    }
}
