//! Payloads that panic when they are dropped. A loop must drop every payload but the first.

use crate::pools::pool;
use crate::visits::Visits;
use manycore::Partitioner;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        // A panic during unwinding would end the process.
        if !std::thread::panicking() {
            resume_unwind(Box::new("a payload was dropped"));
        }
    }
}

/// The second panic of a loop must not unwind a worker out of the pool: its caller would wait for ever. Nor
/// may it unwind the caller out of a loop in which others still run.
#[test]
fn a_second_payload_does_no_harm() {
    for threads in [2, 3] {
        let pool = pool(threads);
        for partitioner in [
            Partitioner::fixed_block(1),
            Partitioner::fixed_block(1),
            Partitioner::default(),
        ] {
            for _ in 0..50 {
                let together = AtomicUsize::new(0);
                let run = || {
                    pool.with(partitioner).parallel_for(0..threads, |_| {
                        together.fetch_add(1, Relaxed);
                        // Gives the other threads time to arrive, so that several panic. The test holds even
                        // if they do not.
                        let started = Instant::now();
                        while together.load(Relaxed) < threads
                            && started.elapsed() < Duration::from_micros(500)
                        {
                            std::hint::spin_loop();
                        }
                        resume_unwind(Box::new(Bomb));
                    });
                };
                let payload = catch_unwind(AssertUnwindSafe(run)).expect_err("each body panics");
                std::mem::forget(payload);
                let visits = Visits::new(&(0..100));
                pool.with(partitioner)
                    .parallel_for(0..100, |i| visits.visit(i));
                visits.assert_each(1, partitioner);
            }
        }
    }
}
