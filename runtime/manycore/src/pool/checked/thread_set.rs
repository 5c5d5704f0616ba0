//! Pools with threads that start late, and end while the pool goes on, under shuttle: calls that race with
//! both. A forgotten call is a deadlock, which shuttle reports.

use super::fork::{Count, FencedShuttle, dawdle};
use super::whole::{Meeting, check};
use crate::Partitioner;
use crate::conserving::fault::{self, Fault};
use crate::pool::{Builder, Pool};
use crate::seam::BuilderExt;
use manycore_check::{Deaf, Faulty, Shuttle, caught_at_random, shuttle_random, team};
use manycore_platform::Platform;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Makes a pool that starts its threads late. `dedicated` says whether the pool starts all its threads itself.
fn lazy<P: Platform>(threads: usize, dedicated: bool) -> Pool<P> {
    let builder = Builder::on_platform().open_joins(64).lazy(true);
    let builder = builder.dedicated(dedicated);
    let pool = builder.build_on(threads, 1, vec![vec![]; threads]);
    pool.expect("a model makes its threads")
}

/// A call of each kind. If the halves `meet`, another thread must take part. Otherwise no thread may be forgotten.
fn call<P: Platform>(pool: &Pool<P>, kind: usize, meet: bool) {
    let (n, calls) = (pool.threads(), Count::default());
    let expected = match kind {
        0 => 2,
        3 => 1,
        5 => n + 1,
        _ => n,
    };
    let meeting = Meeting::<P>::of(if meet { expected as u32 } else { 0 });
    let run = || {
        calls.up();
        meeting.attend();
    };
    match kind {
        0 => drop(pool.join(run, run)),
        1 => pool
            .with(Partitioner::fixed_block(1))
            .parallel_for(0..n, |_| run()),
        2 => drop(pool.broadcast(|_| run())),
        3 => {
            let (ran, calls) = (Arc::new(Meeting::<P>::of(2)), calls.clone());
            let met = Arc::clone(&ran);
            pool.spawn(move || {
                calls.up();
                met.attend();
            });
            ran.attend();
        }
        4 => pool.scope(|scope| (0..n).for_each(|_| scope.spawn(|_| run()))),
        5 => pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| calls.up());
            scope.spawn(|_| calls.up());
        }),
        _ => pool.install(|| (0..n).for_each(|_| calls.up())),
    }
    assert_eq!(calls.get(), expected as u32);
}

const KINDS: usize = 7;

#[test]
fn the_first_call_of_a_kind_starts_the_threads() {
    for kind in 0..KINDS {
        for (threads, dedicated) in [(2, false), (3, false), (2, true)] {
            if kind == 6 && !dedicated {
                continue; // no other thread is needed or started
            }
            check(60, move || {
                call(&lazy::<Shuttle>(threads, dedicated), kind, true)
            });
            check(20, move || {
                call(&lazy::<FencedShuttle>(threads, dedicated), kind, true)
            });
        }
    }
}

#[test]
fn a_pool_ends_that_never_started() {
    for dedicated in [false, true] {
        shuttle_random(1, move || drop(lazy::<Shuttle>(3, dedicated)));
        shuttle_random(1, move || {
            assert!(lazy::<Shuttle>(3, dedicated).end_threads())
        });
    }
}

/// Two callers, and a thread that ends the pool's threads meanwhile.
fn calls_while_threads_end<P: Platform>(threads: usize, dedicated: bool, kinds: [usize; 2]) {
    let pool = lazy::<P>(threads, dedicated);
    team::<P>(3, |rank| {
        if rank == 2 {
            for _ in 0..2 {
                dawdle::<P>();
                assert!(pool.end_threads());
            }
            return;
        }
        for round in 0..2 {
            call(&pool, kinds[(rank + round) % 2], false);
        }
    });
    assert!(pool.end_threads());
    assert!(pool.registry.threads().are_none());
    call(&pool, kinds[0], true);
}

/// The schedules are only random, since PCT lets a thread that looks again and again starve the other threads.
#[test]
fn calls_race_with_the_end_of_the_threads() {
    for first in 0..KINDS {
        for second in 0..=first {
            for (threads, dedicated) in [(2, false), (2, true), (3, false)] {
                let kinds = [first, second];
                shuttle_random(60, move || {
                    calls_while_threads_end::<Shuttle>(threads, dedicated, kinds);
                });
                shuttle_random(20, move || {
                    calls_while_threads_end::<FencedShuttle>(threads, dedicated, kinds);
                });
            }
        }
    }
}

