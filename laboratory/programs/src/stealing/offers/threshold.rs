use super::super::rng::Rng;

/// Decides by the length of a core's queue whether the core accepts requests (Park 2013, figure 5-4). The core accepts
/// none up to `low` tasks, and all from `high` tasks on. Between them the probability rises linearly.
///
/// The thesis (Park 2013) gives no numbers. `low` is the reserve of the queue's owner, which is its last task. An owner
/// with a few more tasks accepts all requests. With `high` from 2 to 8 the thesis's benchmark takes the same time on
/// the simulated chip to a few percent (`simulator/chip/examples/stealing.rs`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold {
    pub(super) low: usize,
    pub(super) high: usize,
}

impl Threshold {
    pub(super) const DEFAULT: Self = Self { low: 1, high: 4 };

    pub(super) fn accepts(self, length: usize, rng: &mut Rng) -> bool {
        length > self.low
            && (length >= self.high || rng.below(self.high - self.low) < length - self.low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_rises_linearly() {
        let threshold = Threshold { low: 2, high: 12 };
        let mut rng = Rng::new(3, 0);
        for length in 0..=20 {
            let accepted = (0..10_000).filter(|_| threshold.accepts(length, &mut rng));
            let expected = length.clamp(2, 12) - 2;
            // Five standard deviations at the widest.
            assert!(
                accepted.count().abs_diff(1_000 * expected) <= 250,
                "{length}"
            );
        }
        assert!((0..10_000).all(|_| !threshold.accepts(2, &mut rng)));
        assert!((0..10_000).all(|_| threshold.accepts(12, &mut rng)));
    }
}
