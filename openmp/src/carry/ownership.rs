//! Which worker (a kernel thread) owns a rank (a thread of a team), and when workers must look at a rank although no
//! bell rings. The types are generic over the platform, so that `checked` can run them under loom.
//!
//! | word | written by | meaning |
//! |---|---|---|
//! | [`RankWord`] | the worker that takes the rank or has left it | whether a worker owns the rank |
//! | [`Polled`] | the rank's owner, before the rank leaves and after it continues | from when on the rank may continue without a ring of the bell |
//!
//! A worker that finds no rank sleeps at a [`Bell`]. A thread that makes a rank's condition true rings it.

use manycore_cores::sync::Bell;
use manycore_platform::{Atomic, Ordering, Platform};

pub(super) const RUNNING: u32 = 0;
pub(super) const WAITING: u32 = 1;

/// Whether a worker owns the rank.
pub(super) struct RankWord<P: Platform>(P::AtomicU32);

impl<P: Platform> RankWord<P> {
    /// The word of a rank that runs on its own kernel thread.
    pub(super) fn running() -> Self {
        Self(P::AtomicU32::new(RUNNING))
    }

    /// The word itself, for [`detach`](super::switch::detach).
    pub(super) const fn word(&self) -> &P::AtomicU32 {
        &self.0
    }

    /// Whether no worker owned the rank a moment ago.
    pub(super) fn is_waiting(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WAITING
    }

    /// Takes the rank, if no worker owns it.
    pub(super) fn claim(&self) -> bool {
        // Acquire makes the stack and the condition on it visible.
        self.is_waiting()
            && (self.0)
                .compare_exchange(WAITING, RUNNING, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Takes the rank, if no worker owns it, the calling worker `may` run it, and the rank can continue (`goes_on`).
    ///
    /// A worker that may not run the rank does not look at it again. Yet it may have owned the rank for a moment, since
    /// its first call of `may` read an old value. At that moment the worker that may run the rank may have found no
    /// rank, and fallen asleep. So the first worker wakes the others.
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

    /// Puts back a rank that cannot continue. The caller looks at all ranks again before it sleeps, or rings the bell.
    pub(super) fn put_back(&self) {
        // Release orders the caller's reads of the condition, which is on the rank's stack, before this store.
        self.0.store(WAITING, Ordering::Release);
    }

    /// The caller has left the rank's stack. Lets other workers take the rank.
    pub(super) fn leave(&self, bell: &Bell<P>) {
        // Release publishes the rank's stack.
        self.0.store(WAITING, Ordering::Release);
        // The rank's condition may have become true before other workers could see the rank.
        bell.ring();
    }
}

/// When a rank may continue without a bell: at any moment, if the rank waits for memory that others write, or at a
/// given time, if it sleeps. While a rank waits for memory, workers without a rank stay awake. No worker sleeps beyond
/// the earliest of the given times.
///
/// Relaxed is enough. The rank writes the time first. Then its worker leaves the rank and rings: the worker makes a
/// full fence, and reads the count of sleepers. In [`Bell::sleep`], a worker that falls asleep counts itself, makes a
/// full fence, and then reads the time. So the worker that rings finds the sleeper counted, or the sleeper finds the
/// time. If a worker reads late that a rank no longer waits, it only stays awake for longer.
pub(super) struct Polled<P: Platform>(P::AtomicU64);

/// The rank continues only after a ring.
const NEVER: u64 = u64::MAX;

impl<P: Platform> Polled<P> {
    pub(super) fn new() -> Self {
        Self(P::AtomicU64::new(NEVER))
    }

    pub(super) fn set(&self, waits: bool) {
        self.set_time(if waits { 0 } else { NEVER });
    }

    /// The rank may continue from this tick on.
    pub(super) fn set_time(&self, tick: u64) {
        self.0.store(tick, Ordering::Relaxed);
    }

    /// The tick from which the rank may continue, or [`NEVER`] if it needs a ring.
    pub(super) fn time(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
