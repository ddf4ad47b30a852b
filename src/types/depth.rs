use std::ops::{Add, Sub, SubAssign};

/// The deepest line that a search follows, in plies from the root.
pub const MAX_PLY: usize = 246;

/// Safety margin in plies before the fifty-move limit, for what extensions add to a nominal depth.
pub const FIFTY_MOVE_MARGIN: i32 = 8;

/// Remaining depth in plies. Signed, because reductions may take it below zero, where quiescence begins.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth(pub i32);

impl Depth {
    /// No depth left: quiescence search.
    pub const ZERO: Depth = Depth(0);
    /// The deepest iteration of iterative deepening.
    pub const MAX: Depth = Depth(MAX_PLY as i32 - 1);

    /// The number of plies.
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl Add<i32> for Depth {
    type Output = Depth;
    fn add(self, plies: i32) -> Depth {
        Depth(self.0 + plies)
    }
}

impl Sub<i32> for Depth {
    type Output = Depth;
    fn sub(self, plies: i32) -> Depth {
        Depth(self.0 - plies)
    }
}

impl SubAssign<i32> for Depth {
    fn sub_assign(&mut self, plies: i32) {
        self.0 -= plies;
    }
}

impl PartialEq<i32> for Depth {
    fn eq(&self, plies: &i32) -> bool {
        self.0 == *plies
    }
}

impl PartialOrd<i32> for Depth {
    fn partial_cmp(&self, plies: &i32) -> Option<std::cmp::Ordering> {
        self.0.partial_cmp(plies)
    }
}

/// Distance from the root in plies, 0 at the root.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ply(pub u16);

impl Ply {
    /// The root.
    pub const ROOT: Ply = Ply(0);

    /// The index into per-ply tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// One ply further from the root.
    pub const fn next(self) -> Ply {
        Ply(self.0 + 1)
    }
}
