//! Pools that follow an allotment (a number of cores to use), under shuttle: while the allotment changes, each job runs
//! once. A worker that is not allowed to run parks, and comes back when it is allowed again.

use super::fork::{Count, FencedShuttle, dawdle};
use super::whole::{Meeting, RunCounts, check, partitioners, until_asleep};
use crate::Partitioner;
use crate::conserving::fault::{self, Fault};
use crate::pool::{Builder, Context, Pool};
use crate::seam::BuilderExt;
use manycore_check::{Deaf, Faulty, Shuttle, caught_at_random, shuttle_random, team};
use manycore_cores::elastic::Allotment;
use manycore_platform::Platform;
use std::sync::Arc;

fn following<P: Platform>(threads: usize, allotment: &Allotment<P>) -> Pool<P> {
    Builder::on_platform()
        .open_joins(64)
        .follow(allotment)
        .build_on(threads, 1, vec![vec![]; threads])
        .expect("a model makes its threads")
}

/// Another thread changes the allotment while `body` runs.
fn while_it_changes<P: Platform>(threads: usize, body: impl Fn(&Pool<P>) + Sync) {
    let allotment = Allotment::<P>::new(threads);
    let pool = following(threads, &allotment);
    team::<P>(2, |rank| {
        if rank == 0 {
            return body(&pool);
        }
        for _ in 0..4 {
            dawdle::<P>();
            allotment.set(1 + P::now() as usize % threads);
        }
    });
}

#[test]
fn each_iteration_runs_once() {
    for partitioner in partitioners() {
        check(200, move || {
            while_it_changes::<Shuttle>(3, |pool| {
                let tally = RunCounts::new(9);
                pool.with(partitioner).parallel_for(0..9, |i| {
                    Shuttle::yield_now();
                    tally.ran(i);
                });
                tally.assert_each_once();
            });
        });
    }
}

fn jobs<P: Platform>(threads: usize) {
    let count = Count::default();
    while_it_changes::<P>(threads, |pool| {
        pool.scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|scope| {
                    count.up();
                    scope.spawn(|_| pool.join(|| count.up(), || count.up()).0);
                });
            }
        });
        let each = pool.broadcast(|context| context.index());
        assert!(each.into_iter().eq(0..threads));
    });
    assert_eq!(count.get(), 9);
}

#[test]
fn each_job_runs() {
    for threads in [2, 3] {
        check(500, move || jobs::<Shuttle>(threads));
        check(100, move || jobs::<FencedShuttle>(threads));
    }
}

/// Detached jobs that run while the allotment changes, and after its last change. A thread outside waits
/// for the last job, asleep.
fn detached<P: Platform>(threads: usize) {
    let ran = Arc::new(Meeting::<P>::of(4));
    let count = Count::default();
    while_it_changes::<P>(threads, |pool| {
        for _ in 0..2 {
            let (registry, met, done) =
                (Arc::clone(&pool.registry), Arc::clone(&ran), count.clone());
            pool.spawn(move || {
                let (met, done) = (Arc::clone(&met), done.clone());
                registry.spawn(move || {
                    done.up();
                    met.arrive();
                });
            });
            dawdle::<P>();
        }
        // Worker 0 spawns this job, and leaves it to other workers.
        let (met, done) = (Arc::clone(&ran), count.clone());
        pool.install(|| {
            pool.spawn(move || {
                done.up();
                met.arrive();
            });
        });
        ran.attend();
    });
    assert_eq!(count.get(), 3);
}

#[test]
fn a_thread_is_left_for_detached_jobs() {
    for threads in [2, 3] {
        check(1_000, move || detached::<Shuttle>(threads));
        check(200, move || detached::<FencedShuttle>(threads));
    }
}

