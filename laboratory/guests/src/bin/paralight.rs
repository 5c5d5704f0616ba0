//! paralight, in its work-stealing mode. It has loops and no joins. The caller of a loop waits and runs no iterations.

use manycore_guests::{Runtime, run_program};
use paralight::prelude::*;
use std::sync::{Mutex, MutexGuard};

/// A mutex, since each loop needs the pool exclusively.
struct Paralight(Mutex<ThreadPool>);

impl Runtime for Paralight {
    const JOINS: bool = false;
    const SPAWNS: bool = false;
    type Context<'a> = MutexGuard<'a, ThreadPool>;

    fn start(threads: usize) -> Self {
        let builder = ThreadPoolBuilder {
            num_threads: ThreadCount::try_from(threads).expect("a number of threads"),
            range_strategy: RangeStrategy::WorkStealing,
            cpu_pinning: CpuPinningPolicy::No,
        };
        Self(Mutex::new(builder.build()))
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut Self::Context<'_>) -> T + Send) -> T {
        work(&mut self.0.lock().expect("a pool"))
    }

    fn parallel_for(pool: &mut Self::Context<'_>, n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n)
            .into_par_iter()
            .with_thread_pool(&mut **pool)
            .for_each(body);
    }

    fn sum(
        pool: &mut Self::Context<'_>,
        n: usize,
        term: impl Fn(usize) -> u64 + Send + Sync,
    ) -> u64 {
        (0..n)
            .into_par_iter()
            .with_thread_pool(&mut **pool)
            .map(term)
            .reduce(|| 0, u64::wrapping_add)
    }
}

fn main() {
    run_program::<Paralight>()
}
