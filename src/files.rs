//! Files: opens existing ones, tells them apart, and creates new ones under a temporary name until they are complete.

pub mod header;
mod lock;
mod output;
mod process_log;

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, Hasher, RandomState},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, PathPersistError, TempPath};
use thiserror::Error;

pub use self::{
    lock::{Lock, is_locked, retry_within, try_lock, unlock},
    output::{
        Claim, Inputs, OutputError, is_output_closed, is_standard_output, shared_with_sqlite,
        standard_output, unshared,
    },
    process_log::{LeftLog, ProcessLog, left_logs, read_session},
};

/// Longer chains of symbolic links are loops.
const MAX_LINKS: usize = 40;

/// The identity of a file, whatever its names.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The file system.
    pub device: u64,
    /// The file in it.
    pub file: u64,
}

/// How a file is opened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// For reading.
    Read,
    /// For reading and writing.
    Write,
    /// For reading and writing; it is made if it is missing.
    Create,
}

/// What is at a path.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// What it is if it is not a regular file, such as `a directory`.
    pub not_a_file: Option<&'static str>,
    /// Its identity.
    pub identity: Identity,
    /// Its length in bytes.
    pub length: u64,
}

/// Why a file was not opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// It is not a regular file but, for instance, `a directory`.
    #[error("it is {0}, not a file")]
    NotAFile(&'static str),
    /// The system refused.
    #[error(transparent)]
    System(#[from] io::Error),
}

impl From<OpenError> for io::Error {
    fn from(error: OpenError) -> io::Error {
        match error {
            OpenError::System(error) => error,
            kind @ OpenError::NotAFile(_) => io::Error::new(io::ErrorKind::InvalidInput, kind.to_string()),
        }
    }
}

/// What is at `path`; symbolic links are followed.
///
/// # Errors
/// Those of the system; `NotFound` if there is nothing.
pub fn info_at(path: &Path) -> io::Result<FileInfo> {
    #[cfg(unix)]
    return Ok(describe(&fs::metadata(path)?));
    #[cfg(windows)]
    {
        use std::os::windows::fs::OpenOptionsExt;
        // Without this flag no directory is opened, and without access nothing is read.
        const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
        info(&OpenOptions::new().access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)?)
    }
}

/// What an open file is.
///
/// # Errors
/// Those of the system.
pub fn info(file: &File) -> io::Result<FileInfo> {
    let metadata = file.metadata()?;
    #[cfg(unix)]
    return Ok(describe(&metadata));
    #[cfg(windows)]
    {
        let not_a_file = match metadata.file_type() {
            kind if kind.is_file() => None,
            kind if kind.is_dir() => Some("a directory"),
            _ => Some("a device"),
        };
        let information = winapi_util::file::information(file)?;
        let identity =
            Identity { device: information.volume_serial_number(), file: information.file_index() };
        Ok(FileInfo { not_a_file, identity, length: metadata.len() })
    }
}

#[cfg(unix)]
fn describe(metadata: &fs::Metadata) -> FileInfo {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let not_a_file = match metadata.file_type() {
        kind if kind.is_file() => None,
        kind if kind.is_dir() => Some("a directory"),
        kind if kind.is_fifo() => Some("a FIFO"),
        kind if kind.is_socket() => Some("a socket"),
        _ => Some("a device"),
    };
    let identity = Identity { device: metadata.dev(), file: metadata.ino() };
    FileInfo { not_a_file, identity, length: metadata.len() }
}

/// Opens a regular file without ever blocking. Nothing else is opened: opening some devices has side effects.
///
/// # Errors
/// See [`OpenError`].
pub fn open(path: &Path, options: &mut OpenOptions) -> Result<File, OpenError> {
    let refuse = |info: FileInfo| info.not_a_file.map_or(Ok(()), |kind| Err(OpenError::NotAFile(kind)));
    info_at(path).map_or(Ok(()), refuse)?;
    // If a FIFO has just replaced the file, opening it must not wait for its other end.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    refuse(info(&file)?)?;
    Ok(file)
}

/// The path of the file that `path` names, with all symbolic links followed. The file itself need not exist.
///
/// # Errors
/// Those of the system, for instance if the directory does not exist.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = std::path::absolute(path)?;
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("/")).join(target),
            Err(_) => {
                let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
                let parent = path.parent().unwrap_or(Path::new("/"));
                // Some drives of Windows, such as those in memory, cannot tell the final path of a directory.
                let directory = parent.canonicalize().or_else(|error| match parent.is_dir() {
                    true => Ok(parent.to_owned()),
                    false => Err(error),
                });
                return Ok(directory?.join(name));
            }
        }
    }
    Err(io::Error::other("the symbolic links lead in a circle"))
}

/// As [`resolve`]; the path itself where the system does not say.
pub fn target_of(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|_| path.to_owned())
}

