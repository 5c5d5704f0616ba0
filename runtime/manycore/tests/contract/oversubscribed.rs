//! More threads than cores: when running threads block or spin, sleeping threads wake.

use manycore::Pool;
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Returns a pool of three threads for each core.
fn crowded() -> Pool {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Pool::builder().threads(3 * cores).build().unwrap()
}

#[test]
fn jobs_that_block_until_all_are_there_end() {
    let pool = crowded();
    let all = Barrier::new(pool.threads());
    for _ in 0..3 {
        pool.scope(|scope| {
            for _ in 0..pool.threads() {
                scope.spawn(|_| {
                    all.wait();
                });
            }
        });
    }
}

/// No thread blocks: for the system all cores are busy.
#[test]
fn jobs_that_spin_until_all_are_there_end() {
    let pool = crowded();
    let here = AtomicUsize::new(0);
    pool.scope(|scope| {
        for _ in 0..pool.threads() {
            scope.spawn(|_| {
                here.fetch_add(1, Ordering::Relaxed);
                while here.load(Ordering::Relaxed) < pool.threads() {
                    std::hint::spin_loop();
                }
            });
        }
    });
}

/// A call wakes a pool whose watchdog sleeps too.
#[test]
fn a_pool_at_rest_hears_a_call() {
    let pool = crowded();
    for _ in 0..2 {
        let (a, b) = pool.join(|| 1, || 2);
        assert_eq!(a + b, 3);
        std::thread::sleep(Duration::from_millis(200));
    }
    let all = Barrier::new(2);
    pool.join(|| all.wait(), || all.wait());
}

/// Outside callers make loops and joins in sequence. Some callers take part, others hand their calls in, and
/// permits change hands. If two threads had one permit, a sum would be wrong.
#[test]
fn callers_from_outside_all_come_back() {
    for pool in [crowded(), Pool::builder().threads(2).build().unwrap()] {
        let end = Instant::now() + Duration::from_millis(300);
        std::thread::scope(|threads| {
            for caller in 0..4 {
                let pool = &pool;
                threads.spawn(move || {
                    while Instant::now() < end {
                        if caller % 2 == 0 {
                            let (a, b) = pool.join(|| 20, || 22);
                            assert_eq!(a + b, 42);
                        }
                        let sum = pool.map_reduce(0..1_000, || 0, |i| i, |a, b| a + b);
                        assert_eq!(sum, 499_500);
                    }
                });
            }
        });
    }
}
