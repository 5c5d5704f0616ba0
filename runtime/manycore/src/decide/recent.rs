//! The last four samples of a time, and the typical sample among them.

use manycore_platform::{Atomic, Ordering, Platform};

/// Up to four samples in one word, with the newest in the lowest bits. A sample is the upper half of an `f32`, so
/// it is exact to 0.4%. The value 0 means no sample.
///
/// Since all samples are in one word, a reader sees four samples of one writer. Two writers may lose each other's
/// sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recent(u64);

impl Recent {
    pub(crate) const fn of_bits(bits: u64) -> Self {
        Self(bits)
    }

    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    /// Creates a record of one `sample`.
    pub(crate) fn of(sample: f32) -> Self {
        Self::default().push(sample)
    }

    /// Adds `sample`, which must not be negative. If there are four samples already, forgets the oldest sample.
    #[inline]
    pub(crate) fn push(self, sample: f32) -> Self {
        debug_assert!(sample >= 0.0, "{sample}");
        // The sample is rounded, but never to 0, which means no sample.
        let bits = (sample.to_bits().saturating_add(0x8000) >> 16).max(1);
        Self(self.0 << 16 | u64::from(bits))
    }

    /// Returns the number of samples, at most four.
    #[inline]
    pub(crate) fn count(self) -> u32 {
        (64 - self.0.leading_zeros()).div_ceil(16)
    }

    /// Returns the typical sample: the second smallest of three or four samples, or the smaller of two. Returns
    /// `None` if there are no samples.
    ///
    /// Noise only adds time. So two of four samples may be wrong, and one may be too small by chance. Three
    /// samples in a row show that the time has grown, and two in a row show that it has shrunk.
    #[inline]
    pub(crate) fn typical(self) -> Option<f32> {
        let [a, b, c, d] = self.samples();
        let smaller = (a.min(b), c.min(d));
        let larger = (a.max(b), c.max(d));
        let smallest = smaller.0.min(smaller.1);
        let second = smaller.0.max(smaller.1).min(larger.0.min(larger.1));
        // Positive floats have the same order as their bits.
        let typical = if self.count() < 3 { smallest } else { second };
        (self.0 != 0).then(|| f32::from_bits(u32::from(typical) << 16))
    }

    /// Returns a time that few samples exceed: the second largest of three or four samples, or the larger of two.
    #[inline]
    pub(crate) fn high(self) -> Option<f32> {
        // A missing sample is 0, so it counts as the smallest.
        let [a, b, c, d] = [0, 16, 32, 48].map(|shift| (self.0 >> shift) as u16);
        let larger = (a.max(b), c.max(d));
        let smaller = (a.min(b), c.min(d));
        let largest = larger.0.max(larger.1);
        let second = larger.0.min(larger.1).max(smaller.0.max(smaller.1));
        let high = if self.count() < 3 { largest } else { second };
        (self.0 != 0).then(|| f32::from_bits(u32::from(high) << 16))
    }

    /// Whether no sample exceeds the smallest by more than a quarter.
    #[inline]
    pub(crate) fn agree(self) -> bool {
        let samples = self.samples();
        let smallest = samples.into_iter().min().unwrap_or(u16::MAX);
        let largest = samples
            .into_iter()
            .filter(|&sample| sample != u16::MAX)
            .max();
        let value = |bits: u16| f32::from_bits(u32::from(bits) << 16);
        largest.is_none_or(|largest| value(largest) <= value(smallest) * 1.25)
    }

    /// Returns the samples. A missing sample is `u16::MAX`, so it counts as the largest.
    #[inline]
    fn samples(self) -> [u16; 4] {
        [0, 16, 32, 48].map(|shift| match (self.0 >> shift) as u16 {
            0 => u16::MAX,
            sample => sample,
        })
    }
}

/// Samples in ticks that all threads of a pool write and read.
///
/// Accesses are relaxed, and two threads may lose each other's sample. That affects only speed.
pub(crate) struct Samples<P: Platform>(P::AtomicU64);

impl<P: Platform> Samples<P> {
    /// Creates a record with one guessed sample, `first`.
    pub(crate) fn new(first: u64) -> Self {
        Self(P::AtomicU64::new(Recent::of(first as f32).bits()))
    }

    pub(crate) fn add(&self, ticks: u64) {
        let recent = self.recent().push(ticks as f32);
        self.0.store(recent.bits(), Ordering::Relaxed);
    }

    pub(crate) fn recent(&self) -> Recent {
        Recent::of_bits(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(samples: &[f32]) -> Recent {
        let push = |recent: Recent, &sample: &f32| recent.push(sample);
        samples.iter().fold(Recent::default(), push)
    }

    fn is_about(recent: Recent, expected: f32) -> bool {
        let typical = recent.typical().expect("there are samples");
        (typical / expected - 1.0).abs() < 0.005
    }

    #[test]
    fn the_second_smallest_of_four_is_typical() {
        assert_eq!(Recent::default().typical(), None);
        assert!(is_about(of(&[7.0]), 7.0));
        assert!(is_about(of(&[9.0, 7.0]), 7.0));
        let mut random = fastrand::Rng::with_seed(1);
        // Miri would need minutes for all of them.
        for _ in 0..if cfg!(miri) { 100 } else { 10_000 } {
            let samples: Vec<f32> = (0..random.usize(3..=9))
                .map(|_| (random.f32() * 40.0 - 10.0).exp2())
                .collect();
            let mut last = samples[samples.len().saturating_sub(4)..].to_vec();
            last.sort_by(f32::total_cmp);
            assert!(is_about(of(&samples), last[1]), "{samples:?}");
            let high = of(&samples).high().expect("there are samples");
            assert!(
                (high / last[last.len() - 2] - 1.0).abs() < 0.005,
                "{samples:?}"
            );
        }
    }

    #[test]
    fn two_slow_samples_change_nothing_and_three_do() {
        assert!(is_about(of(&[10.0, 10.0, 4e6, 9e9]), 10.0));
        assert!(is_about(of(&[10.0, 10.0, 10.0, 20.0, 20.0, 20.0]), 20.0));
        assert!(is_about(of(&[20.0, 20.0, 20.0, 10.0, 10.0]), 10.0));
    }

    #[test]
    fn zero_and_huge_times_are_samples_too() {
        assert_eq!(of(&[0.0, 0.0]).count(), 2);
        assert!(of(&[0.0]).typical().is_some_and(|typical| typical < 1e-30));
        assert!(of(&[f32::MAX]).typical().is_some());
    }

    #[test]
    fn samples_agree_within_a_quarter() {
        assert!(of(&[10.0, 12.0, 11.0]).agree());
        assert!(!of(&[10.0, 13.0]).agree());
        assert!(Recent::default().agree());
    }
}
