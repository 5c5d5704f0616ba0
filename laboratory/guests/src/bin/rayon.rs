//! rayon. If `rayon-core` is replaced, this runs manycore behind rayon's interface.

use manycore_guests::{Runtime, run_program};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

struct Rayon(ThreadPool);

impl Runtime for Rayon {
    const JOINS: bool = true;
    const SPAWNS: bool = true;
    type Context<'a> = ();

    fn start(threads: usize) -> Self {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        Self(builder.build().expect("a pool"))
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut ()) -> T + Send) -> T {
        self.0.install(|| work(&mut ()))
    }

    fn parallel_for(_: &mut (), n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n).into_par_iter().for_each(body);
    }

    fn sum(_: &mut (), n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        (0..n)
            .into_par_iter()
            .map(term)
            .reduce(|| 0, u64::wrapping_add)
    }

    fn join<A: Send, B: Send>(
        _: &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }

    fn spawn_each(_: &mut (), n: usize, task: impl Fn(usize) + Send + Sync) {
        let task = &task;
        rayon::scope(|scope| (0..n).for_each(|at| scope.spawn(move |_| task(at))));
    }
}

fn main() {
    run_program::<Rayon>()
}
