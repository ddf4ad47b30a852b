//! Time and session for records.

use std::{
    sync::OnceLock,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::files::unique_id;

/// Seconds since 1970, as records count them.
pub fn now() -> u32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u32::try_from(since.as_secs()).unwrap_or(u32::MAX)
}

/// The random number of this process that marks its records.
pub fn session() -> u32 {
    static SESSION: OnceLock<u32> = OnceLock::new();
    *SESSION.get_or_init(|| unique_id() as u32)
}
