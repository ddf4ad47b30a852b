//! Where the table's memory comes from: an anonymous mapping, so that failure is an error and not an abort,
//! zero pages cost nothing until used, and huge pages can be asked for (a probe misses the translation
//! cache far less often then).

use std::{io, marker::PhantomData};

use memmap2::MmapMut;

/// Memory of zeroed `T`s, shared between threads.
pub struct Backing<T> {
    map: MmapMut,
    kind: PhantomData<T>,
}

/// Values that are valid when all their bytes are zero, need no drop, and may be shared and changed through
/// shared references (atomics).
///
/// # Safety
/// The implementor guarantees exactly that, and an alignment of at most a page.
#[allow(unsafe_code)]
pub unsafe trait ZeroedAtomic: Sync {}

impl<T: ZeroedAtomic> Backing<T> {
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

    /// The values.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        let start = self.map.as_ptr().cast::<T>();
        let count = self.map.len() / size_of::<T>();
        // SAFETY: the mapping is page-aligned, `count` values long, zeroed at first, lives as long as
        // `self`, and is reached through this slice alone; `ZeroedAtomic` allows the rest.
        #[allow(unsafe_code)]
        unsafe {
            std::slice::from_raw_parts(start, count)
        }
    }
}
