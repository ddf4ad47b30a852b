//! Where a command writes: never to one of its inputs, whatever its names are, never to what another process is writing,
//! and over a file with content only if that was asked for.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use thiserror::Error;

use super::{FileInfo, Identity, Lock, info, info_at, is_locked, resolve, sync, try_lock, unlock};

/// How often a file may be removed while it is being claimed.
const MAX_REMOVED: usize = 3;
/// Another process has opened the file so that this one may not.
#[cfg(windows)]
const ERROR_SHARING_VIOLATION: i32 = 32;

/// Why a command does not write to a path.
#[derive(Debug, Error)]
pub enum OutputError {
    /// The command reads this file.
    #[error("would overwrite the input {0}; name another file")]
    Input(PathBuf),
    /// A file is there, and nobody said that it may be overwritten.
    #[error("is there already; --force overwrites it")]
    Exists,
    /// It is, for instance, `a directory`.
    #[error("is {0}; name a file")]
    NotAFile(&'static str),
    /// It is locked.
    #[error("is being written by another process; wait for it, or name another file")]
    Busy,
    /// The system refused.
    #[error("cannot be written ({0})")]
    System(#[from] io::Error),
}

/// The files that a command reads, by identity: their hard and symbolic links, and their paths through other mounts, are
/// the same.
pub struct Inputs(Vec<(PathBuf, Identity)>);

impl Inputs {
    /// Those of `paths` that are regular files; `-` is the standard input.
    pub fn new(paths: impl IntoIterator<Item: AsRef<Path>>) -> Inputs {
        let identified = |path: &Path| {
            let (name, info) = match path.to_str() {
                Some("-") => (Path::new("the standard input"), info(&duplicate(io::stdin()).ok()?)),
                _ => (path, info_at(path)),
            };
            let info = info.ok().filter(|info| info.not_a_file.is_none())?;
            Some((name.to_owned(), info.identity))
        };
        Inputs(paths.into_iter().filter_map(|path| identified(path.as_ref())).collect())
    }

    /// Checks that a file is none of them.
    ///
    /// # Errors
    /// [`OutputError::Input`].
    pub fn exclude(&self, file: Identity) -> Result<(), OutputError> {
        let found = self.0.iter().find(|(_, identity)| *identity == file);
        found.map_or(Ok(()), |(path, _)| Err(OutputError::Input(path.clone())))
    }

    /// Checks that `path` may get a new file: nothing is there, or, with `force`, a file that is none of the inputs and
    /// that nobody is writing.
    ///
    /// # Errors
    /// See [`OutputError`].
    pub fn check(&self, path: &Path, force: bool) -> Result<(), OutputError> {
        let info = match info_at(path) {
            // A missing folder is an error.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                resolve(path)?;
                return Ok(());
            }
            info => info?,
        };
        self.exclude(info.identity)?;
        if let Some(kind) = info.not_a_file {
            return Err(OutputError::NotAFile(kind));
        }
        if !force {
            return Err(OutputError::Exists);
        }
        File::open(path).map_or(Ok(()), |file| lock(&file))
    }
}

/// How a [`Claim`] opens a file that nobody else may write meanwhile. On Windows the system sees to that, elsewhere a lock.
pub fn unshared() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(windows)]
    {
        const FILE_SHARE_READ: u32 = 1;
        const FILE_SHARE_DELETE: u32 = 4;
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, FILE_SHARE_READ | FILE_SHARE_DELETE);
    }
    options
}

/// How a [`Claim`] opens a file that SQLite is to open for writing too.
pub fn shared_with_sqlite() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    options
}

/// A file that is open for writing and locked, but not changed yet. A file that was not there before is removed again
/// when it is dropped, unless it was kept.
pub struct Claim {
    path: PathBuf,
    file: File,
    info: FileInfo,
    is_temporary: bool,
}

