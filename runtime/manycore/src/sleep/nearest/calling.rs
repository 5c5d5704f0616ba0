//! How a post wakes a sleeper: the word that says whether waking is useful.

use super::super::oversubscription::Oversubscription;
use super::Nearest;
use crate::clusters::Invited;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// A worker that waits for a stolen job and sleeps.
pub(super) const WAITER: u32 = 1;
/// A worker that may take anything and sleeps.
pub(super) const FREE: u32 = 1 << 14;
/// A worker has been woken for a job and has not begun to look.
pub(super) const WAKING: u32 = 1 << 31;
/// A poster looks twice, after a fence. So it is in a new pool, and always where there are no light
/// fences.
pub(super) const FENCED: u32 = 1 << 30;
/// A permit is free: the pool wakes or starts a thread for it if no worker sleeps.
pub(super) const VACANT: u32 = 1 << 29;
/// All posters know of [`FENCED`]: a sleeper need not pay for their fence.
pub(super) const SETTLED: u32 = 1 << 28;
/// Either kind of sleeper.
pub(super) const SLEEPERS: u32 = SETTLED - 1;

/// Posts that fence after a worker has fallen asleep. Their fences cost together what a heavy one
/// does, 2 us: so at worst a pool pays twice what it would if it knew what comes next.
pub(super) const MOST_FENCED: u32 = 256;

/// Defects of the fences.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sleep) enum FenceFault {
    /// Sleepers rely on the posters before the heavy fence.
    SettledTooSoon,
    /// Posters do not fence any more, and sleepers still rely on it.
    StaysSettled,
    /// A borrower does not look for jobs when it gives the permit back.
    NoLookAfterLoan,
    /// The watchdog leaves, and a thread that reads the word later does not notice.
    LeavesUnnoticed,
}

/// Sleepers of both kinds, of the word `callable`.
pub(super) fn sleepers(word: u32) -> u32 {
    let both = word & SLEEPERS;
    both / FREE + both % FREE
}

/// Permits whose workers sleep, and permits without a worker. A worker that is being woken does not count
/// as a sleeper.
pub(super) fn absent(word: u32) -> u32 {
    let (vacant, waking) = (word & VACANT != 0, word & WAKING != 0);
    (sleepers(word) + u32::from(vacant)).saturating_sub(u32::from(waking))
}

impl<P: Platform> Nearest<P> {
    /// As [`call`](Self::call), for a job that the holder of the permit `poster` has posted.
    #[cold]
    #[inline(never)]
    pub(super) fn call_from(&self, poster: usize) -> bool {
        self.claim_core(poster);
        self.call(poster)
    }

    /// Wakes a worker for a job that was just posted, unless one is on the way already. `true`: no
    /// worker sleeps, and a permit is vacant.
    #[cold]
    #[inline(never)]
    pub(super) fn call(&self, near: usize) -> bool {
        // Ordered after the post by the poster's fence. Acquire: a watchdog that had left before
        // this word is not seen on watch below.
        let mut word = self.callable.load(Ordering::Acquire);
        if word & FENCED != 0 {
            // As the light fence in `posted`.
            P::fence(Ordering::SeqCst);
            word = self.callable.load(Ordering::Acquire);
            self.count_fenced_post(word);
        }
        if word & WAKING != 0 {
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
        // WAKING first, so that one of many posters does the work. Relaxed: the word's modification
        // order decides, and the poster has fenced.
        let before = self.callable.fetch_or(WAKING, Ordering::Relaxed);
        if before & WAKING != 0 || self.wake_one(near, true, None) {
            return false;
        }
        // All were up. Meanwhile a worker may have lain down, and another poster may have left that
        // one to this call: look again. Acquire pairs with the sleeper's entry in the count, so
        // that this thread finds it parked.
        let word = self.callable.fetch_and(!WAKING, Ordering::Acquire);
        let woken = word & SLEEPERS != 0 && self.wake_one(near, true, None);
        !woken && word & VACANT != 0
    }

    /// A poster has fenced. After many posts since the last sleep it is the next sleeper's turn.
    pub(super) fn count_fenced_post(&self, word: u32) {
        if !P::has_light_fences() {
            return;
        }
        // Relaxed, and no exchange: the count affects only speed. A worker that falls asleep sets
        // it back.
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
        // Both at once, and only if both are set: a sleeper that has set FENCED is still to set
        // SETTLED. Relaxed: the word's modification order decides (see the README).
        let light = word & !(FENCED | SETTLED);
        let relaxed = Ordering::Relaxed;
        let _ = (self.callable).compare_exchange(word, light, relaxed, relaxed);
    }

    /// The sleeper's fence between the exchange that has counted it, or that has cleared WAKING,
    /// and its look at what posters have pushed. `word` is what it has read in that exchange or
    /// since, with Acquire.
    ///
    /// If posters do not fence, it is a heavy one; and from then on they do.
    pub(super) fn fence_against_posters(&self, word: u32) {
        if word & SETTLED != 0 {
            P::fence(Ordering::SeqCst);
            return;
        }
        // Relaxed: ordered by the heavy fence.
        let first = self.callable.fetch_or(FENCED, Ordering::Relaxed) & FENCED == 0;
        #[cfg(test)]
        if self.fault == Some(FenceFault::SettledTooSoon) {
            self.callable.fetch_or(SETTLED, Ordering::Release);
        }
        P::heavy_fence();
        if first {
            // Release: a thread that reads it comes after the heavy fence.
            self.callable.fetch_or(SETTLED, Ordering::Release);
        }
    }

    /// Wakes a sleeper near worker `near`, in the clusters `within` or in any; `called`: for a job.
    pub(super) fn wake_one(&self, near: usize, called: bool, within: Option<Invited>) -> bool {
        // Sleepers that may take any job come first; a sleeper that waits for a stolen job may find
        // that it must not run this one.
        for free in [true, false] {
            if let Some(roused) = self.slots.rouse_near(near, free, called, within) {
                roused.wake();
                return true;
            }
        }
        false
    }
}
