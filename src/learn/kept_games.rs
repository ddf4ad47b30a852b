//! The games that were learned from, as PGN beside the learning file: what its owner looks at, in Engram or any other
//! program.
//!
//! A game is added when it is over, in one piece and under a lock, so that it is whole or absent whatever happens to the
//! process, and so that many processes share the file. The newest [`MOST`] are kept. The tag `Session` is the number that
//! its records have, so that a record finds its game by session and ply.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use encoding_rs::UTF_8;
use jiff::Timestamp;
use shakmaty::{ByColor, Color, Move, Outcome, Position as _, san::SanPlus};

use super::{
    create::LockFile,
    disk::SystemDisk,
    error::{FileError, refused},
    exchange,
    game::{Line, PlayedGame},
    stamp,
};
use crate::{
    files::{self, NewFile, with_suffix},
    position::{
        Openings, Position,
        notation::{eval, move_number, start_tags, tag},
    },
    types::{Depth, Score},
};

/// The most games that are kept.
pub const MOST: usize = 10_000;
/// Games are removed so many at a time, because the file is written anew.
const REMOVED_AT_ONCE: usize = 500;
/// No game is shorter, so a file with fewer bytes a game than this is not counted.
const SHORTEST: u64 = 200;
/// The beginning of a game in the file.
const BEGIN: &str = "[Event \"";
/// The engine's name in its games.
pub const ENGINE: &str = "Engram";
/// The line at the end of the log of a game whose records are in the learning file, and which is still to be kept.
pub(super) const LEARNED: &str = r#"{"learned":true}"#;
/// The name beside the default learning file.
const NAME: &str = "games-1.pgn";

/// The file of games that belongs to a learning file; if that is a symbolic link, to its target.
pub fn path(learn_file: &Path) -> PathBuf {
    let learn_file = files::target_of(learn_file);
    if learn_file.file_name().is_some_and(|name| files::is_same_name(name, super::FILE_NAME)) {
        return learn_file.with_file_name(NAME);
    }
    with_suffix(learn_file, ".games.pgn")
}

/// A game to be kept.
#[derive(Clone, Debug)]
pub struct KeptGame {
    start: Position,
    moves: Vec<Move>,
    /// For each move the depth and White's score of the search that chose it, if one did.
    searches: Vec<Option<(Depth, Score)>>,
    /// Which sides searched?
    sides: ByColor<bool>,
    opponent: String,
    session: u32,
    outcome: Outcome,
    termination: &'static str,
}

