//! A pool without threads, for WebAssembly: the caller does all work. The host calls `run` and expects 0.
//!
//! ```sh
//! cargo build -p manycore --example wasm --target wasm32-unknown-unknown
//! ```

use manycore::Pool;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Returns 0, or the number of the check that failed. A check that panics traps.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> u32 {
    let checks: [fn() -> bool; 6] = [
        has_one_thread,
        loops,
        joins,
        scopes,
        reduces,
        refuses_threads_it_does_not_have,
    ];
    let failed = checks.iter().position(|check| !check());
    failed.map_or(0, |index| index as u32 + 1)
}

fn has_one_thread() -> bool {
    Pool::builder()
        .build()
        .is_ok_and(|pool| pool.threads() == 1)
}

fn loops() -> bool {
    let sum = AtomicU64::new(0);
    manycore::parallel_for(0..100_000, |i| {
        sum.fetch_add(i as u64, Relaxed);
    });
    sum.into_inner() == 4_999_950_000
}

fn joins() -> bool {
    fn fibonacci(n: u32) -> u64 {
        if n < 2 {
            return n.into();
        }
        let (a, b) = manycore::join(|| fibonacci(n - 1), || fibonacci(n - 2));
        a + b
    }
    fibonacci(20) == 6_765
}

fn scopes() -> bool {
    let count = AtomicU64::new(0);
    manycore::scope(|scope| {
        for _ in 0..100 {
            scope.spawn(|_| {
                count.fetch_add(1, Relaxed);
            });
        }
    });
    count.into_inner() == 100
}

fn reduces() -> bool {
    Pool::builder().build().is_ok_and(|pool| {
        let sum = pool.map_reduce(0..1_000, || 0, |i| i as u64, |a, b| a + b);
        sum == 499_500
    })
}

fn refuses_threads_it_does_not_have() -> bool {
    Pool::builder().threads(2).build().is_err()
}
