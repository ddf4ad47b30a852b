//! Book learning: results of games are counted in the `learn` fields of a copy of the book.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions, TryLockError},
    io::{self, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{Book, BookEntry, BookMove, ENTRY_BYTES};
use crate::files::{self, Lock, NewFile};

/// Number of draws with which every move begins, so that a single result changes little.
const PRIOR_GAMES: f64 = 3.0;
/// How long a result waits for a lock that another process holds.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);

/// The results of our games with a book move, packed in a `learn` field: `games 16 | half points 16`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Experience {
    /// Games played.
    pub games: u16,
    /// Half points scored in them: 2 for a win, 1 for a draw.
    pub half_points: u16,
}

impl Experience {
    /// The experience in a `learn` field of a copy; impossible values count as none.
    pub fn from_bits(bits: u32) -> Experience {
        let (games, half_points) = ((bits >> 16) as u16, bits as u16);
        let possible = u32::from(half_points) <= 2 * u32::from(games);
        if possible { Experience { games, half_points } } else { Experience::default() }
    }

    /// As a `learn` field.
    pub fn bits(self) -> u32 {
        u32::from(self.games) << 16 | u32::from(self.half_points)
    }

    /// Counts a game of `half_points` (0 to 2). Near the limit of the field both numbers are halved.
    pub fn add(&mut self, half_points: u16) {
        if self.games >= u16::MAX / 2 {
            self.games /= 2;
            self.half_points = (self.half_points / 2).min(2 * self.games);
        }
        self.games += 1;
        self.half_points += half_points.min(2);
    }

    /// The factor of a move's weight: 1 without experience, approaching 4 with only wins and 0 with only losses (the
    /// square of the expected score relative to a draw).
    pub fn factor(self) -> f64 {
        let expected = (f64::from(self.half_points) + PRIOR_GAMES) / (f64::from(self.games) + PRIOR_GAMES);
        expected * expected
    }
}

/// The result of a game for a move from the book.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryResult {
    /// The entry's key.
    pub key: u64,
    /// The entry's move, in the encoding of the format.
    pub raw: u16,
    /// Half points of the side that played it: 0 to 2.
    pub half_points: u16,
}

/// The copy of a book with the results of our games. It has the same entries in the same order.
#[derive(Clone)]
pub struct LearnedBook {
    path: PathBuf,
}

impl LearnedBook {
    /// The copy at `path`, which need not exist yet.
    pub fn at(path: &Path) -> LearnedBook {
        LearnedBook { path: path.to_owned() }
    }

    /// The path of the copy.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The experience with each of `moves`, which all belong to one position of `book`. Empty if the copy is missing,
    /// unreadable or of another book.
    pub fn experience(&self, book: &Book, moves: &[BookMove]) -> Vec<Experience> {
        let read = || -> io::Result<Vec<Experience>> {
            let file = File::open(&self.path)?;
            moves.iter().map(|m| experience_at(&file, book, m.index)).collect()
        };
        read().unwrap_or_default()
    }

    /// Counts a game, and waits until it is on the disk. The copy is created if it is missing or of another book. Other
    /// processes may do the same at the same time.
    ///
    /// # Errors
    /// Those of the system; the copy is then as it was, unless the system refuses in the middle.
    pub fn record(&self, book: &Book, results: &[EntryResult]) -> io::Result<()> {
        // An earlier process may have left a result of a move that is no longer in the book.
        let number = |result: &EntryResult| Some((book.number(result.key, result.raw)?, result.half_points));
        let results: Vec<(usize, u16)> = results.iter().filter_map(number).collect();
        if results.is_empty() {
            return Ok(());
        }
        let mut file = self.writable(book, &results)?;
        lock(&file)?;
        for (index, half_points) in results {
            let mut experience = experience_at(&file, book, index)?;
            experience.add(half_points);
            file.seek(SeekFrom::Start(offset(index) + 12))?;
            file.write_all(&experience.bits().to_be_bytes())?;
        }
        // The results are counted; the lock ends with the file at the latest.
        let _ = files::unlock(&file);
        // The caller then removes the log. If this fails it removes it too: the results would be counted twice.
        let _ = files::sync(&file);
        Ok(())
    }

    /// Opens the copy for writing, and creates it first if needed. What a copy of another version of the book has learned is
    /// kept.
    fn writable(&self, book: &Book, results: &[(usize, u16)]) -> io::Result<File> {
        let open = || OpenOptions::new().read(true).write(true).open(&self.path);
        let known = match open() {
            Ok(file) if is_copy(&file, book, results)? => return Ok(file),
            Ok(file) => learned(file)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => HashMap::new(),
            Err(error) => return Err(error),
        };
        files::create_parents(&self.path)?;
        // The copy gets its name when it is complete.
        let mut copy = NewFile::begin(&self.path)?;
        for entry in book.entries() {
            let learn = known.get(&(entry.key, entry.raw)).copied().unwrap_or_default();
            copy.write_all(&BookEntry { learn, ..entry }.to_bytes())?;
        }
        self.publish(copy, book, results)?;
        open()
    }

