//! A log of what a process has not yet written into a file that it shares with others; it lies beside that file, so that the
//! next process does it if this one is killed or cannot.
//!
//! The log `NAME.game-SESSION-N` of the file `NAME` belongs to the process that holds its lock. One without a lock was
//! left behind.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

use super::{Lock, create_parents, info, info_at, is_same_name, resolve, try_lock, with_suffix};

/// A log, locked.
#[derive(Debug)]
pub struct ProcessLog {
    path: PathBuf,
    file: File,
    /// Bytes written.
    length: u64,
}

impl ProcessLog {
    /// Creates a log beside `shared`, in `session`, and the folder of both if it is missing. Never waits: a move is about to
    /// be announced.
    ///
    /// # Errors
    /// Those of the system.
    pub fn begin(shared: &Path, session: u32) -> io::Result<ProcessLog> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        // Relaxed: each number is taken once.
        let number = NUMBER.fetch_add(1, Relaxed);
        create_parents(shared)?;
        let path = with_suffix(resolve(shared)?, &format!(".game-{session:08x}-{number}"));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        ProcessLog { path, file, length: 0 }.locked()
    }

    /// Locks a new log, or removes it, for instance if the file system has no locks.
    fn locked(self) -> io::Result<ProcessLog> {
        let lock = || {
            try_lock(&self.file, Lock::Exclusive)?;
            // A process that looks for logs left behind may have taken it for one, and removed it.
            let is_there = info_at(&self.path)?.identity == info(&self.file)?.identity;
            if is_there { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) }
        };
        match lock() {
            Ok(()) => Ok(self),
            Err(error) => {
                self.remove();
                Err(error)
            }
        }
    }

    /// Adds a line, in one call: half a line, where the process was killed in between, is ignored.
    ///
    /// # Errors
    /// Those of the system; the log is then as it was.
    pub fn write(&mut self, line: &str) -> io::Result<()> {
        let line = format!("{line}\n");
        self.file.seek(SeekFrom::Start(self.length))?;
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // A full disk may have taken a part of it.
            let _ = self.file.set_len(self.length);
            return Err(error);
        }
        self.length += line.len() as u64;
        Ok(())
    }

    /// Removes the log: what it says is in the shared file.
    pub fn remove(self) {
        // Emptied before it is removed: another process may have opened it already.
        if let Err(error) = self.file.set_len(0).and_then(|()| fs::remove_file(&self.path)) {
            log::debug!("{} cannot be removed: {error}", self.path.display());
        }
    }
}

/// A log that a process left behind.
#[derive(Debug)]
pub struct LeftLog {
    /// The session of that process.
    pub session: u32,
    /// The lines that were written completely.
    pub lines: Vec<String>,
    /// The log itself.
    pub log: ProcessLog,
}

/// The session in the name of a log, after `NAME.game-`; none if the file is something else.
fn session_in(rest: &str) -> Option<u32> {
    let (session, number) = rest.split_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    read_session(session).filter(|_| is_number)
}

/// A session in eight hexadecimal digits.
pub fn read_session(hex: &str) -> Option<u32> {
    let is_whole = hex.len() == 8 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(hex, 16).ok().filter(|_| is_whole)
}

/// The logs beside `shared` that no living process holds.
///
/// # Errors
/// The folder cannot be read.
pub fn left_logs(shared: &Path) -> io::Result<Vec<LeftLog>> {
    let shared = resolve(shared)?;
    let (Some(folder), Some(name)) = (shared.parent(), shared.file_name()) else { return Ok(Vec::new()) };
    let prefix = format!("{}.game-", name.to_string_lossy());
    let left = |entry: fs::DirEntry| {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (beginning, rest) = name.split_at_checked(prefix.len())?;
        let session = session_in(rest).filter(|_| is_same_name(beginning.as_ref(), &prefix))?;
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            return None;
        }
        let path = entry.path();
        let mut file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
        // Its game is still being played if it is locked.
        try_lock(&file, Lock::Exclusive).ok()?;
        let mut bytes = Vec::new();
        if let Err(error) = file.read_to_end(&mut bytes) {
            log::debug!("{} cannot be read: {error}", path.display());
            return None;
        }
        // What is written next takes the place of half a line.
        bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1));
        let text = String::from_utf8_lossy(&bytes);
        Some(LeftLog {
            session,
            lines: text.split_terminator('\n').map(str::to_owned).collect(),
            log: ProcessLog { path, file, length: bytes.len() as u64 },
        })
    };
    Ok(fs::read_dir(folder)?.flatten().filter_map(left).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_left_behind_when_its_process_is_gone_and_not_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let shared = folder.path().join("learn.bin");
        let mut log = ProcessLog::begin(&shared, 7).expect("a log");
        let other = ProcessLog::begin(&shared, 7).expect("another of the same process");
        log.write("one").and_then(|()| log.write("two")).expect("written");
        assert!(left_logs(&shared).expect("read").is_empty());
        log.file.write_all(b"half").expect("written");
        drop(log);
        let mut left = left_logs(&shared).expect("read");
        assert_eq!((left.len(), left[0].session), (1, 7));
        let LeftLog { lines, mut log, .. } = left.remove(0);
        assert_eq!(lines, ["one", "two"]);
        assert!(left_logs(&shared).expect("read").is_empty(), "who has it holds it");
        log.write("3").expect("written");
        drop(log);
        let LeftLog { lines, log, .. } = left_logs(&shared).expect("read").remove(0);
        assert_eq!(lines, ["one", "two", "3"]);
        log.remove();
        other.remove();
        for foreign in ["notes.txt", "7-0", "0000007-0", "+0000007-0", "00000007-", "00000007-0.bak"] {
            fs::write(folder.path().join(format!("learn.bin.game-{foreign}")), "mine").expect("written");
        }
        assert!(left_logs(&shared).expect("read").is_empty(), "these are no logs");
    }

    #[test]
    #[cfg(unix)]
    fn a_log_that_cannot_be_locked_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("learn.bin.game-00000007-0");
        let other = File::create(&path).expect("a file");
        other.lock().expect("locked");
        let file = OpenOptions::new().write(true).open(&path).expect("there");
        let error = ProcessLog { path: path.clone(), file, length: 0 }.locked().expect_err("locked already");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        assert!(!path.exists());
    }
}
