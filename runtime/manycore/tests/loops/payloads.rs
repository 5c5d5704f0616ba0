//! Payloads that panic themselves when they are dropped, as every payload but
//! the first must be.

use crate::pools::pool;
use crate::visits::Visits;
use manycore::Partitioner;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        // A panic while another one unwinds would end the process.
        if !std::thread::panicking() {
            resume_unwind(Box::new("a payload was dropped"));
        }
    }
}

/// The second panic of a loop must neither unwind a worker out of the pool,
/// which would leave the caller waiting for it for ever, nor unwind the caller
/// out of a loop that others are still in.
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
                        // A moment for the others to come in, so that several
                        // panic; nothing depends on whether they do.
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
