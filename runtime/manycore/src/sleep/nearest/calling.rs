//! How a post wakes a sleeper: the word `callable`, which counts the sleepers.

use super::super::oversubscription::Oversubscription;
use super::Nearest;
use crate::clusters::Invited;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// One sleeper that waits for a stolen job.
pub(super) const WAITER: u32 = 1;
/// One sleeper that may take any job.
pub(super) const FREE: u32 = 1 << 14;
/// A worker has been woken for a job, and has not begun to look.
pub(super) const WAKING: u32 = 1 << 31;
/// Posters must make a full fence and read the word again. This bit is set in a new pool, and always on systems
/// without light fences.
pub(super) const FENCED: u32 = 1 << 30;
/// A permit (a right to run jobs) is free. If no worker sleeps, the pool wakes or starts a thread for this permit.
pub(super) const VACANT: u32 = 1 << 29;
/// Each poster reads [`FENCED`], or the poster's push is already visible. So a sleeper needs no heavy fence.
pub(super) const SETTLED: u32 = 1 << 28;
/// The counts of both kinds of sleepers.
pub(super) const SLEEPERS: u32 = SETTLED - 1;

/// The number of posts that make a fence after a worker has fallen asleep. Together their fences cost as much as a
/// heavy fence, 2 us. So at worst a pool pays twice as much as a pool that knew the future would pay.
pub(super) const MOST_FENCED: u32 = 256;

/// At most this many wake-ups are under way at once.
const OVERLAP: u64 = 16;
/// While a wake-up is under way, posters make no other for this many times the time that its poster needed. So a poster
/// spends at most a third of its time on such wake-ups.
const PAUSE: u64 = 2;

/// Faults that tests insert into the protocol.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sleep) enum FenceFault {
    /// A sleeper sets [`SETTLED`] before its heavy fence.
    SettledTooSoon,
    /// A poster clears [`FENCED`] and leaves [`SETTLED`] set.
    StaysSettled,
    /// A borrower does not look for jobs when it lays the permit back.
    NoLookAfterLoan,
    /// The watchdog (the sleeper that keeps watch) leaves without a write to the word. So a thread that reads the word
    /// later does not notice.
    LeavesUnnoticed,
}

/// Returns the number of sleepers of both kinds in a value of `callable`.
pub(super) fn sleepers(word: u32) -> u32 {
    let both = word & SLEEPERS;
    both / FREE + both % FREE
}

/// Returns the number of permits whose workers sleep, or that have no worker. A worker that is being woken does
/// not count as a sleeper.
pub(super) fn absent(word: u32) -> u32 {
    let (vacant, waking) = (word & VACANT != 0, word & WAKING != 0);
    (sleepers(word) + u32::from(vacant)).saturating_sub(u32::from(waking))
}

impl<P: Platform> Nearest<P> {
    /// As [`call`](Self::call), for a job of the worker that holds the permit `poster`.
    #[cold]
    #[inline(never)]
    pub(super) fn call_from(&self, poster: usize) -> bool {
        self.call_near(poster, true)
    }

    /// Wakes a worker for a job that was just posted, unless a wake-up is already under way. Returns
    /// `true` if no worker sleeps and a permit is vacant.
    #[cold]
    #[inline(never)]
    pub(super) fn call(&self, near: usize) -> bool {
        self.call_near(near, false)
    }

    /// As [`call`](Self::call). `is_poster` says whether this thread has the permit `near`. Then a sleeper that is
    /// woken runs on another core than this thread.
    #[cold]
    #[inline(never)]
    fn call_near(&self, near: usize, is_poster: bool) -> bool {
        // The poster's fence orders the post before this load. Acquire: if a watchdog left before this
        // value was written, `is_watched` below does not see that watchdog.
        let mut word = self.callable.load(Ordering::Acquire);
        if word & FENCED != 0 {
            // This fence takes the place of the light fence in `posted_by`.
            P::fence(Ordering::SeqCst);
            word = self.callable.load(Ordering::Acquire);
            self.count_fenced_post(word);
        }
        if word & WAKING != 0 && !self.is_late(word) {
            return false;
        }
        if word & SLEEPERS == 0 {
            return word & VACANT != 0;
        }
        let is_left = |oversubscription: &Oversubscription<P>| {
            oversubscription.is_full(absent(word)) && oversubscription.is_watched()
        };
        if self.oversubscription.as_ref().is_some_and(is_left) {
            return false;
        }
        if is_poster {
            // This may be a system call, so it is made only for a wake-up.
            self.claim_core(near);
        }
        // WAKING is set first, so that only one of many posters wakes a worker. Relaxed: the word's modification order
        // decides, and the poster has fenced.
        let before = self.callable.fetch_or(WAKING, Ordering::Relaxed);
        if before & WAKING != 0 {
            // The wake-up under way is late, or another poster was first. WAKING is not this thread's to clear.
            if word & WAKING != 0 {
                self.wake_next(near);
            }
            return false;
        }
        if self.wake_next(near) {
            return false;
        }
        // All workers were awake. Since then a worker may have lain down, and another poster may have left its job to
        // this call. So this thread looks again. Acquire pairs with the exchange that counted the sleeper, so that
        // this thread finds it parked.
        let word = self.callable.fetch_and(!WAKING, Ordering::Acquire);
        let woken = word & SLEEPERS != 0 && self.wake_next(near);
        !woken && word & VACANT != 0
    }

