//! The searcher.
mod event;
mod limits;

pub use event::{Event, Line, Sink};
pub use limits::{ClockTime, Limits};
