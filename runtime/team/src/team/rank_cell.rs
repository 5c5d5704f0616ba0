//! The team's record of each rank.

use super::words::Episode;
use super::{Body, Site};
use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::cell::UnsafeCell;

/// No worker has run it.
pub(super) const NOWHERE: usize = usize::MAX;

/// A rank: its word, and the data of its claimer.
pub(super) struct RankCell<P: Platform> {
    word: P::AtomicU32,
    inner: UnsafeCell<Inner<P>>,
}

/// The data of a rank's claimer, and, when all ranks have arrived, of the worker that completes the
/// episode.
pub(super) struct Inner<P: Platform> {
    pub(super) body: *mut (dyn Body<P> + 'static),
    /// Ticks it has had in this interval.
    pub(super) took: u64,
    /// The worker that it was on last.
    pub(super) worker: usize,
    /// It has not begun this interval.
    pub(super) is_fresh: bool,
    /// The barrier that it is at; `None` if it is done.
    pub(super) site: Option<Site>,
}

// SAFETY: `Inner` is handed out as its fields say, and a `Body` is `Send`.
unsafe impl<P: Platform> Sync for RankCell<P> {}
// SAFETY: as above.
unsafe impl<P: Platform> Send for RankCell<P> {}

impl<P: Platform> RankCell<P> {
    pub(super) fn new(body: *mut (dyn Body<P> + 'static)) -> Self {
        Self {
            word: P::AtomicU32::new(Episode::FIRST.ready()),
            inner: UnsafeCell::new(Inner {
                body,
                took: 0,
                worker: NOWHERE,
                is_fresh: true,
                site: None,
            }),
        }
    }

    /// Whether it can be claimed; a look.
    #[inline]
    fn is_ready(&self, episode: Episode) -> bool {
        // Relaxed: the claim decides, and a worker that is about to sleep has a fence before the
        // look.
        self.word.load(Ordering::Relaxed) == episode.ready()
    }

    /// Claims it, if no worker has and it has not arrived.
    #[inline]
    pub(super) fn claim(&self, episode: Episode) -> bool {
        let (ready, running) = (episode.ready(), episode.running());
        // Acquire pairs with the release of the worker that preempted it.
        (self.word)
            .compare_exchange(ready, running, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// The same for a rank that the plan does not give to this worker. It looks first, because a
    /// failed exchange takes the line away from its owner.
    #[inline]
    pub(super) fn claim_of_others(&self, episode: Episode) -> bool {
        self.is_ready(episode) && self.claim(episode)
    }

    /// The claimer's data.
    ///
    /// # Safety
    ///
    /// The caller has claimed the rank and not given it back; or it completes the episode and
    /// has not opened the next.
    #[allow(clippy::mut_from_ref, reason = "the contract gives it to one alone")]
    #[inline]
    pub(super) unsafe fn inner(&self) -> &mut Inner<P> {
        // SAFETY: by the contract no other worker has it.
        unsafe { &mut *self.inner.get() }
    }

    /// Gives it back in the middle of an interval, for others to claim. The caller then checks for
    /// sleepers: every thread sees that check after this.
    pub(super) fn put_back(&self, episode: Episode) {
        // Publishes what the rank did to the next claimer: release. A read-modify-write with
        // its fence, because a look at the opening word comes after it, see `README.md`. SeqCst
        // only because the result is unused: see `Platform::fence_after_rmw`.
        self.word.swap(episode.ready(), Ordering::SeqCst);
        P::fence_after_rmw();
    }

    /// It has arrived, and can be claimed in the next episode.
    #[inline]
    pub(super) fn arrive(&self, episode: Episode) {
        // Relaxed: a worker claims it again only after it has acquired the next opening, and that
        // follows the caller's announcement of the arrival, which is a release. A plain store is
        // enough: no other worker writes the word of a claimed rank.
        self.word.store(episode.next().ready(), Ordering::Relaxed);
    }
}

/// Wakes all threads that sleep on the word.
#[cold]
#[inline(never)]
pub(super) fn wake_all<P: Platform>(word: &P::Futex) {
    word.wake(u32::MAX);
}