    /// Gives a new copy its name, unless another process has done that.
    fn publish(&self, copy: NewFile, book: &Book, results: &[(usize, u16)]) -> io::Result<()> {
        match File::open(&self.path) {
            Ok(file) if is_copy(&file, book, results)? => Ok(()),
            Ok(_) => copy.replace(),
            Err(_) => copy.publish(),
        }
    }
}

/// The `learn` fields of a copy that are not zero, by key and move.
fn learned(copy: File) -> io::Result<HashMap<(u64, u16), u32>> {
    let mut copy = BufReader::new(copy);
    let mut bytes = [0; ENTRY_BYTES];
    let mut known = HashMap::new();
    loop {
        match copy.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(known),
            read => read?,
        }
        let entry = BookEntry::from_bytes(bytes);
        if entry.learn != 0 {
            known.insert((entry.key, entry.raw), entry.learn);
        }
    }
}

/// Locks the copy. Others hold the lock for microseconds; one that holds it longer is stopped or stuck, and is not
/// waited for.
fn lock(file: &File) -> io::Result<()> {
    let lock = || files::try_lock(file, Lock::Exclusive);
    files::retry_within(LOCK_TIMEOUT, files::is_locked, lock).map_err(|error| match error {
        TryLockError::WouldBlock => {
            io::Error::new(io::ErrorKind::WouldBlock, "another process holds its lock")
        }
        TryLockError::Error(error) => error,
    })
}

fn offset(index: usize) -> u64 {
    (index * ENTRY_BYTES) as u64
}

/// Is this a copy of `book`? An error if that cannot be read.
fn is_copy(file: &File, book: &Book, results: &[(usize, u16)]) -> io::Result<bool> {
    if file.metadata()?.len() != offset(book.len()) {
        return Ok(false);
    }
    match results.iter().try_for_each(|&(index, _)| experience_at(file, book, index).map(drop)) {
        Err(error) if matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof) => {
            Ok(false)
        }
        read => read.map(|()| true),
    }
}

