//! The weights: every number of the linear part of the evaluation, and the units of king danger.
//!
//! `table.rs` declares each of them once, with the macro below: a name, a shape, values, and a description. All are
//! [`Pair`]s or arrays of pairs, so that the table is also one flat list: the tuner identifies a weight by its index in
//! it, a term by a reference to it.

use super::pair::Pair;

macro_rules! weights {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $value:expr;)*) => {
        use super::{Pair, s};

        /// All weights.
        #[repr(C)]
        pub struct Weights { $($(#[doc = $doc])+ pub $name: $kind,)* }

        /// The weights that the engine plays with.
        pub static WEIGHTS: Weights = Weights { $($name: $value,)* };

        /// The table's declarations, in order.
        #[cfg(feature = "tune")]
        pub static FIELDS: &[super::Field] = &[$(super::Field {
            name: stringify!($name),
            documentation: &[$($doc),+],
            shape: <$kind as super::Shape>::DIMENSIONS,
            first: std::mem::offset_of!(Weights, $name) / size_of::<Pair>(),
        },)*];

        #[cfg(feature = "tune")]
        impl Weights {
            /// All weights in the order of the table.
            pub fn flat(&self) -> Vec<Pair> {
                let mut flat = Vec::new();
                $(super::Shape::flatten(&self.$name, &mut flat);)*
                flat
            }
        }
    };
}

mod table;

pub use table::WEIGHTS;

const fn s(mg: i32, eg: i32) -> Pair {
    Pair::new(mg, eg)
}

#[cfg(feature = "tune")]
use tuning::Shape;
#[cfg(feature = "tune")]
pub use tuning::{Field, fields, index_of};

/// The table as a flat list, for the tuner.
#[cfg(feature = "tune")]
mod tuning {
    use std::ptr;

    use super::{Pair, WEIGHTS, table};

    /// One declaration of the table.
    #[derive(Debug)]
    pub struct Field {
        /// The name used by the terms.
        pub name: &'static str,
        /// Its description, line by line.
        pub documentation: &'static [&'static str],
        /// The lengths of the arrays, outermost first; empty for a single pair.
        pub shape: &'static [usize],
        /// The index of its first weight in the flat list.
        pub first: usize,
    }

    impl Field {
        /// The number of weights.
        pub fn count(&self) -> usize {
            self.shape.iter().product()
        }
    }

    /// The declarations in order.
    pub fn fields() -> &'static [Field] {
        table::FIELDS
    }

    /// The index of a weight in the flat list.
    pub fn index_of(weight: &'static Pair) -> usize {
        (ptr::from_ref(weight).addr() - ptr::from_ref(&WEIGHTS).addr()) / size_of::<Pair>()
    }

    /// A pair, or an array of values with a shape.
    pub trait Shape {
        /// The lengths of the arrays, outermost first.
        const DIMENSIONS: &'static [usize];
        /// Appends the pairs in order.
        fn flatten(&self, flat: &mut Vec<Pair>);
    }

    impl Shape for Pair {
        const DIMENSIONS: &'static [usize] = &[];
        fn flatten(&self, flat: &mut Vec<Pair>) {
            flat.push(*self);
        }
    }

    impl<const N: usize> Shape for [Pair; N] {
        const DIMENSIONS: &'static [usize] = &[N];
        fn flatten(&self, flat: &mut Vec<Pair>) {
            flat.extend(self);
        }
    }

    impl<const N: usize, const M: usize> Shape for [[Pair; N]; M] {
        const DIMENSIONS: &'static [usize] = &[M, N];
        fn flatten(&self, flat: &mut Vec<Pair>) {
            flat.extend(self.iter().flatten());
        }
    }
}
