//! A loop that its caller runs alone for as long as the caller makes progress.
//!
//! The iterations of a loop may wait for each other if the loop has no more iterations than the pool has threads. So
//! the caller of such a loop notes which iteration it begins, and the pool's monitor looks whether the note changes
//! (`pool/watch.rs`). If the note does not change, the monitor gives the remaining iterations to other threads, as
//! jobs of a scope. The caller waits for these jobs at the end.
//!
//! If the caller has posted the loop, the monitor does the same with the iterations that no thread has claimed.
//! This is needed because a posted loop may have invited fewer helpers than it has iterations.
//!
//! This costs some 5 ns for each loop and 1 ns for each iteration. All accesses are to the caller's own cache lines.

use crate::partition::{ALONE, Body, Claims, FixedBlock, Partition};
use crate::pool::{Context, Frame, Group, PartialSlot, Registry, Scope, Worker};
use manycore_cores::sync::let_go;
use manycore_platform::{Atomic, Ordering, Platform};
use std::cell::OnceCell;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;

/// How the caller of a loop runs iterations alone.
pub(super) struct Inline<'a, P: Platform> {
    pub(super) body: Body<'a>,
    /// The index of iteration 0.
    pub(super) start: usize,
    /// `Some` if iterations may wait for each other.
    pub(super) watched: Option<&'a InlineRun<'a, P>>,
}

impl<P: Platform> Copy for Inline<'_, P> {}

impl<P: Platform> Clone for Inline<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, P: Platform> Inline<'a, P> {
    /// Makes the value for a loop with iterations that do not wait for each other.
    #[inline(always)]
    pub(super) fn unwatched(body: Body<'a>, start: usize) -> Self {
        Self {
            body,
            start,
            watched: None,
        }
    }

    /// Makes the value for the loop of `run`.
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
    /// How many iterations the caller has begun. The caller writes this before it begins an iteration.
    begun: P::AtomicUsize,
    /// The caller runs only iterations below this one.
    end: P::AtomicUsize,
    /// The counter of the loop while the loop is posted, or else null.
    counter: P::AtomicPtr<FixedBlock<P>>,
    /// The loop's iteration at which the counter begins.
    first: P::AtomicUsize,
    /// The scope that the caller is in.
    around: *const Group,
    /// The scope of the jobs that run the other iterations. The monitor writes it. The caller reads it after it has
    /// left the frame, which is the record by which the monitor finds the loop.
    rest: OnceCell<Scope<'static, P>>,
    /// The partial results of these jobs.
    partial: PartialSlot<P>,
}

// SAFETY: the only cell is `rest`. The monitor writes it while the caller is in the frame. The caller reads it
// after it has left the frame, and to leave it waits for the monitor (`pool/watch.rs`). All other fields are
// atomic or only read.
unsafe impl<P: Platform> Sync for InlineRun<'_, P> {}

/// A pointer to an `InlineRun`, for another thread.
struct Shared(*const ());

