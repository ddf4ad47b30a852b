//! Locks of files, which end with the process at the latest. On Unix they are advisory; on Windows they keep other
//! handles from reading and writing too, those of the same process as well, and need a handle that may read.

use std::{
    fs::{File, TryLockError},
    io, thread,
    time::{Duration, Instant},
};

/// How often a lock that another process holds is asked for.
const LOCK_POLL: Duration = Duration::from_millis(2);

/// Who else may hold a lock.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Lock {
    /// Others that lock it so too.
    Shared,
    /// Nobody.
    Exclusive,
}

/// Locks a file, if others allow it at this moment.
///
/// # Errors
/// Another handle holds the lock, or the file system has none.
pub fn try_lock(file: &File, lock: Lock) -> Result<(), TryLockError> {
    // std has no locks on Android.
    #[cfg(all(unix, not(target_os = "solaris")))]
    {
        use rustix::{
            fs::{FlockOperation, flock},
            io::{Errno, retry_on_intr},
        };
        let operation = match lock {
            Lock::Shared => FlockOperation::NonBlockingLockShared,
            Lock::Exclusive => FlockOperation::NonBlockingLockExclusive,
        };
        retry_on_intr(|| flock(file, operation)).map_err(|error| match error {
            Errno::WOULDBLOCK => TryLockError::WouldBlock,
            error => TryLockError::Error(error.into()),
        })
    }
    #[cfg(not(all(unix, not(target_os = "solaris"))))]
    match lock {
        Lock::Shared => file.try_lock_shared(),
        Lock::Exclusive => file.try_lock(),
    }
}

/// Releases the lock.
///
/// # Errors
/// Those of the system; the lock then ends with the handle.
pub fn unlock(file: &File) -> io::Result<()> {
    #[cfg(all(unix, not(target_os = "solaris")))]
    return Ok(rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock)?);
    #[cfg(not(all(unix, not(target_os = "solaris"))))]
    match file.unlock() {
        // std unlocks twice, for either kind of lock. The second time Windows answers that nothing is locked any more,
        // which std expects; wine answers with this number.
        Err(error) if cfg!(windows) && error.raw_os_error() == Some(33) => Ok(()),
        unlocked => unlocked,
    }
}

/// Does another process hold the lock?
pub fn is_locked(error: &TryLockError) -> bool {
    matches!(error, TryLockError::WouldBlock)
}

/// Repeats `attempt` while it `is_busy`, because another process holds a lock, for `limit` at most.
///
/// # Errors
/// That of the last attempt.
pub fn retry_within<T, E>(
    limit: Duration,
    is_busy: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let deadline = Instant::now() + limit;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && Instant::now() < deadline => thread::sleep(LOCK_POLL),
            done => return done,
        }
    }
}
