//! The part of a worker that a monitor (a thread that looks for hung loops) watches, while the worker runs
//! a loop whose iterations may wait for each other.
//!
//! If a loop has no more iterations than the pool has threads, its body may wait for other iterations, at a barrier or
//! for a message. A caller may run such a loop alone, because its earlier runs were short. The caller would then wait
//! for ever. So the caller *steps*: it increments a count before each iteration. If the monitor (`monitor.rs`) finds
//! the same count twice, it *rescues* the loop: other threads run the iterations that the caller has not begun.
//!
//! # Why each iteration is run once, and no frame is used after its end
//!
//! The caller does this at each step, and each time that it leaves a frame (the record of a watched loop):
//!
//! 1. C1: it notes its progress: which iteration it begins, or that it has left the frame.
//! 2. C2: it makes a **light fence**.
//! 3. C3: it reads `stopped`. If this is set, the caller takes and frees the lock `looking` before it goes on.
//!
//! The monitor does this:
//!
//! 1. W1: it takes the lock, and sets `stopped`.
//! 2. W2: it makes a **heavy fence**.
//! 3. W3: it reads the caller's progress, rescues the rest of the loop, and frees the lock.
//!
//! If C2 comes before W2, W3 sees the note of C1. So the monitor takes neither an iteration that the caller has begun
//! nor a frame that the caller has left. If W2 comes first, C3 sees `stopped`, and the caller waits until W3 is over.
//! The lock then makes the caller see which iterations were taken. So while the monitor rescues, the caller is within
//! an iteration, or waits for the lock. `checked/watch.rs` checks this.

use manycore_cores::sync::Lock;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::Cell;

/// The part of a worker that a monitor looks at.
pub(crate) struct Watched<P: Platform> {
    /// The newest frame of the worker's thread, or null.
    newest: P::AtomicPtr<Frame<P>>,
    /// How often the worker's thread has stepped.
    steps: P::AtomicU32,
    /// Whether the worker's thread must take the lock `looking` at its next step.
    stopped: P::AtomicBool,
    looking: Lock<P, ()>,
}

/// A loop that is watched, on its caller's stack.
pub(crate) struct Frame<P: Platform> {
    outer: Cell<*const Self>,
    /// The function to call, with its argument, if the caller makes no progress.
    rescue: unsafe fn(*const ()),
    of: *const (),
}

impl<P: Platform> Frame<P> {
    /// Makes a frame. `of` is the argument of `rescue`.
    pub(crate) fn new(rescue: unsafe fn(*const ()), of: *const ()) -> Self {
        Self {
            outer: Cell::new(std::ptr::null()),
            rescue,
            of,
        }
    }
}

/// A monitor's last look at a worker.
#[derive(Clone, Copy, Default)]
pub(super) struct LastSeen {
    steps: u32,
    is_inside: bool,
    is_rescued: bool,
}

impl<P: Platform> Watched<P> {
    pub(super) fn new() -> Self {
        Self {
            newest: P::AtomicPtr::new(std::ptr::null_mut()),
            steps: P::AtomicU32::new(0),
            stopped: P::AtomicBool::new(!P::has_light_fences()),
            looking: Lock::new(()),
        }
    }

    /// The worker's thread, which calls this, enters `frame`.
    ///
    /// # Safety
    ///
    /// The frame stays where it is until the thread has left it, and all data that its rescue uses are alive until
    /// then. Between two steps the thread does not touch data that the rescue changes.
    #[inline]
    pub(crate) unsafe fn enter(&self, frame: &Frame<P>) {
        // Relaxed: only this thread writes `newest`.
        frame.outer.set(self.newest.load(Ordering::Relaxed));
        // Release: a monitor that finds the frame sees its fields.
        let frame = std::ptr::from_ref(frame).cast_mut();
        self.newest.store(frame, Ordering::Release);
        self.step();
    }

    /// Counts a step. The thread has noted its progress before (C1).
    #[inline]
    pub(crate) fn step(&self) {
        // Relaxed: only this thread writes the count. The fence below orders the store.
        let steps = self.steps.load(Ordering::Relaxed).wrapping_add(1);
        self.steps.store(steps, Ordering::Relaxed);
        // On a platform without light fences this is no fence, but there `stopped` is always set.
        P::untested_light_fence();
        // Relaxed: the lock in `go_on` acquires.
        if self.stopped.load(Ordering::Relaxed) {
            self.go_on();
        }
    }

    /// Waits until no monitor looks.
    #[cold]
    #[inline(never)]
    fn go_on(&self) {
        P::light_fence();
        // Relaxed: `stopped` is written under the lock.
        let stopped = !P::has_light_fences();
        (self.looking).with(|()| self.stopped.store(stopped, Ordering::Relaxed));
    }

    /// The thread leaves `frame`, which is its newest frame.
    #[inline]
    pub(crate) fn leave(&self, frame: &Frame<P>) {
        // Release, as in `enter`: this publishes the outer frame.
        (self.newest).store(frame.outer.get().cast_mut(), Ordering::Release);
        self.step();
    }

    /// Whether the worker is in a frame, as seen a moment ago.
    pub(super) fn is_inside(&self) -> bool {
        !self.newest.load(Ordering::Relaxed).is_null()
    }

    /// The monitor's look at a worker. If the worker is in a frame and has not stepped since the `last` look, this
    /// rescues the worker's frames, at most once between two steps. Returns whether the worker is in a frame or has
    /// stepped.
    pub(super) fn look(&self, last: &mut LastSeen) -> bool {
        let mut now = LastSeen {
            // Relaxed: a hint, which `rescue` checks.
            steps: self.steps.load(Ordering::Relaxed),
            is_inside: self.is_inside(),
            is_rescued: false,
        };
        let has_stepped = now.steps != last.steps;
        if now.is_inside && last.is_inside && !has_stepped {
            now.is_rescued = true;
            if !last.is_rescued {
                self.rescue(now.steps);
            }
        }
        *last = now;
        now.is_inside || has_stepped
    }

    /// Rescues the frames of a worker, if its count is still `steps`.
    fn rescue(&self, steps: u32) {
        self.looking.with(|()| {
            // Relaxed: the fence below orders this store.
            self.stopped.store(true, Ordering::Relaxed);
            P::heavy_fence();
            if self.steps.load(Ordering::Relaxed) != steps {
                return;
            }
            // Acquire pairs with the release in `enter`.
            let mut next: *const Frame<P> = self.newest.load(Ordering::Acquire);
            // SAFETY: the thread has not left the frame, and cannot leave before it has taken the lock (see
            // above). So the outer frames exist, too.
            while let Some(frame) = unsafe { next.as_ref() } {
                // SAFETY: by the contract of `enter`, since the thread is between two steps.
                unsafe { (frame.rescue)(frame.of) };
                next = frame.outer.get();
            }
        });
    }
}
