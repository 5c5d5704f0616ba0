//! The gate of a posted loop: whether helpers may still come in, and when the last helper has left, so that
//! the loop's frame on its caller's stack may die.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// In the count: the number of helpers inside.
const INSIDE: u32 = (1 << 16) - 1;
/// In the count: set when the caller sleeps until the last helper has left.
const AWAITED: u32 = 1 << 31;
/// In the count, while AWAITED is set: the worker that the caller is.
const CALLER_SHIFT: u32 = 16;
/// The most workers that a pool may have, of any kind: their numbers fit between.
pub(super) const MOST_WORKERS: usize = 1 << 15;

/// Whether helpers may join, and how many are inside: two words on one line.
///
/// A helper joins by counting itself in *and then* looking whether the gate is open; if it is not, it
/// counts itself out again and has touched nothing. The caller closes the gate *and then* looks whether a
/// helper is inside. So of a helper and a closing caller at least one sees the other: the frame behind the
/// gate may be used by a helper exactly between a successful [`join`](Self::join) and its leaving, and may
/// be freed by the caller once the gate is closed and [`is_empty`](Self::is_empty) was seen.
///
/// A helper's stay may straddle two loops: counted in while the gate is closed after
/// one, looking when it is open for the next. That is a join of the next, and
/// sound: its job was written before it was opened.
///
/// The gate lives in the pool, not in the frame, so late helpers touch memory
/// that is there.
pub(crate) struct Gate<P: Platform> {
    /// Written by the caller, and set to closed by helpers that are inside.
    open: P::AtomicBool,
    /// Only ever changed by read-modify-write.
    count: P::AtomicU32,
}

/// The state that a leaving helper saw.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Departure {
    /// No thread waits for it.
    Quietly,
    /// The caller, this worker, sleeps, and has something to see: wake it.
    Awaited(usize),
}

impl<P: Platform> Gate<P> {
    pub(crate) fn new() -> Self {
        Self {
            open: P::AtomicBool::new(false),
            count: P::AtomicU32::new(0),
        }
    }

    /// Opens the gate; the caller has written what helpers will read.
    ///
    /// A plain store: the post that follows is the one locked instruction of a
    /// launch, and what is stored before it travels while it waits.
    #[inline]
    pub(crate) fn open(&self) {
        // Release: the job and the frame, written before, are visible to a helper that joins and sees the
        // gate open.
        self.open.store(true, Ordering::Release);
    }

    /// Whether joining is worth trying.
    #[inline]
    pub(crate) fn invites(&self) -> bool {
        // Relaxed: a hint; `join` decides.
        self.open.load(Ordering::Relaxed)
    }

    /// Comes in if the gate is open. Returns how many helpers were inside
    /// already.
    ///
    /// # Errors
    ///
    /// The gate was closed. The helper has left, and may have been the last helper that a sleeping caller
    /// waits for.
    #[inline]
    pub(crate) fn join(&self) -> Result<u32, Departure> {
        // Relaxed: ordered before the look at `open` by the fence, against the fence in `close`. At least
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

    /// Goes out; after this the loop's frame must not be touched.
    #[inline]
    pub(crate) fn leave(&self) -> Departure {
        // Release: all that this helper did happens before the caller's
        // acquire that sees the gate empty.
        let before = self.count.fetch_sub(1, Ordering::Release);
        if before & INSIDE == 1 {
            awaited(before)
        } else {
            Departure::Quietly
        }
    }

    /// Goes out, and has left something for the caller to see, which it wrote
    /// before: a caller that sleeps is to be woken though others are inside.
    pub(crate) fn leave_behind(&self) -> Departure {
        // Release as in `leave`. Ordered with `await_last` in the word's modification order:
        // either this sees AWAITED, or the caller's look after that sees what was
        // written.
        awaited(self.count.fetch_sub(1, Ordering::Release))
    }

    /// Goes out, and closes the gate: no work is left to claim.
    #[inline]
    pub(crate) fn leave_closed(&self) -> Departure {
        // Relaxed: a hint to others; it is `close` that decides. The caller
        // cannot have opened the gate for another loop: this helper is inside.
        self.open.store(false, Ordering::Relaxed);
        self.leave()
    }

    /// Closes the gate; the caller looks at [`is_empty`](Self::is_empty) next.
    #[inline]
    pub(crate) fn close(&self) {
        // Ordered before the look at `count` by the fence, against the fence in `join`. SeqCst
        // only because the result is unused: see `Platform::fence_after_rmw`.
        self.open.swap(false, Ordering::SeqCst);
        P::fence_after_rmw();
    }

    /// Whether all helpers have left.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire pairs with `leave`: what helpers wrote is visible, and their
        // last touch of the frame is over.
        self.count.load(Ordering::Acquire) & INSIDE == 0
    }

    /// Announces that the caller, worker `caller`, is about to sleep until the last helper leaves. It must
    /// look at [`is_empty`](Self::is_empty), and at what helpers may leave behind, once more after this.
    pub(crate) fn await_last(&self, caller: usize) {
        debug_assert!(caller < MOST_WORKERS);
        // Acquire: against `leave` and `leave_behind` by the count's modification order:
        // either these see AWAITED, or they came before, and the caller's next look
        // sees what they wrote.
        let word = AWAITED | (caller as u32) << CALLER_SHIFT;
        self.count.fetch_or(word, Ordering::Acquire);
    }

    /// Takes back [`await_last`](Self::await_last).
    pub(crate) fn awaited_no_more(&self) {
        // Relaxed: a helper that joins the next loop comes after this change in the count's modification
        // order, since the slot's release does. A helper that is still inside, because the caller goes back into the
        // loop, may see the old value once more and wake the caller in vain.
        self.count.fetch_and(INSIDE, Ordering::Relaxed);
    }
}

/// The count's message to a helper that leaves and has a reason to wake the caller.
fn awaited(count: u32) -> Departure {
    if count & AWAITED == 0 {
        return Departure::Quietly;
    }
    Departure::Awaited(((count & !AWAITED) >> CALLER_SHIFT) as usize)
}
