//! How a post wakes a sleeper: the word `callable`, which counts the sleepers.

use super::super::oversubscription::Oversubscription;
use super::Nearest;
use crate::clusters::Invited;
use manycore_platform::{Atomic, AtomicInteger, Ordering, Platform};

/// One sleeper that waits for a stolen job.
pub(super) const WAITER: u32 = 1;
/// One sleeper that may take any job.
pub(super) const FREE: u32 = 1 << 14;
/// A thread calls a worker for a job, or has called a worker that is not up yet.
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

/// After a worker has fallen asleep, a poster makes a fence with this number of posts. Together their fences cost as
/// much as a heavy fence, 2 us. So at worst a pool pays twice as much as a pool that knew the future would pay.
pub(super) const MOST_FENCED: u32 = 256;

/// Posters make at most this many calls in the time that a called worker usually needs to get up.
const OVERLAP: u64 = 16;
/// A burst of jobs that is shorter than a wake-up divided by this number makes one call: it is over before a called
/// worker is up.
const SHORT: u64 = 2;
/// After a call that took the time `t`, the next waits for this many times `t`. So a poster spends at most a third of
/// its time on calls.
const PAUSE: u64 = 2;

/// Sleepers that may take any job come first, because a waiter may not be allowed to run the job.
const ALL_KINDS: [bool; 2] = [true, false];

/// The calls under way: each is for a worker that is not up yet, or that its poster still looks for.
pub(super) struct Calls<P: Platform> {
    under_way: P::AtomicU32,
    /// When the next call is late, in ticks.
    pub(super) next: P::AtomicU64,
}

impl<P: Platform> Calls<P> {
    pub(super) fn new() -> Self {
        Self {
            under_way: P::AtomicU32::new(0),
            next: P::AtomicU64::new(0),
        }
    }
}

/// The posts of one permit's holder while posters fence. If all posters counted in one word, the word's line would go
/// from core to core with each post.
pub(super) struct FencedPosts<P: Platform> {
    /// The value of `callable` at the last post. It changes when a worker falls asleep.
    word: P::AtomicU32,
    /// The number of posts since the value changed.
    posts: P::AtomicU32,
}

impl<P: Platform> FencedPosts<P> {
    pub(super) fn new() -> Self {
        Self {
            word: P::AtomicU32::new(0),
            posts: P::AtomicU32::new(0),
        }
    }
}

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

    /// Wakes a worker for a job that was just posted, unless such a call is under way and not late. Returns `true` if
    /// no worker sleeps and a permit is vacant.
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
            if is_poster {
                self.count_fenced_post(near, word);
            }
        }
        if word & WAKING != 0 {
            return self.call_late(near, is_poster, word);
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
        before & WAKING == 0 && self.call_sleeper(near, &ALL_KINDS)
    }

    /// Calls a sleeper, at first only of these `kinds`. Returns `true` if no worker sleeps and a permit is vacant.
    fn call_sleeper(&self, near: usize, kinds: &[bool]) -> bool {
        if self.begin_call(near, kinds) {
            return false;
        }
        // All workers were awake, or other posters have called them.
        let Some(word) = self.end_call() else {
            return false;
        };
        // Since then a worker may have lain down, and another poster may have left its job to this call. So this
        // thread looks again.
        if word & SLEEPERS != 0 {
            if self.begin_call(near, &ALL_KINDS) {
                return false;
            }
            self.end_call();
        }
        word & VACANT != 0
    }

    /// Calls another sleeper if the calls under way are late. Returns the same as [`call`](Self::call).
    ///
    /// On an idle machine a wake-up takes tens of microseconds. Meanwhile a single poster may post jobs for many
    /// workers. If each call waited for the last, `n` workers would be awake after the time of `n` wake-ups.
    fn call_late(&self, near: usize, is_poster: bool, word: u32) -> bool {
        // A called worker is counted as a sleeper until it is up. If threads outnumber cores, `absent` takes at most
        // one sleeper as called.
        if (word & SLEEPERS) / FREE < 2 || self.oversubscription.is_some() {
            return false;
        }
        // Relaxed: the time only limits the number of calls.
        let (now, next, relaxed) = (P::now(), &self.calls.next, Ordering::Relaxed);
        let due = next.load(relaxed);
        #[cfg(test)]
        let now = if self.is_hasty { now.max(due) } else { now };
        if now < due {
            return false;
        }
        // Many posters may come here, and a single poster goes on.
        let soon = now + self.idle.wake_cost() / OVERLAP;
        if (next.compare_exchange(due, soon, relaxed, relaxed)).is_err() {
            return false;
        }
        if is_poster {
            self.claim_core(near);
        }
        // A waiter may not be allowed to run the job.
        self.call_sleeper(near, &[true])
    }

    /// Calls a sleeper near worker `near`. In `kinds`, `true` stands for free workers and `false` for waiters. Returns
    /// whether there was a sleeper. If there was none, the caller ends the call.
    fn begin_call(&self, near: usize, kinds: &[bool]) -> bool {
        let began = P::now();
        // Relaxed: the release by `rouse` publishes the count to the called worker.
        let is_first = self.calls.under_way.fetch_add(1, Ordering::Relaxed) == 0;
        let gap = self.idle.wake_cost() / if is_first { SHORT } else { OVERLAP };
        self.calls.next.store(began + gap, Ordering::Relaxed);
        let mut roused = kinds
            .iter()
            .filter_map(|&free| self.slots.rouse_near(near, free, true, None));
        let Some(roused) = roused.next() else {
            return false;
        };
        roused.wake();
        let took = P::now().saturating_sub(began);
        let next = began + gap.max((1 + PAUSE) * took);
        self.calls.next.store(next, Ordering::Relaxed);
        true
    }

    /// A call is over: its worker is up, or there was no sleeper. The last call under way clears WAKING, and returns
    /// the word from before.
    pub(super) fn end_call(&self) -> Option<u32> {
        // AcqRel: the last call comes after all others. Acquire, on the word, pairs with the exchange that counted a
        // sleeper, so that this thread finds the sleeper parked.
        let is_last = self.calls.under_way.fetch_sub(1, Ordering::AcqRel) == 1;
        is_last.then(|| self.callable.fetch_and(!WAKING, Ordering::Acquire))
    }

    /// Counts a post that has fenced. After many posts since the last sleep, posters stop fencing, and the next sleeper
    /// makes a heavy fence.
    pub(super) fn count_fenced_post(&self, poster: usize, word: u32) {
        if !P::has_light_fences() {
            return;
        }
        // Relaxed, and no read-modify-write, since the count affects only speed.
        let (mine, relaxed) = (&self.fenced_posts[poster], Ordering::Relaxed);
        let posts = if mine.word.load(relaxed) == word {
            mine.posts.load(relaxed).saturating_add(1)
        } else {
            mine.word.store(word, relaxed);
            1
        };
        mine.posts.store(posts, relaxed);
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

    /// Wakes a sleeper near worker `near`, in the clusters (groups of near workers) `within` or in any, but not for a
    /// job. Returns whether there was a sleeper.
    pub(super) fn wake_one(&self, near: usize, within: Option<Invited>) -> bool {
        for free in [true, false] {
            if let Some(roused) = self.slots.rouse_near(near, free, false, within) {
                roused.wake();
                return true;
            }
        }
        false
    }
}
