//! Where workers sleep that have found nothing.

use manycore_platform::{Atomic, AtomicInteger, CachePadded, Futex, Ordering, Platform};

/// Sleepers, and what they are woken by.
///
/// # Why no wake-up is lost
///
/// A sleeper does S1 `sleepers` + 1, fence; S2 read `news`; S3 look for tasks, find
/// none; S4 sleep if `news` is still that. A publisher does P1 publish, fence; P2
/// read `sleepers`; P3 unless that is 0, `news` + 1 and wake one. The fences order S1
/// and P1: if P1 is first, S3 finds what was published; else P2 finds a sleeper, and
/// P3 comes before S2, whose acquire has S3 find it too, or after it, and then S4 does
/// not sleep or is woken.
///
/// One that is woken and finds nothing has been forestalled by one that was awake.
pub(super) struct Rest<P: Platform> {
    sleepers: CachePadded<P::AtomicU32>,
    news: CachePadded<P::Futex>,
}

impl<P: Platform> Rest<P> {
    pub(super) fn new() -> Self {
        let rest = Self {
            sleepers: CachePadded::new(P::AtomicU32::new(0)),
            news: CachePadded::new(<P::Futex as Atomic<u32>>::new(0)),
        };
        P::name(&rest.sleepers, "pile: sleepers");
        P::name(&rest.news, "pile: news");
        rest
    }

    /// Something was published, by an atomic read-modify-write just before.
    ///
    /// Cost while nobody sleeps: a load of a line that nobody writes.
    #[inline]
    pub(super) fn published(&self) {
        P::fence_after_rmw();
        // Relaxed: ordered by the fences on both sides.
        if self.sleepers.load(Ordering::Relaxed) > 0 {
            self.wake(1);
        }
    }

    #[cold]
    fn wake(&self, count: u32) {
        // Release: who reads it finds what was published.
        self.news.fetch_add(1, Ordering::Release);
        self.news.wake(count);
    }

    /// Something was published that concerns all.
    pub(super) fn wake_all(&self) {
        self.wake(u32::MAX);
    }

    /// Sleeps unless `look` finds something, or something is published. May return for
    /// no reason.
    pub(super) fn sleep<T>(&self, look: impl FnOnce() -> Option<T>) -> Option<T> {
        // Relaxed: the fence orders it before the look.
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        P::fence_after_rmw();
        let news = self.news.load(Ordering::Acquire);
        let found = look();
        if found.is_none() {
            self.news.wait(news, None);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
        found
    }
}
