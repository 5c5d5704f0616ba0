//! Whole pools on a machine with late stores: joins and loops leave out fences, and thieves and sleepers make heavy
//! ones.

use super::whole::{Meeting, RunCounts, check, pool_on, until_asleep};
use crate::Partitioner;
use crate::pool::Pool;
use manycore_check::Buffered;
use manycore_platform::Platform;

/// Two halves that must run at the same time. The join hangs if a worker sleeps through the second half's post.
fn meet_in_a_join<P: Platform>(pool: &Pool<P>) {
    let meeting = Meeting::<P>::of(2);
    pool.join(|| meeting.attend(), || meeting.attend());
}

fn joins<P: Platform>(pool: &Pool<P>, depth: usize, ran: &(dyn Fn() + Sync)) {
    if depth == 0 {
        return ran();
    }
    pool.join(
        || joins(pool, depth - 1, ran),
        || joins(pool, depth - 1, ran),
    );
}

fn mixture<P: Platform>(pool: &Pool<P>) {
    let runs = std::sync::atomic::AtomicU32::new(0);
    joins(pool, 3, &|| {
        // This is the standard library's atomic, so counting is no step of the model.
        runs.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    });
    assert_eq!(runs.into_inner(), 8);
    let counts = RunCounts::new(5);
    let in_loop = pool.with(Partitioner::default());
    in_loop.parallel_for(0..5, |i| {
        pool.join(|| counts.ran(i), || ());
    });
    counts.assert_each_once();
}

#[test]
fn joins_and_loops_run_whenever_stores_are_seen() {
    for (threads, cores) in [(2, 2), (3, 3), (3, 1)] {
        check(150, move || {
            let pool = pool_on::<Buffered>(threads, cores);
            mixture(&pool);
            meet_in_a_join(&pool);
            mixture(&pool);
        });
    }
}

#[test]
fn sleepers_are_woken_whenever_stores_are_seen() {
    for threads in [2, 3] {
        check(300, move || {
            let pool = pool_on::<Buffered>(threads, threads);
            for _ in 0..3 {
                until_asleep(&pool, threads as u32 - 1);
                meet_in_a_join(&pool);
            }
        });
    }
}
