//! All kinds of a pool's work. Each part counts its runs.

use manycore::{Partitioner, Pool, seam};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Works for about this number of nanoseconds; the compiler cannot remove the work.
pub(crate) fn spin(steps: u64) -> u64 {
    let mut x = steps | 1;
    for _ in 0..steps {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    std::hint::black_box(x)
}

fn fib(pool: &Pool, n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = pool.join(|| fib(pool, n - 1), || fib(pool, n - 2));
    a + b
}

/// Spawned jobs without a waiting caller. [`Detached::wait`] waits for all of them.
#[derive(Default)]
pub(crate) struct Detached {
    spawned: usize,
    ran: Arc<AtomicUsize>,
}

impl Detached {
    /// Waits for the remaining jobs on a thread outside the pool.
    pub(crate) fn wait(&self) {
        while self.ran.load(Relaxed) < self.spawned {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        assert_eq!(self.ran.load(Relaxed), self.spawned, "ran more than once");
    }
}

/// Runs one round. Panics if some work did not run, or ran twice.
pub(crate) fn round(pool: &Pool, round: usize, detached: &mut Detached) {
    let partitioners = [
        Partitioner::default(),
        seam::sharded(3),
        Partitioner::fixed_block(16),
    ];
    let partitioner = partitioners[round % partitioners.len()];
    let n = 500 + 37 * (round % 50);
    let counts: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
    pool.with(partitioner).parallel_for(0..n, |i| {
        spin(200);
        counts[i].fetch_add(1, Relaxed);
    });
    let wrong = counts.iter().position(|count| count.load(Relaxed) != 1);
    assert_eq!(wrong, None, "{partitioner}, round {round}");
    match round % 4 {
        0 => assert_eq!(fib(pool, 12), 144),
        1 => {
            let ran = AtomicUsize::new(0);
            pool.scope(|scope| {
                for _ in 0..20 {
                    scope.spawn(|scope| {
                        ran.fetch_add(1, Relaxed);
                        scope.spawn(|_| {
                            spin(500);
                            ran.fetch_add(1, Relaxed);
                        });
                    });
                }
            });
            assert_eq!(ran.into_inner(), 40);
        }
        2 => {
            for _ in 0..10 {
                detached.spawned += 1;
                let ran = Arc::clone(&detached.ran);
                pool.spawn(move || {
                    spin(500);
                    ran.fetch_add(1, Relaxed);
                });
            }
        }
        _ => {
            // A broadcast reaches parked threads too.
            let each = pool.broadcast(|context| context.index());
            assert!(each.into_iter().eq(0..pool.threads()), "round {round}");
        }
    }
}
