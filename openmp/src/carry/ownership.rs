//! Which worker has a rank, and when workers must ask it. Generic over the platform: `checked` runs it under loom.
//!
//! | word | written by | what it says |
//! |---|---|---|
//! | [`RankWord`] | who takes a rank, who has left it | who has the rank |
//! | [`Polled`] | who has the rank, before it leaves and after it goes on | from when on it may go on without a bell |
//!
//! Workers that find no rank sleep at a [`Bell`].

use manycore_cores::sync::Bell;
use manycore_platform::{Atomic, Ordering, Platform};

pub(super) const RUNNING: u32 = 0;
pub(super) const WAITING: u32 = 1;

/// Whether a worker has the rank.
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

    /// Whether no worker had it a moment ago.
    pub(super) fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING
    }

    /// Takes the rank, if no worker has it.
    pub(super) fn claim(&self) -> bool {
        // Acquire: the stack, and the condition on it.
        self.is_waiting()
            && (self.0)
                .compare_exchange(WAITING, RUNNING, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Takes the rank, if no worker has it, the calling worker `may` run it, and it `goes_on`.
    ///
    /// A worker that may not run the rank does not look at it again. Yet it may have had the rank for a
    /// moment, since what it read before was old, and the worker that may run it found none then and
    /// fell asleep. So it wakes the others.
    pub(super) fn take(
        &self,
        bell: &Bell<P>,
        may: impl Fn() -> bool,
        goes_on: impl FnOnce() -> bool,
    ) -> bool {
        if !may() || !self.claim() {
            return false;
        }
        let is_allowed = may();
        let is_taken = is_allowed && goes_on();
        if !is_taken {
            self.put_back();
        }
        if !is_allowed {
            bell.ring();
        }
        is_taken
    }

    /// The rank was looked at, and does not go on. The caller looks at all again before it sleeps, or
    /// rings.
    pub(super) fn put_back(&self) {
        // Release: the look at the condition, which lives on the rank's stack.
        self.0.store(WAITING, Ordering::Release);
    }

    /// The rank's stack is left: others may go on with it.
    pub(super) fn leave(&self, bell: &Bell<P>) {
        // Release: the stack.
        self.0.store(WAITING, Ordering::Release);
        // Its condition may hold since before it was to be seen.
        bell.ring();
    }
}

/// When a rank may go on without a bell: at any moment, if it waits for memory that others write, or at a time, if it
/// sleeps. While a rank waits for memory, a worker that has nothing else stays awake. A worker sleeps no longer than
/// until the first of the times.
///
/// Relaxed is enough. The rank writes the time first. Then its worker leaves the rank and rings: that is a full fence, and a look
/// at the count of sleepers. A worker that falls asleep counts itself, makes a full fence, and then reads the time,
/// in [`Bell::sleep`]. So the ringer finds the sleeper counted, or the sleeper finds the time. That a rank waits no more may be seen late: then a worker
/// is awake for longer.
pub(super) struct Polled<P: Platform>(P::AtomicU64);

/// It is rung for.
const NEVER: u64 = u64::MAX;

impl<P: Platform> Polled<P> {
    pub(super) fn new() -> Self {
        Self(P::AtomicU64::new(NEVER))
    }

    pub(super) fn set(&self, waits: bool) {
        self.set_time(if waits { 0 } else { NEVER });
    }

    /// It may go on from this tick on.
    pub(super) fn set_time(&self, tick: u64) {
        self.0.store(tick, Ordering::Relaxed);
    }

    /// The tick at which it may go on. The last tick of all stands for a bell.
    pub(super) fn time(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
