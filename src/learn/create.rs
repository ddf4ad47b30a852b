//! Creates a learning file, so that a crash at any moment leaves nothing that could be taken for a valid one.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    disk::{Access, Disk, DiskFile, FileInfo, Identity},
    error::{FileError, refused},
    header::{FILE_SIZE, Header},
    stamp,
};
use crate::files::{header::HEADER_SIZE, unique_id, with_suffix};

/// Creates a learning file at `path`, with the directories above it, or completes one that is unfinished. A finished
/// one, or anything else that is there, is not changed.
///
/// # Errors
/// Another process holds the lock, something foreign is there, or the system refuses.
pub fn create(disk: &dyn Disk, path: &Path) -> Result<(), FileError> {
    let mut lock = prepare(disk, path)?;
    if !lock.try_lock(disk).map_err(refused(path, "locked"))? {
        return Err(FileError::Busy(path.to_owned()));
    }
    let made = make(disk, path);
    lock.unlock();
    match made {
        Ok(true) => Ok(()),
        Ok(false) => Err(FileError::Foreign(path.to_owned())),
        Err(error) => Err(refused(path, "created")(error)),
    }
}

/// What a file at `path` needs before it is made: the directories above it, room, and its lock file. Nothing is waited for.
pub(super) fn prepare(disk: &dyn Disk, path: &Path) -> Result<LockFile, FileError> {
    if let Some(directory) = path.parent() {
        disk.create_directories(directory).map_err(refused(path, "created"))?;
    }
    // Anything but a regular file must not even be opened for writing.
    let length = match disk.info_at(path) {
        Ok(info) => {
            require_file(info, path)?;
            info.length
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
        Err(error) => return Err(refused(path, "created")(error)),
    };
    let room = disk.resolve(path).and_then(|path| disk.require_room(&path, FILE_SIZE.saturating_sub(length)));
    room.and_then(|()| LockFile::beside(disk, path)).map_err(refused(path, "created"))
}

/// Creates the file, with the lock held. False if something foreign is there.
fn make(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    let data = disk.open(path, Access::Create)?;
    let info = data.info()?;
    let mut header = [0; HEADER_SIZE];
    let read = data.read_at(&mut header, 0)?;
    if Header::decode(&header[..read], path).is_ok() {
        // Another process was faster.
        return Ok(true);
    }
    if info.not_a_file.is_some() || !is_unfinished(&*data, info.length)? {
        return Ok(false);
    }
    // Every block is allocated and every zero on the disk before the header makes this a learning file: later writes
    // need no more space, and a crash leaves zeros, which are no learning file.
    fill_with_zeros(&*data, 0)?;
    data.sync()?;
    let finish = || {
        let header = Header { file_id: unique_id(), created: u64::from(stamp::now()) };
        data.write_at(&header.encode(), 0)?;
        data.sync()?;
        disk.sync_directory(disk.resolve(path)?.parent().unwrap_or(Path::new("/")))
    };
    finish().inspect_err(|_| {
        // What may not be on the disk must not be taken for a finished file: the next attempt writes all of it again.
        if let Err(error) = data.write_at(&[0; HEADER_SIZE], 0) {
            log::debug!("{}: its header cannot be taken back: {error}", path.display());
        }
    })?;
    Ok(true)
}

/// Writes zeros from `offset` to the end of a complete file.
pub(super) fn fill_with_zeros(data: &dyn DiskFile, offset: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 16];
    for offset in (offset..FILE_SIZE).step_by(zeros.len()) {
        let count = (FILE_SIZE - offset).min(zeros.len() as u64);
        data.write_at(&zeros[..count as usize], offset)?;
    }
    Ok(())
}

/// The header of an open file, or the reason why it has none.
pub(super) fn read_header(data: &dyn DiskFile, path: &Path) -> Result<Header, FileError> {
    let decode = || {
        let mut bytes = [0; HEADER_SIZE];
        let read = data.read_at(&mut bytes, 0).map_err(refused(path, "read"))?;
        Header::decode(&bytes[..read], path)
    };
    decode().or_else(|_| {
        let length = data.info().map_err(refused(path, "read"))?.length;
        if is_unfinished(data, length).map_err(refused(path, "read"))? {
            return Err(FileError::Unfinished(path.to_owned()));
        }
        // Another process may have completed it since the first look.
        decode()
    })
}

