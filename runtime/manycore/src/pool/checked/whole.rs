//! Whole pools under shuttle: the production code from the builder to the last join. A lost job or an
//! endless wait is a deadlock, which shuttle reports.

use crate::Partitioner;
use crate::pool::{Builder, Pool};
use crate::seam::BuilderExt;
use manycore_check::{
    Deaf, Faulty, Shuttle, TornAdd, TornCas, caught_apart, caught_at_random, shuttle_pct,
    shuttle_random, team,
};
use manycore_platform::{Atomic, AtomicInteger, Futex, Ordering, Platform};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32};

pub(super) fn pool<P: Platform>(threads: usize) -> Pool<P> {
    pool_on(threads, threads)
}

pub(super) fn pool_on<P: Platform>(threads: usize, cores: usize) -> Pool<P> {
    Builder::on_platform()
        .open_joins(64)
        .build_on(cores, 1, vec![vec![]; threads])
        .expect("a model makes its threads")
}

pub(super) fn partitioners() -> [Partitioner; 5] {
    [
        Partitioner::default(),
        Partitioner::fixed_block(1),
        Partitioner::fixed_block(2),
        Partitioner::sharded(1),
        Partitioner::sharded(2),
    ]
}

/// Counts the runs of each iteration of one loop. Each run must be between the loop's start and its
/// return. The atomics are from the standard library, since counting is no step of the model.
pub(super) struct RunCounts {
    runs: Vec<AtomicU32>,
    over: AtomicBool,
}

impl RunCounts {
    pub(super) fn new(n: usize) -> Self {
        Self {
            runs: (0..n).map(|_| AtomicU32::new(0)).collect(),
            over: AtomicBool::new(false),
        }
    }

    pub(super) fn ran(&self, i: usize) {
        assert!(!self.over.load(Ordering::Relaxed), "{i} ran after the loop");
        let before = self.runs[i].fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "iteration {i} ran twice");
    }

    pub(super) fn assert_each_once(&self) {
        self.over.store(true, Ordering::Relaxed);
        for (i, runs) in self.runs.iter().enumerate() {
            assert_eq!(runs.load(Ordering::Relaxed), 1, "iteration {i}");
        }
    }
}

fn each_once<P: Platform>(pool: &Pool<P>, partitioner: Partitioner, n: usize) {
    let tally = RunCounts::new(n);
    pool.with(partitioner).parallel_for(0..n, |i| tally.ran(i));
    tally.assert_each_once();
}

/// A place at which `expected` threads wait for each other, asleep. If a thread is never called, the model deadlocks.
pub(super) struct Meeting<P: Platform> {
    arrived: P::Futex,
    expected: u32,
}

impl<P: Platform> Meeting<P> {
    pub(super) fn of(expected: u32) -> Self {
        Self {
            arrived: Atomic::new(0),
            expected,
        }
    }

    /// Arrives without waiting for the others.
    pub(super) fn arrive(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        self.arrived.wake(u32::MAX);
    }

    pub(super) fn attend(&self) {
        self.arrive();
        loop {
            let arrived = self.arrived.load(Ordering::Acquire);
            if arrived >= self.expected {
                return;
            }
            self.arrived.wait(arrived, None);
        }
    }
}

/// Runs a loop with one iteration for each thread. The iterations meet, so every worker must come.
fn all_hands<P: Platform>(pool: &Pool<P>) {
    let n = pool.threads();
    let (tally, meeting) = (RunCounts::new(n), Meeting::<P>::of(n as u32));
    pool.with(Partitioner::fixed_block(1))
        .parallel_for(0..n, |i| {
            meeting.attend();
            tally.ran(i);
        });
    tally.assert_each_once();
}

/// Lets the other threads run until `threads` threads are asleep in the pool.
pub(super) fn until_asleep<P: Platform>(pool: &Pool<P>, threads: u32) {
    while pool.registry.sleepers() < threads {
        P::yield_now();
    }
}

/// Runs `model` in `schedules` random schedules, and in as many PCT schedules.
pub(super) fn check(schedules: usize, model: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle_random(schedules, model.clone());
    shuttle_pct(schedules, 3, model);
}

