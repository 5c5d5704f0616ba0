use super::waiting::Waiting;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Ordering, Platform};

/// A meeting place. All members count their arrivals. The last member to arrive may first meet the
/// last members of other nodes, and then releases the members of this node.
///
/// A node has two cache lines. Every member writes `missing`. `released` is written once in each episode (one meeting).
/// The members that wait read `released`, and arrivals do not disturb these reads.
pub struct Node<P: Platform> {
    /// The number of members that have not yet arrived at this episode.
    missing: CachePadded<P::AtomicU32>,
    /// The last released episode. The literature calls its lowest bit the barrier's sense.
    released: CachePadded<P::Futex>,
    size: u32,
}

impl<P: Platform> Node<P> {
    /// Makes a node of `size` members.
    ///
    /// # Panics
    ///
    /// Panics if `size` does not fit in 32 bits.
    pub fn new(size: usize) -> Self {
        let size = u32::try_from(size).expect("more members than threads can exist");
        Self {
            missing: CachePadded::new(P::AtomicU32::new(size)),
            released: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
            size,
        }
    }

    /// The last released episode. It does not change, because the caller is a member that has not
    /// arrived at the next episode. `None` for a node of one member.
    pub fn released(&self) -> Option<u32> {
        // Relaxed: if another thread used this member before, that use happens before this call.
        (self.size > 1).then(|| self.released.load(Ordering::Relaxed))
    }

    /// Arrives. Returns whether this member is the last. The last member must call
    /// [`release`](Self::release), and the other members must call [`wait`](Self::wait).
    #[inline]
    pub fn is_last(&self) -> bool {
        if self.size == 1 {
            return true;
        }
        // Release publishes this member's work, and later members continue the release sequence. So
        // by Acquire the last member sees the work of all members.
        let is_last = self.missing.fetch_sub(1, Ordering::AcqRel) == 1;
        if is_last {
            // Resets the count for the next episode. Relaxed: the release publishes this.
            self.missing.store(self.size, Ordering::Relaxed);
        }
        is_last
    }

    /// Releases all members from `episode`.
    #[inline]
    pub fn release(&self, waiting: &Waiting<P>, episode: u32) {
        if self.size > 1 {
            waiting.release(&self.released, episode);
        }
    }

    /// Waits until the members of `episode` are released.
    #[inline]
    pub fn wait(&self, waiting: &Waiting<P>, episode: u32) {
        // The word is at most at this episode, since the next episode is released only after this
        // member has arrived.
        waiting.wait_while(&self.released, episode.wrapping_sub(1));
    }
}
