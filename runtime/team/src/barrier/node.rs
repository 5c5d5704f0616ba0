use super::waiting::Waiting;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// A place where several meet: all count themselves off, the last to come goes on
/// from there on behalf of all, and lets the others go.
///
/// Two lines: everybody writes `missing`; `released` is written once an episode and
/// read by the members that wait, which the arrivals of others do not disturb.
pub struct Node<P: Platform> {
    /// How many have yet to come in this episode.
    missing: CachePadded<P::AtomicU32>,
    /// The last released episode. Its lowest bit is the sense of the published barriers. Other code
    /// uses the number to distinguish episodes.
    released: CachePadded<P::Futex>,
    size: u32,
}

impl<P: Platform> Node<P> {
    /// For `size` members.
    ///
    /// # Panics
    ///
    /// If they are more than a word counts.
    pub fn new(size: usize) -> Self {
        let size = u32::try_from(size).expect("more members than threads can be");
        Self {
            missing: CachePadded::new(P::AtomicU32::new(size)),
            released: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            size,
        }
    }

    /// The last released episode, from the view of a member that is in none and so keeps the next
    /// from being released. `None` for a node of one member.
    pub fn released(&self) -> Option<u32> {
        // Relaxed: the caller comes after the thread that was this member before.
        (self.size > 1).then(|| self.released.load(Ordering::Relaxed))
    }

    /// Arrives; whether as the last. The last must [`release`](Self::release), the
    /// others [`wait`](Self::wait).
    #[inline]
    pub fn is_last(&self) -> bool {
        if self.size == 1 {
            return true;
        }
        // Release: this member's work is in the word's history. Acquire: the last member sees all
        // of it.
        let is_last = self.missing.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            // For the next episode, which begins for the others with the release.
            // Relaxed: that publishes it.
            self.missing.store(self.size, Ordering::Relaxed);
        }
        is_last
    }

    /// Lets all go from `episode`.
    #[inline]
    pub fn release(&self, waiting: &Waiting<P>, episode: u32) {
        if self.size > 1 {
            waiting.release(&self.released, episode);
        }
    }

    /// Waits until all may go from `episode`.
    #[inline]
    pub fn wait(&self, waiting: &Waiting<P>, episode: u32) {
        // The word cannot be further than this episode: the next one's release
        // takes this member's arrival.
        waiting.wait_while(&self.released, episode.wrapping_sub(1));
    }
}
