//! The UCI session: text in, text out, and an [`Engine`](crate::engine::Engine) between them.
//!
//! ```text
//!  stdin -> reader thread -> channel -> session loop -> Engine -> search threads
//!                |                          |                          |
//!                '- stop: interrupts        '-------> Output <---------' one line at a time
//! ```
//! The loop never waits for a search: `isready` is answered at once (behind queued commands once the search was told to
//! stop), and commands that need an idle engine are queued until the `bestmove`. Only `perft` and `bench` keep the loop
//! busy for long: the reader interrupts them at a `stop`.
//!
//! No invalid input ends the process or changes its state: each error is answered by exactly one `info string` that
//! says what to do.

mod debug_log;
mod display;
mod notice;
mod options;
mod output;
mod reader;
mod session;
pub mod translate;

pub use debug_log::DebugLog;
pub(crate) use notice::counted;
pub use output::{Output, printable};
pub use reader::{Interrupt, decoded};
pub use session::{Places, Session, Tools};
