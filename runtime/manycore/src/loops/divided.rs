//! A loop that the laboratory divides in a way of its own.

use super::dispatch::{drive, run};
use crate::partition::{ALONE, Body, CallSite, Partition, Partitioner};
use crate::pool::{Pool, Registry};
use manycore_platform::Platform;
use std::num::NonZeroUsize;
use std::ops::Range;

/// A loop over `0..n`, to be divided. The current thread is a worker of its pool.
pub struct Divided<'a, P: Platform> {
    pool: &'a Registry<P>,
    body: Body<'a>,
    n: usize,
    call_site: CallSite,
}

/// Has `divide` run `body` on blocks of `0..n` in `pool`, if `n` is not 0.
pub fn divided<P: Platform>(
    pool: &Pool<P>,
    n: usize,
    body: impl Fn(Range<usize>) + Sync,
    divide: impl FnOnce(&Divided<'_, P>) + Send,
) {
    let (pool, body) = (pool.registry(), |_, block| body(block));
    let body = Body::new(&body);
    let call_site = CallSite::new(body.address(), n);
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
    /// The iterations, at least one.
    pub fn iterations(&self) -> usize {
        self.n
    }

    /// The threads that may run now; at least one.
    pub fn allowed(&self) -> usize {
        self.pool.shared().allowed()
    }

    /// The core groups that the pool's threads are in.
    pub fn core_groups(&self) -> usize {
        self.pool.shared().core_groups()
    }

    /// The ticks of a claim from the thread's own range on this machine.
    pub fn claim_ticks(&self) -> u64 {
        self.pool.shared().claim_ticks()
    }

    /// The platform's clock rate.
    pub fn ticks_per_ns(&self) -> f32 {
        self.pool.shared().ticks_per_ns()
    }

    /// Ticks an iteration took, if this loop ran lately.
    pub fn recall(&self) -> Option<f32> {
        self.pool.shared().call_sites().recall(self.call_site)
    }

    /// An iteration has taken `ticks`.
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

    /// Shares all iterations among the threads, whatever that costs, as `partition` gives them out.
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
