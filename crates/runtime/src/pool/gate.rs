//! The gate of a posted loop: who may still come in, and when the last one has
//! left, so that the loop's frame on its caller's stack may die.

use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// Set while helpers may join.
const OPEN: u32 = 1 << 31;
/// Set when the caller sleeps until the last helper has left.
const AWAITED: u32 = 1 << 30;
/// The number of helpers inside.
const INSIDE: u32 = AWAITED - 1;

/// One word: open or closed, and how many are inside.
///
/// A helper joins by counting itself in *and then* looking whether the gate
/// was open; if it was not, it counts itself out again and has touched
/// nothing. So the frame behind the gate may be used by a helper exactly
/// between a successful [`join`](Self::join) and its [`leave`](Self::leave),
/// and may be freed by the caller once the gate is closed and
/// [`is_empty`](Self::is_empty) was seen: a later arrival finds it closed.
///
/// Because of those short visits the word is never stored to, only changed by
/// read-modify-write. It lives in the pool, not in the frame.
pub(crate) struct Gate<P: Platform> {
    word: P::AtomicU32,
}

/// What leaving showed.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Left {
    /// Nobody needs to be told.
    Quietly,
    /// The caller sleeps and this was the last helper: wake it.
    LastAwaited,
}

impl<P: Platform> Gate<P> {
    pub(crate) fn new() -> Self {
        Self {
            word: P::AtomicU32::new(0),
        }
    }

    /// Opens the gate; the caller has written what helpers will read.
    #[inline]
    pub(crate) fn open(&self) {
        // Release: the job and the frame, written before, are visible to who
        // joins and sees OPEN.
        let before = self.word.fetch_add(OPEN, Ordering::Release);
        debug_assert_eq!(before & OPEN, 0, "a gate is opened by its one owner");
    }

    /// Whether joining is worth trying.
    #[inline]
    pub(crate) fn invites(&self) -> bool {
        // Relaxed: a hint; `join` decides.
        self.word.load(Ordering::Relaxed) & OPEN != 0
    }

    /// Comes in if the gate is open.
    ///
    /// Returns how many helpers were inside already.
    ///
    /// # Errors
    ///
    /// The gate was closed; the visit is over, and may itself have been the
    /// last one that a sleeping caller waits for.
    #[inline]
    pub(crate) fn join(&self) -> Result<u32, Left> {
        // Acquire pairs with `open`'s release. The read-modify-write settles
        // the race with `close`: the two are ordered in the word's history,
        // so either this sees it closed or the closer sees this inside.
        let before = self.word.fetch_add(1, Ordering::Acquire);
        if before & OPEN != 0 {
            Ok(before & INSIDE)
        } else {
            Err(self.leave())
        }
    }

    /// Goes out; after this the loop's frame must not be touched.
    #[inline]
    pub(crate) fn leave(&self) -> Left {
        // Release: all that this helper did happens before the caller's
        // acquire that sees the gate empty.
        let before = self.word.fetch_sub(1, Ordering::Release);
        if before & AWAITED != 0 && before & INSIDE == 1 {
            Left::LastAwaited
        } else {
            Left::Quietly
        }
    }

    /// Lets nobody else in. Anyone inside may do this when no work is left to
    /// claim; the caller does it always.
    #[inline]
    pub(crate) fn close(&self) {
        // Relaxed: the closer publishes nothing; see `join` for the race.
        self.word.fetch_and(!OPEN, Ordering::Relaxed);
    }

    /// Whether all helpers have left.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire pairs with `leave`: what helpers wrote is visible, and their
        // last touch of the frame is over.
        self.word.load(Ordering::Acquire) & INSIDE == 0
    }

    /// Announces that the caller is about to sleep until the last one leaves.
    /// It must look at [`is_empty`](Self::is_empty) once more after this.
    pub(crate) fn await_last(&self) {
        // Relaxed: ordered against the last `leave` by the word's own history:
        // either that sees AWAITED, or it came before and `is_empty` sees it.
        self.word.fetch_or(AWAITED, Ordering::Relaxed);
    }

    /// Takes back [`await_last`](Self::await_last).
    pub(crate) fn awaited_no_more(&self) {
        self.word.fetch_and(!AWAITED, Ordering::Relaxed);
    }
}
