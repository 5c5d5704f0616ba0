//! A thread that gives its permit away within a loop's body keeps its rank in that loop to itself.

use super::fork::dawdle;
use super::whole::{check, partitioners, pool};
use manycore_check::{Shuttle, team};
use manycore_platform::Platform;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The bodies of a loop wait for a job each, beside calls from outside.
#[test]
fn a_rank_is_one_threads_alone() {
    for partitioner in partitioners() {
        check(200, move || {
            let pool = pool::<Shuttle>(3);
            // The standard library's: keeping the books is no step of the model.
            let busy = [const { AtomicBool::new(false) }; 3];
            team::<Shuttle>(2, |member| {
                if member == 1 {
                    return (0..8).for_each(|_| pool.install(Shuttle::yield_now));
                }
                pool.with(partitioner).ranked(0..16, |rank, _| {
                    let shared = busy[rank].swap(true, Relaxed);
                    assert!(!shared, "two threads with rank {rank}");
                    pool.join(dawdle::<Shuttle>, dawdle::<Shuttle>);
                    busy[rank].store(false, Relaxed);
                });
            });
        });
    }
}
