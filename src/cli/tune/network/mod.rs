//! The training of the network: samples of the search's own positions (`sample.rs`), labelled by teachers
//! (`teacher.rs`), in records of 32 bytes (`record.rs`).

mod aligned;
pub mod label;
mod model;
mod optimiser;
mod parameters;
mod pawns;
pub mod record;
pub mod sample;
mod state;
mod stream;
pub mod teacher;
pub mod train;
