//! The searcher: alpha-beta with everything that a strong engine prunes, reduces and extends by, on any
//! number of threads over one table.
//!
//! Read `node.rs` from top to bottom: it is the table of contents. A search is a [`Limits`] in and
//! [`Event`]s out; it knows no text, no options and no files.

mod aspirate;
mod clock;
mod deepen;
mod draws;
mod ending;
mod event;
mod extend;
mod history;
mod history_updates;
mod learned;
mod limits;
mod main_thread;
mod moves;
mod node;
mod node_state;
mod params;
mod picker;
mod pool;
mod progress;
mod prune_move;
mod prune_node;
mod pv;
mod quiesce;
mod reduce;
mod resume;
mod root;
mod root_move;
mod scored_moves;
mod stack;
mod style;
mod table_access;
mod tablebases;
mod task;
mod vote;
mod worker;

pub use clock::NodeRate;
pub(crate) use clock::{Clock, NodeBank};
pub use ending::{Ending, OnEnd};
pub use event::{Event, Line, Sink};
pub use limits::{ClockTime, Limits};
#[cfg(feature = "tune")]
pub use params::{PARAMETERS, Parameter};
pub(crate) use pool::Pool;
pub(crate) use progress::Progress;
pub(crate) use resume::{ResultStore, Resumed, best_line};
pub(crate) use style::{Noise, Style};
pub(crate) use tablebases::{Probing, Tablebases};
pub(crate) use task::{Signals, Task};
