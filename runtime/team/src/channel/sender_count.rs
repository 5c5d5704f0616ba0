use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// The part of the count that stands for one handle. Handles can open ports.
pub const HANDLE: u64 = 1 << 32;
/// The part of the count that stands for one open port.
pub const PORT: u64 = 1;

/// Counts a channel's handles and open ports.
///
/// When one port and no handle are left, no more messages are sent to that port. This is final,
/// since only handles make ports and other handles.
///
/// *No message is overlooked.* A port sends before it leaves, leaving is a release, and the changes
/// of the word are one chain of read-modify-writes. So a receiver that first finds the channel
/// closed, by an acquire, and then nothing in its rings, has received everything. In the other
/// order, a message and its sender's leaving could fall between the two looks.
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

    /// Adds a handle or port. The caller has a handle.
    pub fn add(&self, end: u64) {
        // Relaxed: nothing is published, and the caller's handle keeps the channel open.
        self.count.fetch_add(end, Ordering::Relaxed);
    }

    /// Removes a handle or port. Returns `true` if this closed the channel for the last port. The
    /// caller must then wake that port.
    #[must_use]
    pub fn leave(&self, end: u64) -> bool {
        // Release: see `SenderCount`.
        self.count.fetch_sub(end, Ordering::Release) - end == PORT
    }

    /// Whether the calling port is the last port and there is no handle.
    pub fn is_closed(&self) -> bool {
        // Acquire: see `SenderCount`.
        self.count.load(Ordering::Acquire) == PORT
    }
}
