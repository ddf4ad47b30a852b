//! The layers of the source, the manual, and the examples of the README.

#[path = "../common/mod.rs"]
mod common;

mod architecture;
mod docs;
mod readme;
