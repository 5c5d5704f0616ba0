//! Calls back: a call into another pool that calls into its caller's pool again.
//!
//! A worker of pool A calls pool B and waits. In that call a thread of B calls A. The worker waits for this
//! second call too. So the worker runs it, on top of its wait, and no other thread of A must be
//! woken or started. The job lies in the worker's [`Oneshot`], which the worker watches anyway.
//!
//! A worker that has given its permit away is not called back. Another thread of A works with that permit,
//! and takes the job from A's queue. Nor is a worker that runs another job on top of its wait
//! (`run_others.rs`): the call would wait for the end of that job, which may wait for the call.
//!
//! # One at a time
//!
//! Only the thread that runs the call itself follows the way back ([`Worker::call`]), and it waits until its job
//! has run. So a oneshot has at most one job, and is not notified meanwhile. Other threads that
//! run parts of the call, halves of its joins for one, do not know the way, and use A's queue.

use super::context::Context;
use super::oneshot::Oneshot;
use super::worker::Worker;
use manycore_platform::Platform;
use std::sync::Arc;

/// A call that a thread has handed in, and waits for: on that thread's stack.
pub(super) struct Call<P: Platform> {
    oneshot: Arc<Oneshot<P>>,
    /// The caller's newest context; null: it is a worker of no pool.
    caller: *const Context<P>,
}

impl<P: Platform> Call<P> {
    /// A call by this thread.
    pub(super) fn new(oneshot: &Arc<Oneshot<P>>) -> Self {
        Self {
            oneshot: Arc::clone(oneshot),
            caller: Context::newest(),
        }
    }

    /// The caller waits for this event.
    pub(super) fn oneshot(&self) -> &Oneshot<P> {
        &self.oneshot
    }

    /// The caller's newest context; null: it is a worker of no pool.
    pub(super) fn caller(&self) -> *const Context<P> {
        self.caller
    }
}

impl<P: Platform> Worker<P> {
    /// Runs `section`, which does not unwind, as the call `call`.
    pub(super) fn within_call(&self, call: *const Call<P>, section: impl FnOnce()) {
        let outer = self.enter_call(call);
        section();
        self.enter_call(outer);
    }
}
