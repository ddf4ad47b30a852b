//! Several machines that share what they learn and distribute analyses. Only this code opens a socket.
//!
//! The server is a Redis or Valkey of the user's. [`ServerAddress`] is its address, `Link` in `connection.rs` talks to it
//! and validates every answer, [`LearningShare`] synchronises a learning file with a stream of records there, and
//! [`Queue`] distributes tasks.
//!
//! Compiled only with the cargo feature `fleet`. Without it, or without an address, no socket is ever opened.

mod address;
mod connection;
mod error;
mod learn_stream;
mod mirror;
mod queue;
mod share;
mod task;

pub use address::ServerAddress;
pub use connection::EntryId;
pub use error::FleetError;
pub use queue::Queue;
pub use share::LearningShare;
pub use task::{HeldTask, Task, TaskOutcome, TaskResult, name_of};
