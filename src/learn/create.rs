//! Making a learning file, so that no moment of a crash leaves anything that is taken for one.

use std::{
    io,
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

use super::{
    disk::{Access, Disk, DiskFile},
    error::{FileError, OpenError},
    file::{LockFile, is_unfinished, refuse_other_kinds},
    header::{FILE_SIZE, HEADER_SIZE, Header},
};

/// Makes a learning file at `path`, with the directories above it, or completes one that is unfinished. If a
/// finished one is there, or anything else, nothing is changed.
///
/// # Errors
/// Another process holds the lock, something foreign lies there, or the system refuses.
pub fn create(disk: &dyn Disk, path: &Path) -> Result<(), FileError> {
    let failure = |doing| move |source| FileError::Io { path: path.to_owned(), doing, source };
    if let Some(directory) = path.parent() {
        disk.create_directories(directory).map_err(failure("created"))?;
    }
    // Whatever is no file must not be opened for writing, not even to look at it.
    match disk.look(path) {
        Ok(found) => refuse_other_kinds(found.not_a_file, path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failure("created")(error)),
    }
    let mut lock = LockFile::beside(disk, path).map_err(failure("locked"))?;
    if !lock.try_lock(disk).map_err(failure("locked"))? {
        return Err(FileError::Busy { path: path.to_owned() });
    }
    let made = make(disk, path);
    lock.unlock();
    match made {
        Ok(true) => Ok(()),
        Ok(false) => Err(OpenError::Foreign { path: path.to_owned() }.into()),
        Err(error) => Err(failure("created")(error)),
    }
}

/// With the lock held. False if something foreign is there.
fn make(disk: &dyn Disk, path: &Path) -> io::Result<bool> {
    let data = disk.open(path, Access::Create)?;
    let found = data.found()?;
    if found.not_a_file.is_some() {
        return Ok(false);
    }
    let mut header = [0; HEADER_SIZE];
    let read = data.read_at(&mut header, 0)?;
    if read == HEADER_SIZE && Header::decode(&header, path).is_ok() {
        // Another process was faster.
        return Ok(true);
    }
    if !is_unfinished(&*data, found.length)? {
        return Ok(false);
    }
    // Every block is allocated and every zero on the disk before the header says that this is a learning
    // file: what follows never needs space again, and a crash leaves zeros, which are no learning file.
    fill_with_zeros(&*data, 0)?;
    data.sync()?;
    let created = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    data.write_at(&Header { file_id: super::random(), created }.encode(), 0)?;
    data.sync()?;
    disk.sync_directory(disk.resolve(path)?.parent().unwrap_or(Path::new("/")))?;
    Ok(true)
}

/// Writes zeros from `offset` to the end of a whole file.
pub(super) fn fill_with_zeros(data: &dyn DiskFile, mut offset: u64) -> io::Result<()> {
    let zeros = vec![0; 1 << 16];
    while offset < FILE_SIZE {
        let count = (FILE_SIZE - offset).min(zeros.len() as u64);
        data.write_at(&zeros[..count as usize], offset)?;
        offset += count;
    }
    Ok(())
}
