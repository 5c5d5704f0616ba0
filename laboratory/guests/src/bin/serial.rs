//! No runtime: one thread.

use manycore_guests::{Runtime, run_program};

struct Serial;

impl Runtime for Serial {
    const JOINS: bool = true;
    const SPAWNS: bool = true;
    type Context<'a> = ();

    fn start(_threads: usize) -> Self {
        Self
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut ()) -> T + Send) -> T {
        work(&mut ())
    }

    fn parallel_for(_: &mut (), n: usize, body: impl Fn(usize) + Send + Sync) {
        (0..n).for_each(body);
    }

    fn sum(_: &mut (), n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        (0..n).fold(0, |sum: u64, at| sum.wrapping_add(term(at)))
    }
}

fn main() {
    run_program::<Serial>()
}
