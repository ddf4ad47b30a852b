//! Time, session and random numbers for records.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

/// Seconds since 1970, as records count them.
pub fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}

/// The random number of this process that marks its records.
pub fn session() -> u32 {
    static SESSION: OnceLock<u32> = OnceLock::new();
    *SESSION.get_or_init(|| random() as u32)
}

/// A random number: std seeds its hash maps from the system's source of randomness.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
