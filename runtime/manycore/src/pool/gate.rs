//! The gate of a posted loop. It decides whether helpers, which are other threads than the loop's caller, may still
//! enter the loop, and when the last helper has left. Once that helper has left, the caller may free the loop's frame,
//! which is on the caller's stack.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// The bits of the count that are the number of helpers inside.
const INSIDE: u32 = (1 << 16) - 1;
/// The bit of the count that is set while the caller sleeps until the last helper has left.
const AWAITED: u32 = 1 << 31;
/// While AWAITED is set, the bits of the count between INSIDE and AWAITED are the caller's worker number.
const CALLER_SHIFT: u32 = 16;
/// The largest number of workers, of all kinds, that a pool may have. The workers' numbers fit between INSIDE and
/// AWAITED.
pub(super) const MOST_WORKERS: usize = 1 << 15;

/// Whether helpers may join, and how many are inside: two words on one cache line.
///
/// A helper counts itself in *and then* looks whether the gate is open. If the gate is closed, the helper counts
/// itself out again and has not touched the frame. The caller closes the gate *and then* looks whether a helper is
/// inside. So the helper sees that the gate is closed, or the closing caller sees the helper, or both. A helper may
/// use the frame only between a successful [`join`](Self::join) and its leaving. The caller may free the frame once it
/// has closed the gate and then seen [`is_empty`](Self::is_empty).
///
/// A helper may count itself in while the gate is closed after one loop, and then see the gate open for the next loop.
/// In this case the helper has joined the next loop. This is sound, since the caller wrote that loop's job before it
/// opened the gate.
///
/// The gate is in the pool's memory, not in the frame, so that a late helper touches valid memory.
pub(crate) struct Gate<P: Platform> {
    /// Whether the gate is open. The caller writes this. Helpers that are inside may close the gate.
    open: P::AtomicBool,
    /// The number of helpers inside, and the bits for a sleeping caller. It is changed only by read-modify-writes.
    count: P::AtomicU32,
}

/// What a helper must do after it has left.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Departure {
    /// Do nothing: no thread waits for the helper.
    Quietly,
    /// Wake the caller, which is the worker with this number. The caller sleeps, and must look again.
    Awaited(usize),
}

impl<P: Platform> Gate<P> {
    pub(crate) fn new() -> Self {
        Self {
            open: P::AtomicBool::new(false),
            count: P::AtomicU32::new(0),
        }
    }

    /// Opens the gate. The caller has written the data that helpers read.
    ///
    /// This is a plain store. The post that follows makes one locked instruction for each cluster. The first of them
    /// waits until all earlier stores are visible.
    #[inline]
    pub(crate) fn open(&self) {
        // Release: a helper that joins and sees the gate open also sees the job and the frame, which were written
        // before.
        self.open.store(true, Ordering::Release);
    }

    /// Whether joining is worth trying.
    #[inline]
    pub(crate) fn invites(&self) -> bool {
        // Relaxed: this is a hint. `join` decides.
        self.open.load(Ordering::Relaxed)
    }

    /// Joins if the gate is open. Returns how many helpers were inside before.
    ///
    /// # Errors
    ///
    /// If the gate is closed. The helper has then left again, and may be the last helper that a sleeping caller
    /// waits for.
    #[inline]
    pub(crate) fn join(&self) -> Result<u32, Departure> {
        // Relaxed: the fence orders this before the look at `open`, and pairs with the fence in `close`. At least
        // one of helper and caller sees the other's write.
        let before = self.count.fetch_add(1, Ordering::Relaxed);
        P::fence_after_rmw();
        // Acquire pairs with `open`'s release.
        if self.open.load(Ordering::Acquire) {
            Ok(before & INSIDE)
        } else {
            Err(self.leave())
        }
    }

    /// Leaves the loop. After this, the helper must not touch the loop's frame.
    #[inline]
    pub(crate) fn leave(&self) -> Departure {
        // Release: all that this helper did happens before the caller's acquire load that sees the gate empty.
        let before = self.count.fetch_sub(1, Ordering::Release);
        if before & INSIDE == 1 {
            awaited(before)
        } else {
            Departure::Quietly
        }
    }

    /// Leaves the loop, after the helper has written something that the caller must see. If the caller sleeps, the
    /// caller must be woken even if other helpers are inside.
    pub(crate) fn leave_behind(&self) -> Departure {
        // Release: as in `leave`. The count's modification order puts this before or after `await_last`. So either
        // this sees AWAITED, or the caller's look after `await_last` sees what the helper wrote.
        awaited(self.count.fetch_sub(1, Ordering::Release))
    }

    /// Closes the gate, since no work is left to claim, and leaves the loop.
    #[inline]
    pub(crate) fn leave_closed(&self) -> Departure {
        // Relaxed: this is a hint to other helpers, and `close` decides. The caller cannot have opened the gate for
        // another loop, since this helper is inside.
        self.open.store(false, Ordering::Relaxed);
        self.leave()
    }

    /// Closes the gate. The caller looks at [`is_empty`](Self::is_empty) next.
    #[inline]
    pub(crate) fn close(&self) {
        // The fence orders this before the look at `count`, and pairs with the fence in `join`. Only SeqCst forbids
        // the compiler to turn this swap, whose result is unused, into a plain store: see `Platform::fence_after_rmw`.
        self.open.swap(false, Ordering::SeqCst);
        P::fence_after_rmw();
    }

    /// Whether all helpers have left.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire pairs with `leave`: all that helpers wrote is visible, and they do not touch the frame any more.
        self.count.load(Ordering::Acquire) & INSIDE == 0
    }

    /// Announces that the caller, worker `caller`, is about to sleep until the last helper leaves. After this, the
    /// caller must look once more at [`is_empty`](Self::is_empty), and at what helpers may leave behind.
    pub(crate) fn await_last(&self, caller: usize) {
        debug_assert!(caller < MOST_WORKERS);
        // Acquire pairs with the release in `leave` and `leave_behind`. In the count's modification order those come
        // after this and see AWAITED, or they came before, and the caller's next look sees what they wrote.
        let word = AWAITED | (caller as u32) << CALLER_SHIFT;
        self.count.fetch_or(word, Ordering::Acquire);
    }

    /// Undoes [`await_last`](Self::await_last).
    pub(crate) fn awaited_no_more(&self) {
        // Relaxed: the caller releases the slot after this change. So a helper that joins the next loop comes later
        // in the count's modification order. If the caller goes back into the loop, a helper that is still inside may
        // see the old value once more and wake the caller in vain.
        self.count.fetch_and(INSIDE, Ordering::Relaxed);
    }
}

/// Returns what a helper that has a reason to wake the caller must do. `count` is the value that the helper saw when
/// it left.
fn awaited(count: u32) -> Departure {
    if count & AWAITED == 0 {
        return Departure::Quietly;
    }
    Departure::Awaited(((count & !AWAITED) >> CALLER_SHIFT) as usize)
}