impl KeptGame {
    /// A game that went along `line`, with its result and the PGN standard's word for how it ended. None if fewer than
    /// two of its searches are learned from: a single one, as of a test suite, is no game.
    pub fn new(
        played: &PlayedGame,
        line: &Line,
        opponent: &str,
        session: u32,
        (outcome, termination): (Outcome, &'static str),
    ) -> Option<KeptGame> {
        let searches = || played.searches().filter(|search| search.teaches);
        let first = searches().nth(1).and(searches().next())?;
        let mode = first.position.chess().castles().mode();
        let start = exchange::position(&line.start, Some(mode.is_chess960())).ok()?;
        let moves = start.line(&line.moves)?;
        let mut game = KeptGame {
            searches: vec![None; moves.len()],
            sides: ByColor::default(),
            opponent: opponent.to_owned(),
            start,
            moves,
            session,
            outcome,
            termination,
        };
        for search in searches() {
            game.sides[search.side()] = true;
            if let Some(place) = game.searches.get_mut(search.line.plies()) {
                *place = Some((search.depth, search.score.relative_to(search.side())));
            }
        }
        Some(game)
    }

    /// The game as PGN: a line for each move of both sides.
    pub fn pgn(&self) -> String {
        let opponent = match self.opponent.as_str() {
            "" => "?",
            // The engine's side is known by its name.
            ENGINE => "Engram (opponent)",
            name => name,
        };
        let name = |side: Color| if self.sides[side] { ENGINE } else { opponent };
        // No clock is so far off.
        let day =
            Timestamp::from_second(stamp::now().into()).unwrap_or_default().strftime("%Y.%m.%d").to_string();
        let (session, start) = (format!("{:08x}", self.session), start_tags(&self.start));
        let mut tags = vec![
            ("Event", "Game of Engram"),
            ("Site", "?"),
            ("Date", &day),
            ("Round", "?"),
            ("White", name(Color::White)),
            ("Black", name(Color::Black)),
        ];
        let outcome = self.outcome.to_string();
        tags.push(("Result", &outcome));
        tags.extend(start.iter().map(|(name, value)| (*name, value.as_str())));
        let openings = Openings::own();
        if let Some((_, opening)) = openings.last_named(&self.start.along(&self.moves)) {
            tags.extend([("ECO", opening.eco.as_str()), ("Opening", opening.name.as_str())]);
        }
        // The `Date` of PGN is the local day: here it is that of UTC too.
        tags.extend([("Termination", self.termination), ("Session", &session), ("UTCDate", &day)]);
        let one_line = |(name, value): (&str, &str)| tag(name, &value.replace(char::is_control, " "));
        let mut text: String = tags.into_iter().map(one_line).collect();
        text.push('\n');
        let mut position = self.start.clone();
        for (index, (&m, search)) in self.moves.iter().zip(&self.searches).enumerate() {
            if index == 0 || position.turn().is_white() {
                text.push_str(&format!("{} ", move_number(&position)));
            }
            text.push_str(&SanPlus::from_move(position.chess().clone(), m).to_string());
            position = position.play(m);
            if let Some((depth, score)) = search {
                text.push_str(&format!(" {{[%eval {},{}]}}", eval(*score), depth.get()));
            }
            text.push(if position.turn().is_white() { '\n' } else { ' ' });
        }
        text.push_str(&outcome);
        text.push('\n');
        text
    }
}

/// Adds a game to a file of games, which is created if it is missing.
///
/// # Errors
/// Another process holds the lock, or those of the system; the file is then as it was.
pub fn append(path: &Path, game: &str) -> Result<(), FileError> {
    let failed = refused(path, "written");
    // Held until it is closed.
    let mut lock = LockFile::beside(&SystemDisk, path).map_err(&failed)?;
    if !lock.try_lock(&SystemDisk).map_err(&failed)? {
        return Err(FileError::Busy(path.to_owned()));
    }
    let opened = files::open(path, OpenOptions::new().read(true).write(true).create(true).truncate(false));
    let mut file = opened.map_err(io::Error::from).map_err(&failed)?;
    if is_utf16(&mut file).map_err(&failed)? {
        drop(file);
        to_utf8(path).map_err(&failed)?;
        file = File::options().read(true).write(true).open(path).map_err(&failed)?;
    }
    let before = file.metadata().map_err(&failed)?.len();
    let gap = gap(&mut file, before).map_err(&failed)?;
    // It stands at the end now.
    if let Err(error) = file.write_all(format!("{gap}{game}\n").as_bytes()) {
        // A full disk may have taken a part of it.
        let _ = file.set_len(before);
        return Err(failed(error));
    }
    // Windows replaces no open file.
    drop(file);
    if before > MOST as u64 * SHORTEST {
        // The game is there, whatever becomes of the oldest ones.
        remove_oldest(path).unwrap_or_else(|error| log::warn!("{}: {error}", path.display()));
    }
    Ok(())
}

/// Was the file saved as UTF-16, as PowerShell and some editors do?
fn is_utf16(file: &mut File) -> io::Result<bool> {
    let mut mark = Vec::new();
    file.take(2).read_to_end(&mut mark)?;
    Ok(mark == [0xff, 0xfe] || mark == [0xfe, 0xff])
}

/// Saves it as UTF-8: a game in another encoding than the rest would make it unreadable.
fn to_utf8(path: &Path) -> io::Result<()> {
    // The mark at the beginning decides.
    let bytes = fs::read(path)?;
    files::replace(path, UTF_8.decode(&bytes).0.as_bytes())
}

/// What separates a game from the end of the file, which its owner may have edited.
fn gap(file: &mut File, length: u64) -> io::Result<&'static str> {
    let mut end = [b'\n'; 2];
    let read = length.min(2) as usize;
    file.seek(SeekFrom::Start(length - read as u64))?;
    file.read_exact(&mut end[2 - read..])?;
    Ok(match &end {
        b"\n\n" => "",
        [_, b'\n'] => "\n",
        _ => "\n\n",
    })
}

