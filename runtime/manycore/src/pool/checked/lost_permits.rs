//! Permits (rights to run jobs) that find no thread, under shuttle: the pool has no reserve, or the system refuses
//! threads. Visitors (`visit.rs`) give back the permits that they have borrowed, return with other permits, and leave.
//! Meanwhile the pool's own threads wait on the idle list, or have ended there. The tests check that each permit's mail
//! is still read.

use super::fork::{Count, dawdle};
use crate::conserving::fault::{self, Fault};
use crate::pool::{Builder, Pool};
use crate::seam::BuilderExt;
use manycore_check::{Shuttle, shuttle_random, team};

/// Three callers of a pool of three threads. `waits` says how often each caller waits in another pool.
fn visitors_leave(reserve: bool, waits: u32) {
    let builder = Builder::on_platform().open_joins(64);
    let pool = builder.reserve(reserve).build_on(3, 1, vec![vec![]; 3]);
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
        if rank == 0 {
            pool.broadcast(|_| calls.up());
        }
    });
    pool.broadcast(|_| calls.up());
    assert_eq!(calls.get(), 2 * 3);
    // No permit is lost for good: all threads end, and all come back.
    assert!(pool.end_threads());
    pool.broadcast(|_| calls.up());
    assert_eq!(calls.get(), 3 * 3);
}

#[test]
fn mail_is_read_in_a_pool_without_reserve() {
    shuttle_random(2_000, || visitors_leave(false, 1));
    shuttle_random(1_000, || visitors_leave(false, 2));
}

#[test]
fn mail_is_read_though_the_system_refuses_threads() {
    shuttle_random(2_000, || {
        fault::with(Fault::Refusals, || visitors_leave(true, 1))
    });
    shuttle_random(1_000, || {
        fault::with(Fault::Refusals, || visitors_leave(true, 2))
    });
}
