//! The monitor: a thread that looks whether callers come on with the loops that they run alone.
//!
//! The pool starts it when a caller runs such a loop (`watch.rs`). It sleeps, and looks at all workers
//! every 2 ms. After a second without such a loop it ends. So a pool without small loops has no monitor,
//! and a loop of a pool that may start no thread is posted.
//!
//! # Why a loop that runs alone has a monitor
//!
//! The caller enters its frame, fences lightly, and reads the state: if it is not ON, it starts a monitor
//! or posts the loop. A monitor that is about to end sets the state to OFF, fences heavily, and looks
//! whether a worker is in a frame. One of the two sees the other. If the monitor finds a frame, it goes
//! on, unless another monitor was started meanwhile.

use super::registry::Registry;
use super::watch::LastSeen;
#[cfg(test)]
use crate::conserving::fault::{self, Fault};
use crate::times::{MONITOR_STAYS, MONITOR_TICK};
use manycore_cores::sync::{Lock, Parker};
use manycore_platform::{Atomic, Ordering, Platform, ThreadSpec};

/// There is no monitor.
const OFF: u32 = 0;
/// A thread is starting one.
const STARTING: u32 = 1;
/// There is one.
const ON: u32 = 2;

/// What the monitor is told: the pool ends.
const ENDING: u32 = 2;
/// The pool's threads have ended.
const OVER: u32 = 3;

/// What a pool knows of its monitor.
pub(super) struct Monitor<P: Platform> {
    state: P::AtomicU32,
    /// Where it sleeps.
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

    /// The monitor `is_on`, or could not be started.
    pub(super) fn began(&self, is_on: bool) {
        // Release: the handle of the thread is there.
        (self.state).store(if is_on { ON } else { OFF }, Ordering::Release);
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

    /// Waits for the end of the monitor of a pool whose threads have ended.
    pub(super) fn join(&self) {
        self.parker.tell(OVER);
        if let Some(thread) = self.thread.with(Option::take) {
            P::join(thread);
        }
    }
}

impl<P: Platform> Registry<P> {
    /// Whether a monitor looks at the frame that the current thread has just entered. Starts one if there is
    /// none. `false`: there can be none now.
    #[inline]
    pub(crate) fn is_monitored(&self) -> bool {
        #[cfg(test)]
        if fault::is(Fault::Unwatched) {
            return true;
        }
        self.monitor().is_on() || self.start_monitor()
    }

    #[cold]
    #[inline(never)]
    fn start_monitor(&self) -> bool {
        let monitor = self.monitor();
        if !self.threads().have_reserve() || self.shared().is_forked() {
            return false;
        }
        if !monitor.begin() {
            return monitor.is_on();
        }
        // The one before has said that it ends.
        if let Some(before) = monitor.thread.with(Option::take) {
            P::join(before);
        }
        let registry = self.keep();
        let spec = ThreadSpec {
            name: self.threads().monitor_name(),
            ..ThreadSpec::default()
        };
        let started = P::spawn(spec, Box::new(move || registry.watch()));
        let is_on = started.is_ok();
        match started {
            Ok(thread) => monitor.thread.with(|slot| *slot = Some(thread)),
            Err(_) => self.threads().note_refusal(),
        }
        // Last: whoever finds the monitor OFF joins its thread.
        monitor.began(is_on);
        is_on
    }

    /// The life of a monitor.
    fn watch(&self) {
        let monitor = self.monitor();
        let mut seen = Vec::new();
        let mut idle_ticks = 0;
        loop {
            let calls = monitor.parker.state();
            let is_idle = idle_ticks >= MONITOR_STAYS || calls != Parker::<P>::ASLEEP;
            let is_needed = || {
                self.workers()
                    .iter()
                    .any(|worker| worker.watched().is_inside())
            };
            if is_idle && monitor.end(is_needed) {
                return;
            }
            monitor.parker.sleep(calls, Some(MONITOR_TICK));
            seen.resize(self.workers().len(), LastSeen::default());
            let mut steps = false;
            for (worker, last) in self.workers().iter().zip(&mut seen) {
                steps |= worker.watched().look(last);
            }
            idle_ticks = if steps { 0 } else { idle_ticks + 1 };
        }
    }
}
