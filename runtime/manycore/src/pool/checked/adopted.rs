//! Pools that adopt a thread, under shuttle. The adopted thread need not work, and another thread may end the pool.

use super::fork::{Count, FencedShuttle, dawdle, stolen};
use super::whole::{Meeting, check};
use crate::pool::{Builder, Pool, Scope, Yield};
use crate::seam::BuilderExt;
use manycore_check::{Deaf, Faulty, Shuttle, caught_at_random, team};
use manycore_platform::Platform;
use std::sync::{Arc, Mutex};

/// Runs `body` with a pool of `threads` that has adopted the model's thread.
fn adopted<P: Platform>(threads: usize, body: impl FnOnce(Pool<P>)) {
    let builder = Builder::on_platform().open_joins(64);
    let pool = builder
        .adopt_current_thread(true)
        .build_on(threads, 1, vec![vec![]; threads]);
    body(pool.expect("a model makes its threads"));
    // Now the thread belongs to no pool. SAFETY: a null slot names no context.
    unsafe { P::set_slot(std::ptr::null()) };
}

/// Drops the pool on another thread, while this one runs `meanwhile`.
fn drop_elsewhere<P: Platform>(pool: Pool<P>, meanwhile: impl Fn() + Sync) {
    let pool = Mutex::new(Some(pool));
    team::<P>(2, |rank| match rank {
        0 => meanwhile(),
        _ => {
            let last = pool.lock().unwrap().take();
            drop(last);
        }
    });
}

/// The adopted thread posts a job, and blocks until the job has run. The job may come while the worker is awake, falls
/// asleep or sleeps.
fn blocks_until_it_ran<P: Platform>() {
    adopted::<P>(2, |pool| {
        for _ in 0..3 {
            dawdle::<P>();
            let meeting = Arc::new(Meeting::<P>::of(2));
            let job = Arc::clone(&meeting);
            pool.spawn(move || job.attend());
            meeting.attend();
            stolen(&pool, || (), || ());
        }
    });
}

#[test]
fn an_adopted_thread_that_never_works() {
    check(700, blocks_until_it_ran::<Shuttle>);
    check(200, blocks_until_it_ran::<FencedShuttle>);
}

/// The adopted thread is blocked while another thread ends the pool. Two broadcasts send the adopted thread mail (jobs
/// for this thread). No worker waits for the first broadcast's mail. For the second broadcast's mail a worker waits,
/// awake or asleep.
fn mail_that_is_left<P: Platform>(threads: usize) {
    adopted::<P>(threads, |pool| {
        let calls = Count::default();
        let (each, inner) = (calls.clone(), calls.clone());
        pool.spawn_broadcast(move |_| each.up());
        let registry = Arc::clone(&pool.registry);
        pool.spawn(move || _ = registry.broadcast(|_| inner.up()));
        dawdle::<P>();
        drop_elsewhere(pool, || ());
        assert_eq!(calls.get(), 2 * threads as u32);
    });
}

#[test]
fn mail_for_a_blocked_thread_is_run_at_the_end() {
    for threads in [2, 3] {
        check(500, move || mail_that_is_left::<Shuttle>(threads));
        check(100, move || mail_that_is_left::<FencedShuttle>(threads));
    }
}

/// Calls to workers that are about to leave, or have left.
fn calls_while_it_ends<P: Platform>(threads: usize) {
    adopted::<P>(threads, |pool| {
        let (registry, calls) = (Arc::clone(&pool.registry), Count::default());
        drop_elsewhere(pool, || {
            for _ in 0..2 {
                dawdle::<P>();
                registry.broadcast(|_| calls.up());
            }
        });
        registry.broadcast(|_| calls.up());
        assert_eq!(calls.get(), 3 * threads as u32);
    });
}

#[test]
fn calls_to_workers_that_leave_are_answered() {
    for threads in [1, 2, 3] {
        check(500, move || calls_while_it_ends::<Shuttle>(threads));
        check(100, move || calls_while_it_ends::<FencedShuttle>(threads));
    }
}

/// The adopted thread ends the pool. Each thread runs its own mail.
fn mail_at_its_own_end<P: Platform>(threads: usize) {
    adopted::<P>(threads, |pool| {
        let calls = Count::default();
        let (registry, each) = (Arc::clone(&pool.registry), calls.clone());
        pool.spawn_broadcast(move |context| {
            let me = crate::pool::Context::worker_of(&*registry).unwrap();
            assert_eq!(me.index(), context.index());
            each.up();
        });
        drop(pool);
        assert_eq!(calls.get(), threads as u32);
    });
}

#[test]
fn mail_reaches_its_worker_when_the_adopted_thread_ends_the_pool() {
    for threads in [2, 3] {
        check(300, move || mail_at_its_own_end::<Shuttle>(threads));
        check(100, move || mail_at_its_own_end::<FencedShuttle>(threads));
    }
}

/// The adopted thread ends the pool from within a scope. A job of the scope sends mail to all threads and waits until
/// they have run it. The pool's end does not wait for this job.
fn ends_within_a_scope<P: Platform>(threads: usize) {
    adopted::<P>(threads, |pool| {
        let (registry, calls) = (Arc::clone(&pool.registry), Count::default());
        Scope::new(&registry, Some(registry.worker(0))).complete(|scope| {
            scope.spawn(|_| _ = registry.broadcast(|_| calls.up()));
            dawdle::<P>();
            drop(pool);
        });
        assert_eq!(calls.get(), threads as u32);
    });
}

#[test]
fn a_thread_that_leaves_has_read_its_mail() {
    for threads in [2, 3] {
        check(1_000, move || ends_within_a_scope::<Shuttle>(threads));
        check(200, move || ends_within_a_scope::<FencedShuttle>(threads));
    }
}

/// The adopted thread is the only thread. Calls of other threads wait until it yields, and jobs that they spawn
/// outlive the pool.
fn alone<P: Platform>() {
    adopted::<P>(1, |pool| {
        let (ran, registry) = (Count::default(), Arc::clone(&pool.registry));
        let yields = || registry.worker(0).yield_now();
        let pool = Mutex::new(Some(pool));
        team::<P>(2, |rank| {
            if rank == 0 {
                while ran.get() < 2 {
                    yields();
                    P::yield_now();
                }
                return;
            }
            let pool = pool.lock().unwrap().take().unwrap();
            pool.install(|| ran.up());
            pool.scope(|scope| scope.spawn(|_| ran.up()));
            let (one, two) = (ran.clone(), ran.clone());
            pool.spawn(move || one.up());
            pool.spawn_broadcast(move |_| two.up());
        });
        while yields() == Yield::Executed {}
        assert_eq!(ran.get(), 4);
    });
}

#[test]
fn an_adopted_thread_alone() {
    check(500, alone::<Shuttle>);
    check(100, alone::<FencedShuttle>);
}

/// The checks above can fail. The test uses only the fault `Deaf`: other faults would run a job on a frame that is
/// gone, which could damage this process.
#[test]
fn a_faulty_platform_is_caught() {
    type Deafened = Faulty<Shuttle, Deaf>;
    let deaf = caught_at_random(blocks_until_it_ran::<Deafened>);
    assert!(deaf.contains("deadlock"), "{deaf}");
    let asleep_at_the_end = caught_at_random(|| mail_that_is_left::<Deafened>(2));
    assert!(
        asleep_at_the_end.contains("deadlock"),
        "{asleep_at_the_end}"
    );
}
