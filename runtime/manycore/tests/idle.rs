//! Idle workers use almost no CPU time.
#![cfg(target_os = "linux")]

#[path = "support/eventually.rs"]
mod eventually;
#[path = "support/partitioners.rs"]
mod partitioners;
#[path = "support/tasks.rs"]
mod tasks;

use eventually::eventually;
use manycore::Pool;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The workers have time `QUIET` to fall asleep, and are then measured for `WATCHED`.
const QUIET: Duration = Duration::from_millis(200);
const WATCHED: Duration = Duration::from_millis(300);
/// Nanoseconds of CPU time that all workers together may use while they are measured.
///
/// The kernel charges this time only to a thread that runs: a sleeping thread uses none, even on a loaded
/// machine and after delays. A thread that spins would use up to 300 ms; a thread that wakes every
/// millisecond, some 5 ms.
const ALLOWED: u64 = 2_000_000;

/// Returns the CPU time of the thread at `task`, in nanoseconds.
fn cpu_time(task: &Path) -> u64 {
    let text = fs::read_to_string(task.join("schedstat")).expect("the kernel keeps schedstat");
    let first = text.split(' ').next().expect("time on the CPU");
    first.parse().expect("a number of nanoseconds")
}

/// Runs `loops` and then measures the workers of their pool. One pool has at most a thread for each core (but
/// at least two), the other has more threads.
fn check(name: &str, spin_budget: Option<Duration>, loops: impl Fn(&Pool)) {
    for threads in [2, 5] {
        let name = format!("{name}-{threads}");
        let builder = Pool::builder().threads(threads).name(&name);
        let builder = match spin_budget {
            Some(budget) => builder.spin_budget(budget),
            None => builder,
        };
        let pool = builder.build().unwrap();
        loops(&pool);
        let workers = eventually("the workers have their names", || {
            Some(tasks::named(&name)).filter(|workers| workers.len() == threads - 1)
        });
        thread::sleep(QUIET);
        let before: u64 = workers.iter().map(|task| cpu_time(task)).sum();
        thread::sleep(WATCHED);
        let used = workers.iter().map(|task| cpu_time(task)).sum::<u64>() - before;
        assert!(used <= ALLOWED, "{name}: {used} ns of CPU time while idle");
    }
}

fn every_partitioner(pool: &Pool) {
    for partitioner in partitioners::all() {
        pool.with(partitioner).parallel_for(0..1_000, |_| ());
    }
}

#[test]
fn a_new_pool_sleeps() {
    check("new", None, |_| ());
}

#[test]
fn after_one_loop() {
    check("once", None, |pool| pool.parallel_for(0..100_000, |_| ()));
}

#[test]
fn after_many_loops_in_a_row() {
    check("row", None, |pool| {
        (0..100).for_each(|_| every_partitioner(pool));
    });
}

/// The workers have learned to wake for the next loop, which is not called.
#[test]
fn after_a_rhythm() {
    for period in [1, 5, 20] {
        check(&format!("beat{period}"), None, |pool| {
            for _ in 0..20 {
                every_partitioner(pool);
                thread::sleep(Duration::from_millis(period));
            }
        });
    }
}

#[test]
fn after_nested_loops_and_panics() {
    check("nested", None, |pool| {
        pool.parallel_for(0..50, |_| every_partitioner(pool));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.parallel_for(0..50, |_| std::panic::resume_unwind(Box::new(())));
        }));
        assert!(panicked.is_err());
    });
}

#[test]
fn with_a_spin_budget_of_zero() {
    check("zero", Some(Duration::ZERO), every_partitioner);
}
