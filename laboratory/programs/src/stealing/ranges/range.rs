//! A range of tasks in one word.

const PLACE_BITS: u32 = 24;
const PLACES: u64 = (1 << PLACE_BITS) - 1;
const LOW_SHIFT: u32 = 16;
const HIGH_SHIFT: u32 = LOW_SHIFT + PLACE_BITS;

/// The places `low..high` of one worker's ring. Bits 0..16 are the worker, 16..40 `low`, 40..64 `high`. Places count
/// modulo 2^24. A ring (array of tasks) has fewer places, and repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range(pub(super) u64);

/// The most workers.
pub(super) const MOST_WORKERS: usize = 1 << LOW_SHIFT;

impl Range {
    pub(super) fn new(ring: usize, low: u32, high: u32) -> Self {
        let place = |place| u64::from(place) & PLACES;
        Self(ring as u64 | place(low) << LOW_SHIFT | place(high) << HIGH_SHIFT)
    }

    pub(super) fn ring(self) -> usize {
        self.0 as usize & (MOST_WORKERS - 1)
    }

    pub(super) fn low(self) -> u32 {
        (self.0 >> LOW_SHIFT & PLACES) as u32
    }

    fn high(self) -> u32 {
        (self.0 >> HIGH_SHIFT) as u32
    }

    pub(super) fn count(self) -> u32 {
        self.high().wrapping_sub(self.low()) & PLACES as u32
    }

    pub(super) fn is_empty(self) -> bool {
        self.count() == 0
    }

    /// The place after the last.
    pub(super) fn end(self) -> u32 {
        self.high()
    }

    pub(super) fn longer(self) -> Self {
        Self::new(self.ring(), self.low(), self.high() + 1)
    }

    /// The first `count` places, and the rest.
    pub(super) fn split(self, count: u32) -> (Self, Self) {
        debug_assert!(count <= self.count());
        let middle = self.low() + count;
        (
            Self::new(self.ring(), self.low(), middle),
            Self::new(self.ring(), middle, self.high()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_wrap() {
        let range = Range::new(7, PLACES as u32 - 1, 3);
        assert_eq!((range.ring(), range.count()), (7, 5));
        let (first, rest) = range.split(2);
        assert_eq!((first.count(), rest.count()), (2, 3));
        assert_eq!((rest.ring(), rest.low()), (7, 0));
        assert_eq!(range.longer().count(), 6);
        assert!(rest.split(3).1.is_empty());
    }
}
