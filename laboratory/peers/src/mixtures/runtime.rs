//! The two runtimes behind one trait, each call as that runtime's users write it from a
//! thread of their own.

use anyhow::Result;
use rayon::prelude::*;

/// A pool with everything that a mixture calls.
pub trait Runtime: Sync + Sized {
    /// A pool of so many threads.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    fn new(threads: usize) -> Result<Self>;

    /// Runs `body` on `0..n`.
    fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync);

    /// Runs both, perhaps at once.
    fn join(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send);

    /// Runs `job` on `0..jobs`, a job of a scope each.
    fn scope(&self, jobs: usize, job: impl Fn(usize) + Send + Sync);

    /// Runs `job` some time.
    fn spawn(&self, job: impl FnOnce() + Send + 'static);

    /// Runs `op` on every thread, with the thread's index.
    fn broadcast(&self, op: impl Fn(usize) + Send + Sync);

    /// Runs `op` inside the pool.
    fn install(&self, op: impl FnOnce() + Send);
}

pub struct Manycore(manycore::Pool);

impl Runtime for Manycore {
    fn new(threads: usize) -> Result<Self> {
        Ok(Self(manycore::Pool::builder().threads(threads).build()?))
    }

    fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.0.parallel_for(0..n, body);
    }

    fn join(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        self.0.join(a, b);
    }

    fn scope(&self, jobs: usize, job: impl Fn(usize) + Send + Sync) {
        let job = &job;
        self.0.scope(|scope| {
            for i in 0..jobs {
                scope.spawn(move |_| job(i));
            }
        });
    }

    fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        self.0.spawn(job);
    }

    fn broadcast(&self, op: impl Fn(usize) + Send + Sync) {
        self.0.broadcast(|context| op(context.index()));
    }

    fn install(&self, op: impl FnOnce() + Send) {
        self.0.install(op);
    }
}

pub struct Rayon(rayon::ThreadPool);

impl Runtime for Rayon {
    fn new(threads: usize) -> Result<Self> {
        let builder = rayon::ThreadPoolBuilder::new();
        Ok(Self(builder.num_threads(threads).build()?))
    }

    fn parallel_for(&self, n: usize, body: impl Fn(usize) + Send + Sync) {
        self.0.install(|| (0..n).into_par_iter().for_each(body));
    }

    fn join(&self, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
        self.0.join(a, b);
    }

    fn scope(&self, jobs: usize, job: impl Fn(usize) + Send + Sync) {
        let job = &job;
        self.0.scope(|scope| {
            for i in 0..jobs {
                scope.spawn(move |_| job(i));
            }
        });
    }

    fn spawn(&self, job: impl FnOnce() + Send + 'static) {
        self.0.spawn(job);
    }

    fn broadcast(&self, op: impl Fn(usize) + Send + Sync) {
        self.0.broadcast(|context| op(context.index()));
    }

    fn install(&self, op: impl FnOnce() + Send) {
        self.0.install(op);
    }
}
