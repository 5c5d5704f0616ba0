//! Histograms of values.

use serde::Serialize;

/// Counts of values in buckets. There are four buckets for each power of two, so the least and the
/// greatest value of a bucket differ by less than a quarter.
///
/// ```
/// use manycore_chip::Histogram;
///
/// let mut latencies = Histogram::default();
/// for cycles in [10, 10, 11, 300] {
///     latencies.record(cycles);
/// }
/// assert_eq!((latencies.count(), latencies.most()), (4, 300));
/// assert_eq!(latencies.mean(), 82.75);
/// // Half of the values are in the bucket of 10 and 11, or below.
/// assert_eq!(latencies.quantile(0.5), 11);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Histogram {
    /// The count of each [`bucket`], without empty buckets at the end.
    counts: Vec<u64>,
    count: u64,
    sum: u64,
    most: u64,
}

/// Each value below this number has a bucket of its own.
const EXACT: u64 = 4;

fn bucket(value: u64) -> usize {
    if value < EXACT {
        return value as usize;
    }
    let log = value.ilog2();
    (4 * (log - 1) + (value >> (log - 2) & 3) as u32) as usize
}

fn least(bucket: usize) -> u64 {
    if bucket < EXACT as usize {
        return bucket as u64;
    }
    let (log, quarter) = (bucket as u32 / 4 + 1, bucket as u64 % 4);
    (4 + quarter) << (log - 2)
}

impl Histogram {
    /// Counts one more value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    #[inline]
    pub(crate) fn record_many(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        let at = bucket(value);
        if self.counts.len() <= at {
            self.grow(at + 1);
        }
        self.counts[at] += times;
        self.count += times;
        self.sum += value * times;
        self.most = self.most.max(value);
    }

    #[cold]
    fn grow(&mut self, buckets: usize) {
        self.counts.resize(buckets, 0);
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of all values.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The greatest value, or 0.
    pub fn most(&self) -> u64 {
        self.most
    }

    /// The mean of all values, or 0.
    pub fn mean(&self) -> f64 {
        match self.count {
            0 => 0.0,
            count => self.sum as f64 / count as f64,
        }
    }

    /// The buckets that contain values. Each has its least and greatest value, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let counts = self.counts.iter().enumerate();
        let some = counts.filter(|(_, count)| **count > 0);
        some.map(|(at, count)| (least(at), last(at), *count))
    }

    /// The quantile of the share `part` (0 to 1): the greatest value of the bucket that contains the quantile, or the
    /// greatest of all values if that is less.
    pub fn quantile(&self, part: f64) -> u64 {
        let wanted = (part.clamp(0.0, 1.0) * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted.max(1) {
                return last(at).min(self.most);
            }
        }
        self.most
    }

    /// The difference to `earlier`, an earlier copy of this histogram. The greatest value of the difference is the
    /// greatest value of the last bucket with new values.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let before = earlier.counts.iter().chain(std::iter::repeat(&0));
        let counts: Vec<u64> = (self.counts.iter().zip(before))
            .map(|(now, before)| now.saturating_sub(*before))
            .collect();
        let latest = counts.iter().rposition(|count| *count > 0);
        Self {
            count: self.count - earlier.count,
            sum: self.sum - earlier.sum,
            most: latest.map_or(0, |at| last(at).min(self.most)),
            counts,
        }
    }
}

fn last(bucket: usize) -> u64 {
    match bucket == self::bucket(u64::MAX) {
        true => u64::MAX,
        false => least(bucket + 1) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_value_is_within_its_bucket(value: u64, shift in 0_u32..64) {
            let value = value >> shift;
            let at = bucket(value);
            prop_assert!(least(at) <= value && value <= last(at));
            prop_assert!(last(at) - least(at) <= least(at) / 4);
        }

        #[test]
        fn quantiles_are_near_those_of_the_sorted_values(
            mut values in prop::collection::vec(0_u64..100_000, 1..200), part in 0.0..=1.0_f64,
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            let rank = ((part * values.len() as f64).ceil() as usize).max(1);
            let exact = values[rank - 1];
            let found = histogram.quantile(part);
            prop_assert!(exact <= found && found <= exact + exact / 4, "{exact} {found}");
            prop_assert_eq!(histogram.sum(), values.iter().sum::<u64>());
            let counted: u64 = histogram.buckets().map(|(_, _, count)| count).sum();
            prop_assert_eq!(counted, values.len() as u64);
        }

        #[test]
        fn what_came_since_is_what_came_since(
            first in prop::collection::vec(0_u64..5_000, 0..50),
            second in prop::collection::vec(0_u64..5_000, 0..50),
        ) {
            let mut histogram = Histogram::default();
            first.iter().for_each(|&value| histogram.record(value));
            let earlier = histogram.clone();
            second.iter().for_each(|&value| histogram.record(value));
            let since = histogram.since(&earlier);
            let mut alone = Histogram::default();
            second.iter().for_each(|&value| alone.record(value));
            prop_assert!(since.buckets().eq(alone.buckets()));
            prop_assert_eq!((since.count(), since.sum()), (alone.count(), alone.sum()));
            prop_assert!(since.most() >= alone.most());
        }
    }
}