impl Claim {
    /// Opens the file at `path` with `options`, and creates it if it is missing. A device or a pipe is not locked.
    ///
    /// # Errors
    /// [`OutputError::Busy`], or the system refuses.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Claim, OutputError> {
        for _ in 0..MAX_REMOVED {
            let claim = Claim::open_once(path, options)?;
            // Another process may have removed the file before this one locked it.
            if claim.info.not_a_file.is_some() || claim.is_there() {
                return Ok(claim);
            }
        }
        Err(OutputError::Busy)
    }

    fn open_once(path: &Path, options: &OpenOptions) -> Result<Claim, OutputError> {
        let mut path = path.to_owned();
        let (file, is_new) = match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                path = resolve(&path)?;
                (options.clone().create_new(true).open(&path)?, true)
            }
            #[cfg(windows)]
            Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => {
                return Err(OutputError::Busy);
            }
            file => (file?, false),
        };
        let info = info(&file)?;
        let mut claim = Claim { path, file, info, is_temporary: false };
        if info.not_a_file.is_none() {
            lock(&claim.file)?;
        }
        claim.is_temporary = is_new;
        Ok(claim)
    }

    /// It, if it is a regular file.
    ///
    /// # Errors
    /// [`OutputError::NotAFile`].
    pub fn of_a_file(self) -> Result<Claim, OutputError> {
        self.info.not_a_file.map_or(Ok(self), |kind| Err(OutputError::NotAFile(kind)))
    }

    /// Its identity.
    pub fn identity(&self) -> Identity {
        self.info.identity
    }

    /// Is it still the file at its path? Another process may have removed it, or put its own there.
    fn is_there(&self) -> bool {
        info_at(&self.path).is_ok_and(|info| info.identity == self.info.identity)
    }

    /// The file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Checks that it may be overwritten: it is none of `inputs`, and empty, a device or a pipe, unless `force` is set.
    ///
    /// # Errors
    /// [`OutputError::Input`] or [`OutputError::Exists`].
    pub fn check(&self, inputs: &Inputs, force: bool) -> Result<(), OutputError> {
        inputs.exclude(self.info.identity)?;
        let is_kept = self.info.not_a_file.is_none() && self.info.length > 0 && !force;
        if is_kept { Err(OutputError::Exists) } else { Ok(()) }
    }

    /// Empties and removes the file: a folder may forbid that files are removed.
    pub fn remove(mut self) {
        let _ = self.file.set_len(0);
        self.is_temporary = true;
    }

    /// Waits until what was written is on the disk. A device or a pipe has none.
    ///
    /// # Errors
    /// Those of the system, or there is no such file at its path any more.
    pub fn sync(&self) -> io::Result<()> {
        if self.info.not_a_file.is_some() {
            return Ok(());
        }
        sync(&self.file)?;
        let gone = || io::Error::new(io::ErrorKind::NotFound, "it was removed or replaced meanwhile");
        if self.is_there() { Ok(()) } else { Err(gone()) }
    }

    /// Releases the lock, for who locks the file otherwise.
    pub fn unlock(&self) {
        // If it is refused, the lock ends with the claim.
        let _ = unlock(&self.file);
    }

    /// Takes the lock again. Where that is refused, those who lock the file otherwise keep others off already.
    pub fn relock(&self) {
        let _ = lock(&self.file);
    }

    /// From now on the file stays.
    pub fn keep(&mut self) {
        self.is_temporary = false;
    }

    /// Keeps the file and empties it.
    ///
    /// # Errors
    /// The file cannot be emptied.
    pub fn begin(mut self) -> io::Result<Claim> {
        self.keep();
        if self.info.not_a_file.is_none() {
            self.file.set_len(0)?;
        }
        Ok(self)
    }
}

impl Write for Claim {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_temporary && self.is_there() {
            let _ = fs::remove_file(&self.path);
        }
        // A child process that is just being started has a copy of the file handle, and with it the lock.
        self.unlock();
    }
}

/// Locks a file for one process. Only on Unix: elsewhere locks keep readers away, those of this process too.
fn lock(file: &File) -> Result<(), OutputError> {
    // A file system without locks has no protection to offer.
    let is_busy = cfg!(unix) && try_lock(file, Lock::Exclusive).is_err_and(|error| is_locked(&error));
    if is_busy { Err(OutputError::Busy) } else { Ok(()) }
}

