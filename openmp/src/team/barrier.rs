//! The barrier inside of a region, and the end of explicit tasks there.
//!
//! The word contains the number of members that have arrived, in the low half, and the number of
//! times that all have, the *phase*, in the high half. The thread that finds all members arrived
//! and no task left opens the barrier, by one exchange of the word, which succeeds once. A member
//! checks for that after its arrival, and a thread after each task that was the last: the last
//! arrival at the word and the count of tasks are sequentially consistent, so that of the last
//! arrival and the last task's end at least one sees the other.
//!
//! In a team of more members than [`SMALL`](super::arrivals::SMALL) the members that wait do not watch
//! the word, since each arrival would take its line from them. They watch `opened`, the phase on a line
//! of its own, which the opener changes after the word. `opened` never falls behind by more than one phase: the next
//! opening needs all members, and they wait for this one.
//!
//! A thread that opens the barrier may be no member (it fulfils the event of a task). If the region is
//! cancelled at that time, members leave the barrier, the region ends, and the thread may change
//! `opened` as late as in the next region. So the change is an exchange of the phase that the thread has found,
//! and a cancelled region's phases do not come again.

use super::arrivals::Arrivals;
use crate::task::Tasks;
use crate::words::bell::Bell;
use manycore_platform::{Atomic, AtomicInteger, CachePadded, Native, Ordering, Platform};

pub(crate) struct Barrier<P: Platform = Native> {
    size: u32,
    arrivals: Arrivals<P>,
    word: CachePadded<P::AtomicU64>,
    /// In a team with groups: the phase again, for members that wait.
    opened: CachePadded<P::AtomicU32>,
}

const ARRIVED: u64 = 0xffff_ffff;

fn phase_of(word: u64) -> u32 {
    (word >> 32) as u32
}

/// The word at the beginning of a phase: no arrivals.
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

    /// Prepares the next region after a cancelled one, where only some members may have arrived.
    pub(crate) fn reset(&self) {
        self.arrivals.reset();
        // Relaxed: published with the next region. The exchanges of the last region find another phase.
        let phase = phase_of(self.word.load(Ordering::Relaxed)).wrapping_add(2);
        self.word.store(fresh(phase), Ordering::SeqCst);
        self.opened.store(phase, Ordering::SeqCst);
    }

    /// How often it was opened, more or less: the same for a member from one barrier to the next.
    #[inline]
    pub(crate) fn phase(&self) -> u32 {
        match self.arrivals.has_groups() {
            true => self.opened.load(Ordering::SeqCst),
            false => phase_of(self.word.load(Ordering::SeqCst)),
        }
    }

    /// Member `id` arrives. Returns the phase before that, and whether all others had arrived.
    #[inline]
    pub(crate) fn arrive(&self, id: u32) -> (u32, bool) {
        let grouped = self.arrivals.has_groups();
        // The member has seen this phase when it left the last barrier.
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

    /// Opens it if this number has arrived, and it is `idle` then. Returns whether it did.
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
            // Sequentially consistent, as the exchange before: a sleeper that has looked in vain is seen by the
            // caller, which rings. It fails only after `reset`.
            let _ = (self.opened).compare_exchange(phase, next, Ordering::SeqCst, Ordering::SeqCst);
        }
        true
    }
}

impl Barrier {
    /// Opens it if all have arrived and nothing is left to do.
    #[inline]
    pub(crate) fn try_open(&self, tasks: &Tasks, bell: &Bell) {
        self.open(self.size, tasks, bell);
    }

    /// Arrives and opens it by one exchange, if all others have arrived and nothing is left to do:
    /// with two exchanges the waiting members would take the line away in between. Threads only, and in a small team only.
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
