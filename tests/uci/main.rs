//! The engine as a GUI meets it: the real binary over pipes.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod bench;
mod chess960;
mod client;
mod driver;
mod faults;
mod game;
mod hash_file;
mod session;
mod strength;
