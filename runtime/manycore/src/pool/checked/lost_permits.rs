//! Permits (rights to run jobs) that find no thread, under shuttle: the pool has no reserve, or the system refuses
//! threads. Visitors (`visit.rs`) give back the permits that they have borrowed, return with other permits, and leave.
//! Meanwhile the pool's own threads wait on the idle list, or have ended there. The tests check that each permit's mail
//! is still read.

use super::fork::{Count, dawdle};
use crate::conserving::fault::{self, Fault};
use crate::pool::{Builder, Pool};
use crate::seam::BuilderExt;
use manycore_check::{Shuttle, shuttle_random, team};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

/// Three callers of a pool of three threads. `waits` says how often each caller waits in another pool. Returns whether
/// a permit had no holder then.
fn visitors_leave(reserve: bool, waits: u32) -> bool {
    // The pool, while its threads end. Each exit handler broadcasts, also to permits whose holders have gone.
    let ending = Arc::new(AtomicPtr::<Pool<Shuttle>>::new(ptr::null_mut()));
    let (at, in_handlers) = (Arc::clone(&ending), Count::default());
    let called = in_handlers.clone();
    let builder = Builder::on_platform().on_thread_exit(move |_| {
        // SAFETY: the pointer is null, or the pool is alive until its threads have ended.
        if let Some(pool) = unsafe { at.load(Relaxed).as_ref() } {
            pool.broadcast(|_| called.up());
        }
    });
    let builder = builder.open_joins(64).reserve(reserve);
    let pool = builder.build_on(3, 1, vec![vec![]; 3]);
    let pool: Pool<Shuttle> = pool.expect("a model makes its threads");
    let builder = Builder::on_platform().open_joins(64).dedicated(true);
    let other = builder.reserve(false).build_on(1, 1, vec![vec![]]);
    let other: Pool<Shuttle> = other.expect("a model makes its threads");
    let calls = Count::default();
    team::<Shuttle>(3, |rank| {
        dawdle::<Shuttle>();
        pool.install(|| {
            for _ in 0..waits {
                dawdle::<Shuttle>();
                other.install(dawdle::<Shuttle>);
            }
            (0..5).for_each(|_| dawdle::<Shuttle>());
        });
        match rank {
            0 => drop(pool.broadcast(|_| calls.up())),
            1 => {
                let calls = calls.clone();
                pool.spawn_broadcast(move |_| calls.up());
            }
            _ => {}
        }
    });
    let lost = (pool.registry()).change_permits(|permits| permits.has_lost(|_| true));
    pool.broadcast(|_| calls.up());
    ending.store((&raw const pool).cast_mut(), Relaxed);
    // No permit is lost for good: all threads end, and all come back.
    assert!(pool.end_threads());
    ending.store(ptr::null_mut(), Relaxed);
    assert_eq!(calls.get(), 3 * 3);
    assert_eq!(in_handlers.get() % 3, 0);
    pool.broadcast(|_| calls.up());
    assert_eq!(calls.get(), 4 * 3);
    lost
}

/// Fails unless a permit was lost in some of `count` schedules.
fn permits_are_lost_in(count: usize, visitors: fn() -> bool) {
    let lost = Arc::new(AtomicUsize::new(0));
    let sum = Arc::clone(&lost);
    shuttle_random(count, move || {
        sum.fetch_add(usize::from(visitors()), Relaxed);
    });
    println!("{} schedules lost a permit", lost.load(Relaxed));
    assert!(lost.load(Relaxed) > 0);
}

#[test]
fn mail_is_read_in_a_pool_without_reserve() {
    permits_are_lost_in(2_000, || visitors_leave(false, 1));
    permits_are_lost_in(1_000, || visitors_leave(false, 2));
}

#[test]
fn mail_is_read_though_the_system_refuses_threads() {
    permits_are_lost_in(2_000, || {
        fault::with(Fault::Refusals, || visitors_leave(true, 1))
    });
    permits_are_lost_in(1_000, || {
        fault::with(Fault::Refusals, || visitors_leave(true, 2))
    });
}