/// Growth of the allotment wakes the parked workers. They help with the loop in progress, whose last iterations wait
/// for all of them.
fn growth<P: Platform>() {
    let allotment = Allotment::<P>::new(1);
    let pool = following(3, &allotment);
    for _ in 0..2 {
        dawdle::<P>();
        let (tally, meeting) = (RunCounts::new(3), Meeting::<P>::of(3));
        let one = Partitioner::sharded(1);
        pool.with(one).parallel_for(0..3, |i| {
            if i == 0 || pool.current_thread_index() == Some(0) {
                allotment.set(3);
            }
            meeting.attend();
            tally.ran(i);
        });
        tally.assert_each_once();
        allotment.set(1);
    }
}

#[test]
fn who_is_allowed_again_helps_at_once() {
    check(1_000, growth::<Shuttle>);
}

/// A worker that may not run waits, asleep, for the stolen half of a join. That half waits for a job that only the
/// holder of the worker's permit (its right to run jobs) can run, once the allotment allows it. So growth must reach
/// the worker.
fn growth_reaches_a_wait<P: Platform>() {
    let allotment = Allotment::<P>::new(1);
    let pool = following(3, &allotment);
    let meeting = |threads| Arc::new(Meeting::<P>::of(threads));
    let (stolen, begun, over) = (meeting(3), meeting(2), meeting(3));
    let (both, registry, ended) = (
        Arc::clone(&stolen),
        Arc::clone(&pool.registry),
        Arc::clone(&over),
    );
    pool.spawn_broadcast(move |call| match call.index() {
        // This call keeps its permit busy.
        1 => ended.attend(),
        2 => {
            let worker = Context::worker_of(&registry).expect("calls are run by workers");
            let second = |_| {
                both.attend();
                let begun = Arc::clone(&begun);
                registry.spawn({
                    let begun = Arc::clone(&begun);
                    move || begun.arrive()
                });
                begun.attend();
            };
            worker.join(false, |_| both.attend(), second);
            ended.attend();
        }
        _ => {}
    });
    stolen.attend();
    // This waits for the worker with permit 2, since the other workers are in calls.
    until_asleep(&pool, 1);
    allotment.set(3);
    over.attend();
}

#[test]
fn a_worker_that_waits_hears_of_growth() {
    let model = growth_reaches_a_wait::<Shuttle>;
    shuttle_random(500, model);
    shuttle_random(100, growth_reaches_a_wait::<FencedShuttle>);
    let unheard = caught_at_random(move || fault::with(Fault::UnheardGrowth, model));
    assert!(unheard.contains("deadlock"), "{unheard}");
}

/// Only the caller runs jobs while one core is allowed.
fn alone<P: Platform>() {
    let allotment = Allotment::<P>::new(1);
    let pool = following(3, &allotment);
    for partitioner in partitioners() {
        pool.with(partitioner).parallel_for(0..4, |_| {
            assert_eq!(pool.current_thread_index(), Some(0));
        });
    }
    pool.scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|_| assert_eq!(pool.current_thread_index(), Some(0)));
        }
    });
}

#[test]
fn one_core_is_the_callers() {
    check(300, alone::<Shuttle>);
}

/// The pool's end wakes parked workers, whatever the allotment allows.
fn ends<P: Platform>() {
    let count = Count::default();
    let allotment = Allotment::<P>::new(1);
    let pool = following(3, &allotment);
    let each = count.clone();
    pool.spawn_broadcast(move |_| each.up());
    let each = count.clone();
    pool.spawn(move || each.up());
    dawdle::<P>();
    drop(pool);
    assert_eq!(count.get(), 4);
}

#[test]
fn the_end_is_everybodys() {
    check(500, ends::<Shuttle>);
    check(100, ends::<FencedShuttle>);
}

#[test]
fn a_faulty_platform_is_caught() {
    let growth = caught_at_random(growth::<Faulty<Shuttle, Deaf>>);
    assert!(growth.contains("deadlock"), "{growth}");
    let mail = caught_at_random(|| jobs::<Faulty<Shuttle, Deaf>>(2));
    assert!(mail.contains("deadlock"), "{mail}");
    let end = caught_at_random(ends::<Faulty<Shuttle, Deaf>>);
    assert!(end.contains("deadlock"), "{end}");
}
