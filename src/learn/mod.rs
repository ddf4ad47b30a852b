//! The learning file: what one game taught, every later game knows.
//!
//! [`policy`] decides what is worth remembering.

mod footprint;
pub mod policy;
pub mod recall;
