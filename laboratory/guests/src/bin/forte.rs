//! forte. It has joins and no loops, so a range is halved down to single indices.

use forte::{ThreadPool, Worker};
use manycore_guests::{Runtime, halve, run_program};

static POOL: ThreadPool = ThreadPool::new();

struct Forte;

impl Runtime for Forte {
    const JOINS: bool = true;
    const SPAWNS: bool = true;
    type Context<'a> = &'a Worker;

    fn start(threads: usize) -> Self {
        // The caller becomes a worker, too.
        POOL.resize_to(threads - 1);
        Self
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut &Worker) -> T + Send) -> T {
        POOL.with_worker(|mut worker| work(&mut worker))
    }

    fn parallel_for(worker: &mut &Worker, n: usize, body: impl Fn(usize) + Send + Sync) {
        halve::<Self>(worker, 0..n, &body);
    }

    fn sum(worker: &mut &Worker, n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        add(worker, 0, n, &term)
    }

    fn join<A: Send, B: Send>(
        worker: &mut &Worker,
        a: impl FnOnce(&mut &Worker) -> A + Send,
        b: impl FnOnce(&mut &Worker) -> B + Send,
    ) -> (A, B) {
        worker.join(|mut worker| a(&mut worker), |mut worker| b(&mut worker))
    }

    fn spawn_each(worker: &mut &Worker, n: usize, task: impl Fn(usize) + Send + Sync) {
        let task = &task;
        worker.scope(|scope| (0..n).for_each(|at| scope.spawn(move |_| task(at))));
    }
}

/// The sum over `from..to`.
fn add(
    worker: &Worker,
    from: usize,
    to: usize,
    term: &(impl Fn(usize) -> u64 + Send + Sync),
) -> u64 {
    match to - from {
        0 => 0,
        1 => term(from),
        n => {
            let middle = from + n / 2;
            let (a, b) = worker.join(
                |worker| add(worker, from, middle, term),
                |worker| add(worker, middle, to, term),
            );
            a.wrapping_add(b)
        }
    }
}

fn main() {
    run_program::<Forte>()
}