/// A caller gives permit 0 (the first right to run jobs) away while it blocks in another pool, comes back to another
/// permit, and leaves. Meanwhile another thread ends the pool's threads. The holder of permit 0 must learn that it has
/// the caller slot (the role of worker 0) for nothing, and the end must miss no thread.
fn a_caller_that_comes_back_to_another_permit<P: Platform>() {
    let (pool, other) = (lazy::<P>(2, false), lazy::<P>(1, true));
    team::<P>(2, |rank| {
        if rank == 1 {
            dawdle::<P>();
            assert!(pool.end_threads());
            return;
        }
        let count = Count::default();
        pool.install(|| {
            let (begun, back) = (Arc::new(Meeting::<P>::of(2)), Arc::new(Meeting::<P>::of(2)));
            // This call is long enough for this thread to give its permit away.
            other.install(|| {
                dawdle::<P>();
                let (begun, back) = (Arc::clone(&begun), Arc::clone(&back));
                let done = count.clone();
                pool.spawn({
                    let begun = Arc::clone(&begun);
                    move || {
                        begun.arrive();
                        back.attend();
                        done.up();
                    }
                });
                begun.attend();
            });
            back.arrive();
            // This takes so long that the holder of permit 0 sleeps.
            for _ in 0..8 {
                dawdle::<P>();
            }
        });
    });
    assert!(pool.end_threads());
    assert!(pool.registry.threads().are_none());
    call(&pool, 3, true);
    call(&pool, 2, true);
    assert!(other.end_threads());
}

#[test]
fn who_leaves_from_another_permit_wakes_the_holder_of_permit_0() {
    let model = a_caller_that_comes_back_to_another_permit::<Shuttle>;
    shuttle_random(500, model);
    shuttle_random(
        100,
        a_caller_that_comes_back_to_another_permit::<FencedShuttle>,
    );
    // The thread that ends the pool's threads looks again and again.
    let unheard = caught_at_random(move || fault::with(Fault::UntoldHolder, model));
    assert!(unheard.contains("max_steps"), "{unheard}");
}

/// A job is spawned from outside, and a thread is started for it. Another thread ends the pool's threads as
/// soon as the job is over, which may be before the pool has the new thread's handle.
fn a_thread_is_started_while_threads_end<P: Platform>() {
    // This is the standard library's atomic, so counting is no step of the model.
    let alive = Arc::new(AtomicUsize::new(0));
    let (begun, ended) = (Arc::clone(&alive), Arc::clone(&alive));
    let builder = Builder::<P>::on_platform().open_joins(64).lazy(true);
    let builder = builder.on_thread_start(move |_| _ = begun.fetch_add(1, Relaxed));
    let builder = builder.on_thread_exit(move |_| {
        dawdle::<P>();
        ended.fetch_sub(1, Relaxed);
    });
    let pool = builder.build_on(2, 1, vec![vec![]; 2]);
    let pool = pool.expect("a model makes its threads");
    let met = Arc::new(Meeting::<P>::of(2));
    team::<P>(2, |rank| {
        if rank == 0 {
            let met = Arc::clone(&met);
            return pool.spawn(move || met.arrive());
        }
        met.attend();
        assert!(pool.end_threads());
        assert_eq!(alive.load(Relaxed), 0, "a thread was missed");
    });
    call(&pool, 2, true);
    assert!(pool.end_threads());
    assert_eq!(alive.load(Relaxed), 0, "a thread was missed");
}

#[test]
fn the_end_waits_for_threads_that_are_being_started() {
    let model = a_thread_is_started_while_threads_end::<Shuttle>;
    shuttle_random(500, model);
    shuttle_random(100, a_thread_is_started_while_threads_end::<FencedShuttle>);
    let slow = move |fault| move || fault::with(fault, model);
    shuttle_random(100, slow(Fault::SlowStart));
    let uncounted = caught_at_random(slow(Fault::UncountedStart));
    assert!(uncounted.contains("a thread was missed"), "{uncounted}");
}

/// A pool of one thread, which it starts for a detached job, and again for later ones.
#[test]
fn a_pool_of_one_ends_its_thread() {
    shuttle_random(300, || {
        let pool = lazy::<Shuttle>(1, false);
        team::<Shuttle>(2, |rank| {
            for _ in 0..2 {
                match rank {
                    0 => call(&pool, 3, false),
                    _ => assert!(pool.end_threads()),
                }
            }
        });
    });
}

/// A thread inside the pool cannot end the pool's threads. An adopted thread is always inside.
#[test]
fn threads_do_not_end_from_within() {
    check(20, || {
        let pool = lazy::<Shuttle>(2, false);
        assert!(!pool.install(|| pool.end_threads()));
        let (_, stolen) = pool.join(|| (), || pool.end_threads());
        assert!(!stolen);
    });
}

/// The monitor may start in a pool that has no other thread: for a loop that its caller runs alone.
#[test]
fn the_monitor_ends_with_the_threads() {
    let pool = Pool::builder().threads(2).build().unwrap();
    // All calls come from one place in the program, so the pool takes them for one loop.
    let run = || pool.parallel_for(0..2, |_| ());
    let has_monitor = || pool.registry.monitor().has_thread();
    let mut alone = 0;
    for _ in 0..20 {
        (0..10).for_each(|_| run());
        assert!(pool.end_threads() && !has_monitor());
        run();
        alone += u32::from(has_monitor() && pool.registry.threads().are_none());
        assert!(pool.end_threads() && !has_monitor());
    }
    assert!(alone > 0, "no monitor was alone");
}

/// The checks above can fail.
#[test]
fn a_faulty_platform_is_caught() {
    type Deafened = Faulty<Shuttle, Deaf>;
    let deaf = caught_at_random(|| call(&lazy::<Deafened>(2, false), 0, true));
    assert!(deaf.contains("deadlock"), "{deaf}");
}