fn experience_at(mut file: &File, book: &Book, index: usize) -> io::Result<Experience> {
    let mut bytes = [0; ENTRY_BYTES];
    file.seek(SeekFrom::Start(offset(index)))?;
    file.read_exact(&mut bytes)?;
    let found = BookEntry::from_bytes(bytes);
    match book.get(index) {
        Some(entry) if (entry.key, entry.raw) == (found.key, found.raw) => {
            Ok(Experience::from_bits(found.learn))
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "the copy belongs to another book")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::position::Position;

    /// The own book, its moves at the start, and a copy to be made at `name` in a folder of its own.
    fn own_book(name: &str) -> (tempfile::TempDir, PathBuf, Book, Vec<BookMove>) {
        let folder = tempfile::tempdir().unwrap();
        let (path, book) = (folder.path().join(name), Book::own());
        let moves = book.moves(&Position::default());
        (folder, path, book, moves)
    }

    fn result(book: &Book, m: &BookMove, half_points: u16) -> EntryResult {
        let BookEntry { key, raw, .. } = book.get(m.index).unwrap();
        EntryResult { key, raw, half_points }
    }

    #[test]
    fn fields_survive_and_never_overflow() {
        let mut experience = Experience::default();
        assert!((experience.factor() - 1.0).abs() < 1e-9);
        for _ in 0..200_000 {
            experience.add(2);
        }
        assert_eq!(Experience::from_bits(experience.bits()), experience);
        assert!(experience.factor() < 4.0 && experience.factor() > 3.9);
        assert_eq!(Experience::from_bits(0x0001_0003), Experience::default());
    }

    #[test]
    fn a_move_listed_twice_is_one_move_with_one_experience() {
        let (folder, _, book, moves) = own_book("own.bin");
        let entry = book.get(moves[0].index).unwrap();
        let twice: Vec<u8> =
            [2, 3].into_iter().flat_map(|weight| BookEntry { weight, ..entry }.to_bytes()).collect();
        let path = folder.path().join("twice.bin");
        fs::write(&path, twice).unwrap();
        let twice = Book::open(&path).unwrap();
        let moves = twice.moves(&Position::default());
        assert_eq!(moves.iter().map(|m| (m.weight, m.index)).collect::<Vec<_>>(), [(5, 0)]);
        let learned = LearnedBook::at(&folder.path().join("copy.bin"));
        learned.record(&twice, &[result(&twice, &moves[0], 2)]).unwrap();
        assert_eq!(learned.experience(&twice, &moves), [Experience { games: 1, half_points: 2 }]);
    }

    #[test]
    fn the_copy_of_another_book_is_replaced_also_if_it_is_as_long() {
        let (_folder, path, book, moves) = own_book("own.bin");
        let others: Vec<u8> = book
            .entries()
            .flat_map(|entry| BookEntry { weight: entry.weight ^ 1, key: entry.key ^ 1, ..entry }.to_bytes())
            .collect();
        for foreign in [others, vec![0; 160]] {
            fs::write(&path, foreign).unwrap();
            let learned = LearnedBook::at(&path);
            assert!(learned.experience(&book, &moves).is_empty());
            learned.record(&book, &[result(&book, &moves[0], 2)]).unwrap();
            assert_eq!(learned.experience(&book, &moves)[0], Experience { games: 1, half_points: 2 });
        }
    }

    #[test]
    fn a_copy_that_another_process_was_faster_to_make_stays() {
        let (_folder, path, book, moves) = own_book("own.bin");
        let learned = LearnedBook::at(&path);
        learned.record(&book, &[result(&book, &moves[0], 2)]).unwrap();
        learned.publish(NewFile::begin(&path).unwrap(), &book, &[(moves[0].index, 2)]).unwrap();
        assert_eq!(learned.experience(&book, &moves)[0], Experience { games: 1, half_points: 2 });
    }

    #[test]
    fn a_copy_that_cannot_be_read_is_not_taken_for_one_of_another_book() {
        let (_folder, path, book, moves) = own_book("own.bin");
        let results = [(moves[0].index, 2)];
        LearnedBook::at(&path).record(&book, &[result(&book, &moves[0], 2)]).unwrap();
        assert!(is_copy(&File::open(&path).unwrap(), &book, &results).unwrap());
        let unreadable = OpenOptions::new().write(true).open(&path).unwrap();
        assert!(is_copy(&unreadable, &book, &results).is_err() && learned(unreadable).is_err());
    }

    #[test]
    fn nobody_waits_for_a_lock_for_long() {
        let (_folder, path, book, moves) = own_book("own.bin");
        let learned = LearnedBook::at(&path);
        learned.record(&book, &[result(&book, &moves[0], 2)]).unwrap();
        let holder = File::open(&path).unwrap();
        holder.lock().unwrap();
        assert_eq!(
            learned.record(&book, &[result(&book, &moves[0], 2)]).unwrap_err().kind(),
            io::ErrorKind::WouldBlock
        );
        holder.unlock().unwrap();
        learned.record(&book, &[result(&book, &moves[0], 2)]).unwrap();
        assert_eq!(learned.experience(&book, &moves)[0], Experience { games: 2, half_points: 4 });
    }

    #[test]
    fn results_are_kept_in_the_copy_and_nowhere_else() {
        let (_folder, path, book, moves) = own_book("deep/er/own.bin");
        let learned = LearnedBook::at(&path);
        assert!(moves.len() >= 2 && learned.experience(&book, &moves).is_empty());
        learned.record(&book, &[result(&book, &moves[1], 2)]).unwrap();
        learned.record(&book, &[result(&book, &moves[1], 1)]).unwrap();
        let experience = learned.experience(&book, &moves);
        assert_eq!(experience[0], Experience::default());
        assert_eq!(experience[1], Experience { games: 2, half_points: 3 });
        assert_eq!(fs::metadata(&path).unwrap().len(), (book.len() * ENTRY_BYTES) as u64);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    /// The built-in book, and one with a single entry: the first of its moves from the start.
    #[test]
    fn what_was_learned_survives_a_change_of_the_book() {
        let (folder, path, book, moves) = own_book("own.bin");
        let learned = LearnedBook::at(&path);
        let [first, second] = [0, 1].map(|number| result(&book, &moves[number], 2));
        learned.record(&book, &[first, second]).unwrap();
        let one = folder.path().join("one.bin");
        fs::write(&one, book.get(moves[0].index).unwrap().to_bytes()).unwrap();
        let one = Book::open(&one).unwrap();
        // A result that is left of the larger book counts for the moves that the smaller one has.
        learned.record(&one, &[second]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), (book.len() * ENTRY_BYTES) as u64);
        learned.record(&one, &[second, first]).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().len(), ENTRY_BYTES as u64);
        let experience = learned.experience(&one, &one.moves(&Position::default()));
        assert_eq!(experience, [Experience { games: 2, half_points: 4 }]);
    }
}
