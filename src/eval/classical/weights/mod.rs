//! The weights: every number of the linear part of the evaluation, and the units of king danger.
//!
//! `table.rs` declares each of them once, with the macro below: a name, a shape, values, and a description.

use super::pair::Pair;

macro_rules! weights {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $value:expr;)*) => {
        use super::{Pair, s};

        /// All weights.
        pub struct Weights { $($(#[doc = $doc])+ pub $name: $kind,)* }

        /// The weights that the engine plays with.
        pub static WEIGHTS: Weights = Weights { $($name: $value,)* };
    };
}

mod table;

pub use table::WEIGHTS;

const fn s(mg: i32, eg: i32) -> Pair {
    Pair::new(mg, eg)
}
