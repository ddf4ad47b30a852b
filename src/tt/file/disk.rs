//! Creates, opens and locks hash files. An existing file is changed only after its header was validated.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

#[cfg(target_os = "linux")]
use rustix::fs::FallocateFlags;

use super::{
    error::{HashFileError, refused},
    header::{HashHeader, HashOrigin},
};
use crate::files::{self, Lock, NewFile, OpenError, header::HEADER_SIZE};

/// How long an engine waits for the lock of a process that is clearing or creating the file.
const LOCK_TIMEOUT: Duration = Duration::from_millis(200);
/// How often a file may be replaced while it is being opened.
const MAX_REPLACED: usize = 3;

/// The use of the file: engines share it, tools that rewrite it need exclusive access, others only read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Engine,
    Alone,
    Look,
}

/// An open file with a valid header and the length given there.
pub(super) struct OpenFile {
    pub file: File,
    pub header: HashHeader,
}

/// What the path of an open file now leads to.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FileLocation {
    /// The file is still there.
    Ours,
    /// Another file is there.
    Replaced,
    /// Nothing is there.
    Removed,
}

/// Opens the hash file at `path`.
///
/// # Errors
/// It is not a hash file, another process uses it in a way that excludes this one, or the system refuses.
pub(super) fn open(path: &Path, purpose: Use) -> Result<OpenFile, HashFileError> {
    let mut open = open_once(path, purpose)?;
    for _ in 0..MAX_REPLACED {
        // The process that had the lock before may have removed or replaced the file.
        if place_of(&open.file, path) == FileLocation::Ours {
            break;
        }
        open = open_once(path, purpose)?;
    }
    Ok(open)
}

/// Does `path` still name this file? Assumed if that cannot be determined.
pub(super) fn place_of(file: &File, path: &Path) -> FileLocation {
    match (files::info(file), files::info_at(path)) {
        (Ok(ours), Ok(there)) if ours.identity != there.identity => FileLocation::Replaced,
        (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => FileLocation::Removed,
        _ => FileLocation::Ours,
    }
}

fn open_once(path: &Path, purpose: Use) -> Result<OpenFile, HashFileError> {
    let mut options = OpenOptions::new();
    let file =
        files::open(path, options.read(true).write(purpose != Use::Look)).map_err(|error| match error {
            OpenError::NotAFile(kind) => HashFileError::NotAFile(path.to_owned(), kind),
            OpenError::System(error) => match error.kind() {
                io::ErrorKind::NotFound => HashFileError::Missing(path.to_owned()),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                    if purpose != Use::Look =>
                {
                    HashFileError::ReadOnly(path.to_owned(), error)
                }
                _ => refused(path, "opened")(error),
            },
        })?;
    // Before it is read: `engram hash clear` changes the header.
    lock(&file, path, purpose)?;
    let length = file.metadata().map_err(refused(path, "read"))?.len();
    let mut bytes = [0; HEADER_SIZE];
    if length < HEADER_SIZE as u64 {
        return Err(HashFileError::Foreign(path.to_owned()));
    }
    (&file).read_exact(&mut bytes).map_err(refused(path, "read"))?;
    let header = HashHeader::decode(&bytes, path)?;
    let expected = header.file_size();
    if length != expected {
        return Err(HashFileError::Length { path: path.to_owned(), found: length, expected });
    }
    if purpose != Use::Look {
        // A copy may be sparse, or share its blocks with the original. Writing to a hole or a shared block through a map
        // on a full disk kills the process, so all blocks are allocated now, or the file is refused.
        allocate(&file, expected, false).map_err(not_made(path, expected))?;
    }
    Ok(OpenFile { file, header })
}

/// Locks the file. The lock is advisory, among Engram's own tools and engines, and ends with the process.
fn lock(file: &File, path: &Path, purpose: Use) -> Result<(), HashFileError> {
    let locked = files::retry_within(LOCK_TIMEOUT, files::is_locked, || match purpose {
        Use::Engine => files::try_lock(file, Lock::Shared),
        Use::Alone => files::try_lock(file, Lock::Exclusive),
        Use::Look => Ok(()),
    });
    match locked {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            let by = if purpose == Use::Alone { "an engine" } else { "`engram hash`" };
            Err(HashFileError::Busy(path.to_owned(), by))
        }
        // An engine that uses it could not be seen.
        Err(TryLockError::Error(error)) if purpose == Use::Alone => Err(refused(path, "locked")(error)),
        Err(TryLockError::Error(error)) => {
            log::debug!("{}: no locks here ({error})", path.display());
            Ok(())
        }
    }
}

/// Begins an empty hash file for `path`, with all bytes allocated. Missing folders are created.
///
/// # Errors
/// There is no room, or the system refuses.
pub(super) fn begin(path: &Path, mib: usize, origin: HashOrigin) -> Result<NewFile, HashFileError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let header = HashHeader {
        evaluation: origin.evaluation,
        path_mode: origin.path_mode.name().to_owned(),
        fifty_rule: origin.fifty_rule,
        file_id: files::unique_id(),
        created: now.as_secs(),
        clusters: HashHeader::clusters_in(mib),
    };
    let size = header.file_size();
    let begun = || {
        files::create_parents(path)?;
        let mut new = NewFile::begin(path)?;
        // Allocation would fail too, but only after filling the disk for a moment.
        files::require_room(new.unfinished_path(), size)?;
        allocate(new.file(), size, true)?;
        new.write_all(&header.encode())?;
        new.flush()?;
        Ok(new)
    };
    begun().map_err(not_made(path, size))
}

