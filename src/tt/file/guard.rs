//! If another program truncates a hash file while it is mapped, the system ends the process at its next access beyond
//! the new end; so it does on a full disk, if the file system needs new blocks for each write, such as btrfs for a copied
//! file. No lock prevents that; a signal handler prints the reason.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The address ranges of the file mapped last, to which the address of a fault is compared. Relaxed: only a handler
/// reads them, on a thread that got the map through something that synchronised.
static RANGES: [[AtomicUsize; 2]; 2] = [const { [const { AtomicUsize::new(0) }; 2] }; 2];

/// From now on a fault within these bytes ends the process with a message and exit code 1.
pub(super) fn watch<A, B>(first: &[A], second: &[B]) {
    let first = first.as_ptr_range();
    let second = second.as_ptr_range();
    let ranges = [[first.start as usize, first.end as usize], [second.start as usize, second.end as usize]];
    for (place, bound) in RANGES.iter().flatten().zip(ranges.into_iter().flatten()) {
        place.store(bound, Relaxed);
    }
    #[cfg(unix)]
    install();
}

/// From now on a write beyond the limit on file sizes (`ulimit -f`) is an error, as on a full disk, instead of ending
/// the process.
pub fn limits_are_errors() {
    #[cfg(unix)]
    // SAFETY: to ignore a signal installs no handler.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

#[cfg(unix)]
fn install() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // SAFETY: `handler` does only what is allowed in a handler (atomics, `write`, `_exit`, `signal`), and
        // a zeroed `sigaction` is a valid one with an empty mask.
        #[allow(unsafe_code)]
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut());
        }
    });
}

#[cfg(unix)]
extern "C" fn handler(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    const SENTENCE: &[u8] =
        b"engram: the hash file was cut short by another program, or its disk is full or failed; restart the engine\n";
    // SAFETY: the system hands a valid `siginfo_t` to a handler with `SA_SIGINFO`; the calls are
    // async-signal-safe, and the sentence is static.
    #[allow(unsafe_code)]
    unsafe {
        let place = (*info).si_addr() as usize;
        let within =
            |[start, end]: &[AtomicUsize; 2]| (start.load(Relaxed)..end.load(Relaxed)).contains(&place);
        if RANGES.iter().any(within) {
            libc::write(2, SENTENCE.as_ptr().cast(), SENTENCE.len());
            libc::_exit(1);
        }
        // Not our fault address: restores the default action, which happens when this handler returns.
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
}
