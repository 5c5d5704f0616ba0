//! The trait of runtimes that all programs use.

use std::ops::Range;

/// An operation of a whole team.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// A region in which each member counts a visit.
    Region,
    /// A region with this number of barriers. Each member counts a visit before each barrier.
    Barriers(u32),
    /// A region that reduces three variables: [`Runtime::together`] returns the sum of the members' numbers, plus three
    /// times the least, plus five times the greatest.
    Reduction,
}

/// A pool of threads.
pub trait Runtime: Sized + Sync {
    /// Whether the runtime can join two closures.
    const JOINS: bool;

    /// Whether a scope can spawn tasks.
    const SPAWNS: bool;

    /// Whether the runtime has teams.
    const TEAMS: bool = false;

    /// A handle to the pool, which each thread inside the pool has.
    type Context<'a>;

    /// Starts a pool of `threads` threads. The caller is one of them if the runtime allows it.
    fn start(threads: usize) -> Self;

    /// Runs `work` inside the pool.
    fn enter<T: Send>(&self, work: impl FnOnce(&mut Self::Context<'_>) -> T + Send) -> T;

    /// Runs `body` for each index. The runtime chooses the blocks.
    fn parallel_for(context: &mut Self::Context<'_>, n: usize, body: impl Fn(usize) + Send + Sync);

    /// Runs `body` for each block of `block` iterations. The last block can be shorter.
    fn blocks(
        context: &mut Self::Context<'_>,
        n: usize,
        block: usize,
        body: impl Fn(Range<usize>) + Send + Sync,
    ) {
        Self::parallel_for(context, n.div_ceil(block), |at| {
            body(at * block..n.min((at + 1) * block));
        });
    }

    /// The wrapping sum of `term` over `0..n`.
    fn sum(
        context: &mut Self::Context<'_>,
        n: usize,
        term: impl Fn(usize) -> u64 + Send + Sync,
    ) -> u64;

    /// Runs `work`, which can join and spawn.
    fn fork<T: Send>(
        context: &mut Self::Context<'_>,
        work: impl FnOnce(&mut Self::Context<'_>) -> T + Send,
    ) -> T {
        work(context)
    }

    /// Runs both closures, perhaps at once. Without [`JOINS`](Self::JOINS) they run one after the other.
    fn join<A: Send, B: Send>(
        context: &mut Self::Context<'_>,
        a: impl FnOnce(&mut Self::Context<'_>) -> A + Send,
        b: impl FnOnce(&mut Self::Context<'_>) -> B + Send,
    ) -> (A, B) {
        let a = a(context);
        (a, b(context))
    }

    /// Spawns a task for each index of `0..n`, and waits for all tasks. Without [`SPAWNS`](Self::SPAWNS) this runs a
    /// loop.
    fn spawn_each(context: &mut Self::Context<'_>, n: usize, task: impl Fn(usize) + Send + Sync) {
        Self::parallel_for(context, n, task);
    }

    /// Runs a region of a team, if the runtime has [`TEAMS`](Self::TEAMS). In a reduction the
    /// members' numbers begin with `call`.
    fn together(_what: Together, _call: u64) -> u64 {
        0
    }

    /// How many visits member `number` of a team has counted.
    fn visits(_number: usize) -> u64 {
        0
    }
}

/// Runs a loop by joins: halves the range down to single indices.
pub fn halve<R: Runtime>(
    context: &mut R::Context<'_>,
    range: Range<usize>,
    body: &(impl Fn(usize) + Send + Sync),
) {
    match range.len() {
        0 => (),
        1 => body(range.start),
        n => {
            let middle = range.start + n / 2;
            R::join(
                context,
                |context| halve::<R>(context, range.start..middle, body),
                |context| halve::<R>(context, middle..range.end, body),
            );
        }
    }
}
