//! An open learning file: opening, the lock beside it, and reading forward.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use super::{
    disk::{Access, Disk, DiskFile, Identity, SystemDisk},
    error::{FileError, OpenError, ReadOnly},
    header::{FILE_SIZE, HEADER_SIZE, Header, SLOTS},
    record::{self, Bytes, CAPACITY, RECORD_SIZE},
    ring::{Report, Ring},
};

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
    /// As the user named it.
    pub(super) path: PathBuf,
    pub(super) data: Arc<dyn DiskFile>,
    identity: Identity,
    pub(super) lock: Result<LockFile, ReadOnly>,
}

/// A file that has the right header, and of whose records nothing is known yet.
pub struct Unverified(LearnFile);

/// What reading forward found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Nothing new.
    Nothing,
    /// More records.
    Forward,
    /// So much that the whole file was read again.
    Anew,
}

impl LearnFile {
    /// Opens a file. It must be there; [`super::create`] makes one.
    ///
    /// A file that may not be written, or cannot be locked, is opened for reading, see
    /// [`LearnFile::read_only`].
    ///
    /// # Errors
    /// See [`OpenError`]. Nothing was changed.
    pub fn open(path: &Path, mode: Mode) -> Result<Unverified, OpenError> {
        LearnFile::open_on(Arc::new(SystemDisk), path, mode)
    }

