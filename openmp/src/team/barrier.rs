//! The barrier inside a region. It opens when all members have arrived and all explicit tasks have ended.
//!
//! The low half of the word is the number of members that have arrived. The high half is the *phase*, the number of
//! times that the barrier was opened. If a thread finds that all members have arrived and no task is left, it opens the
//! barrier. It exchanges the word, which succeeds once in a phase. A member checks this after its arrival, and a thread
//! checks it after the end of the last task. The arrival and the count of tasks are sequentially consistent. So the
//! member that arrives last sees the end of the last task, or the thread that ends this task sees the last arrival.
//!
//! In a team of more members than [`SMALL`](super::arrivals::SMALL) waiting members do not watch the word, since each
//! arrival would take its cache line from them. They watch `opened`, a copy of the phase on a separate cache line. The
//! thread that opens the barrier changes `opened` after the word. `opened` is at most one phase behind the word: the
//! next opening needs the arrival of all members, and these first wait until `opened` has changed.
//!
//! A thread that fulfils the event of a task may open the barrier without being a member. If the region is cancelled at
//! that time, the members leave the barrier and the region ends. The thread may then be so late that it changes
//! `opened` in the next region. So it changes `opened` by a compare-and-exchange from the phase that it has found, and
//! [`Barrier::reset`] ensures that the phases of a cancelled region are not used again.

use super::arrivals::Arrivals;
use crate::task::Tasks;
use crate::words::bell::Bell;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Native, Ordering, Platform};

pub(crate) struct Barrier<P: Platform = Native> {
    size: u32,
    arrivals: Arrivals<P>,
    word: CachePadded<P::AtomicU64>,
    /// In a team with groups, a copy of the phase that waiting members watch.
    opened: CachePadded<P::AtomicU32>,
}

const ARRIVED: u64 = 0xffff_ffff;

fn phase_of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// The word at the beginning of a phase, without arrivals.
fn fresh(phase: u32) -> u64 {
    u64::from(phase) << 32
}

impl<P: Platform> Barrier<P> {
    pub(crate) fn new(size: u32) -> Self {
        Self::with(size, Arrivals::new(size))
    }

    pub(super) fn with(size: u32, arrivals: Arrivals<P>) -> Self {
        Self {
            size,
            arrivals,
            word: CachePadded::new(P::AtomicU64::new(0)),
            opened: CachePadded::new(P::AtomicU32::new(0)),
        }
    }

    /// Prepares the barrier for the next region after a cancelled one, in which only some members may have arrived.
    pub(crate) fn reset(&self) {
        self.arrivals.reset();
        // Relaxed: the next region publishes the new phase. A late exchange for the cancelled region fails, since it
        // finds another phase.
        let phase = phase_of(self.word.load(Ordering::Relaxed)).wrapping_add(2);
        self.word.store(fresh(phase), Ordering::SeqCst);
        self.opened.store(phase, Ordering::SeqCst);
    }

    /// The current phase. For a member, it does not change between two barriers.
    #[inline]
    pub(crate) fn phase(&self) -> u32 {
        match self.arrivals.has_groups() {
            true => self.opened.load(Ordering::SeqCst),
            false => phase_of(self.word.load(Ordering::SeqCst)),
        }
    }

    /// Member `id` arrives. Returns the phase before the arrival, and whether all other members had arrived.
    #[inline]
    pub(crate) fn arrive(&self, id: u32) -> (u32, bool) {
        let grouped = self.arrivals.has_groups();
        // The member saw this phase when it left the previous barrier.
        let known = if grouped { self.phase() } else { 0 };
        let counted = self.arrivals.come(id);
        if counted == 0 {
            return (known, false);
        }
        let word = self.word.fetch_add(u64::from(counted), Ordering::SeqCst);
        debug_assert!(!grouped || phase_of(word) == known);
        let is_last = word & ARRIVED == u64::from(self.size - counted);
        (phase_of(word), is_last)
    }

    /// Whether the barrier was opened since an arrival in the phase `before`.
    #[inline]
    pub(crate) fn is_opened_since(&self, before: u32) -> bool {
        self.phase() != before
    }

    /// Opens the barrier if exactly `arrived` members have arrived and `idle` then returns `true`. Returns whether the
    /// barrier was opened.
    #[inline]
    pub(super) fn open_from(&self, arrived: u32, idle: impl FnOnce() -> bool) -> bool {
        let now = self.word.load(Ordering::SeqCst);
        if now & ARRIVED != u64::from(arrived) || !idle() {
            return false;
        }
        let (phase, next) = (phase_of(now), phase_of(now).wrapping_add(1));
        let exchange = |from: u64, to: u64| {
            self.word
                .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
        };
        if exchange(now, fresh(next)).is_err() {
            return false;
        }
        if self.arrivals.has_groups() {
            // Sequentially consistent, like the exchange of the word: if a thread looked too early and sleeps, the
            // caller sees the sleeper and rings. This exchange fails only after `reset`.
            let _ = (self.opened).compare_exchange(phase, next, Ordering::SeqCst, Ordering::SeqCst);
        }
        true
    }
}

impl Barrier {
    /// Opens the barrier if all members have arrived and no task is left.
    #[inline]
    pub(crate) fn try_open(&self, tasks: &Tasks, bell: &Bell) {
        self.open(self.size, tasks, bell);
    }

    /// If all other members have arrived and no task is left, arrives and opens the barrier by one exchange. With two
    /// exchanges, the waiting members would take the cache line away in between. This is only for threads, not for
    /// ranks (members that `carry` executes). In a team with groups it returns `false`.
    #[inline]
    pub(crate) fn open_at_once(&self, tasks: &Tasks, bell: &Bell) -> bool {
        if self.arrivals.has_groups() {
            return false;
        }
        Native::prefetch_write(std::ptr::from_ref(&*self.word).cast());
        self.open(self.size - 1, tasks, bell)
    }

    #[inline]
    fn open(&self, arrived: u32, tasks: &Tasks, bell: &Bell) -> bool {
        let opened = self.open_from(arrived, || tasks.live() == 0);
        if opened {
            bell.ring_after_rmw();
        }
        opened
    }
}
