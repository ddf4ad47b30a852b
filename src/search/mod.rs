//! The searcher: alpha-beta with everything that a strong engine prunes, reduces and extends by, on any
//! number of threads over one table.
//!
//! Read `node.rs` from top to bottom: it is the table of contents. A search is a [`Limits`] in and
//! [`Event`]s out; it knows no text, no options and no files.

mod aspirate;
mod clock;
mod deepen;
mod ending;
mod event;
mod extend;
mod filter;
mod forward;
mod frame;
mod history;
mod lasting;
mod lead;
mod learned;
mod limits;
mod moves;
mod node;
mod params;
mod picker;
mod pool;
mod progress;
mod pv;
mod quiesce;
mod ranking;
mod reduce;
mod root;
mod style;
mod tablebases;
mod task;
mod vote;
mod worker;

pub use clock::NodeRate;
pub(crate) use clock::{Clock, NodeBank};
pub use ending::{Ending, OnEnd};
pub use event::{Event, Line, Sink};
pub(crate) use lasting::{Memory, Resumed, best_line};
pub use limits::{ClockTime, Limits};
#[cfg(feature = "tune")]
pub use params::{PARAMETERS, Parameter};
pub(crate) use pool::Pool;
pub(crate) use progress::Progress;
pub(crate) use style::{Noise, Style};
pub(crate) use tablebases::{Probing, Tablebases};
pub(crate) use task::{Signals, Task};
