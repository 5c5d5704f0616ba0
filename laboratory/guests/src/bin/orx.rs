//! orx-parallel, with its persistent pool. It has loops and no joins.

use manycore_guests::{Runtime, run_program};
use orx_parallel::*;

/// The number of threads that loops use. The process has one pool.
struct Orx(usize);

impl Runtime for Orx {
    const JOINS: bool = false;
    const SPAWNS: bool = false;
    type Context<'a> = usize;

    fn start(threads: usize) -> Self {
        // SAFETY: the process has no other thread yet.
        unsafe { std::env::set_var("ORX_NUM_THREADS", threads.to_string()) };
        Self(threads)
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut usize) -> T + Send) -> T {
        work(&mut { self.0 })
    }

    fn parallel_for(threads: &mut usize, n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n).par().num_threads(*threads).for_each(&body);
    }

    fn sum(threads: &mut usize, n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        (0..n)
            .par()
            .num_threads(*threads)
            .map(&term)
            .reduce(u64::wrapping_add)
            .unwrap_or(0)
    }
}

fn main() {
    run_program::<Orx>()
}
