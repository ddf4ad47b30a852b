/// Asks the processor to load the cache line of `place`; a hint without any effect on results.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(place: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching has no architectural effect, and the address comes from a live reference.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(std::ptr::from_ref(place).cast::<i8>(), _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