/// The path of a file beside `path`: its whole name, and `suffix`.
pub fn with_suffix(path: impl Into<PathBuf>, suffix: &str) -> PathBuf {
    let mut name = path.into().into_os_string();
    name.push(suffix);
    name.into()
}

/// Does the name begin with a point? On drives of other systems macOS keeps a file `._NAME` of its own beside each NAME.
pub fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Do two names in a folder mean the same file? The case of letters does not count on Windows and macOS.
pub fn is_same_name(one: &OsStr, other: &str) -> bool {
    if cfg!(any(windows, target_vendor = "apple")) { one.eq_ignore_ascii_case(other) } else { one == other }
}

/// Creates the missing directories above `path`.
///
/// # Errors
/// One cannot be created.
pub fn create_parents(path: &Path) -> io::Result<()> {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(Ok(()), fs::create_dir_all)
}

/// Checks that a file of `bytes` bytes has room on the file system of `path`, as far as that is known.
///
/// # Errors
/// [`io::ErrorKind::StorageFull`].
pub fn require_room(path: &Path, bytes: u64) -> io::Result<()> {
    #[cfg(unix)]
    if let Some(Ok(found)) = path.parent().map(rustix::fs::statvfs)
        // File systems without a limit, such as ramfs, count no blocks.
        && found.f_blocks > 0
        && found.f_bavail.saturating_mul(found.f_frsize) < bytes
    {
        return Err(io::ErrorKind::StorageFull.into());
    }
    #[cfg(not(unix))]
    let _ = (path, bytes);
    Ok(())
}

/// Waits until what was written to a file or a directory is on the disk, as far as its file system has that operation.
///
/// # Errors
/// Those of the system.
pub fn sync(file: &File) -> io::Result<()> {
    let synced = file.sync_all();
    // There it is F_FULLFSYNC, which network drives and some others do not have.
    #[cfg(target_vendor = "apple")]
    let synced = synced.or_else(|_| rustix::fs::fsync(file).map_err(io::Error::from));
    match synced {
        Err(error) if matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Ok(())
        }
        synced => synced,
    }
}

/// A random number that tells files and processes apart, on all machines: std seeds its hash maps from the system's source
/// of randomness.
pub fn unique_id() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// A file that is being written under a temporary name beside its own, and is deleted if it is not finished.
pub struct NewFile {
    path: PathBuf,
    writer: BufWriter<File>,
    unfinished: TempPath,
}

impl NewFile {
    /// Begins a file that will be at `path`, or at the target of a link there.
    ///
    /// # Errors
    /// Something else than a file is there (it must not be replaced by one), or those of the system.
    pub fn begin(path: &Path) -> io::Result<NewFile> {
        if let Some(kind) = info_at(path).ok().and_then(|info| info.not_a_file) {
            return Err(OpenError::NotAFile(kind).into());
        }
        let path = resolve(path)?;
        let mut prefix = path.file_name().unwrap_or_default().to_owned();
        prefix.push(".");
        let make = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let folder = path.parent().unwrap_or(Path::new("/"));
        // Apart, since errors of a `NamedTempFile` name the temporary path, which means nothing to the user.
        let (file, unfinished) =
            Builder::new().prefix(&prefix).suffix(".new").make_in(folder, make)?.into_parts();
        Ok(NewFile { path, writer: BufWriter::new(file), unfinished })
    }

    /// The file itself; what was written through this value may still be in its buffer.
    pub fn file(&self) -> &File {
        self.writer.get_ref()
    }

    /// Its temporary path.
    pub fn unfinished_path(&self) -> &Path {
        &self.unfinished
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// `AlreadyExists` if the name is taken, or those of the system.
    pub fn finish(self) -> io::Result<()> {
        let (path, _, unfinished) = self.complete()?;
        match unfinished.persist_noclobber(&path) {
            Ok(()) => Ok(()),
            Err(PathPersistError { error, .. }) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(taken())
            }
            Err(PathPersistError { path: unfinished, .. }) => reserve_and_replace(unfinished, &path),
        }
    }

    /// Gives the file its name, unless another process was faster.
    ///
    /// # Errors
    /// The file cannot be written or renamed.
    pub fn publish(self) -> io::Result<()> {
        self.finish().or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Ok(()),
            _ => Err(error),
        })
    }

    /// Gives the file its name and, where the system allows it, the owner and the permissions of the file that has it, which
    /// it replaces.
    ///
    /// # Errors
    /// The file cannot be written or renamed.
    pub fn replace(self) -> io::Result<()> {
        let (path, file, unfinished) = self.complete()?;
        if let Ok(old) = fs::metadata(&path) {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
            }
            let _ = file.set_permissions(old.permissions());
        }
        unfinished.persist(&path).map_err(|PathPersistError { error, .. }| error)
    }

    fn complete(self) -> io::Result<(PathBuf, File, TempPath)> {
        let file = self.writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        sync(&file)?;
        Ok((self.path, file, self.unfinished))
    }
}

