/// Multiplies by 2^64 divided by the golden ratio: the high bits of the product depend on all bits of the word
/// (Fibonacci hashing; D. E. Knuth, The Art of Computer Programming 3, 6.4).
#[inline]
pub const fn spread(word: u64) -> u64 {
    word.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// A hash of the word: both halves of it depend on all bits.
#[inline]
pub const fn mix(word: u64) -> u64 {
    let product = spread(word);
    product ^ product >> 32
}