#[test]
fn each_partitioner_runs_each_iteration_once() {
    for partitioner in partitioners() {
        for (threads, n) in [(2, 5), (3, 2), (3, 7)] {
            check(200, move || {
                each_once(&pool::<Shuttle>(threads), partitioner, n);
            });
        }
    }
}

#[test]
fn loops_in_a_row_find_every_worker_awake_or_asleep() {
    for threads in [2, 3] {
        check(500, move || {
            let pool = pool::<Shuttle>(threads);
            for pause in [0, 0, 50, 300] {
                (0..pause).for_each(|_| Shuttle::yield_now());
                all_hands(&pool);
            }
        });
    }
}

/// When loops come at a rhythm, workers sleep until just before the next loop is due. These are timed sleeps, which
/// may end at any moment.
#[test]
fn loops_at_a_rhythm_find_workers_in_timed_sleep() {
    const PERIOD: u64 = 1_000_000;
    check(500, || {
        let pool = pool::<Shuttle>(3);
        for _ in 0..2 {
            let start = Shuttle::now();
            for loops in 0..8 {
                let start = start + loops * PERIOD;
                pool.registry
                    .shared()
                    .idle()
                    .loop_ended(1, start, start + 1);
            }
            all_hands(&pool);
        }
    });
}

/// The pool has more threads than cores, so no thread spins, and waiting callers yield.
#[test]
fn more_threads_than_cores() {
    check(500, || {
        let pool = pool_on::<Shuttle>(3, 1);
        all_hands(&pool);
        each_once(&pool, Partitioner::default(), 5);
        all_hands(&pool);
    });
}

#[test]
fn workers_fast_asleep_are_woken() {
    check(500, || {
        let pool = pool::<Shuttle>(4);
        for _ in 0..2 {
            until_asleep(&pool, 3);
            all_hands(&pool);
        }
    });
}

#[test]
fn a_pool_ends_whatever_its_workers_do() {
    for threads in [2, 4] {
        check(500, move || drop(pool::<Shuttle>(threads)));
        check(500, move || {
            let pool = pool::<Shuttle>(threads);
            until_asleep(&pool, threads as u32 - 1);
        });
        check(500, move || {
            let pool = pool::<Shuttle>(threads);
            each_once(&pool, Partitioner::default(), 3);
        });
    }
}

/// The caller's last helper is held up until the caller is fast asleep.
#[test]
fn a_caller_asleep_is_woken_by_its_last_helper() {
    check(500, || {
        let pool = pool::<Shuttle>(2);
        let (inside, go) = (Meeting::<Shuttle>::of(2), Meeting::<Shuttle>::of(2));
        team::<Shuttle>(2, |rank| {
            if rank == 1 {
                inside.attend();
                until_asleep(&pool, 1);
                go.attend();
                return;
            }
            let at_work = Meeting::<Shuttle>::of(2);
            pool.with(Partitioner::fixed_block(1))
                .parallel_for(0..2, |_| {
                    at_work.attend();
                    if pool.current_thread_index() == Some(1) {
                        inside.attend();
                        go.attend();
                    }
                });
        });
    });
}

/// The last helper leaves before, while or after the caller falls asleep. The caller falls asleep after some 300 steps
/// if time passes quickly.
#[test]
fn a_caller_about_to_sleep_is_woken_by_its_last_helper() {
    check(1_500, || {
        let pool = pool::<Shuttle>(2);
        let at_work = Meeting::<Shuttle>::of(2);
        pool.with(Partitioner::fixed_block(1))
            .parallel_for(0..2, |_| {
                at_work.attend();
                if pool.current_thread_index() == Some(1) {
                    for _ in 0..Shuttle::now() % 601 {
                        Shuttle::now();
                        Shuttle::yield_now();
                    }
                }
            });
    });
}

/// The caller sleeps until its helper posts a loop that needs it.
#[test]
fn a_caller_asleep_helps_with_a_nested_loop() {
    check(500, || {
        let pool = pool::<Shuttle>(2);
        let at_work = Meeting::<Shuttle>::of(2);
        pool.with(Partitioner::fixed_block(1))
            .parallel_for(0..2, |_| {
                at_work.attend();
                if pool.current_thread_index() == Some(1) {
                    until_asleep(&pool, 1);
                    all_hands(&pool);
                }
            });
    });
}

