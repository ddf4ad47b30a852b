//! Random numbers for tests, the same on every machine.
// A test program need not use all of it.
#![allow(dead_code)]

use proptest::test_runner::{Config, RngSeed};

/// Is the long form of the tests wanted?
pub fn is_full() -> bool {
    std::env::var_os("ENGRAM_FULL").is_some()
}

/// The seed of this run, which a failure shows: always the same in the short form, another one each time in the long form.
/// `ENGRAM_SEED` repeats a run.
pub fn seed(usual: u64) -> u64 {
    let given = std::env::var("ENGRAM_SEED").ok().and_then(|seed| seed.parse().ok());
    let now = || std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let seed = given.unwrap_or_else(|| if is_full() { now() } else { usual });
    println!("ENGRAM_SEED={seed}");
    seed
}

/// So many cases of a property, with the seed of this run; nothing is written into the source.
pub fn cases(cases: u32) -> Config {
    Config { rng_seed: RngSeed::Fixed(seed(1)), failure_persistence: None, ..Config::with_cases(cases) }
}

/// A small random number generator (Steele, Lea and Flood's SplitMix, 2014): neighbouring seeds do not resemble.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// A number less than `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub fn one_in(&mut self, chances: usize) -> bool {
        self.below(chances) == 0
    }

    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}