    /// As [`LearnFile::open`], on any disk.
    ///
    /// # Errors
    /// As there.
    pub fn open_on(disk: Arc<dyn Disk>, path: &Path, mode: Mode) -> Result<Unverified, OpenError> {
        let found = disk.look(path).map_err(opening(path))?;
        refuse_other_kinds(found.not_a_file, path)?;
        let mut read_only = (mode == Mode::Read).then_some(ReadOnly::Asked);
        let data = match mode {
            Mode::Read => disk.open(path, Access::Read),
            Mode::Write => disk.open(path, Access::Write).or_else(|error| match error.kind() {
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    read_only = Some(ReadOnly::Data(error));
                    disk.open(path, Access::Read)
                }
                _ => Err(error),
            }),
        };
        let data: Arc<dyn DiskFile> = Arc::from(data.map_err(opening(path))?);
        // Between the look and the opening the name may have changed hands.
        let found = data.found().map_err(opening(path))?;
        refuse_other_kinds(found.not_a_file, path)?;
        check(&*data, found.length, path)?;
        let lock = match read_only {
            Some(reason) => Err(reason),
            None => LockFile::beside(&*disk, path).map_err(ReadOnly::Lock),
        };
        let path = path.to_owned();
        Ok(Unverified(LearnFile { disk, path, data, identity: found.identity, lock }))
    }

    /// The name that it was opened by.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why nothing can be appended, if so.
    pub fn read_only(&self) -> Option<&ReadOnly> {
        self.lock.as_ref().err()
    }

    /// Does the path still lead to this file?
    ///
    /// # Errors
    /// The system does not say.
    pub fn is_in_place(&self) -> Result<bool, FileError> {
        Ok(matches!(self.look()?, Place::Ours | Place::Shortened(_)))
    }

    /// What lies at the path now: is it still this file, and is it whole?
    pub(super) fn look(&self) -> Result<Place, FileError> {
        match self.disk.look(&self.path) {
            Ok(found) if found.identity != self.identity => Ok(Place::Replaced),
            Ok(found) if found.length < FILE_SIZE => Ok(Place::Shortened(found.length)),
            Ok(_) => Ok(Place::Ours),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Place::Gone),
            Err(error) => Err(self.failure("found", error)),
        }
    }

    /// Reads what was appended since. Takes no lock.
    ///
    /// # Errors
    /// The file cannot be read, or is no longer a learning file.
    pub fn read_forward(&self, ring: &RwLock<Ring>) -> Result<Progress, FileError> {
        let (mut newest, last) = {
            let ring = read(ring);
            (ring.sequence(), ring.bytes(ring.sequence()).copied())
        };
        let file_id = read(ring).file_id();
        let mut progress = Progress::Nothing;
        let mut chunk = [[0; RECORD_SIZE]; 64];
        // The first look takes in the last record known, too: a file that was copied over in place no
        // longer holds it.
        match last {
            Some(last) => {
                let slot = record::place(newest).1 as usize;
                let count = 2.min(CAPACITY - slot);
                self.read_slots(slot, &mut chunk[..count])?;
                if chunk[0] != last {
                    return self.read_anew(ring);
                }
                if count == 2 && record::sequence(&chunk[1], file_id, slot as u32 + 1).is_none() {
                    return Ok(Progress::Nothing);
                }
            }
            None if self.header().map_or(0, |header| header.file_id) != file_id => {
                return self.read_anew(ring);
            }
            None => {}
        }
        loop {
            let slot = record::place(newest + 1).1 as usize;
            let count = chunk.len().min(CAPACITY - slot);
            self.read_slots(slot, &mut chunk[..count])?;
            for (slot, bytes) in (slot as u32..).zip(&chunk[..count]) {
                match record::sequence(bytes, file_id, slot) {
                    Some(sequence) if sequence == newest + 1 => {
                        write(ring).push(sequence, *bytes);
                        newest = sequence;
                        progress = Progress::Forward;
                    }
                    // Others went once around and overtook us.
                    Some(sequence) if sequence > newest => return self.read_anew(ring),
                    _ => return Ok(progress),
                }
            }
        }
    }

    /// Reads the whole file into `ring`.
    ///
    /// # Errors
    /// As [`LearnFile::read_forward`].
    pub(super) fn read_anew(&self, ring: &RwLock<Ring>) -> Result<Progress, FileError> {
        let (fresh, _) = self.scan().map_err(|error| match error {
            // Copied over or cut to nothing: whatever it is now, it is not the file that was opened.
            FileError::Open(_) => FileError::Replaced { path: self.path.clone() },
            other => other,
        })?;
        write(ring).replace(fresh);
        Ok(Progress::Anew)
    }

    /// Reads and checks every record.
    pub(super) fn scan(&self) -> Result<(Ring, Report), FileError> {
        let header = self.header()?;
        let mut slots: Vec<Bytes> = vec![[0; RECORD_SIZE]; CAPACITY];
        let read = self.read_slots(0, &mut slots)?;
        // A record that is torn here may have been in the middle of being written: look again.
        let reread = |slot: u32| {
            let mut again = [[0; RECORD_SIZE]];
            self.read_slots(slot as usize, &mut again).ok().map(|_| again[0])
        };
        let (ring, report) = Ring::from_slots(header.file_id, slots, reread);
        let missing_bytes = (CAPACITY * RECORD_SIZE - read) as u64;
        Ok((ring, Report { missing_bytes, ..report }))
    }

    /// Reads whole slots; what lies behind the end of the file is empty. Returns the bytes that were there.
    fn read_slots(&self, first: usize, slots: &mut [Bytes]) -> Result<usize, FileError> {
        let bytes = slots.as_flattened_mut();
        let offset = SLOTS + (first * RECORD_SIZE) as u64;
        let read = self.data.read_at(bytes, offset).map_err(|error| self.failure("read", error))?;
        bytes[read..].fill(0);
        Ok(read)
    }

    pub(super) fn header(&self) -> Result<Header, FileError> {
        let length = self.data.found().map_err(|error| self.failure("read", error))?.length;
        Ok(check(&*self.data, length, &self.path)?)
    }

    pub(super) fn failure(&self, doing: &'static str, source: io::Error) -> FileError {
        FileError::Io { path: self.path.clone(), doing, source }
    }
}

impl Unverified {
    /// Reads and checks every record: which are whole, and which count. Takes no lock and changes nothing.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn recover(self) -> Result<(LearnFile, Ring, Report), FileError> {
        let mut file = self.0;
        let (ring, report) = file.scan()?;
        if record::place(ring.sequence()).0 == u32::MAX {
            file.lock = Err(ReadOnly::Full);
        }
        Ok((file, ring, report))
    }
}

impl fmt::Debug for Unverified {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Unverified({})", self.0.path.display())
    }
}

/// What lies at the path of an open file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Ours,
    Shortened(u64),
    Replaced,
    Gone,
}

/// The file beside a learning file, `NAME.lock`, whose lock means the right to append. It is never deleted
/// by us; if somebody else does, that is noticed when it is locked.
pub(super) struct LockFile {
    path: PathBuf,
    file: Box<dyn DiskFile>,
    identity: Identity,
}

