//! The random numbers of the input and of the search.

/// The 48-bit linear congruential generator of POSIX (`drand48`), which defines the published
/// input.
#[derive(Debug)]
pub(super) struct Random48(u64);

impl Random48 {
    pub(super) fn new(seed: u32) -> Self {
        Self(u64::from(seed) << 16 | 0x330E)
    }

    /// The upper 31 bits of the next state (`lrand48`).
    pub(super) fn draw(&mut self) -> u32 {
        let next = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB);
        self.0 = next & ((1 << 48) - 1);
        (self.0 >> 17) as u32
    }

    /// A number from 0 to 1, both included, since 31 drawn bits are rounded to 24.
    pub(super) fn unit(&mut self) -> f32 {
        self.draw() as f32 / i32::MAX as f32
    }

    /// A number below `count`, which must not be 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.draw() as usize % count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The results of any C library after `srand48(1)`.
    #[test]
    fn the_first_draws_are_the_known_ones() {
        let mut random = Random48::new(1);
        let drawn: Vec<u32> = (0..3).map(|_| random.draw()).collect();
        assert_eq!(drawn, [89_400_484, 976_015_093, 1_792_756_325]);
    }

    #[test]
    fn numbers_stay_in_their_ranges() {
        let mut random = Random48::new(7);
        for _ in 0..10_000 {
            assert!((0.0..=1.0).contains(&random.unit()));
            assert!(random.below(17) < 17);
        }
    }
}
