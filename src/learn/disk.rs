//! The file operations of the learning file, behind one small trait, so that tests can lose, tear, delay or fail each
//! of them.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::files::{self, Lock};
pub use crate::files::{Access, FileInfo, Identity};

/// A file system. A failure gives the error of the system: `NotFound` if nothing is at a path.
pub trait Disk: Send + Sync {
    /// What is at `path`, symbolic links followed.
    fn info_at(&self, path: &Path) -> io::Result<FileInfo>;

    /// The path of the file that `path` refers to, symbolic links followed to the end. The file itself need not exist.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// Creates a directory and those above it, if they are missing.
    fn create_directories(&self, directory: &Path) -> io::Result<()>;

    /// Checks that `bytes` bytes have room on the file system of `path`, as far as that is known.
    fn require_room(&self, _path: &Path, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    /// Opens a file; never blocks, whatever is there.
    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>>;

    /// Makes the names in a directory survive a power failure.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;
}

/// An open file. After an error any part of the bytes may have been written, and everything written since the last
/// successful sync may be lost.
pub trait DiskFile: Send + Sync {
    /// What it is.
    fn info(&self) -> io::Result<FileInfo>;

    /// Reads from `offset`; fewer bytes than asked for only at the end of the file.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Writes all of `bytes` at `offset`.
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes everything written so far survive a power failure.
    fn sync(&self) -> io::Result<()>;

    /// Takes the exclusive lock if it is free; an error if the file system has no locks. The lock ends with the process
    /// at the latest.
    fn try_lock(&self) -> io::Result<bool>;

    /// Releases the lock.
    fn unlock(&self) -> io::Result<()>;
}

/// The file system of the machine.
#[derive(Copy, Clone, Debug, Default)]
pub struct SystemDisk;

impl Disk for SystemDisk {
    fn info_at(&self, path: &Path) -> io::Result<FileInfo> {
        files::info_at(path)
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        files::resolve(path)
    }

    fn create_directories(&self, directory: &Path) -> io::Result<()> {
        if directory.as_os_str().is_empty() { Ok(()) } else { std::fs::create_dir_all(directory) }
    }

    fn require_room(&self, path: &Path, bytes: u64) -> io::Result<()> {
        files::require_room(path, bytes)
    }

    fn open(&self, path: &Path, access: Access) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(access != Access::Read).create(access == Access::Create).truncate(false);
        Ok(Box::new(files::open(path, &mut options)?))
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        // Other systems have no such operation; their file systems keep a journal of names.
        if !cfg!(unix) {
            return Ok(());
        }
        match File::open(directory) {
            // A folder that may be written but not read cannot be synced either.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            opened => files::sync(&opened?),
        }
    }
}

impl DiskFile for File {
    fn info(&self) -> io::Result<FileInfo> {
        files::info(self)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match read_once(self, &mut buffer[read..], offset + read as u64) {
                Ok(0) => break,
                Ok(bytes) => read += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut written = 0;
        while written < bytes.len() {
            match write_once(self, &bytes[written..], offset + written as u64) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        files::sync(self)
    }

    fn try_lock(&self) -> io::Result<bool> {
        match files::try_lock(self, Lock::Exclusive) {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn unlock(&self) -> io::Result<()> {
        files::unlock(self)
    }
}

fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::read_at(file, buffer, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_read(file, buffer, offset);
}

fn write_once(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_at(file, bytes, offset);
    #[cfg(windows)]
    return std::os::windows::fs::FileExt::seek_write(file, bytes, offset);
}