/// Removes the oldest games, if there are too many.
fn remove_oldest(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let begins: Vec<usize> = begins(&bytes).collect();
    if begins.len() < MOST + REMOVED_AT_ONCE {
        return Ok(());
    }
    let mut rest = NewFile::begin(path)?;
    // What the user wrote before the first game stays.
    rest.write_all(&bytes[..begins[0]])?;
    rest.write_all(&bytes[begins[begins.len() - MOST]..])?;
    rest.replace()
}

/// Where games begin.
fn begins(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let is_begin = |&at: &usize| bytes[at..].starts_with(BEGIN.as_bytes());
    let lines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(lines).filter(is_begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game of the length of a short one, with a number in it.
    fn game(number: usize) -> String {
        format!("[Event \"Game of Engram\"]\n[Round \"{number}\"]\n\n{}\n1. e4 *\n", "{text} ".repeat(30))
    }

    fn rounds(path: &Path) -> Vec<usize> {
        let text = std::fs::read_to_string(path).expect("a file");
        let number = |line: &str| line.strip_prefix("[Round \"")?.strip_suffix("\"]")?.parse().ok();
        text.lines().filter_map(number).collect()
    }

    #[test]
    fn many_writers_at_once_lose_nothing_and_tear_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games-1.pgn");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let path = &path;
                scope.spawn(move || {
                    for number in 0..50 {
                        while let Err(error) = append(path, &game(100 * writer + number)) {
                            assert!(matches!(error, FileError::Busy(_)), "{error}");
                            std::thread::yield_now();
                        }
                    }
                });
            }
        });
        let mut found = rounds(&path);
        found.sort_unstable();
        let expected: Vec<usize> = (0..4).flat_map(|writer| 100 * writer..100 * writer + 50).collect();
        assert_eq!(found, expected);
        let bytes = std::fs::read(&path).expect("a file");
        assert_eq!(begins(&bytes).count(), 200);
    }

    #[test]
    fn the_newest_games_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games-1.pgn");
        let most = MOST + REMOVED_AT_ONCE;
        let all: String = (0..most - 1).map(|number| game(number) + "\n").collect();
        std::fs::write(&path, all).expect("written");
        append(&path, &game(most - 1)).expect("appended");
        let found = rounds(&path);
        assert_eq!((found.len(), found[0], found[MOST - 1]), (MOST, REMOVED_AT_ONCE, most - 1));
    }

    #[test]
    #[cfg(unix)]
    fn a_learning_file_has_its_games_by_whatever_link_it_is_reached() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join(super::super::FILE_NAME), folder.path().join("link"));
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        assert_eq!(path(&link), path(&file));
        assert_eq!(path(&link).file_name(), Some(NAME.as_ref()));
    }

    #[test]
    fn what_its_owner_wrote_into_the_file_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games-1.pgn");
        for end in ["", "\n", "\n\n"] {
            std::fs::write(&path, format!("[Event \"mine\"]\n\n1. d4 *{end}")).expect("written");
            append(&path, "[Event \"ours\"]\n\n1. e4 *\n").expect("appended");
            let text = std::fs::read_to_string(&path).expect("a file");
            assert_eq!(text, "[Event \"mine\"]\n\n1. d4 *\n\n[Event \"ours\"]\n\n1. e4 *\n\n");
        }
        let text = "[Event \"mine\"]\n\n1. d4 {gr\u{fc}n} *\n\n";
        let units = || std::iter::once(0xfeff).chain(text.encode_utf16());
        let as_utf16: [Vec<u8>; 2] =
            [units().flat_map(u16::to_le_bytes).collect(), units().flat_map(u16::to_be_bytes).collect()];
        for utf16 in as_utf16 {
            std::fs::write(&path, utf16).expect("written");
            append(&path, &game(7)).expect("appended");
            let all = std::fs::read_to_string(&path).expect("UTF-8");
            assert_eq!(all, format!("{text}{}\n", game(7)));
        }
        let sub = folder.path().join("folder.pgn");
        std::fs::create_dir(&sub).expect("made");
        assert!(append(&sub, "").is_err(), "a folder is no file of games");
        #[cfg(unix)]
        {
            let other = folder.path().join("other.pgn");
            let made = std::process::Command::new("mkfifo").arg(with_suffix(&other, ".lock")).status();
            assert!(made.expect("mkfifo runs").success());
            assert!(append(&other, "").is_err(), "a FIFO is no lock file");
        }
    }
}