/// Is this another name of the standard output, such as `/dev/stdout`, or the file to which it goes?
pub fn is_standard_output(path: &Path) -> bool {
    standard_output().ok().zip(info_at(path).ok()).is_some_and(|(one, other)| one.identity == other.identity)
}

/// What the standard output is.
pub fn standard_output() -> io::Result<FileInfo> {
    info(&duplicate(io::stdout())?)
}

/// Is the standard output a pipe that nobody reads any more? Elsewhere than on Unix that is known only when a write fails.
pub fn is_output_closed() -> bool {
    #[cfg(unix)]
    {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let stdout = io::stdout();
        let mut asked = [PollFd::new(&stdout, PollFlags::empty())];
        let answered = poll(&mut asked, Some(&Timespec::default())).is_ok();
        answered && asked[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
    }
    #[cfg(not(unix))]
    false
}

#[cfg(unix)]
fn duplicate(stream: impl std::os::fd::AsFd) -> io::Result<File> {
    stream.as_fd().try_clone_to_owned().map(File::from)
}

#[cfg(windows)]
fn duplicate(stream: impl std::os::windows::io::AsHandle) -> io::Result<File> {
    stream.as_handle().try_clone_to_owned().map(File::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claimed(path: &Path) -> Result<Claim, OutputError> {
        Claim::open(path, &unshared())
    }

    #[test]
    fn what_is_claimed_is_changed_only_when_it_begins() {
        let folder = tempfile::tempdir().expect("a folder");
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&old, "mine").expect("a file");
        drop((claimed(&old).expect("claimed"), claimed(&new).expect("claimed")));
        assert_eq!(fs::read_to_string(&old).expect("text"), "mine");
        assert!(!new.exists(), "what was made for nothing goes again");
        let none = Inputs::new([""; 0]);
        assert!(matches!(claimed(&old).expect("claimed").check(&none, false), Err(OutputError::Exists)));
        let empty = folder.path().join("empty");
        fs::write(&empty, "").expect("a file");
        for (path, force) in [(&old, true), (&new, false), (&empty, false)] {
            let claim = claimed(path).expect("claimed");
            claim.check(&none, force).expect("it may be overwritten");
            writeln!(claim.begin().expect("emptied"), "x").expect("written");
            assert_eq!(fs::read_to_string(path).expect("text"), "x\n");
        }
    }

    #[test]
    #[cfg(unix)]
    fn what_is_no_longer_at_its_path_was_not_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let claim = claimed(&path).expect("claimed").begin().expect("emptied");
        claim.sync().expect("it is there");
        fs::remove_file(&path).expect("removed");
        assert!(claim.sync().is_err());
        fs::write(&path, "mine").expect("a file");
        assert!(claim.sync().is_err());
    }

    #[test]
    fn two_writers_do_not_get_the_same_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let none = Inputs::new([""; 0]);
        let first = claimed(&path).expect("claimed");
        assert!(matches!(claimed(&path), Err(OutputError::Busy)));
        assert_eq!(matches!(none.check(&path, true), Err(OutputError::Busy)), cfg!(unix));
        assert!(path.exists(), "the second has not removed it");
        drop(first);
        drop(claimed(&path).expect("free again"));
    }

    #[test]
    #[cfg(unix)]
    fn an_input_is_known_under_each_of_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = |name: &str| folder.path().join(name);
        let (input, other) = (name("input"), name("other"));
        fs::write(&input, "mine").expect("a file");
        fs::write(&other, "").expect("a file");
        fs::hard_link(&input, name("hard")).expect("a link");
        std::os::unix::fs::symlink("input", name("symbolic")).expect("a link");
        let inputs = Inputs::new([input.as_path(), folder.path(), &name("missing")]);
        for path in ["input", "hard", "symbolic"].map(name) {
            assert!(matches!(inputs.check(&path, true), Err(OutputError::Input(found)) if found == input));
            let claim = claimed(&path).expect("claimed");
            assert!(matches!(claim.check(&inputs, true), Err(OutputError::Input(_))));
        }
        inputs.check(&other, true).expect("another file");
        assert!(matches!(inputs.check(folder.path(), true), Err(OutputError::NotAFile("a directory"))));
        assert!(claimed(folder.path()).is_err());
    }
}
