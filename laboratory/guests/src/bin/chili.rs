//! chili. It has joins and no loops, so a range is halved down to single indices.

use chili::{Config, Scope, ThreadPool};
use manycore_guests::{Runtime, halve, run_program};
use std::num::NonZero;

struct Chili(ThreadPool);

impl Runtime for Chili {
    const JOINS: bool = true;
    const SPAWNS: bool = false;
    type Context<'a> = Scope<'a>;

    fn start(threads: usize) -> Self {
        Self(ThreadPool::with_config(Config {
            thread_count: NonZero::new(threads),
            ..Config::default()
        }))
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut Scope<'_>) -> T + Send) -> T {
        work(&mut self.0.scope())
    }

    fn parallel_for(scope: &mut Scope<'_>, n: usize, body: impl Fn(usize) + Send + Sync) {
        halve::<Self>(scope, 0..n, &body);
    }

    fn sum(scope: &mut Scope<'_>, n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        add(scope, 0, n, &term)
    }

    fn join<A: Send, B: Send>(
        scope: &mut Scope<'_>,
        a: impl FnOnce(&mut Scope<'_>) -> A + Send,
        b: impl FnOnce(&mut Scope<'_>) -> B + Send,
    ) -> (A, B) {
        scope.join(a, b)
    }
}

/// The sum over `from..to`.
fn add(
    scope: &mut Scope<'_>,
    from: usize,
    to: usize,
    term: &(impl Fn(usize) -> u64 + Send + Sync),
) -> u64 {
    match to - from {
        0 => 0,
        1 => term(from),
        n => {
            let middle = from + n / 2;
            let (a, b) = scope.join(
                |scope| add(scope, from, middle, term),
                |scope| add(scope, middle, to, term),
            );
            a.wrapping_add(b)
        }
    }
}

fn main() {
    run_program::<Chili>()
}
