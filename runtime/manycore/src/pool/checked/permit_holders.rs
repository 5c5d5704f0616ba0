//! If a thread gives its permit (its right to run jobs) away within a loop's body, no other thread gets its rank in
//! that loop.

use super::fork::dawdle;
use super::whole::{check, partitioners, pool};
use manycore_check::{Shuttle, team};
use manycore_platform::Platform;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Each body of a loop waits for a job, while threads from outside call the pool.
#[test]
fn a_rank_is_one_threads_alone() {
    for partitioner in partitioners() {
        check(200, move || {
            let pool = pool::<Shuttle>(3);
            // These atomics are from the standard library, so this record is no step of the model.
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
