//! A loop that was usually empty and is full today is shared all the same.

use manycore::Pool;
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Calls that teach the pool that there is nothing to do.
const EMPTY: usize = 300;

/// The threads that take part in a loop of `n` iterations that are empty `EMPTY` times,
/// and then, from iteration `from` on, long: each takes some milliseconds, and waits
/// until another thread has come. It gives up if none comes, for all of them.
fn threads_of(n: usize, from: usize) -> usize {
    let pool = Pool::builder().threads(2).build().unwrap();
    let full = AtomicBool::new(false);
    let hopeless = AtomicBool::new(false);
    let threads: Mutex<HashSet<ThreadId>> = Mutex::new(HashSet::new());
    let ran = AtomicUsize::new(0);
    let long = || {
        thread::sleep(Duration::from_millis(5));
        let come = || {
            let mut threads = threads.lock().unwrap();
            threads.insert(thread::current().id());
            threads.len()
        };
        // The first one of all is run to find out.
        if ran.fetch_add(1, Relaxed) == 0 {
            come();
            return;
        }
        let start = Instant::now();
        while come() < 2 && !hopeless.load(Relaxed) {
            hopeless.fetch_or(start.elapsed() > Duration::from_secs(5), Relaxed);
            thread::sleep(Duration::from_millis(1));
        }
    };
    let body = |i: usize| {
        if full.load(Relaxed) && i >= from {
            long();
        }
    };
    for call in 0..=EMPTY {
        full.store(call == EMPTY, Relaxed);
        pool.parallel_for(0..n, body);
    }
    assert_eq!(ran.into_inner(), n - from);
    threads.into_inner().unwrap().len()
}

#[test]
fn a_loop_that_was_empty_is_shared_when_it_is_full() {
    for n in [3, 8, 63, 64, 100] {
        assert_eq!(threads_of(n, 0), 2, "n = {n}");
    }
}
