//! OpenMP, with the linked runtime. Loops are static. If `OMP_SCHEDULE` is `dynamic,N`, loops are
//! dynamic in blocks of N.

use manycore_guests::foreign::{Job, RunOnce, RunRange, SumRange, runner, summer};
use manycore_guests::{Runtime, Together, run_program};
use std::ffi::{c_int, c_void};
use std::ops::Range;

// SAFETY: native/openmp.c and native/together.c define these functions with these types.
unsafe extern "C" {
    fn guest_threads(threads: c_int);
    fn guest_static(n: usize, run: RunRange, body: *const c_void);
    fn guest_dynamic(n: usize, block: usize, run: RunRange, body: *const c_void);
    fn guest_sum_static(n: usize, sum: SumRange, term: *const c_void) -> u64;
    fn guest_sum_dynamic(n: usize, block: usize, sum: SumRange, term: *const c_void) -> u64;
    fn guest_fork(run: RunOnce, job: *mut c_void);
    fn guest_join(run_a: RunOnce, a: *mut c_void, run_b: RunOnce, b: *mut c_void);
    fn guest_spawn_each(n: usize, run: RunRange, body: *const c_void);
    safe fn guest_region();
    safe fn guest_barriers(barriers: c_int);
    safe fn guest_reduction(call: u64) -> u64;
    fn guest_visits(member: c_int) -> u64;
}

/// The blocks of a loop, if it is dynamic.
struct OpenMp(Option<usize>);

impl Runtime for OpenMp {
    const JOINS: bool = true;
    const SPAWNS: bool = true;
    const TEAMS: bool = true;
    type Context<'a> = Option<usize>;

    fn start(threads: usize) -> Self {
        // SAFETY: the function accepts any positive number.
        unsafe { guest_threads(threads as c_int) };
        let schedule = std::env::var("OMP_SCHEDULE").unwrap_or_default();
        let block = schedule.strip_prefix("dynamic,");
        Self(block.and_then(|block| block.parse().ok()))
    }

    fn enter<T: Send>(&self, work: impl FnOnce(&mut Option<usize>) -> T + Send) -> T {
        work(&mut { self.0 })
    }

    fn parallel_for(block: &mut Option<usize>, n: usize, body: impl Fn(usize) + Send + Sync) {
        let body = |range: Range<usize>| range.for_each(&body);
        match *block {
            Some(block) => dynamic(n, block, &body),
            // SAFETY: `run_range` gets the closure of its type, and all its calls end before this
            // call.
            None => unsafe { guest_static(n, runner(&body), (&raw const body).cast()) },
        }
    }

    fn blocks(
        _: &mut Option<usize>,
        n: usize,
        block: usize,
        body: impl Fn(Range<usize>) + Send + Sync,
    ) {
        dynamic(n, block, &body);
    }

    fn sum(block: &mut Option<usize>, n: usize, term: impl Fn(usize) -> u64 + Send + Sync) -> u64 {
        let sum = |range: Range<usize>| range.fold(0, |sum: u64, at| sum.wrapping_add(term(at)));
        let (run, data) = (summer(&sum), (&raw const sum).cast());
        match *block {
            // SAFETY: `sum_range` gets the closure of its type, and all its calls end before this
            // call.
            Some(block) => unsafe { guest_sum_dynamic(n, block, run, data) },
            // SAFETY: as above.
            None => unsafe { guest_sum_static(n, run, data) },
        }
    }

    fn fork<T: Send>(
        block: &mut Option<usize>,
        work: impl FnOnce(&mut Option<usize>) -> T + Send,
    ) -> T {
        let mut job = Job::new(|| work(block));
        // SAFETY: the job is run once, and lives until the call ends.
        unsafe { guest_fork(job.runner(), (&raw mut job).cast()) };
        job.result()
    }

    fn join<A: Send, B: Send>(
        block: &mut Option<usize>,
        a: impl FnOnce(&mut Option<usize>) -> A + Send,
        b: impl FnOnce(&mut Option<usize>) -> B + Send,
    ) -> (A, B) {
        let block = *block;
        let mut a = Job::new(move || a(&mut { block }));
        let mut b = Job::new(move || b(&mut { block }));
        let (run_a, run_b) = (a.runner(), b.runner());
        // SAFETY: each job is run once, and both live until the call ends.
        unsafe { guest_join(run_a, (&raw mut a).cast(), run_b, (&raw mut b).cast()) };
        (a.result(), b.result())
    }

    fn spawn_each(_: &mut Option<usize>, n: usize, task: impl Fn(usize) + Send + Sync) {
        let body = |range: Range<usize>| range.for_each(&task);
        // SAFETY: `run_range` gets the closure of its type, and all tasks end before this call.
        unsafe { guest_spawn_each(n, runner(&body), (&raw const body).cast()) };
    }

    fn together(what: Together, call: u64) -> u64 {
        match what {
            Together::Region => guest_region(),
            Together::Barriers(barriers) => guest_barriers(barriers as c_int),
            Together::Reduction => return guest_reduction(call),
        }
        0
    }

    fn visits(number: usize) -> u64 {
        // SAFETY: the table has room for all members of a team, and no member is in a region.
        unsafe { guest_visits(number as c_int) }
    }
}

fn dynamic(n: usize, block: usize, body: &(impl Fn(Range<usize>) + Sync)) {
    let data = std::ptr::from_ref(body).cast();
    // SAFETY: `run_range` gets the closure of its type, and all its calls end before this call.
    unsafe { guest_dynamic(n, block, runner(body), data) };
}

fn main() {
    run_program::<OpenMp>()
}
