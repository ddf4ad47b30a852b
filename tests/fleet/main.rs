//! Several machines, and a real server between them.
#![cfg(all(feature = "fleet", unix))]

#[path = "../common/mod.rs"]
mod common;

mod analysis;
mod learning;
