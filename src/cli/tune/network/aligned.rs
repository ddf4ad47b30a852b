//! Numbers that begin with a cache line, so that vectors as long as one lie in one.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A vector of numbers whose first one begins a cache line.
pub struct Aligned<T> {
    numbers: Vec<T>,
    /// How many numbers lie before the line.
    start: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// So many zeros.
    pub fn zeros(count: usize) -> Aligned<T> {
        let mut numbers = vec![T::default(); count + LINE / size_of::<T>()];
        let start = numbers.as_ptr().align_offset(LINE).min(numbers.len() - count);
        // Neither this nor a move of the vector moves its numbers.
        numbers.truncate(start + count);
        Aligned { numbers, start }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[self.start..]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..]
    }
}
