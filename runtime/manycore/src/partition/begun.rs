//! Whether a thread's share of a loop has begun.

use manycore_platform::{Atomic, Ordering, Platform};

/// The state of one thread's share in the loop with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Share {
    /// No thread has begun the share.
    Whole,
    /// A thread has begun the share, and the owner's shard (its range) says nothing about this loop yet.
    Begun,
    /// The iterations that the owner holds are in its shard.
    InShard,
}

/// The word is `2 * number` once the share of the loop `number` has begun, and `2 * number + 1` once the owner's shard
/// belongs to that loop. A smaller word means that no thread has begun the share. So a new loop, which has a larger
/// number, changes no word.
///
/// The word is on the cache line of the owner's shard. While no thief takes the share, only the owner writes that line.
/// The owner therefore begins its share without a line that all participants write.
pub(super) struct Begun<P: Platform>(P::AtomicU64);

impl<P: Platform> Begun<P> {
    /// Creates the word. Numbers of loops begin at 1.
    pub(super) fn new() -> Self {
        Self(P::AtomicU64::new(0))
    }

    #[inline]
    pub(super) fn share(&self, number: u64) -> Share {
        // Acquire pairs with the release in `fill_shard`: a thread that sees that the shard belongs to this loop does
        // not see what an earlier loop, which a panic has ended, left in the shard.
        match self.0.load(Ordering::Acquire) {
            word if word < 2 * number => Share::Whole,
            word if word == 2 * number => Share::Begun,
            _ => Share::InShard,
        }
    }

    /// Begins the share. Returns false if another thread has begun it.
    #[inline]
    pub(super) fn begin(&self, number: u64) -> bool {
        let before = self.0.load(Ordering::Relaxed);
        // Relaxed: every thread can compute the share, so this publishes nothing. If the exchange fails, another thread
        // has begun the share of this loop. No change by an earlier loop is possible: it happens before its thread left
        // the gate, before the caller took the slot again, and so before this thread joined.
        before < 2 * number
            && (self.0)
                .compare_exchange(before, 2 * number, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    /// The owner has filled its shard for this loop, and lets thieves read it.
    #[inline]
    pub(super) fn fill_shard(&self, number: u64) {
        // Release: see `share`. No other thread writes the word now, since the share has begun.
        self.0.store(2 * number + 1, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use manycore_platform::Native;

    #[test]
    fn a_share_begins_once_in_each_loop() {
        let begun = Begun::<Native>::new();
        for number in [1, 2, 7] {
            assert_eq!(begun.share(number), Share::Whole);
            assert!(begun.begin(number) && !begun.begin(number));
            assert_eq!(begun.share(number), Share::Begun);
            begun.fill_shard(number);
            assert!(!begun.begin(number));
            assert_eq!(begun.share(number), Share::InShard);
        }
    }
}
