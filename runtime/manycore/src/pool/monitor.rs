//! The monitor: a thread that checks whether callers make progress in the loops that they run alone.
//!
//! The pool starts the monitor when a caller runs a loop alone and the loop may need help (`watch.rs`). The monitor
//! looks at all workers every 2 ms (`monitored.rs`) and sleeps in between. After a second without such a loop it ends.
//! So a pool without such loops has no monitor. If the pool may not start a thread, the caller posts the loop instead.
//!
//! # Why a loop that its caller runs alone has a monitor
//!
//! The caller enters its frame (the record of the loop for the monitor), makes a light fence, and reads the monitor's
//! state. If the state is not ON, the caller starts a monitor or posts the loop. A monitor that is about to end sets
//! the state to OFF, makes a heavy fence, and looks whether a worker is in a frame. So the caller sees OFF, or the
//! monitor sees the frame. If the monitor sees a frame, it goes on, unless another monitor was started meanwhile.

use manycore_cores::sync::{Lock, Parker};
use manycore_platform::{Atomic, Ordering, Platform};
use std::time::Duration;

/// There is no monitor.
const OFF: u32 = 0;
/// A thread is starting a monitor.
const STARTING: u32 = 1;
/// There is a monitor.
const ON: u32 = 2;

/// A message to the monitor: the pool ends.
const ENDING: u32 = 2;
/// A message to the monitor: the pool's threads have ended.
const OVER: u32 = 3;

/// A pool's record of its monitor.
pub(super) struct Monitor<P: Platform> {
    state: P::AtomicU32,
    /// The monitor sleeps in this parker. The parker's state is the last message to the monitor.
    parker: Parker<P>,
    /// The monitor's thread, until it is joined.
    thread: Lock<P, Option<P::Thread>>,
}

impl<P: Platform> Monitor<P> {
    pub(super) fn new() -> Self {
        Self {
            state: P::AtomicU32::new(OFF),
            parker: Parker::asleep(),
            thread: Lock::new(None),
        }
    }

    /// Whether there is a monitor. Relaxed: the fences that the module describes order this load.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ON
    }

    fn change(&self, from: u32, to: u32) -> bool {
        // Acquire pairs with the release in `began`. On failure relaxed suffices, as in `is_on`.
        (self.state)
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Announces that the current thread starts a monitor. Returns `false` if a monitor exists, or another thread
    /// is starting one.
    pub(super) fn begin(&self) -> bool {
        self.change(OFF, STARTING)
    }

    /// Records the monitor's new thread, or `None` if it could not be started.
    pub(super) fn began(&self, thread: Option<P::Thread>) {
        let state = if thread.is_some() { ON } else { OFF };
        let before = (self.thread).with(|last| std::mem::replace(last, thread));
        // Release publishes the thread's handle, which was stored before.
        self.state.store(state, Ordering::Release);
        if let Some(before) = before {
            // The earlier monitor has announced its end.
            P::join(before);
        }
    }

    /// Whether a monitor was started and not joined.
    pub(super) fn has_thread(&self) -> bool {
        self.thread.with(|thread| thread.is_some())
    }

    /// The last message to the monitor: `ENDING`, `OVER`, or none.
    pub(super) fn told(&self) -> Option<u32> {
        Some(self.parker.state()).filter(|&told| told != Parker::<P>::ASLEEP)
    }

    /// Puts the monitor to sleep for `time`, or until its message differs from `told`.
    pub(super) fn nap(&self, told: Option<u32>, time: Duration) {
        (self.parker).sleep(told.unwrap_or(Parker::<P>::ASLEEP), Some(time));
    }

    /// The monitor announces its end. Returns `false` if it must go on: `is_needed` returns `true`, or the thread that
    /// started it has not yet called `began`.
    pub(super) fn end(&self, is_needed: impl FnOnce() -> bool) -> bool {
        if !self.change(ON, OFF) {
            return false;
        }
        P::heavy_fence();
        !(is_needed() && self.change(OFF, ON))
    }

    /// Makes the monitor end as soon as no worker is in a frame. Called when the pool ends.
    pub(super) fn call(&self) {
        self.parker.notify(ENDING);
    }

    /// Takes the messages back. Called when the pool's threads have ended and the pool stays usable (`thread_set.rs`).
    pub(super) fn reopen(&self) {
        self.parker.lie_down();
    }

    /// Waits until the monitor has ended. Called after the pool's threads have ended.
    pub(super) fn join(&self) {
        self.parker.notify(OVER);
        if let Some(thread) = self.thread.with(Option::take) {
            P::join(thread);
        }
    }
}
