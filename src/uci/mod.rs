//! The UCI session: text in, text out, and an [`Engine`](crate::engine::Engine) between them.
//!
//! ```text
//!  stdin -> reader thread -> channel -> session loop -> Engine -> search threads
//!                |                          |                          |
//!                '- stop, quit: at once     '-------> Output <---------' one line at a time
//! ```
//! The loop never waits for a search: `isready` is answered at once, what needs an idle engine waits in a
//! queue for the `bestmove`. While the loop is busy with something long (clearing a large table, `bench`),
//! the reader already stops what runs on `stop` and `quit`.
//!
//! No invalid input ends the process or changes its state: an error is answered by exactly one `info string` that
//! says what to do.

mod debug_log;
mod display;
mod options;
mod output;
mod reader;
mod session;
pub mod translate;

pub use debug_log::DebugLog;
pub use output::{Output, printable};
pub use reader::Interrupt;
pub use session::{Places, Session, Tools};
