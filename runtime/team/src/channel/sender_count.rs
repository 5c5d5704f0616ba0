//! How many can still send.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// In the count: a handle that can open ports.
pub const HANDLE: u64 = 1 << 32;
/// In the count: an open port.
pub const PORT: u64 = 1;

/// Counts a channel's handles and open ports.
///
/// When no handle is left and one port, that port hears no more than has been sent. Nothing
/// changes that: a port is opened from a handle, and a handle is made from a handle.
///
/// *Nothing that was sent is overlooked*: a port sends before it leaves, leaving is a release, and
/// the changes of the word are one chain of read-modify-writes. So a receiver that first finds the
/// channel closed, by an acquire, and then nothing in its rings, has received everything. In
/// the other order, a message and its sender's leaving may fall between the two looks.
pub struct SenderCount<P: Platform> {
    count: P::AtomicU64,
}

impl<P: Platform> SenderCount<P> {
    /// The count of a channel with one handle.
    pub fn with_handle() -> Self {
        Self {
            count: <P::AtomicU64 as Atomic<u64>>::new(HANDLE),
        }
    }

    /// One more; the caller has a handle.
    pub fn add(&self, end: u64) {
        // Relaxed: nothing is published, and the caller's handle keeps the channel open.
        self.count.fetch_add(end, Ordering::Relaxed);
    }

    /// One less. `true` if that closed the channel for a port that is left, which may be asleep:
    /// the caller wakes it.
    #[must_use]
    pub fn leave(&self, end: u64) -> bool {
        // Release: see above.
        self.count.fetch_sub(end, Ordering::Release) - end == PORT
    }

    /// Whether the caller, a port, is the last sender.
    pub fn is_closed(&self) -> bool {
        // Acquire: see above.
        self.count.load(Ordering::Acquire) == PORT
    }
}
