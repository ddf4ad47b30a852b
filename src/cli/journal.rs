//! The results of a long-running command on disk, from which the same command resumes after an interruption.
//!
//! The file has lines of JSON. The first describes the work (its *setup*), every other one is a result. If the
//! interruption came while a line was written, it has no line end: it is dropped, and its result computed again.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take, Write},
    path::PathBuf,
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{CliError, refused};
use crate::files::{self, Claim, Identity, OutputError};

/// The journal of an earlier run of the same work, or an empty one, which is removed again when it is dropped.
pub(super) struct EarlierRun {
    path: PathBuf,
    setup: String,
    advice: &'static str,
    /// Locked while this process lives.
    file: Claim,
    /// Bytes of the first line: none if there was no such run.
    head: u64,
    /// Bytes of the complete lines.
    whole: u64,
    /// Number of results in them.
    pub(super) len: usize,
}

/// The journal of one run, open for the next result.
pub(super) struct Journal {
    path: PathBuf,
    file: Claim,
}

/// The results of earlier runs, oldest first, read on demand.
pub(super) struct Results(BufReader<Take<File>>);

impl EarlierRun {
    /// Looks for the journal of the work that `setup` describes, an object with a field `engram`. It is not changed
    /// yet. A journal of other work is replaced only if it has no results; otherwise `advice` says what to do.
    ///
    /// # Errors
    /// It cannot be read or made, belongs to other work or to none, or another process is at it.
    pub(super) fn find(path: PathBuf, setup: &Value, advice: &'static str) -> Result<EarlierRun, CliError> {
        let file = Claim::open(&path, files::unshared().read(true)).and_then(Claim::of_a_file);
        let file = file.map_err(|error| match error {
            OutputError::Busy => {
                let path = path.display();
                CliError::Task(format!(
                    "another process is doing this work and writing {path}; wait for it to end"
                ))
            }
            error => CliError::Refused(path.clone(), error),
        })?;
        let mut earlier =
            EarlierRun { path, setup: format!("{setup}\n"), advice, file, head: 0, whole: 0, len: 0 };
        earlier.measure(setup)?;
        Ok(earlier)
    }

    /// Finds the part of the file that is valid.
    fn measure(&mut self, setup: &Value) -> Result<(), CliError> {
        let advice = self.advice;
        let failed = refused(&self.path, "read");
        let mut lines = BufReader::new(self.file.file());
        let mut line = Vec::new();
        lines.read_until(b'\n', &mut line).map_err(&failed)?;
        if self.setup.as_bytes().starts_with(&line) && !line.ends_with(b"\n") {
            // Interrupted while the first line was written.
            return Ok(());
        }
        let found = serde_json::from_slice::<Value>(&line).ok().filter(|found| !found["engram"].is_null());
        let Some(found) = found else {
            let path = self.path.display();
            return Err(CliError::Task(format!(
                "{path} is not left by an interrupted run of this command; {advice}"
            )));
        };
        let (head, is_same) = (line.len() as u64, found == *setup);
        let (mut whole, mut len) = (head, 0);
        loop {
            line.clear();
            lines.read_until(b'\n', &mut line).map_err(&failed)?;
            if !line.ends_with(b"\n") {
                break;
            }
            if !is_same {
                let (path, difference) = (self.path.display(), difference(&found, setup));
                return Err(CliError::Task(format!(
                    "{path} belongs to a run with other settings (they differ in: {difference}); {advice}"
                )));
            }
            if serde_json::from_slice::<serde::de::IgnoredAny>(&line).is_err() {
                break;
            }
            whole += line.len() as u64;
            len += 1;
        }
        if is_same {
            (self.head, self.whole, self.len) = (head, whole, len);
        }
        Ok(())
    }

    /// Was there such a run?
    pub(super) fn is_there(&self) -> bool {
        self.head > 0
    }

    /// The identity of the journal.
    pub(super) fn identity(&self) -> Identity {
        self.file.identity()
    }

