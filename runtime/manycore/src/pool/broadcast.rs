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
    /// Makes the context neither `Send` nor `Sync`, since it describes this thread.
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

    /// The number of the pool's threads, which is also the number of calls.
    ///
    /// ```
    /// let calls = manycore::broadcast(|context| context.num_threads());
    /// assert_eq!(calls.len(), calls[0]);
    /// ```
    pub fn num_threads(&self) -> usize {
        self.threads
    }
}

/// The result of one call. The call writes it, and it is read after all calls.
struct ResultCell<R>(UnsafeCell<Option<thread::Result<R>>>);

// SAFETY: one call writes the cell. The scope's end orders that write before the read.
unsafe impl<R: Send> Sync for ResultCell<R> {}

impl<P: Platform> Registry<P> {
    /// Runs `op` once with each permit (a thread's right to run jobs), and returns the results in the order of the
    /// permits.
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
            // SAFETY: only the call of this index writes the cell, and the cell is read after all calls.
            unsafe { *permit.0.get() = Some(returned) };
        };
        let call = &call;
        // A thread from outside becomes worker 0 if it can. Otherwise it only waits for all calls.
        self.in_place(|worker| {
            Scope::new(self, worker).complete(|scope| {
                self.send_to_all((0..threads).map(|index| scope.job(move |_| call(index))));
                self.read_lost_mail();
            });
        });
        // All calls have run. The panic of the lowest index continues in this thread. The other payloads are dropped,
        // and `let_go` catches panics of their destructors.
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
            Some(payload) => {
                // A second panic while the first panic unwinds would abort the process.
                let_go(results);
                resume_unwind(payload)
            }
        }
    }

    /// As `broadcast`, but with detached jobs.
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
        self.have_lost_mail_read();
    }

    /// Sends the n-th job to the holder of the n-th permit. The caller sees to the mail of lost permits: it calls
    /// `read_lost_mail` if it waits for the jobs, and otherwise `have_lost_mail_read`.
    pub(super) fn send_to_all(&self, jobs: impl Iterator<Item = Job>) {
        if self.is_lacking() {
            self.need_threads();
        }
        for (permit, job) in jobs.enumerate() {
            self.mailboxes()[permit].push(job);
        }
        self.tell_of_mail();
    }

    /// Wakes the threads. Called when each permit's mailbox has got a job.
    #[inline(never)]
    pub(super) fn tell_of_mail(&self) {
        // A thread that could take the job from its mailbox may be waiting for loops on an event count (a count of
        // posts). The post contains a fence, which pairs with the fence of a sleeper between lying down and its last
        // look.
        let all = self.shared().clusters().all();
        self.shared().idle().events.post(all);
        for permit in 0..self.mailboxes().len() {
            self.sleep().notify(permit);
        }
        // The nudge wakes workers that the allotment (the number of cores that the pool may use now) keeps parked.
        self.shared().nudge();
        // Permit 0 may have no holder. If this thread holds permit 0, it takes the job from that mailbox itself.
        let has_permit_0 = Context::worker_of(self).is_some_and(|worker| worker.index() == 0);
        if !has_permit_0 && !self.is_adopted() && !self.mailboxes()[0].is_empty() {
            self.summon();
        }
    }
}