// SAFETY: the pointer stands for a shared reference to an `InlineRun`, which is `Sync`.
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

    /// Calls `run`, which runs all iterations that are the caller's. Once all iterations have run, returns the
    /// result of `run` and whether other threads have run some of them. Returns `None` if the loop cannot be
    /// watched and nothing has run.
    ///
    /// # Panics
    ///
    /// Continues the panic of `run`, or else the first panic of the iterations that other threads ran.
    #[inline(always)]
    pub(super) fn watch<R>(
        &self,
        pool: &Registry<P>,
        run: impl FnOnce() -> R,
    ) -> Option<(R, bool)> {
        unsafe fn rescue<P: Platform>(of: *const ()) {
            // SAFETY: `of` is `self` below, whose frame the caller has not left.
            unsafe { (*of.cast::<InlineRun<'_, P>>()).take_over() };
        }
        let frame = Frame::<P>::new(rescue::<P>, std::ptr::from_ref(self).cast());
        // SAFETY: `frame` and `self` do not move before `leave`. Until then the caller uses only atomics, and it
        // reads `rest` afterwards.
        unsafe { self.worker.watched().enter(&frame) };
        // This read must follow the fence in `enter`.
        let is_monitored = pool.is_monitored();
        if !is_monitored {
            self.worker.watched().leave(&frame);
            // A monitor that has ended since `enter` may have taken iterations over. If so, `rest` is set.
            self.rest.get()?;
        }
        // Unwind safety: the panic continues below, so no code uses broken values.
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

    /// Runs iterations `from..to`, up to the first iteration that the monitor has taken over.
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

    /// Takes all iterations for the caller, so the monitor takes over no more of them. Returns the end of the
    /// caller's iterations.
    pub(super) fn claim_all(&self) -> usize {
        self.begin(self.n)
    }

    /// Records that the caller has begun the first `iterations`. Returns the end of the caller's iterations: the
    /// caller runs only iterations below it.
    #[inline]
    fn begin(&self, iterations: usize) -> usize {
        // Relaxed: the fence in `step` orders this store.
        self.begun.store(iterations, Ordering::Relaxed);
        self.step();
        // Relaxed: if a monitor came before the fence in `step`, `step` has waited for that monitor's lock. A
        // monitor that comes later takes over no iteration that has begun.
        self.end.load(Ordering::Relaxed)
    }

    /// Records that the caller has posted the loop from iteration `first` on, with this `counter`.
    ///
    /// # Safety
    ///
    /// The counter does not move before [`end_post`](Self::end_post).
    pub(super) unsafe fn post(&self, counter: &FixedBlock<P>, first: usize) {
        // Relaxed: the store below publishes this value.
        self.first.store(first, Ordering::Relaxed);
        // Release pairs with the acquire in `take_over`. If a monitor reads the old value, the step below
        // waits for that monitor.
        let counter = std::ptr::from_ref(counter).cast_mut();
        self.counter.store(counter, Ordering::Release);
        self.step();
    }

    /// Records that the caller claims no more from its counter.
    pub(super) fn end_post(&self) {
        // Relaxed: this store publishes nothing. `step` waits for a monitor that uses the counter.
        self.counter.store(std::ptr::null_mut(), Ordering::Relaxed);
        self.step();
    }

    /// Records that the caller makes progress.
    pub(super) fn step(&self) {
        self.worker.watched().step();
    }

    /// The monitor calls this so that other threads run the iterations that no thread has begun.
    fn take_over(&self) {
        // Acquire pairs with the release in `post`: the monitor sees the counter and `first`.
        let counter = self.counter.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or the loop's caller has not left `end_post` yet, so the counter is alive.
        if let Some(counter) = unsafe { counter.as_ref() } {
            // Relaxed: the acquire above orders this load.
            let first = self.first.load(Ordering::Relaxed);
            let mut claims = counter.claims(ALONE);
            while let Some(block) = claims.next() {
                self.have_run(first + block.start..first + block.end);
            }
            return;
        }
        // Relaxed: the monitor's fence orders this load.
        let begun = self.begun.load(Ordering::Relaxed);
        // Earlier calls may have taken the iterations over.
        if begun < self.end.load(Ordering::Relaxed) {
            self.end.store(begun, Ordering::Relaxed);
            self.have_run(begun..self.n);
        }
    }

    /// Spawns a job for each of these iterations, which other threads run.
    fn have_run(&self, iterations: Range<usize>) {
        // SAFETY: the caller waits for the scope before it returns (`await_others`).
        let scope = || unsafe { Scope::of_another(self.worker, self.around) };
        let rest = self.rest.get_or_init(scope);
        for iteration in iterations {
            let this = Shared(std::ptr::from_ref(self).cast::<()>());
            // SAFETY: as above, `self` lives until the scope has ended.
            rest.spawn_for_owner(move |_| unsafe { Self::run_one(this, iteration) });
        }
    }

    /// Runs `iteration` on another thread than the caller's.
    ///
    /// # Safety
    ///
    /// `this` points to an `InlineRun<'_, P>` that lives until this function returns. No other thread runs the
    /// iteration.
    unsafe fn run_one(this: Shared, iteration: usize) {
        // SAFETY: by contract.
        let this = unsafe { &*this.0.cast::<InlineRun<'_, P>>() };
        let index = this.start + iteration;
        let partial = std::ptr::from_ref(&this.partial).cast();
        let mut work = |place| this.body.run_at(place, index..index + 1);
        // SAFETY: `partial` is a slot that only this loop uses.
        unsafe { this.body.inside(ALONE, partial, &mut work) };
    }

    /// The caller waits for the iterations that other threads run, and takes their results.
    #[cold]
    #[inline(never)]
    fn await_others(&self, rest: &Scope<'static, P>) -> thread::Result<()> {
        let ended = catch_unwind(AssertUnwindSafe(|| rest.complete(|_| ())));
        // SAFETY: this is the caller, and the other threads no longer use the slot.
        unsafe { self.body.take(std::ptr::from_ref(&self.partial).cast()) };
        ended
    }
}
