//! The random generator behind `getrandom`, `/dev/urandom` and the places of a program's stack and heap.

/// The state of splitmix64, a generator by Steele, Lea and Flood.
pub(crate) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 random bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ bits >> 31
    }

    pub(super) fn fill(&mut self, to: &mut [u8]) {
        for word in to.chunks_mut(8) {
            word.copy_from_slice(&self.bits().to_le_bytes()[..word.len()]);
        }
    }
}
