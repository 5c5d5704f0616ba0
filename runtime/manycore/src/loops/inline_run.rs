//! A loop that its caller runs alone while the caller makes progress.
//!
//! The iterations of a loop may wait for each other if there are no more of them than threads. So the
//! caller of such a loop notes which iteration it begins, and the pool's monitor looks whether the note
//! changes (`pool/watch.rs`). If it does not, the monitor gives the remaining iterations to other threads,
//! as jobs of a scope. The caller waits for these jobs at the end.
//!
//! It does the same if the caller has posted the loop: it claims the iterations that no thread has begun.
//! A posted loop may have been worth fewer helpers than it has iterations.
//!
//! Cost: some 5 ns a loop, and 1 ns an iteration, all on lines of the caller's own.

use crate::partition::{ALONE, Body, Claims, FixedBlock, Partition};
use crate::pool::{Context, Frame, Group, PartialSlot, Registry, Scope, Worker};
use manycore_cores::sync::let_go;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::OnceCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// How the caller of a loop runs iterations of it by itself.
pub(super) struct Inline<'a, P: Platform> {
    pub(super) body: Body<'a>,
    /// Index of iteration 0.
    pub(super) start: usize,
    /// If iterations may wait for each other.
    pub(super) watched: Option<&'a InlineRun<'a, P>>,
}

impl<P: Platform> Copy for Inline<'_, P> {}

impl<P: Platform> Clone for Inline<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, P: Platform> Inline<'a, P> {
    /// A loop with iterations that do not wait for each other.
    #[inline(always)]
    pub(super) fn unwatched(body: Body<'a>, start: usize) -> Self {
        Self {
            body,
            start,
            watched: None,
        }
    }

    /// The loop of `run`.
    #[inline(always)]
    pub(super) fn watched(run: &'a InlineRun<'a, P>) -> Self {
        Self {
            body: run.body,
            start: run.start,
            watched: Some(run),
        }
    }

    /// Runs iterations `from..to`. Leaves out the iterations that other threads have taken over.
    #[inline]
    pub(super) fn run(&self, from: usize, to: usize) {
        match self.watched {
            None => self.body.run(ALONE, self.start + from..self.start + to),
            Some(watched) => watched.run(from, to),
        }
    }
}

/// A loop that is watched while its caller runs it.
pub(super) struct InlineRun<'a, P: Platform> {
    worker: &'a Worker<P>,
    body: Body<'a>,
    start: usize,
    n: usize,
    /// How many iterations the caller has begun. It says so before it begins one.
    begun: P::AtomicUsize,
    /// The iterations from here on are not the caller's.
    end: P::AtomicUsize,
    /// The counter of the loop while it is posted, else null; and which iteration is the counter's first.
    counter: P::AtomicPtr<FixedBlock<P>>,
    first: P::AtomicUsize,
    /// The scope that the caller is in.
    around: *const Group,
    /// The jobs that run those iterations. Written by the monitor, and read by the caller after it has left the
    /// frame.
    rest: OnceCell<Scope<'static, P>>,
    /// Their partial results.
    partial: PartialSlot<P>,
}

// SAFETY: the only cell is `rest`. The monitor writes it while the caller is in the frame, and the caller reads it
// after it has left the frame and so waited for the monitor (`pool/watch.rs`). All else is atomic or only read.
unsafe impl<P: Platform> Sync for InlineRun<'_, P> {}

/// An `InlineRun`, for another thread.
struct Shared(*const ());

// SAFETY: a reference to what is `Sync`.
unsafe impl Send for Shared {}

impl<'a, P: Platform> InlineRun<'a, P> {
    /// A loop of `n` iterations from `start`. The current thread, a worker of `pool`, is its caller.
    #[inline(always)]
    pub(super) fn new(pool: &'a Registry<P>, body: Body<'a>, start: usize, n: usize) -> Self {
        let worker = Context::worker_of(pool).expect("loops are run by workers");
        Self {
            worker,
            body,
            start,
            n,
            begun: P::AtomicUsize::new(0),
            end: P::AtomicUsize::new(n),
            counter: P::AtomicPtr::new(std::ptr::null_mut()),
            first: P::AtomicUsize::new(0),
            around: worker.group(),
            rest: OnceCell::new(),
            partial: PartialSlot::new(),
        }
    }

