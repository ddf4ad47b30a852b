//! The memory of tables. Either an anonymous mapping in RAM: its failure is an error and not an abort, zero pages
//! cost nothing until used, and huge pages can be requested (with them a probe misses the TLB far less often). Or a
//! part of a file, shared with every process that maps it.

use std::{fs::File, io, marker::PhantomData};

use memmap2::{MmapMut, MmapOptions};

use crate::files::Access;

/// Files up to this size in bytes are read into memory when they are opened.
#[cfg(target_os = "linux")]
const PREFAULTED: usize = 256 << 20;
/// Files up to this size in bytes are read afterwards, piece by piece ([`Backing::prefault`]).
#[cfg(target_os = "linux")]
const WARMED: usize = 1 << 30;
/// Size of such a piece: some milliseconds, if it is in the page cache.
#[cfg(target_os = "linux")]
const PIECE: usize = 4 << 20;

/// An array of `T`s, shared between threads. Its initial content is zero or that of the file.
pub struct Backing<T> {
    map: MmapMut,
    kind: PhantomData<T>,
}

/// Values that are valid whatever their bytes are, need no drop, and may be shared and changed through shared
/// references (words that are atomic).
///
/// # Safety
/// The implementor guarantees exactly that, and an alignment of at most a page.
#[allow(unsafe_code)]
pub unsafe trait SharedWords: Sync {}

impl<T: SharedWords> Backing<T> {
    /// The conditions of [`Backing::as_slice`] that the compiler can check.
    const SOUND: () = assert!(align_of::<T>() <= 4096 && size_of::<T>() > 0 && !std::mem::needs_drop::<T>());

    /// Memory for `count` values, at least one.
    ///
    /// # Errors
    /// The error of the system if memory is short.
    pub fn new(count: usize) -> io::Result<Backing<T>> {
        let bytes = count.max(1).checked_mul(size_of::<T>()).ok_or(io::ErrorKind::OutOfMemory)?;
        let map = MmapMut::map_anon(bytes)?;
        #[cfg(target_os = "linux")]
        if let Err(error) = map.advise(memmap2::Advice::HugePage) {
            log::debug!("no huge pages: {error}");
        }
        Ok(Backing { map, kind: PhantomData })
    }

    /// The `count` values at `offset` in `file`; `offset` is a multiple of 4,096. With [`Access::Read`] changes would
    /// stay in this process; otherwise they go to the file and to every process that maps it.
    ///
    /// # Errors
    /// The file is shorter than that, or the system does not map it.
    pub fn of_file(file: &File, offset: u64, count: usize, access: Access) -> io::Result<Backing<T>> {
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
            match access {
                Access::Read => options.no_reserve_swap().map_copy(file)?,
                Access::Write | Access::Create => options.map_mut(file)?,
            }
        };
        #[cfg(target_os = "linux")]
        if access != Access::Read {
            // A small file is read ahead; otherwise the first access to each page is a page fault in the search. For a
            // large one read-ahead is switched off: the system would read megabytes around each access, up to the whole
            // file when it is opened.
            let advised = if bytes <= PREFAULTED {
                map.advise(memmap2::Advice::PopulateRead)
            } else if bytes > WARMED {
                map.advise(memmap2::Advice::Random)
            } else {
                Ok(())
            };
            if let Err(error) = advised {
                log::debug!("no advice about a mapped file: {error}");
            }
        }
        if map.as_ptr().cast::<T>().is_aligned() {
            Ok(Backing { map, kind: PhantomData })
        } else {
            Err(io::ErrorKind::Unsupported.into())
        }
    }

    /// Reads a piece of a medium-sized file into memory, from byte `from` on. Returns where the next piece begins, if
    /// there is one.
    #[cfg(target_os = "linux")]
    pub fn prefault(&self, from: usize) -> Option<usize> {
        let size = self.map.len();
        if !(PREFAULTED + 1..=WARMED).contains(&size) || from >= size {
            return None;
        }
        let bytes = PIECE.min(size - from);
        match self.map.advise_range(memmap2::Advice::PopulateRead, from, bytes) {
            Ok(()) => Some(from + bytes),
            Err(error) => {
                log::debug!("a mapped file is not brought in: {error}");
                None
            }
        }
    }

    /// Does nothing: the system reads pages on access.
    #[cfg(not(target_os = "linux"))]
    pub fn prefault(&self, _from: usize) -> Option<usize> {
        None
    }

    /// Waits until a mapped file has the values on its disk.
    pub fn flush(&self) -> io::Result<()> {
        self.map.flush()
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    #[repr(transparent)]
    struct Word(AtomicU64);

    // SAFETY: an `AtomicU64`.
    #[allow(unsafe_code)]
    unsafe impl SharedWords for Word {}

    fn mapped(bytes: usize) -> Backing<Word> {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(bytes as u64).expect("a sparse file");
        Backing::of_file(&file, 0, bytes / 8, Access::Write).expect("mapped")
    }

    fn pieces(bytes: usize) -> usize {
        let backing = mapped(bytes);
        std::iter::successors(backing.prefault(0), |&from| backing.prefault(from)).count()
    }

    #[test]
    fn a_file_of_middling_size_is_brought_in_piece_by_piece() {
        assert_eq!(pieces(PREFAULTED), 0, "a small one is there from the beginning");
        let size = PREFAULTED + PIECE + 4096;
        if mapped(size).map.advise_range(memmap2::Advice::PopulateRead, 0, 4096).is_err() {
            println!("skipped: this kernel is older than 5.14, which brought MADV_POPULATE_READ");
            return;
        }
        assert_eq!(pieces(size), PREFAULTED / PIECE + 2);
    }
}
