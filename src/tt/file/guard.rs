//! A hash file that another program cuts short while it is mapped: the system then ends the process where it
//! touches what is gone, and no lock prevents it. All that can be done is to say why.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The mapped range that a fault is compared with; one file is mapped at a time. Relaxed: read only by a
/// handler on a thread that reached the map through something that synchronised.
static START: AtomicUsize = AtomicUsize::new(0);
static END: AtomicUsize = AtomicUsize::new(0);

/// From now on a fault within these bytes ends the process with a sentence and exit code 1.
pub(super) fn watch<T>(mapped: &[T]) {
    let range = mapped.as_ptr_range();
    START.store(range.start as usize, Relaxed);
    END.store(range.end as usize, Relaxed);
    #[cfg(unix)]
    install();
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
        b"engram: the hash file was cut short by another program or its disk failed; restart the engine\n";
    // SAFETY: the system hands a valid `siginfo_t` to a handler with `SA_SIGINFO`; the calls are
    // async-signal-safe, and the sentence is static.
    #[allow(unsafe_code)]
    unsafe {
        let place = (*info).si_addr() as usize;
        if (START.load(Relaxed)..END.load(Relaxed)).contains(&place) {
            libc::write(2, SENTENCE.as_ptr().cast(), SENTENCE.len());
            libc::_exit(1);
        }
        // Not ours: what would have happened without this handler, as soon as it returns.
        libc::signal(libc::SIGBUS, libc::SIG_DFL);
    }
}
