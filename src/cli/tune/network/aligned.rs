//! Numbers that begin with a cache line, so that vectors as long as one lie in one.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A vector of numbers whose first one begins a cache line.
pub struct Aligned<T> {
    numbers: Vec<T>,
    /// How many numbers lie before the line.
    start: usize,
    count: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// So many zeros.
    pub fn zeros(count: usize) -> Aligned<T> {
        let numbers = vec![T::default(); count + LINE / size_of::<T>()];
        // An allocation does not move with its vector.
        let start = numbers.as_ptr().align_offset(LINE).min(numbers.len() - count);
        Aligned { numbers, start, count }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[self.start..][..self.count]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..][..self.count]
    }
}