/// Gives a hash file its name, unless another process is faster. A file of length 0 is replaced: its creation was
/// interrupted.
///
/// # Errors
/// The system refuses.
pub(super) fn publish(new: NewFile, path: &Path) -> Result<(), HashFileError> {
    place(new, path).map_err(refused(path, "made"))
}

fn place(new: NewFile, path: &Path) -> io::Result<()> {
    let Ok(empty) = files::open(path, OpenOptions::new().read(true)) else {
        return new.publish();
    };
    // One process at a time, if the file system has locks.
    let lock = || files::try_lock(&empty, Lock::Exclusive);
    if let Err(TryLockError::WouldBlock) = files::retry_within(LOCK_TIMEOUT, files::is_locked, lock) {
        return Ok(());
    }
    let is_unfinished = place_of(&empty, path) == FileLocation::Ours && empty.metadata()?.len() == 0;
    // Windows replaces no open file.
    #[cfg(windows)]
    drop(empty);
    if is_unfinished { new.replace() } else { Ok(()) }
}

/// Allocates all bytes up to `size`, as blocks of this file alone where the file system can. Existing ones keep their
/// values; the others are zero.
fn allocate(mut file: &File, size: u64, new: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::{fs, io::Errno};

        if new && let Ok(flags) = fs::ioctl_getflags(file) {
            // On btrfs every write would need new blocks. Others have no such flag.
            let _ = fs::ioctl_setflags(file, flags | fs::IFlags::NOCOW);
        }
        let mut flags = if new { FallocateFlags::empty() } else { FallocateFlags::UNSHARE_RANGE };
        // XFS needs free space for the whole length it is asked for, even if every block is there.
        let piece = if new { size } else { 1 << 20 };
        let mut offset = 0;
        while offset < size {
            let length = piece.min(size - offset);
            match rustix::io::retry_on_intr(|| fs::fallocate(file, flags, offset, length)) {
                Ok(()) => offset += length,
                Err(Errno::OPNOTSUPP) if !flags.is_empty() => flags = FallocateFlags::empty(),
                Err(Errno::OPNOTSUPP) => break,
                Err(error) => return Err(error.into()),
            }
        }
        if offset >= size {
            return Ok(());
        }
    }
    if new {
        io::copy(&mut io::repeat(0).take(size), &mut file)?;
        io::Seek::rewind(&mut file)?;
    }
    Ok(())
}

/// Turns the system's refusal to make a file of `bytes` bytes into an error.
fn not_made(path: &Path, bytes: u64) -> impl Fn(io::Error) -> HashFileError {
    move |error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            HashFileError::NoRoom(path.to_owned(), bytes)
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            HashFileError::ReadOnly(path.to_owned(), error)
        }
        _ => refused(path, "made")(error),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;
    #[cfg(target_os = "linux")]
    use crate::position::PathHash;

    #[test]
    fn a_file_that_was_removed_or_replaced_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("hash"), folder.path().join("other"));
        fs::write(&path, "old").expect("a file");
        fs::write(&other, "new").expect("a file");
        let old = File::open(&path).expect("a file");
        assert_eq!(place_of(&old, &path), FileLocation::Ours);
        fs::remove_file(&path).expect("removed");
        assert_eq!(place_of(&old, &path), FileLocation::Removed);
        fs::rename(&other, &path).expect("replaced");
        assert_eq!(place_of(&old, &path), FileLocation::Replaced);
        assert_eq!(place_of(&File::open(&path).expect("a file"), &path), FileLocation::Ours);
    }

    #[test]
    fn an_empty_file_is_replaced_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hash");
        fs::write(&path, "").expect("a file");
        for content in ["first", "second"] {
            let mut new = NewFile::begin(&path).expect("begun");
            new.write_all(content.as_bytes()).expect("written");
            place(new, &path).expect("placed");
        }
        assert_eq!(fs::read_to_string(&path).expect("a file"), "first");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_engine_allocates_the_holes_of_a_copy() {
        use std::os::unix::fs::MetadataExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let (path, copy) = (folder.path().join("hash"), folder.path().join("copy"));
        let origin = HashOrigin { evaluation: 1, path_mode: PathHash::default(), fifty_rule: true };
        publish(begin(&path, 1, origin).expect("made"), &path).expect("named");
        let content = fs::read(&path).expect("a file");
        let size = content.len() as u64;
        fs::write(&copy, &content[..HEADER_SIZE]).expect("room for a header");
        let file = File::options().write(true).open(&copy).expect("a file");
        file.set_len(size).expect("a hole");
        let allocated = |file: &File| file.metadata().expect("a file").blocks() * 512;
        let other = tempfile::tempfile_in(folder.path()).expect("a file");
        if allocate(&other, size, false).is_err() || allocated(&other) < size {
            eprintln!("skipped: this file system allocates nothing");
            return;
        }
        assert!(open(&copy, Use::Look).is_ok() && allocated(&file) < size, "only looked at");
        assert!(open(&copy, Use::Engine).is_ok() && allocated(&file) >= size);
    }
}
