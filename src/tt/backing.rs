//! Where the memory of tables comes from. In RAM: an anonymous mapping, so that failure is an error and not
//! an abort, zero pages cost nothing until used, and huge pages can be asked for (a probe misses the
//! translation cache far less often then). Or a part of a file, shared with every process that maps it.

use std::{fs::File, io, marker::PhantomData};

use memmap2::{MmapMut, MmapOptions};

/// Files up to this size are brought into memory when they are opened, in bytes.
#[cfg(target_os = "linux")]
const PREFAULTED: usize = 256 << 20;

/// Memory of `T`s, shared between threads, zeroed at first or as the file has it.
pub struct Backing<T> {
    map: MmapMut,
    kind: PhantomData<T>,
}

/// What happens to a mapped file.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// It is read only; changes would stay in this process.
    Read,
    /// Changes go to the file and to every process that maps it.
    Write,
}

/// Values that are valid whatever their bytes are, need no drop, and may be shared and changed through shared
/// references (words that are atomic).
///
/// # Safety
/// The implementor guarantees exactly that, and an alignment of at most a page.
#[allow(unsafe_code)]
pub unsafe trait SharedWords: Sync {}

impl<T: SharedWords> Backing<T> {
    /// What [`Backing::as_slice`] rests on, as far as the compiler can tell.
    const SOUND: () = assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0 && !std::mem::needs_drop::<T>());

    /// Memory for `count` values, at least one.
    ///
    /// # Errors
    /// What the system says if it has no memory.
    pub fn new(count: usize) -> io::Result<Backing<T>> {
        let bytes = count.max(1).checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        if let Err(error) = map.advise(memmap2::Advice::HugePage) {
            log::debug!("no huge pages: {error}");
        }
        Ok(Backing { map, kind: PhantomData })
    }

    /// The `count` values that lie at `offset` in `file`, a multiple of 4,096.
    ///
    /// # Errors
    /// The file is shorter than that, or the system does not map it.
    pub fn of_file(file: &File, offset: u64, count: usize, sharing: Sharing) -> io::Result<Backing<T>> {
        let bytes = count.max(1).checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        if file.metadata()?.len().checked_sub(offset).is_none_or(|length| length < bytes as u64) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the words are atomic and valid whatever other processes write. One that cuts the file short
        // makes the system end this process at its next access, which `tt::file` documents.
        #[allow(unsafe_code)]
        let map = unsafe {
            let mut options = MmapOptions::new();
            options.offset(offset).len(bytes);
            match sharing {
                Sharing::Write => options.map_mut(file)?,
                Sharing::Read => options.no_reserve_swap().map_copy(file)?,
            }
        };
        #[cfg(target_os = "linux")]
        if sharing == Sharing::Write {
            // A small file is brought in, else the search takes a page fault for each part that it asks for first.
            // Of a large one the system would read megabytes around each place that is asked for, up to the
            // whole file when it is opened.
            let advice = match bytes <= PREFAULTED {
                true => memmap2::Advice::PopulateRead,
                false => memmap2::Advice::Random,
            };
            if let Err(error) = map.advise(advice) {
                log::debug!("no advice about a mapped file: {error}");
            }
        }
        if map.as_ptr().cast::<T>().is_aligned() {
            Ok(Backing { map, kind: PhantomData })
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// The values.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        const { Self::SOUND };
        let start = self.map.as_ptr().cast::<T>();
        let count = self.map.len() / size_of::<T>();
        // SAFETY: the mapping is aligned for `T`, `count` values long, lives as long as `self`, and is
        // reached through this slice alone; `SharedWords` allows the rest, whatever the bytes are.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(start, count)
        }
    }
}