impl LockFile {
    /// Opens or makes it, and tries whether the file system has locks.
    pub(super) fn beside(disk: &dyn Disk, data: &Path) -> io::Result<LockFile> {
        let mut path = disk.resolve(data)?.into_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        let file = disk.open(&path, Access::Create)?;
        let found = file.found()?;
        if let Some(kind) = found.not_a_file {
            return Err(io::Error::other(format!("{} is {kind}", path.display())));
        }
        if file.try_lock()? {
            file.unlock()?;
        }
        Ok(LockFile { path, file, identity: found.identity })
    }

    /// Takes the lock if it is free.
    pub(super) fn try_lock(&mut self, disk: &dyn Disk) -> io::Result<bool> {
        if !self.file.try_lock()? {
            return Ok(false);
        }
        if disk.look(&self.path).is_ok_and(|found| found.identity == self.identity) {
            return Ok(true);
        }
        // Somebody removed it: the lock that others use is another one now.
        self.file.unlock()?;
        self.file = disk.open(&self.path, Access::Create)?;
        self.identity = self.file.found()?.identity;
        self.file.try_lock()
    }

    pub(super) fn unlock(&self) {
        if let Err(error) = self.file.unlock() {
            // It ends with the handle.
            log::debug!("the lock {} cannot be given back: {error}", self.path.display());
        }
    }
}

/// The header of an open file, or why it is none.
fn check(data: &dyn DiskFile, length: u64, path: &Path) -> Result<Header, OpenError> {
    let mut bytes = [0; HEADER_SIZE];
    data.read_at(&mut bytes, 0).map_err(reading(path))?;
    match Header::decode(&bytes, path) {
        Ok(header) => Ok(header),
        Err(_) if is_unfinished(data, length).map_err(reading(path))? => {
            Err(OpenError::Unfinished { path: path.to_owned() })
        }
        Err(error) => Err(error),
    }
}

/// Is this what a process left that was stopped while it made a learning file? Then it is all zero and not
/// longer than ours; once all zeros are there and synced, the header may be there in part.
pub(super) fn is_unfinished(data: &dyn DiskFile, length: u64) -> io::Result<bool> {
    if length > FILE_SIZE {
        return Ok(false);
    }
    let mut chunk = vec![0; 1 << 16];
    let mut offset = 0;
    loop {
        let read = data.read_at(&mut chunk, offset)?;
        if offset == 0 && length == FILE_SIZE && read >= HEADER_SIZE {
            let mut header = [0; HEADER_SIZE];
            header.copy_from_slice(&chunk[..HEADER_SIZE]);
            if Header::is_torn(&header) {
                chunk[..HEADER_SIZE].fill(0);
            }
        }
        if chunk[..read].iter().any(|&byte| byte != 0) {
            return Ok(false);
        }
        if read < chunk.len() {
            return Ok(true);
        }
        offset += read as u64;
    }
}

pub(super) fn refuse_other_kinds(not_a_file: Option<&'static str>, path: &Path) -> Result<(), OpenError> {
    match not_a_file {
        Some(kind) => Err(OpenError::NotAFile { path: path.to_owned(), kind }),
        None => Ok(()),
    }
}

fn opening(path: &Path) -> impl Fn(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| match source.kind() {
        io::ErrorKind::NotFound => OpenError::Missing { path: path.clone() },
        io::ErrorKind::IsADirectory => OpenError::NotAFile { path: path.clone(), kind: "a directory" },
        _ => OpenError::Io { path: path.clone(), doing: "opened", source },
    }
}

fn reading(path: &Path) -> impl Fn(io::Error) -> OpenError {
    let path = path.to_owned();
    move |source| OpenError::Io { path: path.clone(), doing: "read", source }
}

/// A panic while a ring was changed would leave it whole or stale, never torn: go on with it.
pub(super) fn read(ring: &RwLock<Ring>) -> RwLockReadGuard<'_, Ring> {
    ring.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn write(ring: &RwLock<Ring>) -> RwLockWriteGuard<'_, Ring> {
    ring.write().unwrap_or_else(PoisonError::into_inner)
}
