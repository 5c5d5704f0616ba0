//! The random numbers of the NAS parallel benchmarks.

/// The multiplier, 5^13.
const MULTIPLIER: u64 = 1_220_703_125;
/// The benchmarks' seed.
const SEED: u64 = 314_159_265;
/// Products are taken modulo 2^46.
const BITS: u32 = 46;
const MASK: u64 = (1 << BITS) - 1;

/// `x <- 5^13 x mod 2^46`, as a fraction of 2^46 (RNR-94-007, section 2.3).
#[derive(Clone, Debug)]
pub(super) struct Randlc(u64);

impl Randlc {
    /// Starts from the benchmarks' seed.
    pub(super) fn new() -> Self {
        Self(SEED)
    }

    /// The next number, between 0 and 1. It is exact: it has 46 bits.
    #[inline]
    pub(super) fn draw(&mut self) -> f64 {
        self.0 = product(MULTIPLIER, self.0);
        self.0 as f64 * (1.0 / (1_u64 << BITS) as f64)
    }
}

/// The product modulo 2^46. Wrapping at 2^64, a multiple of 2^46, does not change it.
fn product(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b) & MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_wide_integers() {
        let (mut narrow, mut wide) = (Randlc::new(), u128::from(SEED));
        for _ in 0..1_000 {
            wide = wide * u128::from(MULTIPLIER) % (1 << BITS);
            let drawn = narrow.draw();
            assert_eq!(u128::from(narrow.0), wide);
            assert_eq!(drawn * (1_u64 << BITS) as f64, wide as f64);
        }
    }
}
