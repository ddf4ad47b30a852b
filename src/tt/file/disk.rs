//! Making, opening and locking a hash file. Nothing that already lies at a path is changed before it has
//! shown that it is a hash file for this engine.

use std::{
    fs::{self, File, Metadata, OpenOptions, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    error::HashFileError,
    header::{HEADER_SIZE, Header, Origin},
};

/// Zeros written at once where a file system cannot allocate.
const CHUNK: usize = 1 << 20;
/// How long an engine waits for another that is just emptying or making the file.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);
/// How often a file may be replaced while it is being opened.
const REPLACED: usize = 3;
const LOCK_POLL: Duration = Duration::from_millis(10);

/// Who uses the file: engines share it, tools that rewrite it need it alone, others only read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Engine,
    Alone,
    Look,
}

/// An open file that is one of ours, as long as its header says.
pub(super) struct OpenFile {
    pub file: File,
    pub header: Header,
}

/// Opens the hash file at `path`.
///
/// # Errors
/// It is none, or somebody else's turn, or the system refuses.
pub(super) fn open(path: &Path, purpose: Use) -> Result<OpenFile, HashFileError> {
    let mut open = open_once(path, purpose)?;
    for _ in 0..REPLACED {
        // Who had the lock before may have put another file in its place.
        if is_in_place(&open.file, path) {
            break;
        }
        open = open_once(path, purpose)?;
    }
    Ok(open)
}

/// Does `path` still lead to this file, or to none?
fn is_in_place(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: Metadata| (found.dev(), found.ino());
        let (ours, there) = (file.metadata().map(identity), fs::metadata(path).map(identity));
        there.is_err() || ours.ok() == there.ok()
    }
    // No other system lets a file be replaced that is open.
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

fn open_once(path: &Path, purpose: Use) -> Result<OpenFile, HashFileError> {
    let failure = |doing| move |source| HashFileError::Io { path: path.to_owned(), doing, source };
    match fs::metadata(path) {
        Ok(found) => refuse_other_kinds(&found, path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(HashFileError::Missing { path: path.to_owned() });
        }
        Err(error) => return Err(failure("opened")(error)),
    }
    let mut options = OpenOptions::new();
    options.read(true).write(purpose != Use::Look);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path).map_err(|source| match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem if purpose != Use::Look => {
            HashFileError::ReadOnly { path: path.to_owned(), source }
        }
        _ => failure("opened")(source),
    })?;
    let length = file.metadata().map_err(failure("read"))?.len();
    let mut bytes = [0; HEADER_SIZE];
    if length < HEADER_SIZE as u64 {
        return Err(HashFileError::Foreign { path: path.to_owned() });
    }
    io::Read::read_exact(&mut &file, &mut bytes).map_err(failure("read"))?;
    let header = Header::decode(&bytes, path)?;
    let expected = header.file_size();
    if length != expected {
        return Err(HashFileError::Length { path: path.to_owned(), found: length, expected });
    }
    lock(&file, path, purpose)?;
    if purpose != Use::Look {
        // A copy may have holes where there were zeros. Writing into one through a map on a full disk kills
        // the process, so they are filled now or the file is refused.
        allocate(&file, expected, false).map_err(|error| refused(error, path, expected))?;
    }
    Ok(OpenFile { file, header })
}

/// The lock is advisory: it keeps Engram's own tools and engines apart and ends with the process.
fn lock(file: &File, path: &Path, purpose: Use) -> Result<(), HashFileError> {
    let mut patience = LOCK_PATIENCE;
    loop {
        let locked = match purpose {
            Use::Engine => file.try_lock_shared(),
            Use::Alone => file.try_lock(),
            Use::Look => return Ok(()),
        };
        match locked {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if !patience.is_zero() => {
                std::thread::sleep(LOCK_POLL);
                patience = patience.saturating_sub(LOCK_POLL);
            }
            Err(TryLockError::WouldBlock) => {
                let by = if purpose == Use::Alone { "an engine" } else { "`engram hash`" };
                return Err(HashFileError::Busy { path: path.to_owned(), by });
            }
            Err(TryLockError::Error(error)) => {
                log::debug!("{}: no locks here ({error})", path.display());
                return Ok(());
            }
        }
    }
}

/// Makes an empty hash file at `path`, complete or not at all. A file of length 0 is taken for an unfinished
/// one and replaced.
///
/// # Errors
/// Something else lies there, or there is no room.
pub(super) fn create(path: &Path, mib: usize, origin: Origin) -> Result<(), HashFileError> {
    let failure = |doing| move |source| HashFileError::Io { path: path.to_owned(), doing, source };
    let replaces = match fs::metadata(path) {
        Ok(found) => {
            refuse_other_kinds(&found, path)?;
            if found.len() > 0 {
                return Err(HashFileError::Exists { path: path.to_owned() });
            }
            true
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => false,
        Err(error) => return Err(failure("made")(error)),
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let header = Header {
        evaluation: origin.evaluation,
        path_mode: origin.path_mode.name().to_owned(),
        // Not secret, only unlike others.
        file_id: (now.as_nanos() as u64 ^ u64::from(std::process::id()) << 40)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15),
        created: now.as_secs(),
        buckets: Header::buckets_in(mib),
    };
    let unfinished = beside(path);
    let made = write_new(&unfinished, &header).map_err(|error| refused(error, path, header.file_size()));
    let placed = made.and_then(|()| place(&unfinished, path, replaces).map_err(failure("made")));
    let _ = fs::remove_file(&unfinished);
    placed
}

/// Where a new file belongs: where a link leads, if it leads nowhere yet.
pub(super) fn target(path: &Path) -> PathBuf {
    match std::fs::read_link(path) {
        Ok(link) if !path.exists() => path.parent().unwrap_or(path).join(link),
        _ => path.to_owned(),
    }
}

/// A name in the same folder that no other process uses.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    path.with_file_name(name)
}