/// Gives a file a name that must be free, on a file system that can neither rename a file without replacing another nor has
/// hard links: an empty file takes the name, and is replaced.
fn reserve_and_replace(unfinished: TempPath, path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(),
        _ => error,
    })?;
    unfinished.persist(path).map_err(|PathPersistError { error, .. }| {
        let _ = fs::remove_file(path);
        error
    })
}

fn taken() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "there is something already, name another")
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// Replaces the content of a file in one step: a reader sees either the old content or the new one.
///
/// # Errors
/// The new content cannot be written or given the name; the old one stays.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = NewFile::begin(path)?;
    file.write_all(content)?;
    file.replace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_finished_file_has_its_name_and_none_is_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let entries = || fs::read_dir(folder.path()).expect("a folder").count();
        let begun = |content: &str| {
            let mut file = NewFile::begin(&path).expect("begun");
            file.write_all(content.as_bytes()).expect("written");
            file
        };
        let half = begun("half");
        assert!(!path.exists() && entries() == 1);
        drop(half);
        assert_eq!(entries(), 0);
        begun("whole").finish().expect("finished");
        let late = begun("late").finish();
        assert_eq!(late.map_err(|error| error.kind()), Err(io::ErrorKind::AlreadyExists));
        assert_eq!((fs::read(&path).expect("a file"), entries()), (b"whole".to_vec(), 1));
        replace(&path, b"other").expect("replaced");
        assert_eq!((fs::read(&path).expect("a file"), entries()), (b"other".to_vec(), 1));
    }

    #[test]
    fn a_free_name_is_taken_without_links_too_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        let begun = |content: &str| {
            let mut file = tempfile::NamedTempFile::new_in(folder.path()).expect("a file");
            file.write_all(content.as_bytes()).expect("written");
            file.into_temp_path()
        };
        reserve_and_replace(begun("whole"), &path).expect("the name is free");
        let late = reserve_and_replace(begun("late"), &path);
        assert_eq!(late.map_err(|error| error.kind()), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(fs::read(&path).expect("a file"), b"whole");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_names_no_temporary_file() {
        let refused =
            NewFile::begin(Path::new("/proc/file")).map(drop).expect_err("there are no files to make");
        assert!(refused.raw_os_error().is_some(), "{refused}");
        let folder = tempfile::tempdir().expect("a folder");
        let mut full = NewFile::begin(&folder.path().join("file")).expect("begun");
        full.writer = BufWriter::new(OpenOptions::new().write(true).open("/dev/full").expect("a device"));
        full.write_all(b"x").expect("buffered");
        let error = full.finish().expect_err("it is full");
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC), "{error}");
    }

    /// A pipe, whose sync the system refuses as that of a file where the file system has no such operation.
    #[cfg(unix)]
    #[test]
    fn a_sync_that_the_file_system_does_not_have_is_no_error() {
        let (_reader, writer) = io::pipe().expect("a pipe");
        let pipe = File::from(std::os::fd::OwnedFd::from(writer));
        assert!(pipe.sync_all().is_err());
        sync(&pipe).expect("nothing to be done");
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_others_may_read_what_is_made() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link, plain) =
            (folder.path().join("file"), folder.path().join("link"), folder.path().join("plain"));
        symlink("file", &link).expect("a link");
        for content in [b"one", b"two"] {
            replace(&link, content).expect("written");
            assert_eq!(fs::read(&path).expect("the file"), content);
        }
        assert!(link.is_symlink());
        fs::write(&plain, "").expect("a file");
        let mode = |path: &Path| fs::metadata(path).expect("a file").mode();
        assert_eq!(mode(&path), mode(&plain));
        let identity = |path: &Path| info_at(path).expect("a file").identity;
        assert!(identity(&link) == identity(&path) && identity(&path) != identity(&plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_replaced_keeps_its_owner() {
        use std::os::unix::fs::{MetadataExt, chown};
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("file");
        fs::write(&path, "one").expect("a file");
        if chown(&path, Some(12345), Some(12345)).is_err() {
            return eprintln!("skipped: only root gives files to others");
        }
        replace(&path, b"two").expect("replaced");
        let now = fs::metadata(&path).expect("a file");
        assert_eq!((now.uid(), now.gid()), (12345, 12345));
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let refused = open(folder.path(), OpenOptions::new().read(true));
        assert!(matches!(refused, Err(OpenError::NotAFile("a directory"))));
        let missing = open(&folder.path().join("none"), OpenOptions::new().read(true));
        assert!(matches!(missing, Err(OpenError::System(error)) if error.kind() == io::ErrorKind::NotFound));
    }
}