/// A worker and a caller sleep, and another caller's loop needs the worker.
#[test]
fn a_wake_up_reaches_the_right_sleeper() {
    check(500, || {
        let pool = pool::<Shuttle>(3);
        let held = Meeting::<Shuttle>::of(2);
        team::<Shuttle>(2, |rank| {
            if rank == 0 {
                let at_work = Meeting::<Shuttle>::of(2);
                pool.with(Partitioner::fixed_block(1))
                    .parallel_for(0..2, |_| {
                        at_work.attend();
                        if pool.current_thread_index() != Some(0) {
                            held.attend();
                        }
                    });
                return;
            }
            until_asleep(&pool, 2);
            let both = Meeting::<Shuttle>::of(2);
            pool.with(Partitioner::fixed_block(1))
                .parallel_for(0..2, |_| {
                    both.attend();
                });
            held.attend();
        });
    });
}

#[test]
fn nested_loops() {
    for inner in [
        Partitioner::fixed_block(1),
        Partitioner::sharded(1),
        Partitioner::default(),
    ] {
        check(200, move || {
            let pool = pool::<Shuttle>(3);
            let tally = RunCounts::new(3 * 3);
            pool.with(Partitioner::fixed_block(1))
                .parallel_for(0..3, |i| {
                    pool.with(inner)
                        .parallel_for(0..3, |j| tally.ran(3 * i + j));
                });
            tally.assert_each_once();
        });
    }
}

#[test]
fn loops_from_two_threads_at_once() {
    for partitioner in [Partitioner::sharded(1), Partitioner::default()] {
        check(500, move || {
            let pool = pool::<Shuttle>(3);
            team::<Shuttle>(2, |_| {
                each_once(&pool, partitioner, 3);
                each_once(&pool, partitioner, 4);
            });
        });
    }
}

/// The panic reaches the caller when every worker has left, and the pool stays whole.
/// `resume_unwind` avoids the panic hook, which would print.
#[test]
fn a_panic_in_a_body() {
    for partitioner in partitioners() {
        check(200, move || {
            let pool = pool::<Shuttle>(3);
            for bad in [0, 3] {
                let tally = RunCounts::new(5);
                let caught = catch_unwind(AssertUnwindSafe(|| {
                    pool.with(partitioner).parallel_for(0..5, |i| {
                        tally.ran(i);
                        if i == bad {
                            resume_unwind(Box::new(bad));
                        }
                    });
                }));
                tally.over.store(true, Ordering::Relaxed);
                let payload = caught.expect_err("the caller gets the panic");
                assert_eq!(payload.downcast_ref(), Some(&bad));
            }
            each_once(&pool, partitioner, 5);
            all_hands(&pool);
        });
    }
}

#[test]
fn reductions_keep_the_order() {
    check(500, || {
        let pool = pool::<Shuttle>(3);
        for partitioner in [Partitioner::sharded(1), Partitioner::default()] {
            let text = pool.with(partitioner).map_reduce(
                0..6,
                String::new,
                |i| i.to_string(),
                |left, right| left + &right,
            );
            assert_eq!(text, "012345");
        }
    });
}

/// The checks above find a faulty platform.
#[test]
fn a_faulty_platform_is_caught() {
    let deaf = caught_at_random(|| {
        let pool = pool::<Faulty<Shuttle, Deaf>>(2);
        until_asleep(&pool, 1);
    });
    assert!(deaf.contains("deadlock"), "{deaf}");
    // The faults may run iterations twice, or (a thief's store may undo a refill) not at all. They
    // affect the whole platform, so they may also lose a post or a wake-up.
    let shows = |why: Option<String>| {
        let Some(why) = why else { return };
        assert!(
            why.contains("iteration") || why.contains("deadlock"),
            "{why}"
        );
    };
    shows(caught_apart("steal", || {
        let pool = pool::<Faulty<Shuttle, TornCas>>(2);
        each_once(&pool, Partitioner::sharded(1), 4);
    }));
    shows(caught_apart("claim", || {
        let pool = pool::<Faulty<Shuttle, TornAdd>>(2);
        each_once(&pool, Partitioner::fixed_block(1), 4);
    }));
}
