//! How many can still send.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};
use std::num::NonZeroU32;

/// In the count: a handle, from which ports can be opened.
pub(super) const HANDLE: u64 = 1 << 32;
/// In the count: an open port.
pub(super) const PORT: u64 = 1;

/// Counts a channel's handles and open ports.
///
/// When no handle is left and one port, that port hears no more than has been sent. Nothing
/// changes that: a port is opened from a handle, and a handle is made from a handle.
///
/// *Nothing that was sent is overlooked*: a port sends before it leaves, leaving is a release, and
/// the changes of the word are one chain of read-modify-writes. So a receiver that first finds the
/// channel closed, by an acquire, and then nothing in its rings, has received everything. In
/// the other order, a message and its sender's leaving may fall between the two looks.
pub(super) struct Ends<P: Platform> {
    count: P::AtomicU64,
    /// The most messages of which a port's network interface delivers one.
    together: P::AtomicU32,
}

impl<P: Platform> Ends<P> {
    /// The count of a channel with one handle.
    pub(super) fn new() -> Self {
        Self {
            count: <P::AtomicU64 as Atomic<u64>>::new(HANDLE),
            together: <P::AtomicU32 as Atomic<u32>>::new(1),
        }
    }

    /// One more; the caller has a handle.
    pub(super) fn add(&self, end: u64) {
        // Relaxed: nothing is published, and the caller's handle keeps the channel open.
        self.count.fetch_add(end, Ordering::Relaxed);
    }

    /// A port is opened of whose messages the interface delivers one in so many.
    pub(super) fn count_together(&self, every: NonZeroU32) {
        // Relaxed: read by who has seen the port counted in and all others leave.
        let (mut most, every) = (self.together.load(Ordering::Relaxed), every.get());
        while let Err(now) = (self.together).compare_exchange(
            most,
            most.max(every),
            Ordering::Relaxed,
            Ordering::Relaxed,
        ) {
            most = now;
        }
    }

    /// The most that were asked for.
    pub(super) fn counted_together(&self) -> u32 {
        self.together.load(Ordering::Relaxed)
    }

    /// One less. `true` if that closed the channel for a port that is left, which may be asleep:
    /// the caller wakes it.
    #[must_use]
    pub(super) fn leave(&self, end: u64) -> bool {
        // Release: see above.
        self.count.fetch_sub(end, Ordering::Release) - end == PORT
    }

    /// Whether nobody but the caller, a port, is left.
    pub(super) fn is_closed(&self) -> bool {
        // Acquire: see above.
        self.count.load(Ordering::Acquire) == PORT
    }
}