    /// Calls `run`, which runs all iterations that are the caller's. Returns when all have run, with what `run`
    /// has returned and whether other threads have taken iterations over. `None`: the loop cannot be watched, and
    /// nothing was run.
    ///
    /// # Panics
    ///
    /// With the panic of `run`, or else with the first of the iterations that other threads ran.
    #[inline(always)]
    pub(super) fn watch<R>(
        &self,
        pool: &Registry<P>,
        run: impl FnOnce() -> R,
    ) -> Option<(R, bool)> {
        unsafe fn rescue<P: Platform>(of: *const ()) {
            // SAFETY: `self` below, which the caller has not left.
            unsafe { (*of.cast::<InlineRun<'_, P>>()).take_over() };
        }
        let frame = Frame::<P>::new(rescue::<P>, std::ptr::from_ref(self).cast());
        // SAFETY: `frame` and `self` stay here until `leave`. The caller reads `rest` after that, and else
        // atomics only.
        unsafe { self.worker.watched().enter(&frame) };
        // After the fence in `enter`.
        let is_monitored = pool.is_monitored();
        if !is_monitored {
            self.worker.watched().leave(&frame);
            // A monitor that has ended since then may have come.
            self.rest.get()?;
        }
        // Unwind safety: the panic goes on below.
        let result = catch_unwind(AssertUnwindSafe(run));
        if is_monitored {
            self.worker.watched().leave(&frame);
        }
        let others = self.rest.get().map(|rest| self.await_others(rest));
        match (result, others) {
            (Ok(result), None) => Some((result, false)),
            (Ok(result), Some(Ok(()))) => Some((result, true)),
            (Ok(_), Some(Err(panic))) => resume_unwind(panic),
            (Err(panic), others) => {
                let_go(others);
                resume_unwind(panic)
            }
        }
    }

    /// Runs iterations `from..to`, up to the first that is not the caller's.
    #[inline]
    pub(super) fn run(&self, from: usize, to: usize) {
        for iteration in from..to {
            if iteration >= self.begin(iteration + 1) {
                return;
            }
            let index = self.start + iteration;
            self.body.run(ALONE, index..index + 1);
        }
    }

    /// The caller runs no other iteration by itself, and decides about those from `done`. Returns up to
    /// where they are its own.
    pub(super) fn claim_all(&self) -> usize {
        self.begin(self.n)
    }

    /// The caller has begun the first `iterations`. Returns how many are its own.
    #[inline]
    fn begin(&self, iterations: usize) -> usize {
        // Relaxed: the step orders it.
        self.begun.store(iterations, Ordering::Relaxed);
        self.step();
        // Relaxed: if a monitor has come before the fence in `step`, its lock was waited for. A monitor that
        // comes later takes nothing of what is begun.
        self.end.load(Ordering::Relaxed)
    }

    /// The caller has posted the loop from iteration `first` on, with this `counter`.
    ///
    /// # Safety
    ///
    /// The counter stays where it is until [`end_post`](Self::end_post).
    pub(super) unsafe fn post(&self, counter: &FixedBlock<P>, first: usize) {
        // Relaxed: published by the store below.
        self.first.store(first, Ordering::Relaxed);
        // Release pairs with the acquire in `take_over`. If a monitor reads the old value, the step below
        // waits for that monitor.
        let counter = std::ptr::from_ref(counter).cast_mut();
        self.counter.store(counter, Ordering::Release);
        self.step();
    }

    /// The caller claims no more from its counter.
    pub(super) fn end_post(&self) {
        // Relaxed: it publishes nothing. The step waits for a monitor that uses the counter.
        self.counter.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.step();
    }

    /// The caller comes on.
    pub(super) fn step(&self) {
        self.worker.watched().step();
    }

    /// The monitor has others run what no thread has begun.
    fn take_over(&self) {
        // Acquire pairs with the release in `post`: the counter and `first` are there.
        let counter = self.counter.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or its caller has not left `end_post` yet, so the counter is alive.
        if let Some(counter) = unsafe { counter.as_ref() } {
            // Relaxed: see above.
            let first = self.first.load(Ordering::Relaxed);
            let mut claims = counter.claims(ALONE);
            while let Some(block) = claims.next() {
                self.have_run(first + block.start..first + block.end);
            }
            return;
        }
        // Relaxed: the monitor's fence orders it.
        let begun = self.begun.load(Ordering::Relaxed);
        // Not twice.
        if begun < self.end.load(Ordering::Relaxed) {
            self.end.store(begun, Ordering::Relaxed);
            self.have_run(begun..self.n);
        }
    }

    /// Other threads run these iterations, each as a job.
    fn have_run(&self, iterations: Range<usize>) {
        // SAFETY: the caller waits for the scope before it returns (`await_others`).
        let scope = || unsafe { Scope::of_another(self.worker, self.around) };
        let rest = self.rest.get_or_init(scope);
        for iteration in iterations {
            let this = Shared(std::ptr::from_ref(self).cast::<()>());
            // SAFETY: as above, `self` is there until the scope has ended.
            rest.spawn_for_owner(move |_| unsafe { Self::run_one(this, iteration) });
        }
    }

    /// Another thread runs `iteration`.
    ///
    /// # Safety
    ///
    /// `this` is an `InlineRun<'_, P>`, which lives until this has returned. No other thread runs the iteration.
    unsafe fn run_one(this: Shared, iteration: usize) {
        // SAFETY: by contract.
        let this = unsafe { &*this.0.cast::<InlineRun<'_, P>>() };
        let index = this.start + iteration;
        let partial = std::ptr::from_ref(&this.partial).cast();
        let mut work = |place| this.body.run_at(place, index..index + 1);
        // SAFETY: a slot of this loop's.
        unsafe { this.body.inside(ALONE, partial, &mut work) };
    }

    /// The caller waits for the iterations that other threads run, and takes their results.
    #[cold]
    #[inline(never)]
    fn await_others(&self, rest: &Scope<'static, P>) -> thread::Result<()> {
        let ended = catch_unwind(AssertUnwindSafe(|| rest.complete(|_| ())));
        // SAFETY: this is the caller, and the others are done with the slot.
        unsafe { self.body.take(std::ptr::from_ref(&self.partial).cast()) };
        ended
    }
}
