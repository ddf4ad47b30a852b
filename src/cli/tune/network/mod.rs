//! The training of the network: samples of games that the engine plays with itself (`sample.rs`), labelled by teachers
//! (`teacher.rs`), in records of 32 bytes (`record.rs`).

pub mod label;
mod model;
mod optimiser;
mod pawns;
mod player;
pub mod record;
pub mod sample;
mod state;
mod stream;
pub mod teacher;
pub mod train;
