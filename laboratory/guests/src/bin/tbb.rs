//! oneTBB. Loops have its `auto_partitioner`, and run in an arena that the caller enters.

use manycore_guests::foreign::{Job, RunOnce, RunRange, SumRange, runner, summer};
use manycore_guests::{Runtime, run_program};
use std::ffi::{c_int, c_void};
use std::ops::Range;

// SAFETY: native/tbb.cpp defines these functions with these types.
unsafe extern "C" {
    fn guest_start(threads: c_int);
    fn guest_enter(run: RunOnce, job: *mut c_void);
    fn guest_for(n: usize, run: RunRange, body: *const c_void);
    fn guest_blocks(n: usize, block: usize, run: RunRange, body: *const c_void);
    fn guest_sum(n: usize, sum: SumRange, term: *const c_void) -> u64;
    fn guest_join(run_a: RunOnce, a: *mut c_void, run_b: RunOnce, b: *mut c_void);
    fn guest_spawn_each(n: usize, run: RunRange, body: *const c_void);
}

struct Tbb;

impl Runtime for Tbb {
    const JOINS: bool = true;
    const SPAWNS: bool = true;
    type Context<'a> = ();

    fn start(threads: usize) -> Self {
        // SAFETY: the function accepts any positive number, and no other call of this library is under way.
        unsafe { guest_start(threads as c_int) };
        Self
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut ()) -> T + Send) -> T {
        let mut job = Job::new(|| work(&mut ()));
        // SAFETY: the job is run once, and lives until the call ends.
        unsafe { guest_enter(job.runner(), (&raw mut job).cast()) };
        job.result()
    }

    fn parallel_for(_: &mut (), n: usize, body: impl Fn(usize) + Send + Sync) {
        let body = |range: Range<usize>| range.for_each(&body);
        // SAFETY: `run_range` gets the closure of its type, and all its calls end before this call.
        unsafe { guest_for(n, runner(&body), (&raw const body).cast()) };
    }

    fn blocks(_: &mut (), n: usize, block: usize, body: impl Fn(Range<usize>) + Send + Sync) {
        // SAFETY: as above.
        unsafe { guest_blocks(n, block, runner(&body), (&raw const body).cast()) };
    }

    fn sum(_: &mut (), n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        let sum = |range: Range<usize>| range.fold(0, |sum: u64, at| sum.wrapping_add(term(at)));
        // SAFETY: `sum_range` gets the closure of its type, and all its calls end before this call.
        unsafe { guest_sum(n, summer(&sum), (&raw const sum).cast()) }
    }

    fn join<A: Send, B: Send>(
        _: &mut (),
        a: impl FnOnce(&mut ()) -> A + Send,
        b: impl FnOnce(&mut ()) -> B + Send,
    ) -> (A, B) {
        let mut a = Job::new(move || a(&mut ()));
        let mut b = Job::new(move || b(&mut ()));
        let (run_a, run_b) = (a.runner(), b.runner());
        // SAFETY: each job is run once, and both live until the call ends.
        unsafe { guest_join(run_a, (&raw mut a).cast(), run_b, (&raw mut b).cast()) };
        (a.result(), b.result())
    }

    fn spawn_each(_: &mut (), n: usize, task: impl Fn(usize) + Send + Sync) {
        let body = |range: Range<usize>| range.for_each(&task);
        // SAFETY: `run_range` gets the closure of its type, and all tasks end before this call.
        unsafe { guest_spawn_each(n, runner(&body), (&raw const body).cast()) };
    }
}

fn main() {
    run_program::<Tbb>()
}
