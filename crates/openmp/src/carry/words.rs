//! The words by which workers share ranks, over the seam: `checked` runs them under loom.
//!
//! | word | written by | what it says |
//! |---|---|---|
//! | [`RankWord`] | who takes a rank, who has left it | who has the rank |
//! | [`Rest::idle`] | a worker that goes to sleep, and wakes | whether somebody must be woken |
//! | [`Rest::event`] | who has made a condition true | that something has changed |

use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};
use std::time::Duration;

pub(super) const RUNNING: u32 = 0;
pub(super) const WAITING: u32 = 1;

/// Whether a worker has the rank, or nobody.
pub(super) struct RankWord<P: Platform>(P::AtomicU32);

impl<P: Platform> RankWord<P> {
    /// The rank's own thread executes it.
    pub(super) fn running() -> Self {
        Self(P::AtomicU32::new(RUNNING))
    }

    /// The word itself, for [`detach`](super::switch::detach).
    pub(super) const fn word(&self) -> &P::AtomicU32 {
        &self.0
    }

    /// Whether nobody had it a moment ago.
    pub(super) fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING
    }

    /// Takes the rank, if nobody has it.
    pub(super) fn claim(&self) -> bool {
        // Acquire: the stack, and the condition on it.
        self.is_waiting()
            && (self.0)
                .compare_exchange(WAITING, RUNNING, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// The rank was looked at, and does not go on. The caller looks at all again before it sleeps, or
    /// calls [`Rest::pass_on`].
    pub(super) fn put_back(&self) {
        // Release: the look at the condition, which lives on the rank's stack.
        self.0.store(WAITING, Ordering::Release);
    }

    /// The rank's stack is left: others may go on with it.
    pub(super) fn leave(&self, rest: &Rest<P>) {
        // Release: the stack.
        self.0.store(WAITING, Ordering::Release);
        // Its condition may hold since before it was to be seen.
        rest.pass_on();
    }
}

/// Where workers sleep that find nothing.
pub(super) struct Rest<P: Platform> {
    pub(super) idle: P::AtomicU32,
    pub(super) event: P::Futex,
}

impl<P: Platform> Rest<P> {
    /// Somebody's condition may hold now. The caller has made it so before a full fence.
    #[inline]
    pub(super) fn notify(&self) {
        if self.idle.load(Ordering::SeqCst) != 0 {
            self.wake();
        }
    }

    /// The caller looks for ranks no more. While it had one, to look at its condition, that may have
    /// come to hold, and others may have fallen asleep since they could not look at it.
    pub(super) fn pass_on(&self) {
        P::fence(Ordering::SeqCst);
        self.notify();
    }

    #[cold]
    fn wake(&self) {
        self.event.fetch_add(1, Ordering::SeqCst);
        self.event.wake(u32::MAX);
    }

    /// Sleeps until something may have changed, or returns what `look` finds.
    pub(super) fn sleep<R>(
        &self,
        look: impl FnOnce() -> Option<R>,
        timeout: Option<Duration>,
    ) -> Option<R> {
        self.idle.fetch_add(1, Ordering::SeqCst);
        let event = self.event.load(Ordering::SeqCst);
        P::fence(Ordering::SeqCst);
        let found = look();
        if found.is_none() {
            self.event.wait(event, timeout);
        }
        self.idle.fetch_sub(1, Ordering::SeqCst);
        found
    }
}
