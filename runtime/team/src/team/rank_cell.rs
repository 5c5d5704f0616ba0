use super::words::Episode;
use super::{Body, Site};
use manycore_platform::{Atomic, Futex, Ordering, Platform};
use std::cell::UnsafeCell;

/// The worker number of a rank that has not run.
pub(super) const NOWHERE: usize = usize::MAX;

/// A rank (a part of a program that meets other ranks at barriers): its word, and data that one
/// worker owns at a time.
pub(super) struct RankCell<P: Platform> {
    word: P::AtomicU32,
    inner: UnsafeCell<Inner<P>>,
}

/// The data of a rank. They belong to the worker that has claimed the rank or, when all ranks have arrived, to the
/// worker that completes the episode (the work between two barriers).
pub(super) struct Inner<P: Platform> {
    pub(super) body: *mut (dyn Body<P> + 'static),
    /// The ticks that the rank has run in this interval.
    pub(super) took: u64,
    /// The rank's last worker.
    pub(super) worker: usize,
    /// Whether the rank has yet to begin this interval.
    pub(super) is_fresh: bool,
    /// The barrier where the rank has arrived. `None` if it is done.
    pub(super) site: Option<Site>,
}

// SAFETY: `Inner` has one owner at a time, as its comment says, and a `Body` is `Send`.
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

    /// Whether the rank is ready. Another worker may claim it at any time.
    #[inline]
    fn is_ready(&self, episode: Episode) -> bool {
        // Relaxed: the claim decides, and a worker that is about to sleep executes a fence before
        // this look.
        self.word.load(Ordering::Relaxed) == episode.ready()
    }

    /// Claims the rank, unless another worker has it or it has arrived.
    #[inline]
    pub(super) fn claim(&self, episode: Episode) -> bool {
        let (ready, running) = (episode.ready(), episode.running());
        // Acquire pairs with the release in `put_back`.
        (self.word)
            .compare_exchange(ready, running, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    /// Like `claim`, for a rank that the plan does not give to this worker. This looks first,
    /// because a failed exchange would take the cache line away from the rank's worker.
    #[inline]
    pub(super) fn claim_of_others(&self, episode: Episode) -> bool {
        self.is_ready(episode) && self.claim(episode)
    }

    /// The data that the caller owns.
    ///
    /// # Safety
    ///
    /// The caller has claimed the rank and has not given it back, or the caller completes the
    /// episode and has not opened the next.
    #[allow(clippy::mut_from_ref, reason = "the contract admits one caller")]
    #[inline]
    pub(super) unsafe fn inner(&self) -> &mut Inner<P> {
        // SAFETY: by the contract no other worker has the data.
        unsafe { &mut *self.inner.get() }
    }

    /// Makes the rank ready again within an interval. Then the caller looks for sleepers. This
    /// write is visible to every thread before that look.
    pub(super) fn put_back(&self, episode: Episode) {
        // Release: publishes the rank's work to the next claimer. This is a read-modify-write, and
        // a fence follows, because the caller looks at the opening word next: see `README.md`.
        // SeqCst is needed only because the result is unused: see `Platform::fence_after_rmw`.
        self.word.swap(episode.ready(), Ordering::SeqCst);
        P::fence_after_rmw();
    }

    /// Counts the rank as arrived. It can be claimed in the next episode.
    #[inline]
    pub(super) fn arrive(&self, episode: Episode) {
        // Relaxed: before a worker claims the rank again, it acquires the next episode's opening.
        // That opening follows the caller's announcement, which is a release. A plain store is
        // enough: no other worker writes the word of a claimed rank.
        self.word.store(episode.next().ready(), Ordering::Relaxed);
    }
}
#[cold]
#[inline(never)]
pub(super) fn wake_all<P: Platform>(word: &P::Futex) {
    word.wake(u32::MAX);
}
