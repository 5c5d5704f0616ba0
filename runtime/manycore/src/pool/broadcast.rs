//! The same job on every thread of a pool.

use super::context::Context;
use super::job::Job;
use super::registry::Registry;
use super::scope::Scope;
use manycore_cores::sync::let_go;
use manycore_platform::Platform;
use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::thread;

/// The place at which a broadcast job runs.
///
/// ```
/// let pool = manycore::Pool::builder().threads(3).build()?;
/// let squares = pool.broadcast(|context| context.index() * context.num_threads());
/// assert_eq!(squares, [0, 3, 6]);
/// # Ok::<(), manycore::BuildError>(())
/// ```
#[derive(Debug)]
pub struct BroadcastContext<'a> {
    index: usize,
    threads: usize,
    /// About this thread: neither `Send` nor `Sync`.
    thread: PhantomData<&'a *mut ()>,
}

impl BroadcastContext<'_> {
    pub(super) fn new(index: usize, threads: usize) -> Self {
        Self {
            index,
            threads,
            thread: PhantomData,
        }
    }

    /// Which of the pool's threads this is, from 0.
    ///
    /// ```
    /// assert_eq!(manycore::broadcast(|context| context.index())[0], 0);
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// The pool's threads: as many calls there are.
    ///
    /// ```
    /// let calls = manycore::broadcast(|context| context.num_threads());
    /// assert_eq!(calls.len(), calls[0]);
    /// ```
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

/// The result of one call, written by it and read after all of them.
struct ResultCell<R>(UnsafeCell<Option<thread::Result<R>>>);

// SAFETY: one call writes it, and the scope's end orders that before the reading.
unsafe impl<R: Send> Sync for ResultCell<R> {}

impl<P: Platform> Registry<P> {
    /// Runs `op` once with each permit and returns the results in their order.
    pub(super) fn broadcast<OP, R>(&self, op: OP) -> Vec<R>
    where
        OP: Fn(BroadcastContext<'_>) -> R + Sync,
        R: Send,
    {
        let threads = self.mailboxes().len();
        let permits: Vec<ResultCell<R>> = (0..threads)
            .map(|_| ResultCell(UnsafeCell::new(None)))
            .collect();
        let call = |index: usize| {
            let returned = catch_unwind(AssertUnwindSafe(|| {
                op(BroadcastContext::new(index, threads))
            }));
            let permit: &ResultCell<R> = &permits[index];
            // SAFETY: the call of this index is the only one to write it.
            unsafe { *permit.0.get() = Some(returned) };
        };
        let call = &call;
        // From outside: as worker 0 if that can be, or else waiting for all.
        self.in_place(|worker| {
            Scope::new(self, worker).complete(|scope| {
                self.send_to_all((0..threads).map(|index| scope.job(move |_| call(index))));
            });
        });
        // All have run: the panic of the lowest index is raised. Destructors of the
        // other payloads may panic in their turn, and are let.
        let mut first = None;
        let mut results = Vec::with_capacity(threads);
        for permit in permits {
            match permit.0.into_inner().expect("each index was called") {
                Ok(result) => results.push(result),
                Err(payload) if first.is_none() => first = Some(payload),
                Err(later) => let_go(later),
            }
        }
        match first {
            None => results,
            Some(payload) => resume_unwind(payload),
        }
    }

    /// As `broadcast`, but detached.
    pub(super) fn spawn_broadcast<OP>(&self, op: OP)
    where
        OP: Fn(BroadcastContext<'_>) + Send + Sync + 'static,
    {
        let op = Arc::new(op);
        let threads = self.mailboxes().len();
        let jobs = (0..threads).map(|index| {
            let op = Arc::clone(&op);
            self.detached(move || op(BroadcastContext::new(index, threads)))
        });
        self.send_to_all(jobs);
    }

    /// Sends the n-th job to the holder of the n-th permit.
    pub(super) fn send_to_all(&self, jobs: impl Iterator<Item = Job>) {
        if self.is_lacking() {
            self.need_threads();
        }
        for (permit, job) in jobs.enumerate() {
            self.mailboxes()[permit].push(job);
        }
        self.tell_of_mail();
    }

    /// Every permit has mail.
    #[inline(never)]
    pub(super) fn tell_of_mail(&self) {
        // Whoever may take it looks for loops, perhaps, on an event count. The post has
        // a fence: against a sleeper's between lying down and its last look.
        let all = self.shared().clusters().all();
        self.shared().idle().events.post(all);
        for permit in 0..self.mailboxes().len() {
            self.sleep().notify(permit);
        }
        // Workers that stand aside are woken by the nudge.
        self.shared().nudge();
        // Permit 0 may have no holder. The mail of this thread's own permit it reads itself.
        let has_permit_0 = Context::worker_of(self).is_some_and(|worker| worker.index() == 0);
        if !has_permit_0 && !self.is_adopted() && !self.mailboxes()[0].is_empty() {
            self.summon();
        }
    }
}
