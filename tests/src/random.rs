//! Choices of tests that can be repeated.

/// Pseudo-random numbers, determined by the seed (xorshift, G. Marsaglia).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `bound`, which is not 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}
