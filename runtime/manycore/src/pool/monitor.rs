//! The monitor: a thread that looks whether callers make progress in the loops that they run alone.
//!
//! The pool starts it when a caller runs such a loop (`watch.rs`). It sleeps, and looks at all workers
//! every 2 ms (`monitored.rs`). After a second without such a loop it ends. So a pool without small loops has no monitor,
//! and a loop of a pool that may start no thread is posted.
//!
//! # Why a loop that runs alone has a monitor
//!
//! The caller enters its frame, fences lightly, and reads the state: if it is not ON, it starts a monitor
//! or posts the loop. A monitor that is about to end sets the state to OFF, fences heavily, and looks
//! whether a worker is in a frame. At least one of caller and monitor sees the other. If the monitor finds
//! a frame, it goes on, unless another monitor was started meanwhile.

use manycore_cores::sync::{Lock, Parker};
use manycore_platform::{Atomic, Ordering, Platform};
use std::time::Duration;

/// There is no monitor.
const OFF: u32 = 0;
/// A thread is starting one.
const STARTING: u32 = 1;
/// There is one.
const ON: u32 = 2;

/// A message to the monitor: the pool ends.
const ENDING: u32 = 2;
/// The pool's threads have ended.
const OVER: u32 = 3;

/// A pool's record of its monitor.
pub(super) struct Monitor<P: Platform> {
    state: P::AtomicU32,
    /// The place at which it sleeps.
    parker: Parker<P>,
    /// The thread, also after its end until it is joined.
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

    /// Relaxed: fences order it, see above.
    #[inline]
    pub(super) fn is_on(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ON
    }

    fn change(&self, from: u32, to: u32) -> bool {
        // Acquire pairs with the release in `began`. Else relaxed, as in `is_on`.
        (self.state)
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// A thread is about to start a monitor; `false`: there is one, or another thread starts it.
    pub(super) fn begin(&self) -> bool {
        self.change(OFF, STARTING)
    }

    /// The monitor's thread runs, or could not be started.
    pub(super) fn began(&self, thread: Option<P::Thread>) {
        let state = if thread.is_some() { ON } else { OFF };
        let before = (self.thread).with(|last| std::mem::replace(last, thread));
        // Release: the handle of the thread is there.
        self.state.store(state, Ordering::Release);
        if let Some(before) = before {
            // It has said that it ends.
            P::join(before);
        }
    }

    /// The last message to the monitor: `ENDING`, `OVER`, or none.
    pub(super) fn told(&self) -> Option<u32> {
        Some(self.parker.state()).filter(|&told| told != Parker::<P>::ASLEEP)
    }

    /// The monitor sleeps for `time`, or until its message is another than `told`.
    pub(super) fn nap(&self, told: Option<u32>, time: Duration) {
        (self.parker).sleep(told.unwrap_or(Parker::<P>::ASLEEP), Some(time));
    }

    /// The monitor says that it ends; `false`: it goes on. It does if it `is_needed`, and if the thread that has
    /// started it has not said so.
    pub(super) fn end(&self, is_needed: impl FnOnce() -> bool) -> bool {
        if !self.change(ON, OFF) {
            return false;
        }
        P::heavy_fence();
        !(is_needed() && self.change(OFF, ON))
    }

    /// The pool ends: the monitor ends as soon as no worker is in a frame.
    pub(super) fn call(&self) {
        self.parker.tell(ENDING);
    }

    /// The pool goes on, with a monitor when it needs one.
    pub(super) fn reopen(&self) {
        self.parker.lie_down();
    }

    /// Waits for the end of the monitor. The pool's threads have ended.
    pub(super) fn join(&self) {
        self.parker.tell(OVER);
        if let Some(thread) = self.thread.with(Option::take) {
            P::join(thread);
        }
    }
}
