//! Launching a loop: the body without its type, the frame that helpers share,
//! and the caller's way through a posted loop.

use super::partition::{Claims, Partition};
use crate::pool::{Context, Job, Shared};
use manycore_platform::{Atomic, Ordering, Platform};
use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Mutex, PoisonError};

/// A loop's body, its type erased: the launcher and the partitioners are
/// compiled once, not once for each loop in a program. The price is one
/// indirect call a block.
#[derive(Clone, Copy)]
pub(crate) struct Body<'a> {
    data: *const (),
    call: unsafe fn(*const (), usize, Range<usize>),
    lives: std::marker::PhantomData<&'a ()>,
}

// SAFETY: made from a reference to a `Sync` closure only.
unsafe impl Sync for Body<'_> {}

impl<'a> Body<'a> {
    /// `body` is called with the rank of the participant and a block of
    /// iterations.
    #[inline(always)]
    pub(crate) fn new<F: Fn(usize, Range<usize>) + Sync>(body: &'a F) -> Self {
        unsafe fn call<F: Fn(usize, Range<usize>)>(
            data: *const (),
            rank: usize,
            block: Range<usize>,
        ) {
            // SAFETY: `data` is the `&F` below, which `Body<'a>` outlives not.
            unsafe { (*data.cast::<F>())(rank, block) }
        }
        Self {
            data: std::ptr::from_ref(body).cast(),
            call: call::<F>,
            lives: std::marker::PhantomData,
        }
    }

    /// Runs a block.
    #[inline(always)]
    pub(crate) fn run(&self, rank: usize, block: Range<usize>) {
        // SAFETY: `call` and `data` belong together and the closure is alive.
        unsafe { (self.call)(self.data, rank, block) }
    }

    /// The address of the body's code, which tells loops apart.
    #[inline(always)]
    pub(crate) fn address(&self) -> usize {
        self.call as usize
    }
}

/// What all who take part in a posted loop share; on the caller's stack.
struct Frame<'a, P: Platform, S: Partition> {
    body: Body<'a>,
    /// Index of the partition's iteration 0.
    start: usize,
    partition: &'a S,
    /// Set when a body has panicked: claim no more. Read once a block, from a
    /// line that is otherwise only read.
    stop: P::AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl<P: Platform, S: Partition> Frame<'_, P, S> {
    /// Claims and runs blocks until nothing is left. A panic of the body stops
    /// the loop and is kept for the caller.
    fn take_part(&self, rank: usize) {
        let work = || {
            let mut claims = self.partition.claims(rank);
            while let Some(block) = claims.next() {
                // Relaxed: a late look costs a block, not correctness.
                if self.stop.load(Ordering::Relaxed) {
                    break;
                }
                self.body
                    .run(rank, self.start + block.start..self.start + block.end);
            }
        };
        // Unwind safety: the frame's own state is atomics, and what the body
        // broke the caller learns of by the panic it gets.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
            self.stop.store(true, Ordering::Relaxed);
            let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(payload);
        }
    }
}

/// Helpers that a loop wants, and whether to wake them.
#[derive(Clone, Copy)]
pub(crate) struct Call {
    pub(crate) helpers: usize,
    pub(crate) wake: bool,
}

/// Runs a partitioned loop on the calling thread alone, claims and all.
pub(crate) fn run_alone<S: Partition>(body: Body<'_>, start: usize, rank: usize, partition: &S) {
    let mut claims = partition.claims(rank);
    while let Some(block) = claims.next() {
        body.run(rank, start + block.start..start + block.end);
    }
}

impl<P: Platform> Shared<P> {
    /// Posts a loop in `slot`, which this thread has taken, works in it until
    /// it is done, and gives the slot back.
    ///
    /// # Panics
    ///
    /// With the first panic of a body, after every participant has left.
    pub(crate) fn post<S: Partition>(
        &self,
        slot: usize,
        context: &Context<P>,
        body: Body<'_>,
        start: usize,
        partition: &S,
        call: Call,
    ) {
        unsafe fn run<P: Platform, S: Partition>(frame: *const (), rank: usize) {
            // SAFETY: `frame` is the `Frame<P, S>` below, which lives until
            // the gate is closed and empty; the caller of this is inside.
            unsafe { (*frame.cast::<Frame<'_, P, S>>()).take_part(rank) }
        }
        let frame = Frame::<P, S> {
            body,
            start,
            partition,
            stop: P::AtomicBool::new(false),
            panic: Mutex::new(None),
        };
        let job = Job {
            frame: std::ptr::from_ref(&frame).cast(),
            run: run::<P, S>,
            helpers: call.helpers as u32,
        };
        // SAFETY: this thread took the slot, so its gate is closed and empty.
        unsafe { self.board.slot(slot).set_job(job, context.running) };
        self.board.slot(slot).gate().open();
        if self.idle.events.post() > 0 && call.wake {
            self.idle.wake(1);
        }
        // From here to the end of `wait` nothing may unwind past the frame:
        // `take_part` catches what the body throws, the rest does not panic.
        let inside = Context::new(self, context.rank, Some(slot));
        inside.enter(|| frame.take_part(context.rank));
        self.wait(slot, context.rank);
        self.board.release(slot);
        let panic = frame
            .panic
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }
}
