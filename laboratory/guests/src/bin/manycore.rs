//! manycore's own interface.

use manycore::{Partitioner, Pool};
use manycore_guests::{Runtime, run_program};
use std::ops::Range;

struct Manycore(Pool);

/// Loops and joins use the pool of their thread.
impl Runtime for Manycore {
    const JOINS: bool = true;
    const SPAWNS: bool = true;
    type Context<'a> = &'a Pool;

    fn start(threads: usize) -> Self {
        Self(Pool::builder().threads(threads).build().expect("a pool"))
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut &Pool) -> T + Send) -> T {
        self.0.install(|| work(&mut &self.0))
    }

    fn parallel_for(_: &mut &Pool, n: usize, body: impl Fn(usize) + Send + Sync) {
        manycore::parallel_for(0..n, body);
    }

    fn blocks(pool: &mut &Pool, n: usize, block: usize, body: impl Fn(Range<usize>) + Send + Sync) {
        pool.with(Partitioner::fixed_block(block))
            .parallel_for_blocks(0..n, body);
    }

    fn sum(_: &mut &Pool, n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        manycore::map_reduce(0..n, || 0, term, u64::wrapping_add)
    }

    fn join<A: Send, B: Send>(
        pool: &mut &Pool,
        a: impl FnOnce(&mut &Pool) -> A + Send,
        b: impl FnOnce(&mut &Pool) -> B + Send,
    ) -> (A, B) {
        let pool = *pool;
        manycore::join(|| a(&mut { pool }), || b(&mut { pool }))
    }

    fn spawn_each(_: &mut &Pool, n: usize, task: impl Fn(usize) + Send + Sync) {
        let task = &task;
        manycore::scope(|scope| (0..n).for_each(|at| scope.spawn(move |_| task(at))));
    }
}

fn main() {
    run_program::<Manycore>()
}
