/// A worker's random numbers, by xorshift (Marsaglia 2003). The seed is mixed, so that neighbouring ranks (numbers of
/// workers) differ from the first number on.
#[derive(Clone, Debug)]
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64, rank: usize) -> Self {
        // The finalizer of MurmurHash3, changed to be nonzero.
        let mut x = seed.wrapping_add((rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
            x = (x ^ (x >> 33)).wrapping_mul(factor);
        }
        Self((x ^ (x >> 33)) | 1)
    }

    /// A number less than `bound`. All are equally likely, to within `bound` in 2^32.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (((self.0 >> 32) * bound as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn all_numbers_are_equally_likely() {
        for rank in 0..4 {
            let mut rng = Rng::new(7, rank);
            let mut thrown = [0_u32; 10];
            for _ in 0..100_000 {
                thrown[rng.below(10)] += 1;
            }
            // Five standard deviations of a binomial distribution of 100,000 with probability 1/10.
            assert!(
                thrown.iter().all(|n| n.abs_diff(10_000) < 475),
                "{thrown:?}"
            );
        }
    }

    #[test]
    fn each_seed_and_rank_repeats_its_own_numbers() {
        let throws = |seed, rank| {
            let mut rng = Rng::new(seed, rank);
            [(); 8].map(|()| rng.below(1_000))
        };
        assert_eq!(throws(1, 2), throws(1, 2));
        assert_ne!(throws(1, 2), throws(1, 3));
        assert_ne!(throws(1, 2), throws(2, 2));
    }
}