/// Was this file left by a process that was stopped while creating it? Then it is all zero and not longer than a
/// learning file; or, once all zeros were synced, a part of the header may be there.
fn is_unfinished(data: &dyn DiskFile, length: u64) -> io::Result<bool> {
    if length > FILE_SIZE {
        return Ok(false);
    }
    let mut chunk = vec![0; 1 << 16];
    for offset in (0..).step_by(chunk.len()) {
        let read = data.read_at(&mut chunk, offset)?;
        let header = chunk.first_chunk_mut().filter(|_| offset == 0 && length == FILE_SIZE);
        if let Some(header) = header.filter(|header| Header::is_torn(header)) {
            header.fill(0);
        }
        if chunk[..read].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        if read < chunk.len() {
            break;
        }
    }
    Ok(true)
}

/// Refuses anything but a regular file.
pub(super) fn require_file(info: FileInfo, path: &Path) -> Result<(), FileError> {
    info.not_a_file.map_or(Ok(()), |kind| Err(FileError::NotAFile(path.to_owned(), kind)))
}

/// The file `NAME.lock` beside a learning file, whose lock is needed to append. It is never deleted by us; a deletion
/// by another program is noticed at the next attempt to lock it.
pub(super) struct LockFile {
    path: PathBuf,
    file: Box<dyn DiskFile>,
    identity: Identity,
}

impl LockFile {
    /// Opens or creates it, and tests whether the file system has locks.
    pub(super) fn beside(disk: &dyn Disk, data: &Path) -> io::Result<LockFile> {
        let path = with_suffix(disk.resolve(data)?, ".lock");
        let file = disk.open(&path, Access::Create)?;
        let info = file.info()?;
        if let Some(kind) = info.not_a_file {
            return Err(io::Error::other(format!("{} is {kind}", path.display())));
        }
        if file.try_lock()? {
            file.unlock()?;
        }
        Ok(LockFile { path, file, identity: info.identity })
    }

    /// Takes the lock if it is free.
    pub(super) fn try_lock(&mut self, disk: &dyn Disk) -> io::Result<bool> {
        if !self.file.try_lock()? {
            return Ok(false);
        }
        if disk.info_at(&self.path).is_ok_and(|info| info.identity == self.identity) {
            return Ok(true);
        }
        // It was removed: other processes use another lock file now.
        self.file.unlock()?;
        self.file = disk.open(&self.path, Access::Create)?;
        self.identity = self.file.info()?.identity;
        self.file.try_lock()
    }

    pub(super) fn unlock(&self) {
        if let Err(error) = self.file.unlock() {
            // It is released when the handle is closed.
            log::debug!("the lock {} cannot be given back: {error}", self.path.display());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        sync::{
            RwLock,
            atomic::{AtomicBool, Ordering::Relaxed},
        },
    };

    use super::*;
    use crate::{
        learn::{LearnFile, Origin, Record},
        position::Position,
    };

    /// A file that another process completes after the first read.
    struct Completed {
        file: File,
        was_read: AtomicBool,
    }

    impl DiskFile for Completed {
        fn info(&self) -> io::Result<FileInfo> {
            self.file.info()
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
            match self.was_read.swap(true, Relaxed) {
                true => self.file.read_at(buffer, offset),
                false => Ok(0),
            }
        }

        fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
            self.file.write_at(bytes, offset)
        }

        fn sync(&self) -> io::Result<()> {
            self.file.sync()
        }

        fn try_lock(&self) -> io::Result<bool> {
            DiskFile::try_lock(&self.file)
        }

        fn unlock(&self) -> io::Result<()> {
            DiskFile::unlock(&self.file)
        }
    }

    #[test]
    fn a_file_that_is_completed_while_it_is_looked_at_is_no_foreign_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("learn.bin");
        let (mut file, ring, _) = LearnFile::open_or_create(&path).expect("created");
        let record = Record::new(&Position::default(), Origin::Import).expect("it fits");
        file.merge(&RwLock::new(ring), &[record]).expect("written");
        let file = Completed { file: File::open(&path).expect("there"), was_read: AtomicBool::new(false) };
        assert!(read_header(&file, &path).is_ok());
    }
}