fn write_new(path: &Path, header: &Header) -> io::Result<()> {
    // Allocation would find out as well, after it has taken the last block from everybody for a while.
    #[cfg(unix)]
    if let Some(free) = free_bytes(path.parent().unwrap_or(path))
        && free < header.file_size()
    {
        return Err(io::ErrorKind::StorageFull.into());
    }
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    allocate(&file, header.file_size(), true)?;
    file.write_all(&header.encode())?;
    file.sync_all()
}

/// Gives the finished file its name, unless another process was faster.
fn place(unfinished: &Path, path: &Path, replaces: bool) -> io::Result<()> {
    if replaces {
        // One at a time, where the file system has locks.
        let empty = File::open(path)?;
        let _ = empty.lock();
        let is_ours = is_in_place(&empty, path) && empty.metadata()?.len() == 0;
        return if is_ours { fs::rename(unfinished, path) } else { Ok(()) };
    }
    match fs::hard_link(unfinished, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // A file system without links.
        Err(_) if !path.exists() => fs::rename(unfinished, path),
        Err(error) => Err(error),
    }
}

/// Gives every byte up to `size` its place on the disk. Bytes that are there stay; the others are zero.
fn allocate(file: &File, size: u64, new: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    match preallocate(file, size) {
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {}
        done => return done,
    }
    if !new {
        return Ok(());
    }
    let zeros = vec![0; CHUNK];
    let mut left = size;
    let mut file = file;
    while left > 0 {
        let part = left.min(CHUNK as u64);
        file.write_all(&zeros[..part as usize])?;
        left -= part;
    }
    io::Seek::rewind(&mut file)
}

/// What this user may still write where `folder` lies, if the system knows.
#[cfg(unix)]
fn free_bytes(folder: &Path) -> Option<u64> {
    use std::os::unix::ffi::OsStrExt;
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let name = std::ffi::CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: the name ends with a zero, and `statvfs` is plain numbers, for which zeros are valid, filled by the
    // call if it succeeds.
    #[allow(unsafe_code)]
    let (done, found) = unsafe {
        let mut found: libc::statvfs = std::mem::zeroed();
        (libc::statvfs(name.as_ptr(), &raw mut found) == 0, found)
    };
    // The types differ from system to system.
    #[allow(clippy::unnecessary_cast)]
    done.then(|| (found.f_bavail as u64).saturating_mul(found.f_frsize as u64))
}

#[cfg(target_os = "linux")]
fn preallocate(file: &File, size: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let size = libc::off_t::try_from(size).map_err(|_| io::ErrorKind::FileTooLarge)?;
    loop {
        // SAFETY: a system call on a descriptor that `file` keeps open; no memory is passed.
        #[allow(unsafe_code)]
        let result = unsafe { libc::fallocate(file.as_raw_fd(), 0, 0, size) };
        match io::Error::last_os_error() {
            _ if result == 0 => return Ok(()),
            error if error.kind() == io::ErrorKind::Interrupted => {}
            error => return Err(error),
        }
    }
}

fn refused(source: io::Error, path: &Path, bytes: u64) -> HashFileError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            HashFileError::NoRoom { path, bytes }
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            HashFileError::ReadOnly { path, source }
        }
        _ => HashFileError::Io { path, doing: "made", source },
    }
}

fn refuse_other_kinds(found: &Metadata, path: &Path) -> Result<(), HashFileError> {
    let kind = match found.file_type() {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => "a directory",
        _ => "a device or pipe",
    };
    Err(HashFileError::NotAFile { path: path.to_owned(), kind })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_replaced_while_it_was_opened_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, other) = (folder.path().join("hash"), folder.path().join("other"));
        fs::write(&path, "old").expect("a file");
        fs::write(&other, "new").expect("a file");
        let old = File::open(&path).expect("a file");
        assert!(is_in_place(&old, &path));
        fs::rename(&other, &path).expect("replaced");
        assert!(!is_in_place(&old, &path));
        assert!(is_in_place(&File::open(&path).expect("a file"), &path));
    }

    #[test]
    fn an_empty_file_is_replaced_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hash");
        fs::write(&path, "").expect("a file");
        for content in ["first", "second"] {
            let unfinished = folder.path().join(content);
            fs::write(&unfinished, content).expect("a file");
            place(&unfinished, &path, true).expect("placed");
        }
        assert_eq!(fs::read_to_string(&path).expect("a file"), "first");
    }
}
