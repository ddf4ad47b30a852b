use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// The phase with all pieces on the board; 0 is a pawn ending.
pub const MIDDLEGAME: i32 = 24;

/// The normal endgame scale: the score counts in full.
pub const FULL_SCALE: i32 = 64;

/// A middlegame and an endgame value in internal units, packed in one integer so that both are added at once.
///
/// ```text
///  bits 31..16  endgame      bits 15..0  middlegame (signed; a negative one borrows from the endgame)
/// ```
/// Each half must stay within ±32,767; the terms of the evaluation are bounded well below that.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair(i32);

impl Pair {
    /// Nothing in either phase.
    pub const ZERO: Pair = Pair(0);

    /// Packs a middlegame and an endgame value.
    pub const fn new(mg: i32, eg: i32) -> Pair {
        Pair((eg << 16) + mg)
    }

    /// The middlegame value.
    pub const fn mg(self) -> i32 {
        self.0 as i16 as i32
    }

    /// The endgame value.
    pub const fn eg(self) -> i32 {
        (self.0.wrapping_add(0x8000) >> 16) as i16 as i32
    }
}

impl Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        Pair(self.0 + other.0)
    }
}

impl Sub for Pair {
    type Output = Pair;
    fn sub(self, other: Pair) -> Pair {
        Pair(self.0 - other.0)
    }
}

impl Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair(-self.0)
    }
}

impl Mul<i32> for Pair {
    type Output = Pair;
    fn mul(self, times: i32) -> Pair {
        Pair(self.0 * times)
    }
}

impl AddAssign for Pair {
    fn add_assign(&mut self, other: Pair) {
        self.0 += other.0;
    }
}

impl SubAssign for Pair {
    fn sub_assign(&mut self, other: Pair) {
        self.0 -= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_halves_survive_arithmetic() {
        let values = [-9000, -301, -1, 0, 1, 77, 8999];
        for (&a, &b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
            let sum = Pair::new(a, b) + Pair::new(b, a) * 2 - Pair::new(3, -4);
            assert_eq!((sum.mg(), sum.eg()), (a + 2 * b - 3, b + 2 * a + 4));
            assert_eq!(((-sum).mg(), (-sum).eg()), (-sum.mg(), -sum.eg()));
        }
    }
}
