//! A loop whose iterations the laboratory divides in its own way.

use super::dispatch::{drive, run};
use crate::partition::{ALONE, Body, CallSite, Partition, Partitioner};
use crate::pool::{Pool, Registry};
use manycore_platform::Platform;
use std::num::NonZeroUsize;
use std::ops::Range;

/// A loop over `0..n` that the laboratory divides. The current thread is a worker of the loop's pool.
pub struct Divided<'a, P: Platform> {
    pool: &'a Registry<P>,
    body: Body<'a>,
    n: usize,
    call_site: CallSite,
}

/// If `n` is not 0, calls `divide`, which runs `body` on blocks of `0..n` in `pool`.
pub fn divided<P: Platform>(
    pool: &Pool<P>,
    n: usize,
    body: impl Fn(Range<usize>) + Sync,
    divide: impl FnOnce(&Divided<'_, P>) + Send,
) {
    let (pool, body) = (pool.registry(), |_, block| body(block));
    let body = Body::new(&body);
    let call_site = CallSite::new::<P>(body.address(), n);
    let divided = Divided {
        pool,
        body,
        n,
        call_site,
    };
    if n > 0 {
        pool.inside(|| divide(&divided));
    }
}

impl<P: Platform> Divided<'_, P> {
    /// The number of iterations, at least one.
    pub fn iterations(&self) -> usize {
        self.n
    }

    /// The number of threads that may run now, at least one.
    pub fn allowed(&self) -> usize {
        self.pool.shared().allowed()
    }

    /// The number of core groups that the pool's threads are in.
    pub fn core_groups(&self) -> usize {
        self.pool.shared().core_groups()
    }

    /// The ticks that a thread's claim from its own range costs on this machine.
    pub fn claim_ticks(&self) -> u64 {
        self.pool.shared().claim_ticks()
    }

    /// The clock's ticks in a nanosecond.
    pub fn ticks_per_ns(&self) -> f32 {
        self.pool.shared().ticks_per_ns()
    }

    /// The ticks that an iteration took, if this loop ran lately.
    pub fn recall(&self) -> Option<f32> {
        self.pool.shared().call_sites().recall(self.call_site)
    }

    /// Records that an iteration has taken `ticks`.
    pub fn learn(&self, ticks: f32) {
        let call_sites = self.pool.shared().call_sites();
        match self.recall() {
            None => call_sites.begin(self.call_site, ticks),
            Some(_) => call_sites.update(self.call_site, |choice| choice.saw_alone(1, ticks)),
        }
    }

    /// Runs a block on this thread.
    pub fn run(&self, block: Range<usize>) {
        self.body.run(ALONE, block);
    }

    /// Runs `part` as `partitioner` divides it.
    pub fn run_by(&self, partitioner: Partitioner, part: Range<usize>) {
        drive(self.pool, partitioner, part, self.body);
    }

    /// Shares all iterations among the threads, whatever that costs. `partition` divides them.
    pub fn share<S: Partition>(&self, partition: S) {
        run(
            self.pool,
            0,
            self.n,
            self.body,
            None::<NonZeroUsize>,
            |_| partition,
        );
    }
}