    /// Resumes it, or begins a new one.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(super) fn resume(self) -> Result<(Journal, Results), CliError> {
        let EarlierRun { path, setup, mut file, head, whole, .. } = self;
        let mut open = || {
            file.file().set_len(whole)?;
            file.file().seek(SeekFrom::Start(whole))?;
            if whole == 0 {
                file.write_all(setup.as_bytes())?;
            }
            let mut earlier = File::open(&path)?;
            earlier.seek(SeekFrom::Start(head))?;
            Ok(BufReader::new(earlier.take(whole - head)))
        };
        let earlier = open().map_err(refused(&path, "written"))?;
        file.keep();
        Ok((Journal { path, file }, Results(earlier)))
    }
}

/// The names of the settings in which two setups differ.
fn difference(old: &Value, new: &Value) -> String {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    let names: std::collections::BTreeSet<String> =
        fields(old).into_iter().chain(fields(new)).map(|(name, _)| name).collect();
    let different = names.iter().filter(|name| old[name.as_str()] != new[name.as_str()]);
    different.map(String::as_str).collect::<Vec<_>>().join(", ")
}

impl Journal {
    /// Adds a result.
    pub(super) fn add(&mut self, result: &impl Serialize) -> Result<(), CliError> {
        let failed = refused(&self.path, "written");
        let mut line = serde_json::to_vec(result).map_err(io::Error::other).map_err(&failed)?;
        line.push(b'\n');
        // One write, so that only the last line can be incomplete.
        self.file.write_all(&line).map_err(failed)
    }

    /// Removes the journal: the work is done.
    pub(super) fn remove(self) {
        self.file.remove();
    }
}

impl Results {
    /// The next result; `None` after the last, or if it cannot be read as a `T`.
    pub(super) fn next<T: DeserializeOwned>(&mut self) -> Option<T> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok()?;
        serde_json::from_str(&line).ok()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn results_survive_an_interruption_and_cut_lines_do_not_count() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("games.pgn.unfinished");
        let work = |seed: u32| json!({ "engram": "0", "seed": seed });
        let find = |seed| EarlierRun::find(path.clone(), &work(seed), "name another");
        let why = |seed| find(seed).err().map(|error| error.to_string()).unwrap_or_default();
        let found = |count: usize| {
            let earlier = find(1).expect("its own journal");
            assert_eq!((earlier.is_there(), earlier.len), (true, count));
            let (journal, mut results) = earlier.resume().expect("it goes on");
            (journal, std::iter::from_fn(|| results.next::<u32>()).collect::<Vec<_>>())
        };
        assert!(!find(1).expect("none").is_there());
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0, "to look leaves nothing");
        fs::write(&path, "{\"eng").expect("written");
        assert!(!find(1).expect("cut off in its first line").is_there());
        let (mut journal, _) = find(1).expect("nothing").resume().expect("it begins");
        assert!(why(1).contains("another process"), "{}", why(1));
        (1..=3).for_each(|result: u32| journal.add(&result).expect("written"));
        drop(journal);
        let bytes = fs::read(&path).expect("a journal");
        // Cut off in the last line, and with an invalid line.
        for (cut, more, expected) in [(0, "", 3), (1, "", 2), (2, "", 2), (0, "12", 3), (0, "\u{0}\n4\n", 3)]
        {
            let mut torn = bytes[..bytes.len() - cut].to_vec();
            torn.extend_from_slice(more.as_bytes());
            fs::write(&path, &torn).expect("written");
            let (mut journal, results) = found(expected);
            assert_eq!(results, [1, 2, 3][..expected], "{cut} {more}");
            (expected..3).for_each(|_| journal.add(&3).expect("written"));
            assert_eq!(fs::read(&path).expect("a journal"), bytes, "what was torn is gone");
        }
        assert!(why(2).contains("differ in: seed); name another"), "{}", why(2));
        found(3).0.remove();
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/dev/null", &path).expect("a link");
            assert!(why(1).contains("is a device"), "{}", why(1));
            fs::remove_file(&path).expect("removed");
        }
        // A journal without results is replaced, a file of another program is not.
        drop(find(1).expect("nothing").resume().expect("it begins"));
        assert!(!find(2).expect("it gives way").is_there());
        for foreign in ["mine, in one line", "mine\n", "{\"mine\":1}\n"] {
            fs::write(&path, foreign).expect("written");
            assert!(why(1).contains("is not left by an interrupted run"), "{foreign}: {}", why(1));
            assert_eq!(fs::read_to_string(&path).expect("text"), foreign);
        }
    }
}