    /// Whether to wake a sleeper although another wake-up is under way. On an idle machine a wake-up takes
    /// tens of microseconds, in which one poster may have posted jobs for many workers. If each wake-up waited for the
    /// last one, `n` workers would be awake after the time of `n` wake-ups.
    fn is_late(&self, word: u32) -> bool {
        // The woken worker is counted until it gets up. If threads outnumber cores, a bit tells how many are awake.
        if sleepers(word) < 2 || self.oversubscription.is_some() {
            return false;
        }
        // Relaxed, as in `wake_next`: the time only limits the number of wake-ups.
        let next = self.next_call.load(Ordering::Relaxed);
        let now = P::now();
        // Many posters may come here, and a single poster goes on.
        let (soon, relaxed) = (now + self.idle.wake_cost() / OVERLAP, Ordering::Relaxed);
        now >= next
            && (self.next_call)
                .compare_exchange(next, soon, relaxed, relaxed)
                .is_ok()
    }

    /// As [`wake_one`](Self::wake_one), for a job. Notes when the next wake-up may begin.
    fn wake_next(&self, near: usize) -> bool {
        let began = P::now();
        let woken = self.wake_one(near, true, None);
        let now = P::now();
        let pause = (PAUSE * now.saturating_sub(began)).max(self.idle.wake_cost() / OVERLAP);
        self.next_call.store(now + pause, Ordering::Relaxed);
        woken
    }

    /// Counts a post that has fenced. After many posts since the last sleep, posters stop fencing, and the
    /// next sleeper makes a heavy fence.
    pub(super) fn count_fenced_post(&self, word: u32) {
        if !P::has_light_fences() {
            return;
        }
        // Relaxed, and no read-modify-write, since the count affects only speed. A worker that falls asleep resets it.
        let posts = self.fenced_posts.load(Ordering::Relaxed).saturating_add(1);
        self.fenced_posts.store(posts, Ordering::Relaxed);
        if posts < self.most_fenced || word & SETTLED == 0 {
            return;
        }
        #[cfg(test)]
        if self.fault == Some(FenceFault::StaysSettled) {
            self.callable.fetch_and(!FENCED, Ordering::Relaxed);
            return;
        }
        // The exchange clears both bits at once, and only if both are set, since a sleeper that has set FENCED sets
        // SETTLED later. Relaxed: the word's modification order decides (see the README).
        let light = word & !(FENCED | SETTLED);
        let relaxed = Ordering::Relaxed;
        let _ = (self.callable).compare_exchange(word, light, relaxed, relaxed);
    }

    /// The sleeper's fence before its look for pushed jobs. It follows the exchange that counted the sleeper or
    /// cleared WAKING. `word` was read with Acquire ordering in that exchange or later.
    ///
    /// If posters do not fence, the sleeper's fence is a heavy one, and from then on posters fence.
    pub(super) fn fence_against_posters(&self, word: u32) {
        if word & SETTLED != 0 {
            P::fence(Ordering::SeqCst);
            return;
        }
        // Relaxed: the heavy fence orders this.
        let first = self.callable.fetch_or(FENCED, Ordering::Relaxed) & FENCED == 0;
        #[cfg(test)]
        if self.fault == Some(FenceFault::SettledTooSoon) {
            self.callable.fetch_or(SETTLED, Ordering::Release);
        }
        P::heavy_fence();
        if first {
            // Release: all that a thread does after it has read SETTLED comes after the heavy fence.
            self.callable.fetch_or(SETTLED, Ordering::Release);
        }
    }

    /// Wakes a sleeper near worker `near`, in the clusters (groups of near workers) `within` or in any. `called` says
    /// whether the wake-up is for a job. Returns whether there was a sleeper.
    pub(super) fn wake_one(&self, near: usize, called: bool, within: Option<Invited>) -> bool {
        // Sleepers that may take any job come first, because a waiter may not be allowed to run this job.
        for free in [true, false] {
            if let Some(roused) = self.slots.rouse_near(near, free, called, within) {
                roused.wake();
                return true;
            }
        }
        false
    }
}
