//! An open learning file: opening it, checking that it is still in place, and reading forward.

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, RwLock},
};

use super::{
    create::{LockFile, read_header, require_file},
    data_file::DataFile,
    disk::{Access, Disk, Identity, SystemDisk},
    error::{FileError, refused},
    header::SLOTS,
    record::{self, Bytes, CAPACITY, RECORD_SIZE},
    ring::{Report, Ring},
};

use crate::locks::{read, write};

/// What a file is opened for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only to read it.
    Read,
    /// To read and append.
    Write,
}

/// An open learning file.
pub struct LearnFile {
    pub(super) disk: Arc<dyn Disk>,
    /// The path as the user gave it.
    pub(super) path: PathBuf,
    pub(super) data: Arc<DataFile>,
    identity: Identity,
    /// The lock file, or the reason why nothing can be appended.
    pub(super) lock: Result<LockFile, String>,
}

impl LearnFile {
    /// Opens a file, reads every record, and determines which are valid and which count. It must exist;
    /// [`super::create()`] creates one. Takes no lock, and nothing is changed.
    ///
    /// A file that may not be written, or cannot be locked, is opened for reading, see [`LearnFile::read_only`].
    ///
    /// # Errors
    /// It is missing, unfinished, of another kind or format, damaged, or the system refuses.
    pub fn open(path: &Path, mode: Mode) -> Result<(LearnFile, Ring, Report), FileError> {
        LearnFile::open_on(Arc::new(SystemDisk), path, mode)
    }

    /// As [`LearnFile::open`], on any disk.
    ///
    /// # Errors
    /// As there.
    pub fn open_on(
        disk: Arc<dyn Disk>,
        path: &Path,
        mode: Mode,
    ) -> Result<(LearnFile, Ring, Report), FileError> {
        require_file(disk.info_at(path).map_err(refused(path, "opened"))?, path)?;
        let mut read_only = (mode == Mode::Read).then(|| "as asked".to_owned());
        let data = match mode {
            Mode::Read => disk.open(path, Access::Read),
            Mode::Write => disk.open(path, Access::Write).or_else(|error| match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    read_only = Some(format!("the file cannot be written: {error}"));
                    disk.open(path, Access::Read)
                }
                _ => Err(error),
            }),
        };
        let data = data.map_err(refused(path, "opened"))?;
        // Another file may have taken the name since that check.
        let info = data.info().map_err(refused(path, "opened"))?;
        require_file(info, path)?;
        read_header(&*data, path)?;
        let lock = match read_only {
            Some(reason) => Err(reason),
            None => LockFile::beside(&*disk, path)
                .map_err(|error| format!("its lock file cannot be used: {error}")),
        };
        let (path, data) = (path.to_owned(), Arc::new(DataFile::new(data)));
        let mut file = LearnFile { disk, path, data, identity: info.identity, lock };
        let (ring, report) = file.scan()?;
        if record::lap(ring.sequence()) == u32::MAX {
            // That takes 2^48 records, more than any disk survives.
            let reason = "its sequence numbers are used up; export it and import the text into a new file";
            file.lock = Err(reason.to_owned());
        }
        Ok((file, ring, report))
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reason why nothing can be appended, if so.
    pub fn read_only(&self) -> Option<&str> {
        self.lock.as_ref().err().map(String::as_str)
    }

    /// The length of the file, if it is still the one at the path.
    pub(super) fn length_in_place(&self) -> Result<u64, FileError> {
        match self.disk.info_at(&self.path) {
            Ok(info) if info.identity == self.identity => Ok(info.length),
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(&self.path, "found")(error)),
            _ => Err(self.replaced()),
        }
    }

    pub(super) fn replaced(&self) -> FileError {
        FileError::Replaced(self.path.clone())
    }

    /// As [`LearnFile::read_forward`], if the path still leads to this file.
    ///
    /// # Errors
    /// As there, and [`FileError::Replaced`] if it does not.
    pub fn refresh(&self, ring: &RwLock<Ring>) -> Result<(), FileError> {
        self.length_in_place()?;
        self.read_forward(ring)
    }

    /// Reads the records that were appended since the last read. Takes no lock.
    ///
    /// # Errors
    /// The file cannot be read, or is no longer a learning file.
    pub fn read_forward(&self, ring: &RwLock<Ring>) -> Result<(), FileError> {
        let (file_id, newest, last) = {
            let ring = read(ring);
            (ring.file_id(), ring.sequence(), ring.bytes(ring.sequence()).copied())
        };
        // The newest known record is read again first: a file that was overwritten in place no longer holds it.
        let mut next = if last.is_some() { newest } else { newest + 1 };
        if last.is_none()
            && read_header(self.data.file(), &self.path).map_or(0, |header| header.file_id) != file_id
        {
            return self.read_anew(ring);
        }
        let mut chunk = [[0; RECORD_SIZE]; 16];
        loop {
            let slot = record::slot(next);
            let count = chunk.len().min(CAPACITY - slot as usize);
            self.read_slots(slot, &mut chunk[..count])?;
            for (slot, bytes) in (slot..).zip(&chunk[..count]) {
                match record::sequence(bytes, file_id, slot) {
                    Some(sequence) if sequence == newest && last.as_ref() == Some(bytes) => {}
                    Some(sequence) if sequence == next && next > newest => write(ring).push(sequence, *bytes),
                    // Others wrote a whole lap since, or it is another file.
                    Some(sequence) if sequence >= next => return self.read_anew(ring),
                    _ if next == newest => return self.read_anew(ring),
                    _ => return Ok(()),
                }
                next += 1;
            }
        }
    }

    /// Reads the whole file into `ring`.
    pub(super) fn read_anew(&self, ring: &RwLock<Ring>) -> Result<(), FileError> {
        let (fresh, _) = self.scan().map_err(|error| self.unreadable(error))?;
        write(ring).replace(fresh);
        Ok(())
    }

    /// Why an open file can no longer be read: an error of the system, or it was overwritten or emptied. Whatever it is
    /// then, it is not the file that was opened.
    pub(super) fn unreadable(&self, error: FileError) -> FileError {
        if matches!(error, FileError::Io(..)) { error } else { self.replaced() }
    }

    /// Reads and checks every record.
    fn scan(&self) -> Result<(Ring, Report), FileError> {
        let header = read_header(self.data.file(), &self.path)?;
        let mut slots: Vec<Bytes> = vec![[0; RECORD_SIZE]; CAPACITY];
        let read = self.read_slots(0, &mut slots)?;
        // A torn record may have been in the middle of being written: read it again.
        let reread = |slot: u32| {
            let mut again = [[0; RECORD_SIZE]];
            self.read_slots(slot, &mut again).ok().map(|_| again[0])
        };
        let (ring, report) = Ring::from_slots(header.file_id, slots, reread);
        Ok((ring, Report { missing_bytes: (CAPACITY * RECORD_SIZE - read) as u64, ..report }))
    }

    /// Reads whole slots; those beyond the end of the file are empty. Returns the number of bytes read.
    fn read_slots(&self, first: u32, slots: &mut [Bytes]) -> Result<usize, FileError> {
        let bytes = slots.as_flattened_mut();
        let offset = SLOTS + u64::from(first) * RECORD_SIZE as u64;
        let read = self.data.file().read_at(bytes, offset).map_err(refused(&self.path, "read"))?;
        bytes[read..].fill(0);
        Ok(read)
    }
}
