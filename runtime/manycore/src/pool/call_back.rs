//! Calls from pool to pool and back: while a worker waits for its call into another pool, that call calls into the
//! worker's pool.
//!
//! A worker of pool A calls pool B and waits. In that call a thread of B calls A. The first call cannot end before the
//! second call. So the waiting worker runs the second call itself, and pool A need not wake or start another thread.
//! The second call's job is put into the worker's [`Oneshot`], which the worker watches anyway.
//!
//! In two cases the job goes to A's queue instead. In the first case, the worker has given its permit (its right to run
//! jobs) away, so that another thread of A works with that permit. In the second case, the worker runs another job
//! while it waits (`run_others.rs`). The second call would then wait for the end of that job, and that job may wait for
//! the second call.
//!
//! # The way back
//!
//! A thread that runs a call has a context (the thread's record about its pools) that names the [`Call`]
//! (`Context::within_call`). The call names its caller's newest context and its outer call. So a thread can follow its
//! calls outwards to a worker of A. An outer call ends after the calls inside it, and a context on the way does not
//! change before its call has ended. If a thread runs another job while it waits, `Context::outside_calls` hides the
//! calls below that job. A thread that runs only a part of a call, such as a half of a join, has no context that names
//! the call, and uses A's queue.
//!
//! # One at a time
//!
//! Each call runs on one thread, and makes one call at a time. So a oneshot has at most one job, and is not
//! notified before that job has run.

use super::context::Context;
use super::oneshot::Oneshot;
use super::registry::Registry;
use super::worker::Worker;
use manycore_platform::Platform;
use std::sync::Arc;

/// A call that a thread has handed in and waits for. It is on that thread's stack.
pub(super) struct Call<P: Platform> {
    oneshot: Arc<Oneshot<P>>,
    /// The caller's newest context, or null if the caller is a worker of no pool.
    caller: *const Context<P>,
    /// The caller's own innermost call, or null.
    outer: *const Self,
    /// The id of the caller's thread.
    thread: u64,
}

impl<P: Platform> Call<P> {
    /// Makes a call by this thread.
    pub(super) fn new(oneshot: &Arc<Oneshot<P>>) -> Self {
        Self {
            oneshot: Arc::clone(oneshot),
            caller: Context::newest(),
            outer: Context::call(),
            thread: P::thread_id(),
        }
    }

    /// The event that ends the caller's wait.
    pub(super) fn oneshot(&self) -> &Oneshot<P> {
        &self.oneshot
    }

    /// Looks through this thread's calls, from the innermost outwards, for a caller that is a worker of
    /// `registry`. Returns that call, if the worker seems to have a permit.
    pub(super) fn back_to(registry: &Registry<P>) -> Option<&Self> {
        let (call, worker) = Self::by_worker_of(registry)?;
        worker.has_permit().then_some(call)
    }

    /// Whether a worker of `registry`, or a thread in a scope of its pool, waits for a call that this thread runs.
    pub(super) fn is_inside(registry: &Registry<P>) -> bool {
        let in_scope = |call: &Self| registry.is_in_scope(call.thread).then_some(());
        Self::by_worker_of(registry).is_some() || Self::find(in_scope).is_some()
    }

    /// The innermost of this thread's calls that a worker of `registry` has made, and that worker.
    fn by_worker_of(registry: &Registry<P>) -> Option<(&Self, &Worker<P>)> {
        Self::find(|call| {
            // SAFETY: this thread runs the call. The call's caller waits, and keeps all that the call names.
            let worker = unsafe { Context::worker_from(call.caller, registry) };
            Some((call, worker?))
        })
    }

    /// Calls `look` with this thread's calls, from the innermost outwards, and returns its first result.
    fn find<'a, R>(mut look: impl FnMut(&'a Self) -> Option<R>) -> Option<R>
    where
        P: 'a,
    {
        let mut call = Context::call();
        // SAFETY: the pointer is null, or points to a call that this thread runs. The call's caller waits, and keeps
        // all objects that the call names.
        while let Some(inner) = unsafe { call.as_ref() } {
            if let Some(found) = look(inner) {
                return Some(found);
            }
            call = inner.outer;
        }
        None
    }
}
