//! The search: principal variation search on any number of threads over one transposition table (Lazy SMP).
//!
//! A search takes [`Limits`] and reports [`Event`]s; it knows no text and no options, and of files only
//! the mapped hash file, a second level below the table. Where to read:
//!
//! - one node: `node.rs`, its steps 1 to 27 in order, with `prune_node.rs`, `moves.rs`, `prune_move.rs`, `extend.rs`
//!   and `reduce.rs` for the longer ones; `quiesce.rs` for its leaves; every number in `params.rs`;
//! - one thread: `worker.rs` (its state), `root.rs` and `root_move.rs` (the moves of the root), `deepen.rs` and
//!   `aspirate.rs` (the iterations), `stack.rs`, `history/` and `picker.rs` (move ordering), `pv.rs`;
//! - all threads: `pool.rs`, `task.rs` (what they share), `progress.rs`, `main_thread.rs`, `vote.rs`; `clock.rs` for
//!   the time; `event.rs` for what they report;
//! - what earlier searches and games contribute: `table_access.rs`, `resume.rs`, `learned.rs`, `preference.rs`; scores
//!   by rule and from tablebases: `draws.rs`, `tablebases.rs`; contempt and weaker play: `strength.rs`.

mod aspirate;
mod clock;
mod deepen;
mod draws;
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
mod preference;
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
mod strength;
mod table_access;
mod tablebases;
mod task;
mod vote;
mod worker;

pub use clock::NodeRate;
pub(crate) use clock::{Clock, NodeClock};
pub use event::{Event, EventSink, PvInfo};
pub use limits::{ClockTime, Limits};
#[cfg(feature = "tune")]
pub use params::{PARAMETERS, Parameter};
pub(crate) use params::{advice_margin, advice_min_depth};
pub(crate) use pool::Pool;
pub(crate) use preference::{Preference, Preferences};
pub(crate) use progress::SearchProgress;
pub(crate) use resume::{ResultStore, Resumed, best_line, unpack_line};
pub(crate) use strength::{EvalNoise, Strength};
pub use tablebases::ProbeRules;
pub(crate) use tablebases::{Probing, Tablebases};
pub(crate) use task::{SearchTask, Signals};
#[cfg(any(feature = "tune", test))]
pub use worker::Observer;
