//! The memory: the learning file, what the engine learns and plays, and `engram learn`.

#[path = "../common/mod.rs"]
mod common;

mod crash;
mod engine;
mod exchange;
mod files;
mod kill;
mod memory;
mod processes;
mod prove;
mod readers;
mod store;
mod tools;
