//! Detached jobs: `spawn`.

use super::context::Context;
use super::job::Job;
use super::registry::Registry;
use super::worker::Worker;
use manycore_cores::sync::let_go;
use manycore_platform::Platform;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::abort;

impl<P: Platform> Registry<P> {
    /// Runs `body` on some worker, at some time before the pool has ended.
    pub(super) fn spawn(&self, body: impl FnOnce() + Send + 'static) {
        let job = self.detached(body);
        match Context::worker_of(self) {
            Some(worker) => worker.push_spawned(job),
            None => {
                let was_empty = self.injector().push(job);
                self.call_for(0, was_empty);
            }
        }
    }

    /// As `spawn`, but the jobs of one thread begin in the order of their spawns.
    pub(super) fn spawn_fifo(&self, body: impl FnOnce() + Send + 'static) {
        match Context::worker_of(self) {
            Some(worker) => {
                let job = self.detached(body);
                // SAFETY: workers live as long as their jobs.
                worker.push_spawned(unsafe { worker.fifo().push(job) });
            }
            // The injector keeps the order.
            None => self.spawn(body),
        }
    }

    /// Makes `body` a job for which the pool's end waits. Its panic goes to the panic handler.
    pub(super) fn detached(&self, body: impl FnOnce() + Send + 'static) -> Job {
        self.begin_detached();
        let registry = self.keep();
        // SAFETY: the closure owns what it uses, is `Send`, and catches the panic of `body`.
        unsafe {
            Job::new(move |_| {
                let worker = Context::worker_of(&*registry).expect("jobs are run by workers");
                worker.run_detached(|| {
                    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
                        registry.handle_panic(payload);
                    }
                });
                registry.end_detached();
            })
        }
    }

    /// Handles the panic of a detached job.
    #[inline(never)]
    pub(super) fn handle_panic(&self, payload: Box<dyn Any + Send>) {
        let handled = match self.panic_handler() {
            Some(handler) => match catch_unwind(AssertUnwindSafe(|| handler(payload))) {
                Ok(()) => true,
                Err(thrown) => {
                    let_go(thrown);
                    false
                }
            },
            None => false,
        };
        if !handled {
            eprintln!("manycore: a spawned job panicked, and no handler took it; aborting");
            abort();
        }
    }
}

impl<P: Platform> Worker<P> {
    /// Puts `job` into this worker's queue of spawned jobs, for this worker or for thieves.
    pub(super) fn push_spawned(&self, job: Job) {
        let was_empty = self.spawned().push(job);
        self.posted(was_empty);
    }
}
